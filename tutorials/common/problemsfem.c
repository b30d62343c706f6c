/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Linear finite elements on an unstructured mesh of tetrahedra: -div(c grad u) + u/h^2 with a smooth random c; or linear
   elasticity with Young's modulus c.

   The points are randomly displaced points of a grid, and the mesh is their Delaunay triangulation. An empty ball has
   at most the radius R = sqrt(3) (1/2 + jitter) grid spacings, because the nearest grid point is within sqrt(3)/2 of
   the ball's centre. All points of the tetrahedra round a point are therefore within 2 R of the point. For jitter <=
   0.23 these points differ by at most 2 in each grid index. Any process can thus find a row from 124 neighbours, and no
   mesh is kept. Grid points outside of the domain take part. Tetrahedra with an outside point are left out, so the
   boundary is as irregular as the interior.

   Positions are integers, and all decisions are computed exactly. Neighbours therefore agree on their common
   tetrahedra. The matrix is symmetric to the last bit, because entries are summed in an order which depends only on
   positions.
*/

#include "problemsimpl.h"

#define MESH_REACH  2                    /* difference in a grid index of two points of a tetrahedron, at most */
#define MESH_WIDTH  (2 * MESH_REACH + 1) /* of the box of grid points round a point */
#define MESH_BOX    (MESH_WIDTH * MESH_WIDTH * MESH_WIDTH)
#define MESH_CENTRE (MESH_BOX / 2) /* the point's own place in the box; places ascend with the numbers of points */
#define MESH_UNITS  512            /* of a position per grid spacing: decisions then fit 64 bits */
#define MESH_LOW    0.05           /* least jitter: below, points lie on common spheres too often */
#define MESH_HIGH   0.23           /* most jitter, see above */
#define MESH_ROW    48             /* neighbours of a point, at most; about 27 occur */
#define MESH_NU     .3             /* Poisson's ratio */
#define MESH_NEAR   26             /* number of first points, which differ by at most 1 in each index */
#define STAR_POINTS (MESH_BOX + 6) /* the points of the box and six initial points */
#define STAR_SIZE   256            /* most tetrahedra round a point during the search; about 60 occur */

typedef struct {
  PetscInt n[3];
  PetscInt N;
  int      components;         /* of a point */
  int16_t *shift;              /* [3 (n0 + 4) (n1 + 4) (n2 + 4)] displacements of the points and of two layers round them */
  float   *coefficient;        /* [N] */
  int64_t  reach2;             /* square of 2 R */
  uint8_t  order[MESH_BOX];    /* places in a box, the centre first, then by distance */
  int8_t   place[MESH_BOX][3]; /* their differences in grid indices */
} Mesh;

/* The tetrahedra round a point as the triangles opposite the point, all oriented alike */
typedef struct {
  PetscBool tie; /* four points and the centre lie on a sphere: nothing is decided */
  int       count;
  uint8_t   vertex[STAR_SIZE][3];              /* places in the box */
  int64_t   sphere[STAR_SIZE][4];              /* (x, y, z, x^2 + y^2 + z^2) times this vector is negative inside of the
                                                  circumscribed sphere */
  int64_t   x[STAR_POINTS][3];                 /* positions relative to the point */
  uint8_t   removed[STAR_POINTS][STAR_POINTS]; /* directed edges of the triangles being removed; otherwise zero */
} Star;

static PetscErrorCode MeshCreate(const Problem *problem, PetscInt N, Mesh *mesh)
{
  const PetscReal correlation[3] = {(PetscReal)problem->nx / 6, (PetscReal)problem->ny / 6, (PetscReal)problem->nz / 6};
  const size_t    padded         = (size_t)(problem->nx + 2 * MESH_REACH) * (size_t)(problem->ny + 2 * MESH_REACH) * (size_t)(problem->nz + 2 * MESH_REACH);
  const double    reach          = sqrt(3.) * ((1. + 2. * (double)problem->jitter) * MESH_UNITS + 1.); /* 2 R, plus a margin for rounding */
  int             last           = 0;
  Field           field;
  double         *work;

  PetscFunctionBegin;
  mesh->n[0]       = problem->nx;
  mesh->n[1]       = problem->ny;
  mesh->n[2]       = problem->nz;
  mesh->N          = N;
  mesh->components = problem->kind == PROBLEM_ELASTIC ? 3 : 1;
  mesh->reach2     = (int64_t)ceil(reach * reach);

  /* positions */
  PetscCall(PetscMalloc2(3 * padded, &mesh->shift, N, &mesh->coefficient));
  for (size_t k = 0; k < 3 * padded; k++)
    mesh->shift[k] = (int16_t)lrint((double)problem->jitter * MESH_UNITS * (2. * HashUniform(k, (uint64_t)problem->seed + 1) - 1.));

  /* coefficients */
  PetscCall(PetscMalloc1(problem->nx, &work));
  PetscCall(FieldSetUp(&field, correlation, problem->seed));
  for (PetscInt p = 0; p < N; p++) {
    const PetscInt i = p % problem->nx, j = p / problem->nx % problem->ny, k = p / problem->nx / problem->ny;

    if (i == 0) FieldLine(&field, problem->nx, (double)j, (double)k, work);
    mesh->coefficient[p] = (float)exp(work[i]);
  }
  PetscCall(PetscFree(work));

  /* near points first, so far points have little left to change */
  for (int b = 0; b < MESH_BOX; b++) {
    mesh->place[b][0] = (int8_t)(b % MESH_WIDTH - MESH_REACH);
    mesh->place[b][1] = (int8_t)(b / MESH_WIDTH % MESH_WIDTH - MESH_REACH);
    mesh->place[b][2] = (int8_t)(b / MESH_WIDTH / MESH_WIDTH - MESH_REACH);
  }
  for (int distance = 0; distance <= 3 * MESH_REACH * MESH_REACH; distance++) {
    for (int b = 0; b < MESH_BOX; b++) {
      const int8_t *d = mesh->place[b];

      if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] == distance) mesh->order[last++] = (uint8_t)b;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeshDestroy(Mesh *mesh)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(mesh->shift, mesh->coefficient));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the tetrahedron of the centre and of u, v, w, whose determinant is positive */
static void StarAdd(Star *star, int u, int v, int w)
{
  const int64_t *a = star->x[u], *b = star->x[v], *c = star->x[w];
  const int64_t  aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2], bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2], cc = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  int64_t       *s = star->sphere[star->count];
  uint8_t       *t = star->vertex[star->count++];

  /* the last row of a determinant whose other rows are (a, aa), (b, bb), (c, cc) */
  for (int d = 0; d < 3; d++) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;

    s[d] = -(aa * (b[e] * c[f] - b[f] * c[e]) + bb * (c[e] * a[f] - c[f] * a[e]) + cc * (a[e] * b[f] - a[f] * b[e]));
  }
  s[3] = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  t[0] = (uint8_t)u;
  t[1] = (uint8_t)v;
  t[2] = (uint8_t)w;
}

/* Inserts a point: removes the tetrahedra whose spheres contain the point, and connects the point to the rim of the
   hole */
static void StarInsert(Star *star, int point)
{
  const int64_t *x = star->x[point], xx = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  uint8_t        gone[STAR_SIZE][3];
  int            ngone = 0;

  for (int t = 0; t < star->count;) {
    const int64_t *s = star->sphere[t], side = s[0] * x[0] + s[1] * x[1] + s[2] * x[2] + s[3] * xx;

    if (side == 0) star->tie = PETSC_TRUE;
    if (side < 0) {
      memcpy(gone[ngone++], star->vertex[t], sizeof(gone[0]));
      star->count--;
      memcpy(star->vertex[t], star->vertex[star->count], sizeof(star->vertex[0]));
      memcpy(star->sphere[t], star->sphere[star->count], sizeof(star->sphere[0]));
    } else t++;
  }
  for (int g = 0; g < ngone; g++) {
    for (int e = 0; e < 3; e++) star->removed[gone[g][e]][gone[g][(e + 1) % 3]] = 1;
  }
  for (int g = 0; g < ngone; g++) {
    for (int e = 0; e < 3; e++) {
      const int u = gone[g][e], v = gone[g][(e + 1) % 3];

      if (!star->removed[v][u] && star->count < STAR_SIZE) StarAdd(star, u, v, point);
    }
  }
  for (int g = 0; g < ngone; g++) {
    for (int e = 0; e < 3; e++) star->removed[gone[g][e]][gone[g][(e + 1) % 3]] = 0;
  }
}

/* The square of the largest diameter of the spheres, at most "most": points further away change nothing */
static int64_t StarReach2(const Star *star, int64_t most)
{
  double largest = 0.;

  for (int t = 0; t < star->count; t++) {
    const int64_t *s = star->sphere[t];
    const double   x = (double)s[0], y = (double)s[1], z = (double)s[2], w = (double)s[3];

    largest = PetscMax(largest, (x * x + y * y + z * z) / (w * w));
  }
  return largest < (double)most ? (int64_t)(1.001 * largest) + 1 : most;
}

static void GridIndices(const Mesh *mesh, PetscInt p, PetscInt at[3])
{
  at[0] = p % mesh->n[0];
  at[1] = p / mesh->n[0] % mesh->n[1];
  at[2] = p / mesh->n[0] / mesh->n[1];
}

/* The displacement of the point at a place of the box round at[] */
static const int16_t *MeshShift(const Mesh *mesh, const PetscInt at[3], const int8_t place[3])
{
  size_t q = 0;

  for (int d = 2; d >= 0; d--) q = q * (size_t)(mesh->n[d] + 2 * MESH_REACH) + (size_t)(at[d] + place[d] + MESH_REACH);
  return mesh->shift + 3 * q;
}

/* The tetrahedra round the point of grid indices at[] */
static PetscErrorCode MeshStar(const Mesh *mesh, const PetscInt at[3], Star *star)
{
  const int64_t far    = 4 * MESH_UNITS; /* outside all points of the box */
  int64_t       reach2 = mesh->reach2;
  int16_t       own[3];

  PetscFunctionBegin;
  star->count = 0;
  star->tie   = PETSC_FALSE;

  /* an octahedron of far points, until near points have replaced them all */
  for (int k = 0; k < 6; k++) {
    for (int d = 0; d < 3; d++) star->x[MESH_BOX + k][d] = d == k / 2 ? (k % 2 ? -far : far) : 0;
  }
  for (int k = 0; k < 8; k++) {
    const int u = MESH_BOX + (k & 1), v = MESH_BOX + 2 + (k >> 1 & 1), w = MESH_BOX + 4 + (k >> 2);

    if ((k & 1) ^ (k >> 1 & 1) ^ (k >> 2)) StarAdd(star, v, u, w);
    else StarAdd(star, u, v, w);
  }

  for (int k = 0; k < MESH_BOX; k++) {
    const int      b     = mesh->order[k];
    const int16_t *shift = MeshShift(mesh, at, mesh->place[b]);
    int64_t       *x = star->x[b], xx = 0;

    if (k == 0) memcpy(own, shift, sizeof(own));
    for (int d = 0; d < 3; d++) {
      x[d] = (int64_t)mesh->place[b][d] * MESH_UNITS + shift[d] - own[d];
      xx += x[d] * x[d];
    }
    if (k > 0 && xx <= reach2) StarInsert(star, b);
    if (k == MESH_NEAR) reach2 = StarReach2(star, reach2);
  }
  PetscCheck(star->count < STAR_SIZE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Point (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT ") of the mesh has too many tetrahedra", at[0], at[1], at[2]);
  PetscCheck(!star->tie, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "Point (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT ") of the mesh lies on a sphere with four others: use another -seed", at[0], at[1],
             at[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of the point in a place of the box round at[], or -1 outside of the domain */
static inline PetscInt MeshPoint(const Mesh *mesh, const PetscInt at[3], int b)
{
  PetscInt to[3];

  for (int d = 0; d < 3; d++) {
    to[d] = at[d] + mesh->place[b][d];
    if (to[d] < 0 || to[d] >= mesh->n[d]) return -1;
  }
  return (to[2] * mesh->n[1] + to[1]) * mesh->n[0] + to[0];
}

/* Lumped mass of the centre */
static void AddMass(const Mesh *mesh, double mass, double sum[])
{
  const int m = mesh->components;

  for (int r = 0; r < m; r++) sum[MESH_CENTRE * m * m + r * (m + 1)] += mass / ((double)mesh->n[0] * (double)mesh->n[0]);
}

/* The block of two points of a tetrahedron with gradients g and h, times c over the divisor. Exchanging
   the points transposes the block to the last bit */
static void AddBlock(int components, double c, double divisor, const double g[3], const double h[3], double block[])
{
  const double lambda = MESH_NU / ((1. + MESH_NU) * (1. - 2. * MESH_NU)), mu = .5 / (1. + MESH_NU);
  double       energy = 0.;

  for (int d = 0; d < 3; d++) energy += g[d] * h[d];
  if (components == 1) block[0] += c * energy / divisor;
  else {
    for (int r = 0; r < 3; r++) {
      for (int q = 0; q < 3; q++) block[3 * r + q] += c * (lambda * (g[r] * h[q]) + mu * (g[q] * h[r]) + (r == q ? mu * energy : 0.)) / divisor;
    }
  }
}

/* Adds a tetrahedron's part of the centre's rows to sum[MESH_BOX][components][components]; vertex[]: the places of its
   points in ascending order */
static void AddTetrahedron(const Mesh *mesh, const Star *star, const PetscInt point[], const uint8_t vertex[4], double sum[])
{
  const int size = mesh->components * mesh->components;
  double    e[3][3], gradient[4][3], determinant, c = 0.;
  int       me = 0;

  for (int v = 0; v < 4; v++) {
    c += .25 * (double)mesh->coefficient[point[vertex[v]]];
    if (vertex[v] == MESH_CENTRE) me = v;
  }

  /* gradients of the barycentric coordinates: cross products of edges over the determinant */
  for (int v = 0; v < 3; v++) {
    for (int d = 0; d < 3; d++) e[v][d] = (double)(star->x[vertex[v + 1]][d] - star->x[vertex[0]][d]) / MESH_UNITS;
  }
  for (int d = 0; d < 3; d++) {
    const int f = (d + 1) % 3, g = (d + 2) % 3;

    gradient[1][d] = e[1][f] * e[2][g] - e[1][g] * e[2][f];
    gradient[2][d] = e[2][f] * e[0][g] - e[2][g] * e[0][f];
    gradient[3][d] = e[0][f] * e[1][g] - e[0][g] * e[1][f];
    gradient[0][d] = -(gradient[1][d] + gradient[2][d] + gradient[3][d]);
  }
  determinant = fabs(e[0][0] * gradient[1][0] + e[0][1] * gradient[1][1] + e[0][2] * gradient[1][2]);
  for (int v = 0; v < 4; v++) AddBlock(mesh->components, c, 6. * determinant, gradient[me], gradient[v], sum + size * vertex[v]);
  AddMass(mesh, determinant / 24., sum);
}

/* Rows of point p: numbers of points on the grid in ascending order, and blocks of values unless value is NULL; up to
   MESH_ROW */
static PetscErrorCode MeshRow(const Mesh *mesh, Star *star, PetscInt p, PetscInt *count, PetscInt column[], PetscScalar value[])
{
  PetscInt  at[3];
  const int size              = mesh->components * mesh->components;
  double    sum[MESH_BOX * 9] = {0.};
  PetscBool used[MESH_BOX]    = {PETSC_FALSE};
  PetscInt  point[MESH_BOX];
  uint32_t  tetrahedron[STAR_SIZE];
  int       ntetrahedra = 0;

  PetscFunctionBegin;
  GridIndices(mesh, p, at);
  PetscCall(MeshStar(mesh, at, star));
  point[MESH_CENTRE] = p;

  /* The places of a tetrahedron in ascending order form a number. Tetrahedra are added in ascending order of their
     numbers */
  for (int t = 0; t < star->count; t++) {
    const uint8_t *w   = star->vertex[t];
    const uint8_t  low = PetscMin(w[0], PetscMin(w[1], w[2])), high = PetscMax(w[0], PetscMax(w[1], w[2]));
    uint8_t        v[4] = {low, (uint8_t)(w[0] + w[1] + w[2] - low - high), high, MESH_CENTRE};
    uint32_t       number;
    int            place;

    PetscCheck(high < MESH_BOX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Point %" PetscInt_FMT " has neighbours that are too far away", p);
    for (int k = 0; k < 3; k++) point[w[k]] = MeshPoint(mesh, at, w[k]);
    if (point[w[0]] < 0 || point[w[1]] < 0 || point[w[2]] < 0) continue;
    for (place = 3; place > 0 && v[place - 1] > MESH_CENTRE; place--) v[place] = v[place - 1];
    v[place] = MESH_CENTRE;
    number   = (uint32_t)v[0] << 24 | (uint32_t)v[1] << 16 | (uint32_t)v[2] << 8 | (uint32_t)v[3];
    for (place = ntetrahedra++; place > 0 && tetrahedron[place - 1] > number; place--) tetrahedron[place] = tetrahedron[place - 1];
    tetrahedron[place] = number;
  }
  for (int t = 0; t < ntetrahedra; t++) {
    const uint8_t v[4] = {(uint8_t)(tetrahedron[t] >> 24), (uint8_t)(tetrahedron[t] >> 16), (uint8_t)(tetrahedron[t] >> 8), (uint8_t)tetrahedron[t]};

    for (int k = 0; k < 4; k++) used[v[k]] = PETSC_TRUE;
    if (value) AddTetrahedron(mesh, star, point, v, sum);
  }

  /* a corner whose tetrahedra all have an outside point stands alone */
  if (!ntetrahedra) {
    used[MESH_CENTRE] = PETSC_TRUE;
    AddMass(mesh, 1., sum);
  }
  *count = 0;
  for (int b = 0; b < MESH_BOX; b++) {
    if (!used[b]) continue;
    PetscCheck(*count < MESH_ROW, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Point %" PetscInt_FMT " has too many neighbours", p);
    column[*count] = point[b];
    for (int e = 0; e < size && value; e++) value[*count * size + e] = (PetscScalar)sum[b * size + e];
    (*count)++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* newnumber[] of the points in reverse Cuthill-McKee order, and the inverse; computed on one process, sent to all */
static PetscErrorCode MeshOrder(MPI_Comm comm, const Mesh *mesh, Star *star, PetscInt newnumber[], PetscInt oldnumber[])
{
  PetscMPIInt rank, count;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    PetscInt       *i, *j, length = 0;
    PetscScalar    *a;
    const PetscInt *order;
    Mat             pattern;
    IS              row, column;

    PetscCheck((PetscInt64)mesh->N * MESH_ROW < PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "A mesh of %" PetscInt_FMT " points is too large for PetscInt", mesh->N);
    PetscCall(PetscMalloc2(mesh->N + 1, &i, MESH_ROW * (size_t)mesh->N, &j));
    i[0] = 0;
    for (PetscInt p = 0; p < mesh->N; p++) {
      PetscCall(MeshRow(mesh, star, p, &length, j + i[p], NULL));
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

/* Rigid body modes; oldnumber: points of the grid in the order of A */
static PetscErrorCode SetRigidBody(const Mesh *mesh, const PetscInt oldnumber[], Mat A)
{
  const int8_t here[3] = {0, 0, 0};
  PetscInt     first, last;
  MatNullSpace modes;
  Vec          place;
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(MatSetBlockSize(A, 3));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MatCreateVecs(A, NULL, &place));
  PetscCall(VecGetArrayWrite(place, &x));
  for (PetscInt row = first; row < last; row += 3, x += 3) {
    PetscInt at[3];

    GridIndices(mesh, oldnumber[row / 3], at);
    for (int d = 0; d < 3; d++) x[d] = (PetscReal)((double)at[d] + (double)MeshShift(mesh, at, here)[d] / MESH_UNITS);
  }
  x -= last - first;
  PetscCall(VecRestoreArrayWrite(place, &x));
  PetscCall(MatNullSpaceCreateRigidBody(place, &modes));
  PetscCall(MatSetNearNullSpace(A, modes));
  PetscCall(MatNullSpaceDestroy(&modes));
  PetscCall(VecDestroy(&place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of a point, in the new numbers */
static PetscErrorCode AddRows(const Mesh *mesh, Star *star, PetscInt p, const PetscInt newnumber[], Rows *rows)
{
  const PetscInt m     = mesh->components;
  PetscInt       count = 0, column[MESH_ROW], order[MESH_ROW];
  PetscScalar    value[MESH_ROW * 9];

  PetscFunctionBegin;
  PetscCall(MeshRow(mesh, star, p, &count, column, value));
  for (PetscInt e = 0; e < count; e++) {
    column[e] = newnumber[column[e]];
    order[e]  = e;
  }
  PetscCall(PetscSortIntWithArray(count, column, order));
  for (PetscInt r = 0; r < m; r++) {
    RowsBegin(rows);
    for (PetscInt e = 0; e < count; e++) {
      for (PetscInt q = 0; q < m; q++) RowsAdd(rows, column[e] * m + q, value[(order[e] * m + r) * m + q]);
    }
    RowsEnd(rows, 1.);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemCreateFEM(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  Mesh     mesh;
  Star    *star;
  Rows     rows;
  PetscInt N, m, *newnumber, *oldnumber;

  PetscFunctionBegin;
  PetscCheck(problem->nx > 1 && problem->ny > 1 && problem->nz > 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A mesh of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points: at least 2 are needed in each direction", problem->nx, problem->ny,
             problem->nz);
  PetscCheck(problem->jitter >= (PetscReal)MESH_LOW && problem->jitter <= (PetscReal)MESH_HIGH, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-jitter %g: the mesh is found between %g and %g", (double)problem->jitter, MESH_LOW, MESH_HIGH);
  PetscCall(GridRows(comm, problem, &N));
  PetscCall(MeshCreate(problem, N, &mesh));
  PetscCall(PetscNew(&star));
  PetscCall(PetscMalloc2(N, &newnumber, N, &oldnumber));
  PetscCall(MeshOrder(comm, &mesh, star, newnumber, oldnumber));
  m = mesh.components;
  PetscCheck((PetscInt64)N * m < PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " points have too many unknowns for PetscInt", N);
  PetscCall(RowsCreate(comm, N * m, m, MESH_ROW * m, 0, &rows));
  for (PetscInt p = rows.rstart / m; p < rows.rend / m; p++) PetscCall(AddRows(&mesh, star, oldnumber[p], newnumber, &rows));
  PetscCall(RowsFinish(&rows, A, rhs));
  if (m == 3) PetscCall(SetRigidBody(&mesh, oldnumber, *A));
  PetscCall(PetscFree2(newnumber, oldnumber));
  PetscCall(PetscFree(star));
  PetscCall(MeshDestroy(&mesh));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
