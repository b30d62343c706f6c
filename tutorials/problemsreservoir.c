/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The pressure equation of a reservoir: permeabilities, generated or from a file, and wells.

   References:
   D. W. Peaceman, Interpretation of well-block pressures in numerical reservoir simulation, SPE Journal 18(3), 1978.
   M. A. Christie and M. J. Blunt, Tenth SPE comparative solution project: a comparison of upscaling techniques, 2001.
*/

#define _POSIX_C_SOURCE 200809L /* popen() */
#include "problemsimpl.h"

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

/* ------------------------------------------------------------ permeability */

/* A meandering sand body */
typedef struct {
  double   x, amplitude, wavenumber, phase, amplitude2, phase2, halfwidth;
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
  PetscBool    pipe  = PETSC_FALSE;
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

/* ------------------------------------------------------------ the matrix */

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

PetscErrorCode ProblemCreateReservoir(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
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
