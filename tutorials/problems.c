/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Generators of realistic matrices; problems.h says which.

   References:
   D. W. Peaceman, Interpretation of well-block pressures in numerical reservoir simulation, SPE Journal 18(3), 1978.
   M. A. Christie and M. J. Blunt, Tenth SPE comparative solution project: a comparison of upscaling techniques, 2001.
   B. Engquist and A. Majda, Absorbing boundary conditions for the numerical simulation of waves, Math. Comp. 31, 1977.
*/

#define _POSIX_C_SOURCE 200809L /* popen() */
#include "problems.h"
#include <stdint.h>

const char *const ProblemKinds[] = {"reservoir", "spe10", "laplace7", "laplace27", "helmholtz27", "convdiff7", "fem", "ProblemKind", "PROBLEM_", NULL};

#define DARCY         0.00852702 /* mD m bar / cP in m^3/day */
#define VISCOSITY     1.0        /* cP */
#define WELLRADIUS    0.1        /* m */
#define INJECTORBHP   450.0      /* bar */
#define PRODUCERBHP   150.0      /* bar */
#define INITIALP      300.0      /* bar */
#define INJECTORRATE  500.0      /* m^3/day */
#define COMPRESS      1.e-4      /* 1/bar */
#define POROSITY      0.2
#define MEANPERM      50.0 /* mD */
#define MINPERM       1.e-3
#define MAXPERM       2.e4
#define CHANNELFACTOR 12.0 /* sand is so many times more permeable than shale */
#define CHANNELKZKX   0.3
#define MINVELOCITY   1500.0 /* m/s */

/* ------------------------------------------------------------ random numbers */

/* A hash of a cell's number: white noise that does not depend on who computes it */
static uint64_t Hash(uint64_t x, uint64_t seed)
{
  x += (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static double HashUniform(uint64_t x, uint64_t seed)
{
  return ((double)(Hash(x, seed) >> 11) + .5) / 9007199254740992.;
}

static double HashNormal(uint64_t x, uint64_t seed)
{
  return sqrt(-2. * log(HashUniform(2 * x, seed))) * cos(2. * PETSC_PI * HashUniform(2 * x + 1, seed));
}

static PetscErrorCode RandomUniform(PetscRandom random, double *value)
{
  PetscReal v;

  PetscFunctionBegin;
  PetscCall(PetscRandomGetValueReal(random, &v));
  *value = (double)v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RandomNormal(PetscRandom random, double *value)
{
  double u = 0., v = 0.;

  PetscFunctionBegin;
  PetscCall(RandomUniform(random, &u));
  PetscCall(RandomUniform(random, &v));
  *value = sqrt(-2. * log(1. - u)) * cos(2. * PETSC_PI * v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ a correlated Gaussian field */

#define FIELD_MODES 96

/* Cosine waves with random wave vectors and phases: mean 0, variance 1 */
typedef struct {
  double kx[FIELD_MODES], ky[FIELD_MODES], kz[FIELD_MODES], phase[FIELD_MODES];
} Field;

static PetscErrorCode FieldSetUp(Field *field, const PetscReal correlation[3], PetscInt seed)
{
  PetscRandom random;
  double      k[3] = {0.}, spread = 0., u = 0.;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetSeed(random, (unsigned long)seed));
  PetscCall(PetscRandomSeed(random));
  for (int m = 0; m < FIELD_MODES; m++) {
    PetscCall(RandomNormal(random, &spread)); /* several scales */
    for (int d = 0; d < 3; d++) {
      PetscCall(RandomNormal(random, &k[d]));
      k[d] *= exp(.5 * spread) / (double)correlation[d];
    }
    PetscCall(RandomUniform(random, &u));
    field->kx[m]    = k[0];
    field->ky[m]    = k[1];
    field->kz[m]    = k[2];
    field->phase[m] = 2. * PETSC_PI * u;
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The field at points (0 .. n-1, y, z); waves are turned from point to point, always from the first, so that a value depends on its place alone */
static void FieldLine(const Field *field, PetscInt n, double y, double z, double value[])
{
  double c[FIELD_MODES], s[FIELD_MODES], dc[FIELD_MODES], ds[FIELD_MODES];

  for (int m = 0; m < FIELD_MODES; m++) {
    const double p = field->ky[m] * y + field->kz[m] * z + field->phase[m];

    c[m]  = cos(p);
    s[m]  = sin(p);
    dc[m] = cos(field->kx[m]);
    ds[m] = sin(field->kx[m]);
  }
  for (PetscInt i = 0; i < n; i++) {
    double sum[8] = {0.};

    for (int m = 0; m < FIELD_MODES; m += 8) {
      for (int l = 0; l < 8; l++) {
        const double t = c[m + l];

        sum[l] += t;
        c[m + l] = t * dc[m + l] - s[m + l] * ds[m + l];
        s[m + l] = t * ds[m + l] + s[m + l] * dc[m + l];
      }
    }
    value[i] = sqrt(2. / FIELD_MODES) * (((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])));
  }
}

/* ------------------------------------------------------------ rows under construction */

typedef struct {
  MPI_Comm     comm;
  PetscInt     N, n, rstart, rend;
  PetscInt     row; /* the next one, counted from rstart */
  PetscInt    *i, *j;
  PetscScalar *a, *b; /* b: right-hand side */
} Rows;

/* Room for perrow entries in every row and extra ones in the last */
static PetscErrorCode RowsCreate(MPI_Comm comm, PetscInt N, PetscInt perrow, PetscInt extra, Rows *rows)
{
  PetscInt64 room;

  PetscFunctionBegin;
  rows->comm = comm;
  rows->N    = N;
  rows->n    = PETSC_DECIDE;
  PetscCall(PetscSplitOwnership(comm, &rows->n, &rows->N));
  PetscCallMPI(MPI_Scan(&rows->n, &rows->rend, 1, MPIU_INT, MPI_SUM, comm));
  rows->rstart = rows->rend - rows->n;
  rows->row    = 0;
  room         = (PetscInt64)rows->n * perrow + (rows->rend == N ? extra : 0);
  PetscCheck(room <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " rows of up to %" PetscInt_FMT " nonzeros on a process do not fit into PetscInt: use more processes or a PETSc with 64-bit indices", rows->n, perrow);
  PetscCall(PetscMalloc4(rows->n + 1, &rows->i, (size_t)room, &rows->j, (size_t)room, &rows->a, rows->n, &rows->b));
  PetscCall(PetscArrayzero(rows->b, rows->n));
  rows->i[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline void RowsBegin(Rows *rows)
{
  rows->i[rows->row + 1] = rows->i[rows->row];
}

static inline void RowsAdd(Rows *rows, PetscInt column, PetscScalar value)
{
  const PetscInt p = rows->i[rows->row + 1]++;

  rows->j[p] = column;
  rows->a[p] = value;
}

static inline void RowsEnd(Rows *rows, PetscScalar rhs)
{
  rows->b[rows->row++] = rhs;
}

/* Makes the matrix and, where rhs is asked for, the vector, and frees the rows */
static PetscErrorCode RowsFinish(Rows *rows, Mat *A, Vec *rhs)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(rows->comm, A));
  PetscCall(MatSetSizes(*A, rows->n, rows->n, rows->N, rows->N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, rows->i, rows->j, rows->a));
  PetscCall(MatMPIAIJSetPreallocationCSR(*A, rows->i, rows->j, rows->a));
  if (rhs) {
    PetscScalar *b;

    PetscCall(MatCreateVecs(*A, NULL, rhs));
    PetscCall(VecGetArrayWrite(*rhs, &b));
    PetscCall(PetscArraycpy(b, rows->b, rows->n));
    PetscCall(VecRestoreArrayWrite(*rhs, &b));
  }
  PetscCall(PetscFree4(rows->i, rows->j, rows->a, rows->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ permeability */

/* A meandering sand body */
typedef struct {
  double x, amplitude, wavenumber, phase, amplitude2, phase2, halfwidth;
  PetscInt z0, z1;
} Channel;

typedef struct {
  const Problem *problem;
  PetscInt       nx, ny, nz; /* cells, refined */
  double         cell[3];

  /* RESERVOIR */
  Field    field;
  PetscInt nchannels;
  Channel *channel;
  double  *work;

  /* SPE10: cells of the file, x fastest; logarithms */
  PetscInt cx, cy, cz;
  double  *log[3];
} Permeability;

static PetscErrorCode PermeabilityChannels(Permeability *perm)
{
  const Problem *problem = perm->problem;
  const PetscInt groups  = PetscMax(1, perm->nz / 8);
  PetscRandom    random;
  double         u[8];

  PetscFunctionBegin;
  perm->nchannels = groups * problem->channels;
  PetscCall(PetscMalloc1(perm->nchannels, &perm->channel));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetSeed(random, (unsigned long)problem->seed + 7919));
  PetscCall(PetscRandomSeed(random));
  for (PetscInt c = 0; c < perm->nchannels; c++) {
    Channel *ch = perm->channel + c;

    for (int l = 0; l < 8; l++) PetscCall(RandomUniform(random, &u[l]));
    ch->x          = u[0] * (double)perm->nx;
    ch->amplitude  = (.05 + .15 * u[1]) * (double)perm->nx;
    ch->wavenumber = 2. * PETSC_PI * (1. + 2. * u[2]) / (double)perm->ny;
    ch->phase      = 2. * PETSC_PI * u[3];
    ch->amplitude2 = .3 * ch->amplitude;
    ch->phase2     = 2. * PETSC_PI * u[4];
    ch->halfwidth  = (.02 + .03 * u[5]) * (double)perm->nx;
    ch->z0         = (PetscInt)(u[6] * (double)perm->nz);
    ch->z1         = ch->z0 + 2 + (PetscInt)(5. * u[7]);
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One layer: three permeabilities a line, x fastest */
static PetscErrorCode ReadLayer(const char text[], size_t length, const char name[], PetscInt *count, PetscInt *room, double *value[3])
{
  const char *p = text, *end = text + length;

  PetscFunctionBegin;
  while (p < end) {
    double v[3];
    char  *q;

    while (p < end && (*p == '\n' || *p == '\r' || *p == ' ')) p++;
    if (p >= end) break;
    for (int d = 0; d < 3; d++) {
      v[d] = strtod(p, &q);
      PetscCheck(q != p && v[d] > 0., PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: cell %" PetscInt_FMT " of the file: expected three positive numbers kx,ky,kz", name, *count);
      p = q;
      while (p < end && (*p == ',' || *p == ' ')) p++;
    }
    if (*count == *room) {
      *room = *room ? 2 * *room : 65536;
      for (int d = 0; d < 3; d++) PetscCall(PetscRealloc(sizeof(double) * (size_t)*room, &value[d]));
    }
    for (int d = 0; d < 3; d++) value[d][*count] = log(v[d]);
    (*count)++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadExactly(FILE *file, void *buffer, size_t length, const char path[])
{
  PetscFunctionBegin;
  PetscCheck(fread(buffer, 1, length, file) == length, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s ends too early", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a tar archive, one CSV file a layer, in the order of the names in it */
static PetscErrorCode PermeabilityRead(Permeability *perm, const char path[])
{
  const size_t length = strlen(path);
  FILE        *file;
  PetscBool    pipe = PETSC_FALSE;
  PetscInt     count = 0, room = 0;
  char         header[512];

  PetscFunctionBegin;
  PetscCheck(length > 0, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "A permeability file is needed: give -permeability FILE.tar or FILE.tar.xz");
  if (length > 3 && !strcmp(path + length - 3, ".xz")) {
    char command[PETSC_MAX_PATH_LEN + 32];

    PetscCheck(!strchr(path, '\''), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s: a quote in the name of a compressed file", path);
    PetscCall(PetscSNPrintf(command, sizeof(command), "xz -dc '%s'", path));
    file = popen(command, "r");
    pipe = PETSC_TRUE;
  } else file = fopen(path, "r");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open the permeability file %s", path);
  perm->cz = 0;
  while (fread(header, 1, sizeof(header), file) == sizeof(header) && header[0]) {
    const size_t size = (size_t)strtoull(header + 124, NULL, 8), padded = (size + 511) / 512 * 512;
    char        *text, name[101];

    PetscCheck(!strncmp(header + 257, "ustar", 5), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s is not a tar archive", path);
    memcpy(name, header, 100);
    name[100] = 0;
    PetscCall(PetscMalloc1(padded + 1, &text));
    PetscCall(ReadExactly(file, text, padded, path));
    text[size] = 0;
    if ((header[156] == '0' || header[156] == 0) && strstr(name, ".csv")) {
      const PetscInt before = count;

      PetscCall(ReadLayer(text, size, name, &count, &room, perm->log));
      PetscCheck((PetscInt64)count == (PetscInt64)(count - before) * (perm->cz + 1), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: layer %s has another number of cells than the first", path, name);
      perm->cz++;
    }
    PetscCall(PetscFree(text));
  }
  if (pipe) {
    while (fread(header, 1, sizeof(header), file) > 0) continue;
    PetscCheck(pclose(file) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "xz could not read %s", path);
  } else fclose(file);
  PetscCheck(count > 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s holds no .csv file with permeabilities", path);
  perm->cx = perm->problem->nx;
  perm->cy = count / perm->cz / perm->cx;
  PetscCheck(perm->cx * perm->cy * perm->cz == count, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: layers of %" PetscInt_FMT " cells do not divide into lines of -nx %" PetscInt_FMT, path, count / perm->cz, perm->cx);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PermeabilityCreate(MPI_Comm comm, const Problem *problem, Permeability *perm)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(perm, sizeof(*perm)));
  perm->problem = problem;
  if (problem->kind == PROBLEM_RESERVOIR) {
    perm->nx = problem->nx;
    perm->ny = problem->ny;
    perm->nz = problem->nz;
    PetscCall(FieldSetUp(&perm->field, problem->correlation, problem->seed));
    PetscCall(PermeabilityChannels(perm));
    PetscCall(PetscMalloc1(perm->nx, &perm->work));
  } else {
    PetscMPIInt rank;
    PetscInt    sizes[3], count;

    PetscCallMPI(MPI_Comm_rank(comm, &rank));
    if (!rank) PetscCall(PermeabilityRead(perm, problem->permeability));
    sizes[0] = perm->cx;
    sizes[1] = perm->cy;
    sizes[2] = perm->cz;
    PetscCallMPI(MPI_Bcast(sizes, 3, MPIU_INT, 0, comm));
    perm->cx = sizes[0];
    perm->cy = sizes[1];
    perm->cz = sizes[2];
    count    = perm->cx * perm->cy * perm->cz;
    for (int d = 0; d < 3; d++) {
      if (rank) PetscCall(PetscMalloc1(count, &perm->log[d]));
      PetscCallMPI(MPI_Bcast(perm->log[d], (PetscMPIInt)count, MPI_DOUBLE, 0, comm));
    }
    perm->nx = perm->cx * problem->refine;
    perm->ny = perm->cy * problem->refine;
    perm->nz = perm->cz * problem->refine;
  }
  for (int d = 0; d < 3; d++) perm->cell[d] = (double)problem->cell[d] / (double)problem->refine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PermeabilityDestroy(Permeability *perm)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(perm->channel));
  PetscCall(PetscFree(perm->work));
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(perm->log[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where a refined cell lies between two cells of the file */
static void Interpolate(PetscInt i, PetscInt refine, PetscInt n, PetscInt *left, double *weight)
{
  const double x = ((double)i + .5) / (double)refine - .5;
  PetscInt     l = (PetscInt)floor(x);

  *weight = x - (double)l;
  if (l < 0) {
    l       = 0;
    *weight = 0.;
  }
  if (l >= n - 1) {
    l       = PetscMax(0, n - 2);
    *weight = n > 1 ? 1. : 0.;
  }
  *left = l;
}

/* Permeabilities in mD of the cells (0 .. nx-1, j, k) */
static PetscErrorCode PermeabilityLine(const Permeability *perm, PetscInt j, PetscInt k, double kx[], double ky[], double kz[])
{
  const Problem *problem = perm->problem;
  const PetscInt nx      = perm->nx;

  PetscFunctionBegin;
  if (problem->kind == PROBLEM_RESERVOIR) {
    /* a correlated part, noise, and more in the channels */
    FieldLine(&perm->field, nx, (double)j, (double)k, perm->work);
    for (PetscInt i = 0; i < nx; i++) {
      const uint64_t cell = ((uint64_t)k * (uint64_t)perm->ny + (uint64_t)j) * (uint64_t)nx + (uint64_t)i;
      const double   z    = (perm->work[i] + .3 * HashNormal(cell, (uint64_t)problem->seed)) / sqrt(1.09);

      kx[i] = MEANPERM * exp((double)problem->logdeviation * z);
      kz[i] = (double)problem->anisotropy;
    }
    for (PetscInt c = 0; c < perm->nchannels; c++) {
      const Channel *ch = perm->channel + c;

      if (k >= ch->z0 && k < ch->z1) {
        const double y = (double)j * ch->wavenumber;
        const double x = ch->x + ch->amplitude * sin(y + ch->phase) + ch->amplitude2 * sin(2.7 * y + ch->phase2);

        for (PetscInt i = PetscMax(0, (PetscInt)ceil(x - ch->halfwidth)); i < nx && (double)i <= x + ch->halfwidth; i++) {
          if (kz[i] != CHANNELKZKX) kx[i] *= CHANNELFACTOR;
          kz[i] = CHANNELKZKX;
        }
      }
    }
    for (PetscInt i = 0; i < nx; i++) {
      kx[i] = PetscMin(PetscMax(kx[i], MINPERM), MAXPERM);
      ky[i] = kx[i];
      kz[i] *= kx[i];
    }
  } else {
    const PetscInt cx = perm->cx, cxy = perm->cx * perm->cy;
    double        *out[3] = {kx, ky, kz};

    for (int d = 0; d < 3; d++) {
      const double *v = perm->log[d];

      if (problem->refine == 1) {
        for (PetscInt i = 0; i < nx; i++) out[d][i] = exp(v[k * cxy + j * cx + i]);
      } else {
        PetscInt li, lj, lk;
        double   wi, wj, wk;

        Interpolate(j, problem->refine, perm->cy, &lj, &wj);
        Interpolate(k, problem->refine, perm->cz, &lk, &wk);
        for (PetscInt i = 0; i < nx; i++) {
          double sum = 0.;

          Interpolate(i, problem->refine, cx, &li, &wi);
          for (int corner = 0; corner < 8; corner++) {
            const double w = ((corner & 1) ? wi : 1. - wi) * ((corner & 2) ? wj : 1. - wj) * ((corner & 4) ? wk : 1. - wk);

            if (w > 0.) sum += w * v[(lk + (corner >> 2)) * cxy + (lj + ((corner >> 1) & 1)) * cx + li + (corner & 1)];
          }
          out[d][i] = exp(sum);
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ reservoir */

static double Harmonic(double a, double b)
{
  return 2. * a * b / (a + b);
}

/* Well 0 is the injector in the middle, the others are producers */
static PetscErrorCode WellPositions(const Permeability *perm, PetscInt well[][2])
{
  PetscRandom random;
  double      u = 0.;

  PetscFunctionBegin;
  well[0][0] = perm->nx / 2;
  well[0][1] = perm->ny / 2;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetSeed(random, (unsigned long)perm->problem->seed + 104729));
  PetscCall(PetscRandomSeed(random));
  for (PetscInt w = 1; w <= perm->problem->wells; w++) {
    if (w <= 4) { /* a five-spot first */
      well[w][0] = w % 2 ? 0 : perm->nx - 1;
      well[w][1] = w <= 2 ? 0 : perm->ny - 1;
    } else {
      PetscCall(RandomUniform(random, &u));
      well[w][0] = PetscMin(perm->nx - 1, (PetscInt)(u * (double)perm->nx));
      PetscCall(RandomUniform(random, &u));
      well[w][1] = PetscMin(perm->ny - 1, (PetscInt)(u * (double)perm->ny));
    }
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Peaceman's well index of a vertical well in one cell, in m^3/day/bar */
static double WellIndex(const double cell[3], double kx, double ky)
{
  const double a = sqrt(ky / kx), b = sqrt(kx / ky);
  const double re = .28 * sqrt(a * cell[0] * cell[0] + b * cell[1] * cell[1]) / (sqrt(a) + sqrt(b));

  return DARCY * 2. * PETSC_PI * sqrt(kx * ky) * cell[2] / (VISCOSITY * log(re / WELLRADIUS));
}

static PetscErrorCode CreateReservoir(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  Permeability perm;
  Rows         rows;
  PetscInt     nx, ny, nz, nxy, N, k0, k1, (*well)[2];
  double      *k[3], area[3];

  PetscFunctionBegin;
  PetscCall(PermeabilityCreate(comm, problem, &perm));
  nx = perm.nx;
  ny = perm.ny;
  nz = perm.nz;
  PetscCheck((PetscInt64)nx * ny * nz < PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells do not fit into PetscInt", nx, ny, nz);
  nxy = nx * ny;
  N   = nxy * nz;
  PetscCall(PetscMalloc1(problem->wells + 1, &well));
  PetscCall(WellPositions(&perm, well));
  PetscCall(RowsCreate(comm, problem->wellrows ? N + 1 : N, 8, nz, &rows));

  /* permeabilities of the layers that our rows and their neighbours lie in */
  k0 = PetscMax(0, rows.rstart / nxy - 1);
  k1 = PetscMin(nz, (PetscMax(rows.rend, 1) - 1) / nxy + 2);
  k1 = PetscMax(k0, k1);
  for (int d = 0; d < 3; d++) PetscCall(PetscMalloc1((size_t)(k1 - k0) * nxy, &k[d]));
  for (PetscInt l = k0; l < k1; l++) {
    for (PetscInt j = 0; j < ny; j++) {
      const size_t p = (size_t)(l - k0) * nxy + (size_t)j * nx;

      PetscCall(PermeabilityLine(&perm, j, l, k[0] + p, k[1] + p, k[2] + p));
    }
  }
  area[0] = perm.cell[1] * perm.cell[2] / perm.cell[0];
  area[1] = perm.cell[0] * perm.cell[2] / perm.cell[1];
  area[2] = perm.cell[0] * perm.cell[1] / perm.cell[2];

  /* one row a cell: -T to the neighbours, their sum and what is stored and produced on the diagonal */
  for (PetscInt row = rows.rstart; row < PetscMin(rows.rend, N); row++) {
    const PetscInt i = row % nx, j = row / nx % ny, l = row / nxy, at[3] = {i, j, l}, size[3] = {nx, ny, nz}, stride[3] = {1, nx, nxy};
    const size_t   p            = (size_t)(row - k0 * nxy);
    const double   accumulation = POROSITY * COMPRESS * perm.cell[0] * perm.cell[1] * perm.cell[2] / (double)problem->timestep;
    double         t[6], diagonal = accumulation, source = accumulation * INITIALP, injector = 0.;

    for (int d = 0; d < 3; d++) {
      const size_t s = (size_t)stride[d];

      t[d]     = at[d] > 0 ? DARCY / VISCOSITY * area[d] * Harmonic(k[d][p], k[d][p - s]) : 0.;
      t[3 + d] = at[d] < size[d] - 1 ? DARCY / VISCOSITY * area[d] * Harmonic(k[d][p], k[d][p + s]) : 0.;
      diagonal += t[d] + t[3 + d];
    }
    for (PetscInt w = 0; w <= problem->wells; w++) {
      if (well[w][0] == i && well[w][1] == j) {
        const double index = WellIndex(perm.cell, k[0][p], k[1][p]);

        diagonal += index;
        if (w == 0 && problem->wellrows) injector = index;
        else source += index * (w == 0 ? INJECTORBHP : PRODUCERBHP);
      }
    }
    RowsBegin(&rows);
    for (int d = 2; d >= 0; d--) {
      if (at[d] > 0) RowsAdd(&rows, row - stride[d], (PetscScalar)-t[d]);
    }
    RowsAdd(&rows, row, (PetscScalar)diagonal);
    for (int d = 0; d < 3; d++) {
      if (at[d] < size[d] - 1) RowsAdd(&rows, row + stride[d], (PetscScalar)-t[3 + d]);
    }
    if (injector > 0.) RowsAdd(&rows, N, (PetscScalar)-injector);
    RowsEnd(&rows, (PetscScalar)source);
  }

  /* the injector's row: what flows into the cells is the given rate */
  if (problem->wellrows && rows.rend == N + 1) {
    double *line[3], sum = 0.;

    PetscCall(PetscMalloc3(nx, &line[0], nx, &line[1], nx, &line[2]));
    RowsBegin(&rows);
    for (PetscInt l = 0; l < nz; l++) {
      double index;

      PetscCall(PermeabilityLine(&perm, well[0][1], l, line[0], line[1], line[2]));
      index = WellIndex(perm.cell, line[0][well[0][0]], line[1][well[0][0]]);
      RowsAdd(&rows, l * nxy + well[0][1] * nx + well[0][0], (PetscScalar)-index);
      sum += index;
    }
    RowsAdd(&rows, N, (PetscScalar)sum);
    RowsEnd(&rows, (PetscScalar)INJECTORRATE);
    PetscCall(PetscFree3(line[0], line[1], line[2]));
  }
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(k[d]));
  PetscCall(PetscFree(well));
  PetscCall(PermeabilityDestroy(&perm));
  PetscCall(RowsFinish(&rows, A, rhs));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ProblemWritePermeability - Writes the logarithm of the horizontal permeability of one layer as a grey PGM picture

   Not Collective
*/
PetscErrorCode ProblemWritePermeability(const Problem *problem, PetscInt layer, const char path[])
{
  Permeability perm;
  FILE        *file;
  double      *k[3];

  PetscFunctionBegin;
  PetscCheck(problem->kind == PROBLEM_RESERVOIR || problem->kind == PROBLEM_SPE10, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "Kind %s has no permeability: use -kind reservoir or spe10", ProblemKinds[problem->kind]);
  PetscCall(PermeabilityCreate(PETSC_COMM_SELF, problem, &perm));
  PetscCheck(layer >= 0 && layer < perm.nz, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Layer %" PetscInt_FMT " is not one of the %" PetscInt_FMT " layers", layer, perm.nz);
  file = fopen(path, "w");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
  PetscCall(PetscMalloc3(perm.nx, &k[0], perm.nx, &k[1], perm.nx, &k[2]));
  fprintf(file, "P5\n%d %d\n255\n", (int)perm.nx, (int)perm.ny);
  for (PetscInt j = 0; j < perm.ny; j++) {
    PetscCall(PermeabilityLine(&perm, j, layer, k[0], k[1], k[2]));
    for (PetscInt i = 0; i < perm.nx; i++) {
      const double grey = 255. * log(k[0][i] / MINPERM) / log(MAXPERM / MINPERM);

      fputc((int)PetscMin(255., PetscMax(0., grey)), file);
    }
  }
  PetscCheck(fclose(file) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", path);
  PetscCall(PetscFree3(k[0], k[1], k[2]));
  PetscCall(PermeabilityDestroy(&perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ constant coefficients, convection and diffusion */

static PetscErrorCode GridRows(MPI_Comm comm, const Problem *problem, PetscInt *N)
{
  const PetscInt64 n = (PetscInt64)problem->nx * problem->ny * problem->nz;

  PetscFunctionBegin;
  PetscCheck(n < PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points do not fit into PetscInt", problem->nx, problem->ny, problem->nz);
  *N = (PetscInt)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLaplace(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  const PetscInt nx = problem->nx, ny = problem->ny, nz = problem->nz;
  const int      reach = problem->kind == PROBLEM_LAPLACE7 ? 1 : 3; /* |dx| + |dy| + |dz| of a neighbour at most */
  const PetscInt points = reach == 1 ? 7 : 27;
  Rows           rows;
  PetscInt       N;

  PetscFunctionBegin;
  PetscCall(GridRows(comm, problem, &N));
  PetscCall(RowsCreate(comm, N, points, 0, &rows));
  for (PetscInt row = rows.rstart; row < rows.rend; row++) {
    const int i = (int)(row % nx), j = (int)(row / nx % ny), k = (int)(row / nx / ny);

    RowsBegin(&rows);
    for (int dk = k > 0 ? -1 : 0; dk <= (k < nz - 1 ? 1 : 0); dk++) {
      for (int dj = j > 0 ? -1 : 0; dj <= (j < ny - 1 ? 1 : 0); dj++) {
        for (int di = i > 0 ? -1 : 0; di <= (i < nx - 1 ? 1 : 0); di++) {
          const int distance = PetscAbs(di) + PetscAbs(dj) + PetscAbs(dk);

          if (distance <= reach) RowsAdd(&rows, row + (dk * ny + dj) * nx + di, (PetscScalar)(distance ? -1 : points - 1));
        }
      }
    }
    RowsEnd(&rows, 1.);
  }
  PetscCall(RowsFinish(&rows, A, rhs));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A boundary layer: wind that grows and turns with height, levels that are wider the higher they are; upwind differences */
static PetscErrorCode CreateConvectionDiffusion(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  const PetscInt nx = problem->nx, ny = problem->ny, nz = problem->nz;
  Rows           rows;
  PetscInt       N;

  PetscFunctionBegin;
  PetscCall(GridRows(comm, problem, &N));
  PetscCall(RowsCreate(comm, N, 7, 0, &rows));
  for (PetscInt row = rows.rstart; row < rows.rend; row++) {
    const PetscInt i = row % nx, j = row / nx % ny, k = row / nx / ny;
    const double   z = ((double)k + .5) / (double)nz, wind = 2. * (double)problem->peclet * log(1. + 20. * z) / log(21.), turn = .5 * PETSC_PI * (1. - z);
    const double   u = wind * cos(turn), v = wind * sin(turn), below = exp(-2. * (double)k / (double)nz), above = exp(-2. * (double)(k + 1) / (double)nz);
    const double   east = -1. - PetscMax(-u, 0.), west = -1. - PetscMax(u, 0.), north = -1. - PetscMax(-v, 0.), south = -1. - PetscMax(v, 0.);

    RowsBegin(&rows);
    if (k > 0) RowsAdd(&rows, row - nx * ny, (PetscScalar)-below);
    if (j > 0) RowsAdd(&rows, row - nx, (PetscScalar)south);
    if (i > 0) RowsAdd(&rows, row - 1, (PetscScalar)west);
    RowsAdd(&rows, row, (PetscScalar)(below + above - (east + west + north + south)));
    if (i < nx - 1) RowsAdd(&rows, row + 1, (PetscScalar)east);
    if (j < ny - 1) RowsAdd(&rows, row + nx, (PetscScalar)north);
    if (k < nz - 1) RowsAdd(&rows, row + nx * ny, (PetscScalar)-above);
    RowsEnd(&rows, 1.);
  }
  PetscCall(RowsFinish(&rows, A, rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ Helmholtz */

#if PetscDefined(USE_COMPLEX)
/* Velocity in m/s at a point of the unit cube: dipping layers and a wedge */
static double Velocity(double x, double z)
{
  const double depth[] = {.2, .4, .6, .8}, velocity[] = {2000., 2600., 3300., 4500.};
  double       v = MINVELOCITY;

  for (int l = 0; l < 4; l++) {
    if (z > depth[l] + .05 * x) v = velocity[l];
  }
  if (z > .45 + .25 * fabs(x - .5) && z < .55 + .05 * x) v = 4000.;
  return v;
}

static PetscErrorCode CreateHelmholtz(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  const PetscInt    nx = problem->nx, ny = problem->ny, nz = problem->nz, cx = nx - 1, cy = ny - 1, cz = nz - 1, size[3] = {nx, ny, nz};
  const double      stiff1[2][2] = {{1., -1.}, {-1., 1.}}, mass1[2][2] = {{1. / 3., 1. / 6.}, {1. / 6., 1. / 3.}};
  const PetscReal   correlation[3] = {2., 2., 2.};
  const PetscScalar beta           = PetscCMPLX(problem->beta1, -problem->beta2);
  double            stiffness[8][8], mass[8][8], face[3][8][8], *kh, *work;
  Field             field;
  Rows              rows;
  PetscInt          N, k0, k1;

  PetscFunctionBegin;
  PetscCheck(nx > 1 && ny > 1 && nz > 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "A Helmholtz grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points: at least 2 are needed in each direction", nx, ny, nz);
  PetscCall(GridRows(comm, problem, &N));

  /* element matrices on the unit cube; vertex v lies at (v & 1, v >> 1 & 1, v >> 2) */
  for (int a = 0; a < 8; a++) {
    for (int b = 0; b < 8; b++) {
      double s[3], m[3];

      for (int d = 0; d < 3; d++) {
        s[d] = stiff1[a >> d & 1][b >> d & 1];
        m[d] = mass1[a >> d & 1][b >> d & 1];
      }
      stiffness[a][b] = s[0] * m[1] * m[2] + m[0] * s[1] * m[2] + m[0] * m[1] * s[2];
      mass[a][b]      = m[0] * m[1] * m[2];
      for (int d = 0; d < 3; d++) face[d][a][b] = m[(d + 1) % 3] * m[(d + 2) % 3];
    }
  }

  /* wave number times grid spacing in the cells that touch our rows */
  PetscCall(RowsCreate(comm, N, 27, 0, &rows));
  k0 = PetscMax(0, rows.rstart / (nx * ny) - 1);
  k1 = PetscMax(k0, PetscMin(cz, (PetscMax(rows.rend, 1) - 1) / (nx * ny) + 1));
  PetscCall(PetscMalloc2((size_t)(k1 - k0) * cx * cy, &kh, cx, &work));
  if (problem->smooth) PetscCall(FieldSetUp(&field, correlation, problem->seed));
  for (PetscInt k = k0; k < k1; k++) {
    for (PetscInt j = 0; j < cy; j++) {
      if (problem->smooth) FieldLine(&field, cx, (double)j, (double)k, work);
      for (PetscInt i = 0; i < cx; i++) {
        const double x = ((double)i + .5) / (double)cx, z = ((double)k + .5) / (double)cz;
        double       v = Velocity(x, z);

        if (problem->smooth) v = v * (1. + .02 * PetscMin(3., PetscMax(-3., work[i]))) + 300. * z;
        kh[((size_t)(k - k0) * cy + j) * cx + i] = 2. * PETSC_PI / (double)problem->pointspermwave * MINVELOCITY / v;
      }
    }
  }

  /* a row is the sum over the 8 cells round its point, and over the faces of these on the boundary */
  for (PetscInt row = rows.rstart; row < rows.rend; row++) {
    const PetscInt at[3]   = {row % nx, row / nx % ny, row / nx / ny};
    PetscScalar    sum[27] = {0.};

    for (int a = 0; a < 8; a++) {
      PetscInt    cell[3];
      PetscBool   inside = PETSC_TRUE;
      PetscScalar k2;
      double      wave;

      for (int d = 0; d < 3; d++) {
        cell[d] = at[d] - (a >> d & 1);
        if (cell[d] < 0 || cell[d] >= size[d] - 1) inside = PETSC_FALSE;
      }
      if (!inside) continue;
      wave = kh[((size_t)(cell[2] - k0) * cy + cell[1]) * cx + cell[0]];
      k2   = (PetscScalar)(wave * wave) * beta;
      for (int b = 0; b < 8; b++) {
        const int   entry = ((b >> 2) - (a >> 2) + 1) * 9 + ((b >> 1 & 1) - (a >> 1 & 1) + 1) * 3 + (b & 1) - (a & 1) + 1;
        PetscScalar value = (PetscScalar)stiffness[a][b] - k2 * (PetscReal)mass[a][b];

        for (int d = 0; d < 3; d++) {
          const PetscBool boundary = (at[d] == 0 || at[d] == size[d] - 1) ? PETSC_TRUE : PETSC_FALSE;

          if (boundary && (a >> d & 1) == (b >> d & 1)) value -= PETSC_i * (PetscReal)(wave * face[d][a][b]);
        }
        sum[entry] += value;
      }
    }
    RowsBegin(&rows);
    for (int e = 0; e < 27; e++) {
      const PetscInt to[3] = {at[0] + e % 3 - 1, at[1] + e / 3 % 3 - 1, at[2] + e / 9 - 1};

      if (to[0] >= 0 && to[0] < nx && to[1] >= 0 && to[1] < ny && to[2] >= 0 && to[2] < nz) RowsAdd(&rows, (to[2] * ny + to[1]) * nx + to[0], sum[e]);
    }
    RowsEnd(&rows, at[0] == nx / 2 && at[1] == ny / 2 && at[2] == nz / 8 ? 1. : 0.);
  }
  PetscCall(PetscFree2(kh, work));
  PetscCall(RowsFinish(&rows, A, rhs));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode CreateHelmholtz(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  PetscFunctionBegin;
  (void)problem;
  (void)A;
  (void)rhs;
  SETERRQ(comm, PETSC_ERR_SUP, "Kind helmholtz27 needs complex numbers: use a PETSc configured with --with-scalar-type=complex");
}
#endif

/* ------------------------------------------------------------ tetrahedra */

/*
   The points of a grid, displaced at random. Every cube is cut into 6 tetrahedra by pulling: the vertex with
   the lowest label is joined to the three faces that it is not on, each of which is cut by the diagonal
   through its own vertex of lowest label. Labels are random and belong to points, so neighbouring cubes
   agree on the diagonal of their face and the mesh is conforming, with 7 to 27 nonzeros in a row.
*/
typedef struct {
  PetscInt  n[3];
  PetscInt  N;
  uint32_t *label;
  float    *shift;       /* [3 N] displacement in grid spacings */
  float    *coefficient; /* [N] */
} Mesh;

static PetscErrorCode MeshCreate(const Problem *problem, PetscInt N, Mesh *mesh)
{
  const PetscReal correlation[3] = {(PetscReal)problem->nx / 6, (PetscReal)problem->ny / 6, (PetscReal)problem->nz / 6};
  Field           field;
  double         *work;

  PetscFunctionBegin;
  mesh->n[0] = problem->nx;
  mesh->n[1] = problem->ny;
  mesh->n[2] = problem->nz;
  mesh->N    = N;
  PetscCall(PetscMalloc3(N, &mesh->label, 3 * (size_t)N, &mesh->shift, N, &mesh->coefficient));
  PetscCall(PetscMalloc1(problem->nx, &work));
  PetscCall(FieldSetUp(&field, correlation, problem->seed));
  for (PetscInt p = 0; p < N; p++) {
    const PetscInt i = p % problem->nx, j = p / problem->nx % problem->ny, k = p / problem->nx / problem->ny;

    if (i == 0) FieldLine(&field, problem->nx, (double)j, (double)k, work);
    mesh->coefficient[p] = (float)exp(work[i]);
    mesh->label[p]       = (uint32_t)(Hash((uint64_t)p, (uint64_t)problem->seed) >> 32);
    for (int d = 0; d < 3; d++) mesh->shift[3 * (size_t)p + d] = (float)((double)problem->jitter * (2. * HashUniform(3 * (uint64_t)p + (uint64_t)d, (uint64_t)problem->seed + 1) - 1.));
  }
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order of labels; equal ones (one in four thousand million) by number */
static inline PetscBool LabelBefore(const Mesh *mesh, PetscInt p, PetscInt q)
{
  return mesh->label[p] < mesh->label[q] || (mesh->label[p] == mesh->label[q] && p < q) ? PETSC_TRUE : PETSC_FALSE;
}

/* The 6 tetrahedra of the cube with these 8 points */
static void CubeTetrahedra(const Mesh *mesh, const PetscInt point[8], int tetrahedron[6][4])
{
  int apex = 0, count = 0;

  for (int v = 1; v < 8; v++) {
    if (LabelBefore(mesh, point[v], point[apex])) apex = v;
  }
  for (int d = 0; d < 3; d++) {
    const int base = (apex ^ 1 << d) & 1 << d, u = 1 << (d + 1) % 3, w = 1 << (d + 2) % 3;
    const int corner[4] = {base, base | u, base | u | w, base | w}; /* round the face opposite */
    int       low       = 0;

    for (int c = 1; c < 4; c++) {
      if (LabelBefore(mesh, point[corner[c]], point[corner[low]])) low = c;
    }
    for (int half = 0; half < 2; half++) {
      tetrahedron[count][0]   = apex;
      tetrahedron[count][1]   = corner[low];
      tetrahedron[count][2]   = corner[(low + 1 + half) % 4];
      tetrahedron[count++][3] = corner[(low + 2 + half) % 4];
    }
  }
}

/* Row p of the matrix of -div(c grad u) + u/h^2: column numbers on the grid in ascending order, and values unless value is NULL; up to 27 */
static void MeshRow(const Mesh *mesh, PetscInt p, PetscInt *count, PetscInt column[], PetscScalar value[])
{
  const PetscInt *n = mesh->n, at[3] = {p % n[0], p / n[0] % n[1], p / n[0] / n[1]};
  double          sum[27] = {0.};
  PetscBool       used[27] = {PETSC_FALSE};

  for (int a = 0; a < 8; a++) {
    PetscInt  cell[3], point[8];
    PetscBool inside = PETSC_TRUE;
    int       tetrahedron[6][4];

    for (int d = 0; d < 3; d++) {
      cell[d] = at[d] - (a >> d & 1);
      if (cell[d] < 0 || cell[d] >= n[d] - 1) inside = PETSC_FALSE;
    }
    if (!inside) continue;
    for (int v = 0; v < 8; v++) point[v] = ((cell[2] + (v >> 2)) * n[1] + cell[1] + (v >> 1 & 1)) * n[0] + cell[0] + (v & 1);
    CubeTetrahedra(mesh, point, tetrahedron);
    for (int t = 0; t < 6; t++) {
      const int *vertex = tetrahedron[t];
      double     x[4][3], e[3][3], gradient[4][3], determinant, c = 0.;
      int        me = -1;

      for (int v = 0; v < 4; v++) {
        if (vertex[v] == a) me = v;
      }
      if (me < 0) continue;

      /* an entry for each vertex of each tetrahedron round the point */
      for (int v = 0; v < 4; v++) {
        const int w = vertex[v];

        used[((w >> 2) - (a >> 2) + 1) * 9 + ((w >> 1 & 1) - (a >> 1 & 1) + 1) * 3 + (w & 1) - (a & 1) + 1] = PETSC_TRUE;
      }
      if (!value) continue;

      /* gradients of the barycentric coordinates: cross products of edges over the determinant */
      for (int v = 0; v < 4; v++) {
        for (int d = 0; d < 3; d++) x[v][d] = (double)(vertex[v] >> d & 1) + (double)mesh->shift[3 * (size_t)point[vertex[v]] + d];
        c += .25 * (double)mesh->coefficient[point[vertex[v]]];
      }
      for (int v = 0; v < 3; v++) {
        for (int d = 0; d < 3; d++) e[v][d] = x[v + 1][d] - x[0][d];
      }
      for (int d = 0; d < 3; d++) {
        const int f = (d + 1) % 3, g = (d + 2) % 3;

        gradient[1][d] = e[1][f] * e[2][g] - e[1][g] * e[2][f];
        gradient[2][d] = e[2][f] * e[0][g] - e[2][g] * e[0][f];
        gradient[3][d] = e[0][f] * e[1][g] - e[0][g] * e[1][f];
        gradient[0][d] = -(gradient[1][d] + gradient[2][d] + gradient[3][d]);
      }
      determinant = e[0][0] * gradient[1][0] + e[0][1] * gradient[1][1] + e[0][2] * gradient[1][2];
      for (int v = 0; v < 4; v++) {
        const int w      = vertex[v];
        double    energy = 0.;

        for (int d = 0; d < 3; d++) energy += gradient[me][d] * gradient[v][d];
        sum[((w >> 2) - (a >> 2) + 1) * 9 + ((w >> 1 & 1) - (a >> 1 & 1) + 1) * 3 + (w & 1) - (a & 1) + 1] += c * energy / (6. * fabs(determinant));
      }
      sum[13] += fabs(determinant) / 24. / ((double)n[0] * (double)n[0]); /* lumped mass */
    }
  }
  *count = 0;
  for (int entry = 0; entry < 27; entry++) {
    if (used[entry]) {
      column[*count] = ((at[2] + entry / 9 - 1) * n[1] + at[1] + entry / 3 % 3 - 1) * n[0] + at[0] + entry % 3 - 1;
      if (value) value[*count] = (PetscScalar)sum[entry];
      (*count)++;
    }
  }
}

/* newnumber[] of the points in reverse Cuthill-McKee order, and its inverse; found on one process, known on all */
static PetscErrorCode MeshOrder(MPI_Comm comm, const Mesh *mesh, PetscInt newnumber[], PetscInt oldnumber[])
{
  PetscMPIInt rank, count;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    PetscInt       *i, *j, length;
    PetscScalar    *a;
    const PetscInt *order;
    Mat             pattern;
    IS              row, column;

    PetscCheck((PetscInt64)mesh->N * 27 < PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A mesh of %" PetscInt_FMT " points is too large for PetscInt", mesh->N);
    PetscCall(PetscMalloc2(mesh->N + 1, &i, 27 * (size_t)mesh->N, &j));
    i[0] = 0;
    for (PetscInt p = 0; p < mesh->N; p++) {
      MeshRow(mesh, p, &length, j + i[p], NULL);
      i[p + 1] = i[p] + length;
    }
    PetscCall(PetscCalloc1(i[mesh->N], &a));
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, mesh->N, mesh->N, i, j, a, &pattern));
    PetscCall(MatGetOrdering(pattern, MATORDERINGRCM, &row, &column));
    PetscCall(ISGetIndices(row, &order));
    PetscCall(PetscArraycpy(oldnumber, order, mesh->N));
    PetscCall(ISRestoreIndices(row, &order));
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&column));
    PetscCall(MatDestroy(&pattern));
    PetscCall(PetscFree(a));
    PetscCall(PetscFree2(i, j));
  }
  PetscCall(PetscMPIIntCast(mesh->N, &count));
  PetscCallMPI(MPI_Bcast(oldnumber, count, MPIU_INT, 0, comm));
  for (PetscInt p = 0; p < mesh->N; p++) newnumber[oldnumber[p]] = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateFEM(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  Mesh      mesh;
  Rows      rows;
  PetscInt  N, *newnumber, *oldnumber;

  PetscFunctionBegin;
  PetscCheck(problem->nx > 1 && problem->ny > 1 && problem->nz > 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "A mesh of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points: at least 2 are needed in each direction", problem->nx, problem->ny, problem->nz);
  PetscCheck(problem->jitter >= 0 && problem->jitter <= (PetscReal).15, comm, PETSC_ERR_ARG_OUTOFRANGE, "-jitter %g: tetrahedra stay valid between 0 and 0.15", (double)problem->jitter);
  PetscCall(GridRows(comm, problem, &N));
  PetscCall(MeshCreate(problem, N, &mesh));
  PetscCall(PetscMalloc2(N, &newnumber, N, &oldnumber));
  PetscCall(MeshOrder(comm, &mesh, newnumber, oldnumber));
  PetscCall(RowsCreate(comm, N, 27, 0, &rows));
  for (PetscInt row = rows.rstart; row < rows.rend; row++) {
    PetscInt    count, column[27];
    PetscScalar value[27];

    MeshRow(&mesh, oldnumber[row], &count, column, value);
    for (PetscInt e = 0; e < count; e++) column[e] = newnumber[column[e]];
    PetscCall(PetscSortIntWithScalarArray(count, column, value));
    RowsBegin(&rows);
    for (PetscInt e = 0; e < count; e++) RowsAdd(&rows, column[e], value[e]);
    RowsEnd(&rows, 1.);
  }
  PetscCall(PetscFree2(newnumber, oldnumber));
  PetscCall(PetscFree3(mesh.label, mesh.shift, mesh.coefficient));
  PetscCall(RowsFinish(&rows, A, rhs));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the interface */

/*
   ProblemSetDefaults - Fills a `Problem` with what is usual for its kind, about one million rows

   Not Collective
*/
PetscErrorCode ProblemSetDefaults(ProblemKind kind, Problem *problem)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(problem, sizeof(*problem)));
  problem->kind           = kind;
  problem->nx             = 100;
  problem->ny             = 100;
  problem->nz             = 100;
  problem->seed           = 1;
  problem->cell[0]        = (PetscReal)(20 * .3048);
  problem->cell[1]        = (PetscReal)(10 * .3048);
  problem->cell[2]        = (PetscReal)(2 * .3048);
  problem->logdeviation   = 2;
  problem->correlation[0] = 6;
  problem->correlation[1] = 12;
  problem->correlation[2] = 1.5;
  problem->anisotropy     = (PetscReal)1.e-2;
  problem->channels       = 6;
  problem->wells          = 4;
  problem->timestep       = 1;
  problem->refine         = 1;
  problem->pointspermwave = 10;
  problem->beta1          = 1;
  problem->beta2          = 0;
  problem->peclet         = 1;
  problem->jitter         = (PetscReal).12;
  if (kind == PROBLEM_RESERVOIR) {
    problem->ny = 200;
    problem->nz = 50;
  } else if (kind == PROBLEM_SPE10) problem->nx = 60;
  else if (kind == PROBLEM_CONVDIFF7) problem->nx = problem->ny = problem->nz = 108;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ProblemSetSize - Chooses the grid so that there are about so many rows

   Not Collective

   Note:
   The size of `PROBLEM_SPE10` is that of its file, times the cube of the refinement, which is not changed here.
*/
PetscErrorCode ProblemSetSize(Problem *problem, PetscInt rows)
{
  const PetscInt n = PetscMax(2, (PetscInt)(cbrt((double)rows) + .5));

  PetscFunctionBegin;
  if (problem->kind == PROBLEM_SPE10) PetscFunctionReturn(PETSC_SUCCESS);
  problem->nx = n;
  problem->ny = n;
  problem->nz = n;
  if (problem->kind == PROBLEM_RESERVOIR) {
    problem->ny = 2 * n;
    problem->nz = PetscMax(1, n / 2);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ProblemSetFromOptions - Changes a `Problem` by the options database

   Collective

   Options Database Keys:
+ -kind <reservoir,spe10,laplace7,laplace27,helmholtz27,convdiff7,fem> - the matrix
. -rows <n>            - about so many rows, instead of -nx -ny -nz
. -nx, -ny, -nz <n>    - cells or points in each direction
. -seed <s>            - of all that is random
. -cell <dx,dy,dz>     - reservoir, spe10: size of a cell in m
. -logdeviation <s>    - reservoir: standard deviation of log permeability
. -correlation <x,y,z> - reservoir: correlation lengths in cells
. -anisotropy <r>      - reservoir: kz/kx outside channels
. -channels <n>        - reservoir: channels in each 8 layers
. -wells <n>           - reservoir, spe10: number of producers
. -well_rows <bool>    - reservoir, spe10: the injector is an unknown with a long row
. -timestep <days>     - reservoir, spe10: time step of the compressibility term
. -refine <r>          - spe10: cells per cell and direction, log permeability interpolated
. -permeability <file> - spe10: .tar or .tar.xz of one CSV file kx,ky,kz a layer
. -smooth <bool>       - helmholtz27: smooth variations in the medium
. -points_per_wave <p> - helmholtz27: grid points in the shortest wavelength
. -beta1, -beta2 <b>   - helmholtz27: factor beta1 - i beta2 of the square of the wave number
. -peclet <p>          - convdiff7: largest cell Peclet number
- -jitter <r>          - fem: displacement of grid points
*/
PetscErrorCode ProblemSetFromOptions(MPI_Comm comm, Problem *problem)
{
  ProblemKind kind = problem->kind;
  PetscInt    rows = 0, three = 3;
  PetscBool   set;

  PetscFunctionBegin;
  PetscOptionsBegin(comm, NULL, "Matrix generator", "Mat");
  PetscCall(PetscOptionsEnum("-kind", "The matrix", "ProblemSetDefaults", ProblemKinds, (PetscEnum)kind, (PetscEnum *)&kind, NULL));
  if (kind != problem->kind) PetscCall(ProblemSetDefaults(kind, problem));
  PetscCall(PetscOptionsInt("-rows", "About so many rows", "ProblemSetSize", rows, &rows, &set));
  PetscCheck(!set || rows > 0, comm, PETSC_ERR_USER_INPUT, "-rows %" PetscInt_FMT " must be positive", rows);
  if (set) PetscCall(ProblemSetSize(problem, rows));
  PetscCall(PetscOptionsBoundedInt("-nx", "Cells or points in x", NULL, problem->nx, &problem->nx, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-ny", "Cells or points in y", NULL, problem->ny, &problem->ny, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-nz", "Cells or points in z", NULL, problem->nz, &problem->nz, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-seed", "Of all that is random", NULL, problem->seed, &problem->seed, NULL, 0));
  PetscCall(PetscOptionsRealArray("-cell", "Size of a cell in m", NULL, problem->cell, &three, &set));
  PetscCheck(!set || three == 3, comm, PETSC_ERR_USER_INPUT, "-cell needs three lengths");
  three = 3;
  PetscCall(PetscOptionsReal("-logdeviation", "Standard deviation of log permeability", NULL, problem->logdeviation, &problem->logdeviation, NULL));
  PetscCall(PetscOptionsRealArray("-correlation", "Correlation lengths in cells", NULL, problem->correlation, &three, &set));
  PetscCheck(!set || three == 3, comm, PETSC_ERR_USER_INPUT, "-correlation needs three lengths");
  PetscCall(PetscOptionsReal("-anisotropy", "kz/kx outside channels", NULL, problem->anisotropy, &problem->anisotropy, NULL));
  PetscCall(PetscOptionsBoundedInt("-channels", "Channels in each 8 layers", NULL, problem->channels, &problem->channels, NULL, 0));
  PetscCall(PetscOptionsBoundedInt("-wells", "Number of producers", NULL, problem->wells, &problem->wells, NULL, 0));
  PetscCall(PetscOptionsBool("-well_rows", "The injector is an unknown with a long row", NULL, problem->wellrows, &problem->wellrows, NULL));
  PetscCall(PetscOptionsReal("-timestep", "Days", NULL, problem->timestep, &problem->timestep, NULL));
  PetscCall(PetscOptionsBoundedInt("-refine", "Cells per cell and direction", NULL, problem->refine, &problem->refine, NULL, 1));
  PetscCall(PetscOptionsString("-permeability", "Archive of one CSV file a layer", NULL, problem->permeability, problem->permeability, sizeof(problem->permeability), NULL));
  PetscCall(PetscOptionsBool("-smooth", "Smooth variations in the medium", NULL, problem->smooth, &problem->smooth, NULL));
  PetscCall(PetscOptionsReal("-points_per_wave", "Grid points in the shortest wavelength", NULL, problem->pointspermwave, &problem->pointspermwave, NULL));
  PetscCall(PetscOptionsReal("-beta1", "Real part of the shift", NULL, problem->beta1, &problem->beta1, NULL));
  PetscCall(PetscOptionsReal("-beta2", "Imaginary part of the shift", NULL, problem->beta2, &problem->beta2, NULL));
  PetscCall(PetscOptionsReal("-peclet", "Largest cell Peclet number", NULL, problem->peclet, &problem->peclet, NULL));
  PetscCall(PetscOptionsReal("-jitter", "Displacement of grid points", NULL, problem->jitter, &problem->jitter, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ProblemCreateSystem - Generates the matrix, of type `MATAIJ`, and a right-hand side

   Collective

   Input Parameters:
+  comm    - the communicator
-  problem - what to generate

   Output Parameters:
+  A   - the matrix
-  rhs - a right-hand side, or `NULL`
*/
PetscErrorCode ProblemCreateSystem(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  PetscFunctionBegin;
  PetscCheck(problem->cell[0] > 0 && problem->cell[1] > 0 && problem->cell[2] > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-cell: lengths must be positive");
  PetscCheck(problem->correlation[0] > 0 && problem->correlation[1] > 0 && problem->correlation[2] > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-correlation: lengths must be positive");
  PetscCheck(problem->anisotropy > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-anisotropy %g must be positive", (double)problem->anisotropy);
  PetscCheck(problem->timestep > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-timestep %g must be positive", (double)problem->timestep);
  PetscCheck(problem->pointspermwave > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-points_per_wave %g must be positive", (double)problem->pointspermwave);
  switch (problem->kind) {
  case PROBLEM_RESERVOIR:
  case PROBLEM_SPE10:
    PetscCall(CreateReservoir(comm, problem, A, rhs));
    break;
  case PROBLEM_LAPLACE7:
  case PROBLEM_LAPLACE27:
    PetscCall(CreateLaplace(comm, problem, A, rhs));
    break;
  case PROBLEM_HELMHOLTZ27:
    PetscCall(CreateHelmholtz(comm, problem, A, rhs));
    break;
  case PROBLEM_CONVDIFF7:
    PetscCall(CreateConvectionDiffusion(comm, problem, A, rhs));
    break;
  case PROBLEM_FEM:
    PetscCall(CreateFEM(comm, problem, A, rhs));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
