/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Linear finite elements on tetrahedra, numbered as an unstructured mesh */

#include "problemsimpl.h"

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
  double          sum[27]  = {0.};
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

PetscErrorCode ProblemCreateFEM(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  Mesh     mesh;
  Rows     rows;
  PetscInt N, *newnumber, *oldnumber;

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
