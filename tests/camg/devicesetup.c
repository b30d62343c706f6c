/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCCAMG's set-up: each function on a device gives what the function on the host gives.\n\
  -n <n>    - points per direction of the Laplacian with jumps\n\
  -times    - prints the time of each function on the device\n\n";

#define LITHE_HAVE_CUDA 1
#include <lithe.h>
#include <cuda_runtime.h>
#include <lithe/private/cuda/camg.h>
#include <petscdevice.h>
#include <src/pc/camg/camgimpl.h>
#include <tests/failures.h>

#define TOLERANCE (PETSC_MACHINE_EPSILON * 5000)
#define LEVELS    4

static PetscBool   times   = PETSC_FALSE;
static const char *problem = "";

#define PetscCallRuntime(...) PetscCheck((__VA_ARGS__) == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "CUDA")

/* The second call is the one whose time is printed */
#define DEVICE(call)                                                                                       \
  do {                                                                                                     \
    PetscLogDouble begin_, end_;                                                                           \
                                                                                                           \
    PetscCallRuntime(cudaDeviceSynchronize());                                                             \
    PetscCall(PetscTime(&begin_));                                                                         \
    PetscCall(call);                                                                                       \
    PetscCallRuntime(cudaDeviceSynchronize());                                                             \
    PetscCall(PetscTime(&end_));                                                                           \
    if (times) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%9.3f ms  %.60s\n", 1e3 * (end_ - begin_), #call)); \
  } while (0)

/* ------------------------------------------------------------ memory */

static PetscErrorCode Put(size_t bytes, const void *host, void **device)
{
  PetscFunctionBeginUser;
  PetscCallRuntime(cudaMalloc(device, bytes + 1));
  PetscCallRuntime(cudaMemcpy(*device, host, bytes, cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Get(size_t bytes, const void *device, void **host)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(bytes + 1, host));
  PetscCallRuntime(cudaDeviceSynchronize());
  PetscCallRuntime(cudaMemcpy(*host, device, bytes, cudaMemcpyDeviceToHost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PutMatrix(const CAMGMatrix *A, CAMGMatrix *D)
{
  PetscFunctionBeginUser;
  *D = *A;
  PetscCall(Put((size_t)(A->m + 1) * sizeof(PetscInt), A->i, (void **)&D->i));
  PetscCall(Put((size_t)A->nz * sizeof(PetscInt), A->j, (void **)&D->j));
  PetscCall(Put((size_t)(A->nz * A->rb * A->cb) * sizeof(PetscScalar), A->a, (void **)&D->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeMatrix(CAMGMatrix *D)
{
  PetscFunctionBeginUser;
  PetscCallRuntime(cudaFree(D->i));
  PetscCallRuntime(cudaFree(D->j));
  PetscCallRuntime(cudaFree(D->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ comparisons */

static PetscErrorCode Integers(const char *what, PetscInt n, const PetscInt host[], const PetscInt device[])
{
  PetscInt *d, wrong = 0, first = -1;

  PetscFunctionBeginUser;
  PetscCall(Get((size_t)n * sizeof(PetscInt), device, (void **)&d));
  for (PetscInt k = 0; k < n; k++) {
    if (d[k] == host[k]) continue;
    if (!wrong++) first = k;
  }
  if (WRONG(wrong))
    FAIL("%s, %s: %d of %d integers differ, the first is number %d: %d on the host, %d", problem, what, (int)wrong, (int)n, (int)first, (int)host[first],
         (int)d[first]);
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers differ by rounding, relative to the largest of all */
static PetscErrorCode Reals(const char *what, PetscInt n, const void *host, const void *device, size_t bytes, PetscReal tolerance)
{
  void     *d;
  PetscInt  first = -1, bits = 0;
  PetscReal most = 0, error = 0;

  PetscFunctionBeginUser;
  PetscCall(Get((size_t)n * bytes, device, &d));
#define NUMBER(a, k) (bytes == sizeof(double) ? (PetscReal)((const double *)(a))[k] : (PetscReal)((const float *)(a))[k])
  for (PetscInt k = 0; k < n; k++) most = PetscMax(most, PetscAbsReal(NUMBER(host, k)));
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal e = PetscAbsReal(NUMBER(host, k) - NUMBER(d, k));

    bits += NUMBER(host, k) != NUMBER(d, k);
    if (e <= tolerance * most) continue;
    if (first < 0) first = k;
    error = PetscMax(error, e);
  }
  PetscCall(PetscInfo(NULL, "%s, %s: %d of %d numbers have other bits\n", problem, what, (int)bits, (int)n));
  if (WRONG(first >= 0))
    FAIL("%s, %s: error %g, number %d of %d: %g on the host, %g", problem, what, (double)error, (int)first, (int)n, (double)NUMBER(host, first),
         (double)NUMBER(d, first));
#undef NUMBER
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scalars(const char *what, PetscInt n, const PetscScalar host[], const PetscScalar device[])
{
  PetscFunctionBeginUser;
  PetscCall(Reals(what, n * (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal)), host, device, sizeof(PetscReal), TOLERANCE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* D is freed */
static PetscErrorCode Matrices(const char *what, const CAMGMatrix *A, CAMGMatrix *D)
{
  const PetscBool same = (PetscBool)(A->m == D->m && A->n == D->n && A->nz == D->nz && A->rb == D->rb && A->cb == D->cb);

  PetscFunctionBeginUser;
  if (WRONG(!same))
    FAIL("%s, %s: %d x %d with %d entries on the host, %d x %d with %d", problem, what, (int)A->m, (int)A->n, (int)A->nz, (int)D->m, (int)D->n, (int)D->nz);
  if (A->m == D->m) PetscCall(Integers(what, A->m + 1, A->i, D->i));
  if (same) {
    PetscCall(Integers(what, A->nz, A->j, D->j));
    PetscCall(Scalars(what, A->nz * A->rb * A->cb, A->a, D->a));
  }
  PetscCall(FreeMatrix(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ problems */

static PetscReal Random(PetscInt k)
{
  return PetscSinReal((PetscReal)(k % 10007) * (PetscReal)(k % 9973 + 1)) * (PetscReal)0.5 + (PetscReal)0.5;
}

static PetscErrorCode ToMatrix(Mat B, CAMGMatrix *A)
{
  PetscInt n, nz = 0;

  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetSize(B, &n, NULL));
  for (PetscInt r = 0; r < n; r++) {
    PetscInt m;

    PetscCall(MatGetRow(B, r, &m, NULL, NULL));
    nz += m;
    PetscCall(MatRestoreRow(B, r, &m, NULL, NULL));
  }
  PetscCall(PCCAMGMatrixCreate_Private(n, n, nz, 1, 1, A));
  for (PetscInt r = 0; r < n; r++) {
    const PetscInt    *j;
    const PetscScalar *a;
    PetscInt           m;

    PetscCall(MatGetRow(B, r, &m, &j, &a));
    PetscCall(PetscArraycpy(A->j + A->i[r], j, m));
    PetscCall(PetscArraycpy(A->a + A->i[r], a, m));
    A->i[r + 1] = A->i[r] + m;
    PetscCall(MatRestoreRow(B, r, &m, &j, &a));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddEdge(Mat B, PetscInt p, PetscInt q, PetscScalar pq, PetscScalar qp)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetValue(B, p, q, -pq, ADD_VALUES));
  PetscCall(MatSetValue(B, q, p, -qp, ADD_VALUES));
  PetscCall(MatSetValue(B, p, p, PetscAbsScalar(pq), ADD_VALUES));
  PetscCall(MatSetValue(B, q, q, PetscAbsScalar(qp), ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seven points with jumps of six decades; wind: flow along the first direction, upwind */
static PetscErrorCode Laplacian(PetscInt n, PetscInt nz, PetscBool jumps, PetscReal wind, CAMGMatrix *A)
{
  const PetscInt m = n * n * nz, stride[3] = {1, n, n * n}, size[3] = {n, n, nz};
  Mat            B;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, m, 7, NULL, &B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt p = 0; p < m; p++) {
    for (int d = 0; d < 3; d++) {
      const PetscInt q = p + stride[d];
      PetscReal      c = 1;

      if (p / stride[d] % size[d] == size[d] - 1) continue;
      if (jumps) c = PetscPowReal(10, PetscFloorReal(6 * Random(p % n / 5 + 100 * (p / n % n / 5))));
      PetscCall(AddEdge(B, p, q, c, c + (d == 0 ? wind : 0)));
    }
    PetscCall(MatSetValue(B, p, p, 1e-3, ADD_VALUES));
  }
  PetscCall(ToMatrix(B, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random edges, and vertices with many neighbours; phases: Hermitian entries without symmetry */
static PetscErrorCode Graph(PetscInt n, PetscInt hubs, PetscInt degree, PetscReal diagonal, CAMGMatrix *A)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 24, NULL, &B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt h = 0; h < hubs; h++) {
    const PetscInt p = (h * 101 + 17) % n;

    for (PetscInt e = 0; e < degree; e++) {
      const PetscInt q = (PetscInt)(((PetscInt64)e * 7919 + 31 * h) % n);

      if (q != p) PetscCall(AddEdge(B, p, q, 1 + Random(e + h), 1 + Random(e + h)));
    }
  }
  for (PetscInt p = 0; p < n; p++) {
    PetscCall(MatSetValue(B, p, p, diagonal, ADD_VALUES));
    if (p % 97 == 0) continue; /* some vertices with few edges */
    for (int e = 0; e < 4; e++) {
      const PetscInt q = (PetscInt)(((PetscInt64)(Random(4 * p + e) * 1e6) * 104729 + p) % n);
      PetscScalar    c = Random(p + 3 * e) + (PetscReal)0.01, adjoint = c;

#if PetscDefined(USE_COMPLEX)
      c       = PetscCMPLX(Random(p + 3 * e), Random(p + e) - .5);
      adjoint = PetscConj(c);
#endif
      if (q != p) PetscCall(AddEdge(B, p, q, c, adjoint));
    }
  }
  PetscCall(ToMatrix(B, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b unknowns at a point of a grid, coupled. Near the null space: six vectors for three unknowns, else a constant for each */
static PetscErrorCode Blocks(PetscInt n, PetscInt b, CAMGMatrix *A, CAMGSpace *space)
{
  const PetscInt nodes = n * n * n, stride[3] = {1, n, n * n}, columns = b == 3 ? 6 : b;
  Mat            B;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, b * nodes, b * nodes, 7 * b, NULL, &B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt p = 0; p < nodes; p++) {
    for (int d = 0; d < 3; d++) {
      if (p / stride[d] % n == n - 1) continue;
      for (PetscInt c = 0; c < b; c++) {
        for (PetscInt e = 0; e < b; e++) {
          const PetscReal v = c == e ? (c == d ? 3 : 1) : (PetscReal)0.1 * (1 + Random(p + c * e));

          PetscCall(AddEdge(B, b * p + c, b * (p + stride[d]) + e, v, v));
        }
      }
    }
    for (PetscInt c = 0; c < b; c++) PetscCall(MatSetValue(B, b * p + c, b * p + c, 1e-3, ADD_VALUES));
  }
  PetscCall(ToMatrix(B, A));
  *space = (CAMGSpace){.block = b, .columns = columns, .vectors = PETSC_TRUE};
  PetscCall(PetscCalloc1(b * columns * nodes, &space->T));
  for (PetscInt p = 0; p < nodes; p++) {
    const PetscReal x[3] = {(PetscReal)(p % n), (PetscReal)(p / n % n), (PetscReal)(p / n / n)};

    for (PetscInt c = 0; c < b; c++) {
      PetscScalar *t = space->T + columns * (b * p + c);

      t[c] = 1;
      if (b != 3) continue;
      t[3 + c]           = x[(c + 1) % 3];
      t[3 + (c + 2) % 3] = -x[(c + 2) % 3];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ functions */

/* Whether a matrix is Hermitian, on the host and on the device. The last rows are those of another process */
static PetscErrorCode TestForms(const CAMGMatrix *A, const CAMGMatrix *D, PetscBool *hermitian)
{
  const PetscInt own = A->m - A->m / 3, first = 5;
  CAMGMatrix     part = *A, dpart = *D;
  PetscReal     *root, *droot;
  PetscInt      *id, *did;
  double         host[CAMG_FORMS], device[CAMG_FORMS];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(A->m, &root, A->m - own, &id));
  PetscCall(PCCAMGRoots_Private(A, root));
  PetscCallRuntime(cudaMalloc((void **)&droot, (size_t)A->m * sizeof(*root)));
  DEVICE(LitheCUDACAMGRoots(D, droot));
  PetscCall(Reals("roots", A->m, root, droot, sizeof(*root), TOLERANCE));
  PetscCall(PCCAMGForms_Private(A, root, 0, NULL, host));
  *hermitian = CAMGIsHermitian(host);
  DEVICE(LitheCUDACAMGForms(D, droot, 0, NULL, device));
  if (WRONG(*hermitian != CAMGIsHermitian(device))) FAIL("%s: Hermitian %d on the host, %d", problem, (int)*hermitian, (int)CAMGIsHermitian(device));
  for (PetscInt k = own; k < A->m; k++) id[k - own] = 3 * k;
  PetscCall(Put((size_t)(A->m - own) * sizeof(*id), id, (void **)&did));
  part.m = dpart.m = own;
  part.nz = dpart.nz = A->i[own];
  PetscCall(PCCAMGForms_Private(&part, root, first, id, host));
  DEVICE(LitheCUDACAMGForms(&dpart, droot, first, did, device));
  for (int k = 0; k < CAMG_FORMS; k++) {
    if (WRONG(fabs(host[k] - device[k]) > 1e-12 * (host[4] + 1))) FAIL("%s: form %d is %g on the host, %g", problem, k, host[k], device[k]);
  }
  PetscCall(PetscFree2(root, id));
  PetscCallRuntime(cudaFree(droot));
  PetscCallRuntime(cudaFree(did));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of several processes: the last third of A belongs to another one */
static PetscErrorCode TestJoin(const CAMGMatrix *A, const CAMGMatrix *D)
{
  const PetscInt own = A->m - A->m / 3, more = A->m - own, from = own / 2;
  CAMGMatrix     part = *A, dpart = *D, E, dE, F, C, dC, result;
  PetscInt      *row, *target, *place, *j, *drow, *dtarget, *dplace, *dj;

  PetscFunctionBeginUser;
  part.m = dpart.m = own;
  part.nz = dpart.nz = A->i[own];
  PetscCall(PetscMalloc4(more, &row, more, &target, A->n, &place, PetscMax(A->nz, A->n), &j));
  for (PetscInt k = 0; k < more; k++) {
    row[k]    = (7 * k + 3) % own;
    target[k] = k < more / 2 ? 2 * k : own + k; /* of own rows, and after them */
  }
  for (PetscInt k = 0; k < A->n; k++) place[k] = A->n - 1 - k;
  PetscCall(Put((size_t)more * sizeof(*row), row, (void **)&drow));
  PetscCall(Put((size_t)more * sizeof(*row), target, (void **)&dtarget));
  PetscCall(Put((size_t)A->n * sizeof(*row), place, (void **)&dplace));
  PetscCallRuntime(cudaMalloc((void **)&dj, (size_t)PetscMax(A->nz, A->n) * sizeof(*j)));
  PetscCall(PCCAMGExtract_Private(&part, more, row, &E));
  DEVICE(LitheCUDACAMGExtract(&dpart, more, drow, &result));
  PetscCall(Matrices("rows of a list", &E, &result));
  /* rows that take the place of others are not shorter: they begin with them */
  for (PetscInt k = 0; k < more; k++) row[k] = target[k] < own ? target[k] : 0;
  PetscCall(PCCAMGExtract_Private(&part, more, row, &F));
  PetscCall(PCCAMGJoin_Private(&F, &E, more, A->n, NULL, NULL, &C));
  PetscCall(PCCAMGMatrixFree_Private(&E));
  PetscCall(PCCAMGMatrixFree_Private(&F));
  E = C;
  PetscCall(PutMatrix(&E, &dE));
  for (int with = 0; with < 2; with++) {
    PetscCall(PCCAMGJoin_Private(&part, &E, with ? own : own + more, A->n, with ? NULL : target, with ? place : NULL, &C));
    DEVICE(LitheCUDACAMGJoin(&dpart, &dE, with ? own : own + more, A->n, with ? NULL : dtarget, with ? dplace : NULL, &result));
    PetscCall(Matrices("joined rows", &C, &result));
    PetscCall(PCCAMGMatrixFree_Private(&C));
  }
  PetscCall(PCCAMGMark_Private(&part, j));
  DEVICE(LitheCUDACAMGMark(&dpart, dj));
  PetscCall(Integers("columns with entries", A->n, j, dj));
  PetscCall(PCCAMGTurn_Private(&part, j));
  DEVICE(LitheCUDACAMGTurn(&dpart, dj));
  PetscCall(Integers("columns of own rows", part.nz, j, dj));
  PetscCall(PutMatrix(&E, &dC));
  PetscCall(PCCAMGRenumber_Private(&E, from, place));
  DEVICE(LitheCUDACAMGRenumber(&dC, from, dplace));
  PetscCall(Matrices("columns with other numbers", &E, &dC));
  PetscCall(FreeMatrix(&dE));
  PetscCall(PCCAMGMatrixFree_Private(&E));
  PetscCall(PetscFree4(row, target, place, j));
  PetscCallRuntime(cudaFree(drow));
  PetscCallRuntime(cudaFree(dtarget));
  PetscCallRuntime(cudaFree(dplace));
  PetscCallRuntime(cudaFree(dj));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of the user, and their copy, which is the finest level */
static PetscErrorCode TestRows(const CAMGMatrix *A, PetscInt block, CAMGMatrix *C)
{
  double     host[2], device[2], *x, *dx;
  PetscInt   hsign, dsign;
  PetscBool  hfinite, dfinite, hermitian;
  CAMGMatrix D, DC;

  PetscFunctionBeginUser;
  PetscCall(PutMatrix(A, &D));
  PetscCall(PCCAMGSurvey_Private(A, host, &hsign, &hfinite));
  DEVICE(LitheCUDACAMGSurvey(&D, device, &dsign, &dfinite));
  if (WRONG(host[0] != device[0] || host[1] != device[1] || hsign != dsign || hfinite != dfinite))
    FAIL("%s: %g %g %d %d on the host, %g %g %d %d", problem, host[0], host[1], (int)hsign, (int)hfinite, device[0], device[1], (int)dsign, (int)dfinite);
  PetscCall(TestForms(A, &D, &hermitian));
  PetscCall(PetscMalloc1(A->m, &x));
  for (PetscInt r = 0; r < A->m; r++) x[r] = 1 + (double)Random(r);
  PetscCall(Put((size_t)A->m * sizeof(*x), x, (void **)&dx));
  if (block == 1) {
    PetscCall(PCCAMGCopy_Private(A, .25, x, x, 1, C));
    DEVICE(LitheCUDACAMGCopy(&D, .25, dx, dx, 1, &DC));
    PetscCall(Matrices("scaled copy", C, &DC));
    PetscCall(PCCAMGMatrixFree_Private(C));
  }
  PetscCall(PCCAMGCopy_Private(A, .5, NULL, NULL, block, C));
  DEVICE(LitheCUDACAMGCopy(&D, .5, NULL, NULL, block, &DC));
  PetscCall(Matrices("copy", C, &DC));
  PetscCall(PCCAMGSetOuter_Private(A->m, A->a, x));
  DEVICE(LitheCUDACAMGSetOuter(A->m, D.a, dx));
  PetscCall(Reals("outer", A->m, x, dx, sizeof(double), 0));
  PetscCall(PetscFree(x));
  PetscCallRuntime(cudaFree(dx));
  PetscCall(FreeMatrix(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of the near null space: numbers, and ones in every third row */
static PetscErrorCode TestColumns(void)
{
  const PetscInt n = 1000, columns = 3;
  PetscScalar   *x, *T, *dx, *dT;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc2(n, &x, n * columns, &T));
  for (PetscInt r = 0; r < n; r++) x[r] = Random(r);
  PetscCall(Put((size_t)n * sizeof(*x), x, (void **)&dx));
  PetscCall(Put((size_t)(n * columns) * sizeof(*T), T, (void **)&dT));
  for (PetscInt c = 0; c < columns; c++) {
    PetscCall(PCCAMGSetColumn_Private(n, columns, c, c == 1 ? x : NULL, c + 1, T));
    DEVICE(LitheCUDACAMGSetColumn(n, columns, c, c == 1 ? dx : NULL, c + 1, dT));
  }
  if (WRONG(PetscRealPart(T[2 * columns]) != 1 || PetscRealPart(T[2 * columns + 2]) != 1 || T[4] != x[1])) FAIL("columns of a near null space");
  PetscCall(Scalars("columns", n * columns, T, dT));
  PetscCall(PetscFree2(x, T));
  PetscCallRuntime(cudaFree(dx));
  PetscCallRuntime(cudaFree(dT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestScales(const CAMGMatrix *A, const CAMGMatrix *D)
{
  const PetscInt n = A->m * A->rb;
  double        *x, *s, *dx, *ds;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &x, n, &s));
  for (PetscInt r = 0; r < n; r++) x[r] = 1 + (double)Random(r);
  PetscCall(Put((size_t)n * sizeof(*x), x, (void **)&dx));
  PetscCall(Put((size_t)n * sizeof(*s), x, (void **)&ds));
  PetscCall(PCCAMGScales_Private(A, s));
  DEVICE(LitheCUDACAMGScales(D, ds));
  PetscCall(Reals("scales", n, s, ds, sizeof(double), 0));
  PetscCall(PCCAMGDivide_Private(n, s, x));
  DEVICE(LitheCUDACAMGDivide(n, ds, dx));
  PetscCall(Reals("quotients", n, x, dx, sizeof(double), 0));
  PetscCall(PetscFree2(x, s));
  PetscCallRuntime(cudaFree(dx));
  PetscCallRuntime(cudaFree(ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGraph(const char *what, const CAMGMatrix *A, const CAMGMatrix *D, PetscReal threshold, CAMGGraph *g, CAMGGraph *dg)
{
  CAMGGraph  own;
  PetscReal *root, *droot;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(A->m, &root));
  PetscCall(PCCAMGRoots_Private(A, root));
  PetscCall(Put((size_t)A->m * sizeof(*root), root, (void **)&droot));
  PetscCall(PCCAMGFilter_Private(A, root, threshold, g));
  DEVICE(LitheCUDACAMGFilter(D, droot, threshold, &own));
  PetscCall(PetscFree(root));
  PetscCallRuntime(cudaFree(droot));
  PetscCall(Scalars(what, A->m, g->d, own.d));
  PetscCallRuntime(cudaFree(own.d));
  PetscCall(Matrices(what, &g->strong, &own.strong));
  PetscCall(PutMatrix(&g->strong, &dg->strong));
  PetscCall(Put((size_t)A->m * sizeof(PetscScalar), g->d, (void **)&dg->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeOperator(CAMGOperator *h, CAMGOperator *d)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(h->i));
  PetscCall(PetscFree(h->j));
  PetscCall(PetscFree(h->code));
  PetscCall(PetscFree(h->d));
  PetscCall(PetscFree(h->minv));
  PetscCallRuntime(cudaFree(d->i));
  PetscCallRuntime(cudaFree(d->j));
  PetscCallRuntime(cudaFree(d->base));
  PetscCallRuntime(cudaFree(d->code));
  PetscCallRuntime(cudaFree(d->d));
  PetscCallRuntime(cudaFree(d->minv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of numbers by slices have the entries of the rows of the host, filled up with codes of 0 */
static PetscErrorCode Slices(const CAMGOperator *h, const CAMGOperator *d)
{
  const int    rows = 32 / d->group, slices = (d->m + rows - 1) / rows;
  const size_t bytes = (size_t)(h->bits / 8) * (sizeof(PetscScalar) / sizeof(PetscReal)), room = (size_t)d->steps * 64;
  int         *i, *base = NULL, wrong = 0;
  char        *j, *code;
  const char   zero[8] = {0};

  PetscFunctionBeginUser;
  PetscCall(Get(((size_t)slices + 1) * sizeof(*i), d->i, (void **)&i));
  if (d->narrow) PetscCall(Get((size_t)d->steps * sizeof(*base), d->base, (void **)&base));
  PetscCall(Get(room * (d->narrow ? 2 : 4), d->j, (void **)&j));
  PetscCall(Get(room * bytes, d->code, (void **)&code));
  for (int s = 0; s < slices; s++) {
    for (int at = 64 * i[s]; at < 64 * i[s + 1]; at++) {
      const int row = s * rows + at / 2 % 32 / d->group, k = ((at / 64 - i[s]) * d->group + at / 2 % d->group) * 2 + at % 2;
      const int c    = d->narrow ? base[at / 64] + ((const uint16_t *)j)[at] : ((const int *)j)[at];
      const int from = row < h->m ? h->i[row] + k : 0, here = row < h->m && from < h->i[row + 1];
      PetscBool same;

      PetscCall(PetscMemcmp(code + (size_t)at * bytes, here ? (const char *)h->code + (size_t)from * bytes : zero, bytes, &same));
      wrong += !same || c < 0 || c >= d->n || (here && c != h->j[from]);
    }
  }
  for (int row = 0; row < h->m; row++) wrong += 2 * d->group * (i[row / rows + 1] - i[row / rows]) < h->i[row + 1] - h->i[row];
  if (WRONG(wrong || i[slices] != d->steps)) FAIL("%s: %d wrong entries in slices of %d bits, %d threads a row", problem, wrong, h->bits, d->group);
  PetscCall(PetscFree(i));
  PetscCall(PetscFree(base));
  PetscCall(PetscFree(j));
  PetscCall(PetscFree(code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operators(const CAMGOperator *h, const CAMGOperator *d)
{
  const int parts = (int)(sizeof(PetscScalar) / sizeof(PetscReal));

  PetscFunctionBeginUser;
  if (WRONG(h->m != d->m || h->n != d->n || h->bits != d->bits || h->nz != d->nz || h->rb != d->rb || h->cb != d->cb))
    FAIL("%s: %d bits, %d blocks of %d x %d on the host; %d, %d of %d x %d", problem, h->bits, h->nz, h->rb, h->cb, d->bits, d->nz, d->rb, d->cb);
  if (d->group && h->bits == d->bits) PetscCall(Slices(h, d));
  if (d->group) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Integers("rows of codes", h->m + 1, h->i, d->i));
  if (h->nz == d->nz && h->bits == d->bits) {
    const size_t bytes = (size_t)(h->nz * h->rb * h->cb) * (size_t)(parts * h->bits / 8);
    char        *code;
    PetscBool    same;

    PetscCall(Integers("columns of codes", h->nz, h->j, d->j));
    PetscCall(Get(bytes, d->code, (void **)&code));
    PetscCall(PetscMemcmp(code, h->code, bytes, &same));
    if (WRONG(!same)) FAIL("%s: codes of %d bits differ", problem, h->bits);
    PetscCall(PetscFree(code));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of both operators, in single precision */
static PetscErrorCode TestApply(const CAMGOperator *host, const CAMGOperator *device)
{
  const PetscInt parts = (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal)), m = parts * host->m * host->rb,
                 n = parts * PetscMax(host->m * host->rb, host->n * host->cb);
  CAMGOperator h = *host, d = *device;
  float       *x, *y, *dx, *dy;

  PetscFunctionBeginUser;
  h.single = d.single = 1;
  PetscCall(PetscCalloc2(n, &x, m, &y));
  for (PetscInt r = 0; r < n; r++) x[r] = (float)Random(r);
  PetscCall(Put((size_t)n * sizeof(*x), x, (void **)&dx));
  PetscCall(Put((size_t)m * sizeof(*y), y, (void **)&dy));
  PetscCall((*CAMGHostKernels.level.transfer)(&h, PETSC_TRUE, x, y));
  DEVICE(LitheCUDACAMGTransfer(&d, PETSC_TRUE, dx, dy));
  PetscCall(Reals("product", m, y, dy, sizeof(float), 1e-5));
  PetscCall(PetscFree2(x, y));
  PetscCallRuntime(cudaFree(dx));
  PetscCallRuntime(cudaFree(dy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L of a Hermitian matrix M, by columns, beside that of the host */
static PetscErrorCode TestInvert(const CAMGMatrix *D, const double ds[], PetscInt n, PetscScalar M[])
{
  const size_t    parts = sizeof(PetscScalar) / sizeof(PetscReal);
  LitheMGCoarsest h, d;
  PetscBool       good, done;

  PetscFunctionBeginUser;
  PetscCall(LitheMGCoarsestCreate(n, M, PETSC_TRUE, PETSC_FALSE, &LitheHostMemory, &h, &good));
  PetscCall(LitheMGCoarsestAlloc(n, PETSC_TRUE, PETSC_FALSE, &LitheDeviceMemory, &d));
  DEVICE(LitheCUDACAMGInvert(D, ds, &d, &done));
  if (WRONG(good && !h.singular && !done)) FAIL("%s: no inverse", problem);
  if (done) PetscCall(Reals("inverse", (PetscInt)((size_t)n * (size_t)n * parts), h.L, d.L, sizeof(double), 1e-8));
  PetscCall(LitheMGCoarsestFree(&h));
  PetscCall(LitheMGCoarsestFree(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestEncode(const CAMGMatrix *A, const CAMGMatrix *D, PetscInt bits, PetscBool sums)
{
  const CAMGShare alone = {.ctx = NULL};
  const PetscInt  n = A->m * A->rb, parts = (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal));
  CAMGOperator    h = {.i = NULL}, d = {.i = NULL};
  double         *s, *ds;
  PetscReal       hbound, dbound;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &s));
  PetscCall(PCCAMGScales_Private(A, s));
  PetscCall(Put((size_t)n * sizeof(*s), s, (void **)&ds));
  PetscCall(PCCAMGEncode_Private(A, s, bits, sums, &alone, &h, &hbound));
  DEVICE(LitheCUDACAMGEncode(D, ds, bits, sums, &alone, &d, &dbound));
  if (WRONG(PetscAbsReal(hbound - dbound) > 1e-5)) FAIL("%s: bound %g on the host, %g", problem, (double)hbound, (double)dbound);
  PetscCall(Operators(&h, &d));
  PetscCall(Reals("diagonal", parts * n, h.d, d.d, sizeof(float), 1e-7));
  PetscCall(Reals("smoother", n, h.minv, d.minv, sizeof(float), 1e-5)); /* as exact as the bound */
  PetscCall(TestApply(&h, &d));
  PetscCall(FreeOperator(&h, &d));
  if (n <= 1000) {
    PetscScalar *M, *N;
    PetscReal    error     = 0;
    PetscBool    hermitian = PETSC_TRUE;

    PetscCall(PetscCalloc2(n * n, &M, n * n, &N));
    PetscCall(PCCAMGGetDense_Private(A, s, M));
    DEVICE(LitheCUDACAMGGetDense(D, ds, N));
    for (PetscInt k = 0; k < n * n; k++) error = PetscMax(error, PetscAbsScalar(M[k] - N[k]));
    if (WRONG(error > TOLERANCE)) FAIL("%s: dense matrix, error %g", problem, (double)error);
    if (A->rb == 1) PetscCall(TestForms(A, D, &hermitian));
    if (hermitian && !PetscDefined(USE_COMPLEX)) PetscCall(TestInvert(D, ds, n, M));
    PetscCall(PetscFree2(M, N));
  }
  PetscCall(PetscFree(s));
  PetscCallRuntime(cudaFree(ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestEncodeTransfer(const CAMGMatrix *P, const CAMGMatrix *D, PetscBool inverse)
{
  const PetscInt most = PetscMax(P->m * P->rb, P->n * P->cb);
  CAMGOperator   h = {.i = NULL}, d = {.i = NULL};
  double        *s, *ds;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(most, &s));
  for (PetscInt r = 0; r < most; r++) s[r] = ldexp(1., (int)(r % 7) - 3);
  PetscCall(Put((size_t)most * sizeof(*s), s, (void **)&ds));
  PetscCall(PCCAMGEncodeTransfer_Private(P, s, s, inverse, &h));
  DEVICE(LitheCUDACAMGEncodeTransfer(D, ds, ds, inverse, &d));
  PetscCall(Operators(&h, &d));
  PetscCall(TestApply(&h, &d));
  PetscCall(FreeOperator(&h, &d));
  PetscCall(PetscFree(s));
  PetscCallRuntime(cudaFree(ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pairs, and the composition with themselves */
static PetscErrorCode TestPairs(const CAMGMatrix *A, const CAMGMatrix *D, PetscReal threshold)
{
  const size_t bytes = (size_t)A->m * sizeof(PetscInt);
  PetscInt    *agg, *dagg, *next, pairs, dpairs;
  PetscReal   *root, *droot;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(A->m, &agg, A->m, &next, A->m, &root));
  PetscCallRuntime(cudaMalloc((void **)&dagg, bytes));
  PetscCall(PCCAMGRoots_Private(A, root));
  PetscCall(Put((size_t)A->m * sizeof(*root), root, (void **)&droot));
  PetscCall(PCCAMGPairs_Private(A, root, threshold, agg, &pairs));
  DEVICE(LitheCUDACAMGPairs(D, droot, threshold, dagg, &dpairs));
  PetscCallRuntime(cudaFree(droot));
  if (WRONG(pairs != dpairs)) FAIL("%s: %d pairs on the host, %d", problem, (int)pairs, (int)dpairs);
  PetscCall(Integers("pairs", A->m, agg, dagg));
  PetscCallRuntime(cudaFree(dagg));
  PetscCall(Put(bytes, agg, (void **)&dagg));
  PetscCall(PetscArraycpy(next, agg, A->m));
  PetscCall(PCCAMGCompose_Private(A->m, next, agg));
  {
    PetscInt *dnext;

    PetscCall(Put(bytes, next, (void **)&dnext));
    DEVICE(LitheCUDACAMGCompose(A->m, dnext, dagg));
    PetscCall(Integers("composition", A->m, agg, dagg));
    PetscCallRuntime(cudaFree(dnext));
  }
  PetscCallRuntime(cudaFree(dagg));
  PetscCall(PetscFree3(agg, next, root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P in all forms; that with the given damping and truncation stays */
static PetscErrorCode TestSmooth(const CAMGGraph *F, const CAMGGraph *dF, const CAMGSpace *space, const CAMGSpace *dspace, const PetscInt agg[],
                                 const PetscInt dagg[], PetscInt aggregates, PetscInt truncate, CAMGMatrix *P)
{
  const PetscInt most[] = {2, 0, truncate};
  PetscReal     *damping, *ddamping;
  CAMGMatrix     dP;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(F->strong.m * F->strong.rb, &damping));
  PetscCallRuntime(cudaMalloc((void **)&ddamping, (size_t)(F->strong.m * F->strong.rb) * sizeof(PetscReal)));
  PetscCall(PCCAMGDamping_Private(F, (PetscReal)0.9, damping));
  DEVICE(LitheCUDACAMGDamping(dF, (PetscReal)0.9, ddamping));
  PetscCall(Reals("damping", F->strong.m * F->strong.rb, damping, ddamping, sizeof(PetscReal), TOLERANCE));
  PetscCallRuntime(cudaFree(ddamping));
  PetscCall(Put((size_t)(F->strong.m * F->strong.rb) * sizeof(PetscReal), damping, (void **)&ddamping));
  PetscCall(PCCAMGSmooth_Private(F, NULL, space, agg, aggregates, 0, P));
  DEVICE(LitheCUDACAMGSmooth(dF, NULL, dspace, dagg, aggregates, 0, &dP));
  PetscCall(Matrices("tentative matrix", P, &dP));
  for (int k = 0; k < 3; k++) {
    PetscCall(PCCAMGMatrixFree_Private(P));
    PetscCall(PCCAMGSmooth_Private(F, damping, space, agg, aggregates, most[k], P));
    DEVICE(LitheCUDACAMGSmooth(dF, ddamping, dspace, dagg, aggregates, most[k], &dP));
    PetscCall(Matrices(k == 0 ? "truncated to two" : (k == 1 ? "smooth, all entries" : "smooth"), P, &dP));
  }
  PetscCall(PetscFree(damping));
  PetscCallRuntime(cudaFree(ddamping));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A B on a device, with sizes of rows unknown, and known from before */
static PetscErrorCode TestMultiply(const char *what, const CAMGMatrix *A, const CAMGMatrix *B, const CAMGMatrix *result)
{
  CAMGMatrix C;

  PetscFunctionBeginUser;
  for (int known = 0; known < 2; known++) {
    C = (CAMGMatrix){.nz = known ? result->nz : 0};
    if (known) PetscCall(Put(((size_t)result->m + 1) * sizeof(*C.i), result->i, (void **)&C.i));
    DEVICE(LitheCUDACAMGMultiply(A, B, &C));
    PetscCall(Matrices(what, result, &C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProducts(const CAMGMatrix *A, const CAMGMatrix *D, const CAMGMatrix *P, CAMGMatrix *C)
{
  CAMGMatrix     R, AP, dP, dR, dAP, own;
  PetscReal     *d, *dd;
  unsigned char *null, *dnull;
  PetscBool      any, dany;

  PetscFunctionBeginUser;
  PetscCall(PutMatrix(P, &dP));
  PetscCall(PCCAMGTranspose_Private(P, &R));
  DEVICE(LitheCUDACAMGTranspose(&dP, &own));
  PetscCall(Matrices("transpose", &R, &own));
  PetscCall(PutMatrix(&R, &dR));
  PetscCall(PCCAMGMultiply_Private(A, P, &AP));
  PetscCall(TestMultiply("A P", D, &dP, &AP));
  PetscCall(PutMatrix(&AP, &dAP));
  PetscCall(PCCAMGMultiply_Private(&R, &AP, C));
  PetscCall(TestMultiply("R A P", &dR, &dAP, C));
  /* some diagonal entries become rounding errors */
  for (PetscInt v = 0; v < C->m; v += 7) {
    for (PetscInt k = C->i[v]; k < C->i[v + 1]; k++) {
      if (C->j[k] == v) C->a[k * C->rb * C->cb] *= 1e-16;
    }
  }
  PetscCall(PutMatrix(C, &own));
  PetscCall(PetscMalloc2(A->m * A->rb, &d, C->m * C->rb, &null));
  PetscCallRuntime(cudaMalloc((void **)&dd, (size_t)(A->m * A->rb) * sizeof(*d)));
  PetscCallRuntime(cudaMalloc((void **)&dnull, (size_t)(C->m * C->rb)));
  PetscCall(PCCAMGModuli_Private(A, d));
  DEVICE(LitheCUDACAMGModuli(D, dd));
  PetscCall(Reals("moduli", A->m * A->rb, d, dd, sizeof(*d), TOLERANCE));
  PetscCall(PCCAMGFindNull_Private(&R, d, C, null, &any));
  DEVICE(LitheCUDACAMGFindNull(&dR, dd, &own, dnull, &dany));
  if (WRONG(!any || !dany)) FAIL("%s: null vectors %d on the host, %d", problem, (int)any, (int)dany);
  PetscCall(PCCAMGClearNull_Private(null, C));
  DEVICE(LitheCUDACAMGClearNull(dnull, &own));
  PetscCall(Matrices("clean", C, &own));
  PetscCall(PetscFree2(d, null));
  PetscCallRuntime(cudaFree(dd));
  PetscCallRuntime(cudaFree(dnull));
  PetscCall(PCCAMGMatrixFree_Private(C));
  PetscCall(PCCAMGMultiply_Private(&R, &AP, C));
  PetscCall(TestEncodeTransfer(P, &dP, PETSC_FALSE));
  PetscCall(TestEncodeTransfer(&R, &dR, PETSC_TRUE));
  PetscCall(PCCAMGMatrixFree_Private(&R));
  PetscCall(PCCAMGMatrixFree_Private(&AP));
  PetscCall(FreeMatrix(&dP));
  PetscCall(FreeMatrix(&dR));
  PetscCall(FreeMatrix(&dAP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S = (A + A^H) / 2 */
static PetscErrorCode TestMean(const CAMGMatrix *A, const CAMGMatrix *D, CAMGMatrix *S)
{
  CAMGMatrix H, dH, own;

  PetscFunctionBeginUser;
  PetscCall(PCCAMGTranspose_Private(A, &H));
  DEVICE(LitheCUDACAMGTranspose(D, &own));
  PetscCall(Matrices("adjoint", &H, &own));
  PetscCall(PutMatrix(&H, &dH));
  PetscCall(PCCAMGMean_Private(A, &H, S));
  DEVICE(LitheCUDACAMGMean(D, &dH, &own));
  PetscCall(Matrices("symmetric part", S, &own));
  PetscCall(PCCAMGMatrixFree_Private(&H));
  PetscCall(FreeMatrix(&dH));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestConjugate(const CAMGGraph *F, const CAMGGraph *dF)
{
  const PetscInt n = F->strong.m;
  PetscScalar   *d, *dd;

  PetscFunctionBeginUser;
  if (!F->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &d));
  PetscCallRuntime(cudaMalloc((void **)&dd, (size_t)n * sizeof(*d)));
  PetscCall(PCCAMGConjugate_Private(n, F->d, d));
  DEVICE(LitheCUDACAMGConjugate(n, dF->d, dd));
  PetscCall(Scalars("conjugates", n, d, dd));
  PetscCall(PetscFree(d));
  PetscCallRuntime(cudaFree(dd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A level, and the next one. A and the space are freed */
static PetscErrorCode TestLevel(CAMGMatrix *A, CAMGSpace *space, PetscBool symmetric, PetscReal threshold, CAMGMatrix *C, CAMGSpace *coarse)
{
  const PetscInt    nodes = A->m, size = A->m * A->rb;
  CAMGMatrix        D, N               = {.i = NULL}, dN, S, dS, own, P;
  CAMGGraph         g, dg, F, dF;
  CAMGSpace         dspace = *space, dcoarse;
  const CAMGMatrix *B = A, *dB = &D;
  PetscInt         *agg, *dagg, aggregates, daggregates;

  PetscFunctionBeginUser;
  PetscCall(PutMatrix(A, &D));
  PetscCall(TestScales(A, &D));
  for (PetscInt bits = 8; bits <= 32; bits *= 2) PetscCall(TestEncode(A, &D, bits, (PetscBool)(space->columns == 1)));
  if (space->block > 1) {
    PetscCall(PCCAMGNorms_Private(A, &N));
    DEVICE(LitheCUDACAMGNorms(&D, &own));
    PetscCall(Matrices("norms", &N, &own));
    PetscCall(PutMatrix(&N, &dN));
    B  = &N;
    dB = &dN;
  }
  PetscCall(TestJoin(A, &D));
  if (B != A) {
    PetscCall(TestMean(A, &D, &S));
    PetscCall(PCCAMGMatrixFree_Private(&S));
  }
  PetscCall(TestMean(B, dB, &S));
  PetscCall(PutMatrix(&S, &dS));
  PetscCall(TestGraph("strong entries", symmetric ? B : &S, symmetric ? dB : &dS, threshold, &g, &dg));
  PetscCall(PetscMalloc1(nodes, &agg));
  PetscCallRuntime(cudaMalloc((void **)&dagg, (size_t)nodes * sizeof(*agg)));
  PetscCall(PCCAMGAggregate_Private(&g, agg, &aggregates));
  DEVICE(LitheCUDACAMGAggregate(&dg, dagg, &daggregates));
  if (WRONG(aggregates != daggregates)) FAIL("%s: %d aggregates on the host, %d", problem, (int)aggregates, (int)daggregates);
  PetscCall(Integers("aggregates", nodes, agg, dagg));
  PetscCallRuntime(cudaFree(dagg));
  PetscCall(Put((size_t)nodes * sizeof(*agg), agg, (void **)&dagg));
  PetscCall(TestPairs(&S, &dS, threshold));
  if (space->T) PetscCall(Put((size_t)(size * space->columns) * sizeof(PetscScalar), space->T, (void **)&dspace.T));
  PetscCall(PCCAMGTentative_Private(space, nodes, agg, aggregates, coarse));
  DEVICE(LitheCUDACAMGTentative(&dspace, nodes, dagg, aggregates, &dcoarse));
  if (space->T) {
    PetscCall(Scalars("tentative", size * space->columns, space->T, dspace.T));
    PetscCall(Scalars("coarse space", aggregates * space->columns * space->columns, coarse->T, dcoarse.T));
    PetscCallRuntime(cudaFree(dcoarse.T));
    PetscCallRuntime(cudaFree(dspace.T));
    PetscCall(Put((size_t)(size * space->columns) * sizeof(PetscScalar), space->T, (void **)&dspace.T));
  }
  if (space->block == 1) PetscCall(TestGraph("filtered matrix", A, &D, threshold, &F, &dF));
  else {
    F  = (CAMGGraph){.strong = *A};
    dF = (CAMGGraph){.strong = D};
  }
  PetscCall(TestConjugate(&F, &dF));
  PetscCall(TestSmooth(&F, &dF, space, &dspace, agg, dagg, aggregates, 4, &P));
  PetscCall(TestProducts(A, &D, &P, C));
  PetscCall(PCCAMGMatrixFree_Private(&P));
  PetscCall(PCCAMGMatrixFree_Private(&S));
  PetscCall(PCCAMGMatrixFree_Private(&g.strong));
  PetscCall(PetscFree(g.d));
  PetscCall(PetscFree(agg));
  PetscCall(PetscFree(space->T));
  if (space->block > 1) {
    PetscCall(PCCAMGMatrixFree_Private(&N));
    PetscCall(FreeMatrix(&dN));
  }
  PetscCall(PCCAMGMatrixFree_Private(A));
  PetscCall(FreeMatrix(&D));
  PetscCall(FreeMatrix(&dS));
  PetscCall(FreeMatrix(&dg.strong));
  PetscCallRuntime(cudaFree(dg.d));
  if (space->block == 1) {
    PetscCall(PCCAMGMatrixFree_Private(&F.strong));
    PetscCall(PetscFree(F.d));
    PetscCall(FreeMatrix(&dF.strong));
    PetscCallRuntime(cudaFree(dF.d));
  }
  PetscCallRuntime(cudaFree(dagg));
  if (dspace.T) PetscCallRuntime(cudaFree(dspace.T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProblem(const char *name, CAMGMatrix *A, CAMGSpace *space, PetscBool symmetric)
{
  PetscReal  threshold = (PetscReal)0.08;
  PetscInt   level     = 0;
  CAMGMatrix copy;

  PetscFunctionBeginUser;
  problem = name;
  PetscCall(TestRows(A, space->block, &copy));
  PetscCall(PCCAMGMatrixFree_Private(A));
  *A = copy;
  for (; level < LEVELS && A->m > 60; level++, threshold /= 2) {
    CAMGMatrix C;
    CAMGSpace  coarse;

    if (times) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, level %d: %d rows, %d entries\n", name, (int)level, (int)A->m, (int)A->nz));
    PetscCall(TestLevel(A, space, symmetric, threshold, &C, &coarse));
    *A     = C;
    *space = coarse;
    if (!space->T) space->block = space->columns = 1;
  }
  PetscCall(PCCAMGMatrixFree_Private(A));
  PetscCall(PetscFree(space->T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Codes of more rows than a thread each would keep a device busy: columns of a slice are near, and are not */
static PetscErrorCode TestLarge(PetscInt n, PetscInt nz)
{
  CAMGMatrix A, D;

  PetscFunctionBeginUser;
  problem = "many rows";
  PetscCall(Laplacian(n, nz, PETSC_TRUE, 0, &A));
  PetscCall(PutMatrix(&A, &D));
  PetscCall(TestEncode(&A, &D, 8, PETSC_TRUE));
  PetscCall(TestEncode(&A, &D, 32, PETSC_TRUE));
  PetscCall(FreeMatrix(&D));
  PetscCall(PCCAMGMatrixFree_Private(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A process without rows has columns, of other processes. Nothing may be read */
static PetscErrorCode TestEmpty(PetscInt block)
{
  const PetscInt  n = 5, zero[5] = {0, 0, 0, 0, 0};
  const CAMGShare alone = {.ctx = NULL};
  CAMGMatrix      A     = {.n = n, .rb = block, .cb = block}, N, S, H, P, C;
  CAMGGraph       g;
  CAMGSpace       space = {.block = block, .columns = block}, coarse;
  CAMGOperator    op    = {.i = NULL};
  PetscInt       *agg, aggregates = 7, sign;
  PetscReal      *root, bound;
  double         *s, largest[2], sum[CAMG_FORMS];
  PetscBool       finite;

  PetscFunctionBeginUser;
  problem = "no rows";
  PetscCall(Put(sizeof(*zero), zero, (void **)&A.i));
  PetscCall(Put(sizeof(zero), zero, (void **)&agg));
  PetscCall(LitheDeviceAlloc(0, (void **)&A.j));
  PetscCall(LitheDeviceAlloc(0, (void **)&A.a));
  PetscCallRuntime(cudaMalloc((void **)&root, (size_t)n * sizeof(*root)));
  PetscCallRuntime(cudaMalloc((void **)&s, (size_t)(n * block) * sizeof(*s)));
  if (block == 1) {
    PetscCall(LitheCUDACAMGSurvey(&A, largest, &sign, &finite));
    PetscCall(LitheCUDACAMGForms(&A, root, 0, agg, sum));
    if (WRONG(!finite || sign || largest[1] != 0 || sum[4] != 0)) FAIL("a survey of no rows");
  }
  PetscCall(LitheCUDACAMGNorms(&A, &N));
  PetscCall(LitheCUDACAMGRoots(&N, root));
  PetscCall(LitheCUDACAMGFilter(&N, root, 0.1, &g));
  PetscCall(LitheCUDACAMGAggregate(&g, agg, &aggregates));
  if (WRONG(g.strong.nz || aggregates)) FAIL("%d aggregates of no rows", (int)aggregates);
  aggregates = 7;
  PetscCall(LitheCUDACAMGPairs(&N, root, 0.1, agg, &aggregates));
  if (WRONG(aggregates)) FAIL("%d pairs of no rows", (int)aggregates);
  PetscCall(LitheDeviceAlloc(0, (void **)&space.T));
  PetscCall(LitheCUDACAMGTentative(&space, 0, agg, 0, &coarse));
  PetscCall(LitheCUDACAMGDamping(&g, 1, root));
  PetscCall(LitheCUDACAMGSmooth(&g, root, &space, agg, n, 4, &P));
  PetscCall(LitheCUDACAMGTranspose(&P, &H));
  C.i = NULL;
  PetscCall(LitheCUDACAMGMultiply(&H, &P, &C));
  PetscCall(LitheCUDACAMGMean(&A, &A, &S));
  if (WRONG(P.nz || H.m != n || C.m != n || C.nz || S.nz)) FAIL("products of no rows have %d, %d, %d entries", (int)P.nz, (int)C.nz, (int)S.nz);
  PetscCall(LitheCUDACAMGScales(&A, s));
  PetscCall(LitheCUDACAMGEncode(&A, s, 8, PETSC_TRUE, &alone, &op, &bound));
  if (WRONG(op.nz || bound != 1)) FAIL("a level without rows: bound %g", (double)bound);
  PetscCallRuntime(cudaDeviceSynchronize());
  PetscCall(FreeMatrix(&A));
  PetscCall(FreeMatrix(&N));
  PetscCall(FreeMatrix(&S));
  PetscCall(FreeMatrix(&H));
  PetscCall(FreeMatrix(&P));
  PetscCall(FreeMatrix(&C));
  PetscCall(FreeMatrix(&g.strong));
  PetscCallRuntime(cudaFree(g.d));
  PetscCallRuntime(cudaFree(space.T));
  PetscCallRuntime(cudaFree(coarse.T));
  PetscCallRuntime(cudaFree(agg));
  PetscCallRuntime(cudaFree(root));
  PetscCallRuntime(cudaFree(s));
  PetscCall(FreeOperator(&(CAMGOperator){.i = NULL}, &op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool  large = PETSC_TRUE;
  PetscInt   n     = 24;
  CAMGMatrix A;
  CAMGSpace  one = {.block = 1, .columns = 1}, space;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-large", &large, NULL));
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(TestColumns());
  PetscCall(TestEmpty(1));
  PetscCall(TestEmpty(3));
  space = one;
  PetscCall(Laplacian(n, n, PETSC_FALSE, 0, &A));
  PetscCall(TestProblem("Laplacian", &A, &space, PETSC_TRUE));
  space = one;
  PetscCall(Laplacian(n, n + 3, PETSC_TRUE, 0, &A));
  PetscCall(TestProblem("jumps", &A, &space, PETSC_TRUE));
  space = one;
  PetscCall(Laplacian(n + 2, n, PETSC_FALSE, 3, &A));
  PetscCall(TestProblem("upwind", &A, &space, PETSC_FALSE));
  space = one;
  PetscCall(Graph(20000, 4, 6000, (PetscReal)0.1, &A));
  PetscCall(TestProblem("hubs", &A, &space, PETSC_TRUE));
  space = one;
  PetscCall(Graph(3000, 40, 700, (PetscReal)0.1, &A));
  PetscCall(TestProblem("many hubs", &A, &space, PETSC_TRUE));
  space = one;
  PetscCall(Graph(9000, 0, 0, 5, &A)); /* few strong entries */
  PetscCall(TestProblem("weak graph", &A, &space, PETSC_TRUE));
  PetscCall(Blocks(PetscMin(n, 20) / 2, 3, &A, &space));
  PetscCall(TestProblem("blocks of 3, rigid body modes", &A, &space, PETSC_TRUE));
  PetscCall(Blocks(PetscMin(n, 20) / 2, 2, &A, &space));
  PetscCall(TestProblem("blocks of 2", &A, &space, PETSC_TRUE));
  PetscCall(Blocks(PetscMin(n, 12) / 2, 5, &A, &space));
  PetscCall(TestProblem("blocks of 5", &A, &space, PETSC_TRUE));
  if (large) {
    PetscCall(TestLarge(100, 14));
    PetscCall(TestLarge(300, 2)); /* entries of a step span 90 000 columns */
  }
  return TestEnd(400, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    requires: cuda !defined(PETSC_USE_64BIT_INDICES)

TEST*/
