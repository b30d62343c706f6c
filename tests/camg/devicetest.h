/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   For tests of PCCAMG's set-up on a device: device memory, and comparisons with the host
*/

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

static inline PetscErrorCode Put(size_t bytes, const void *host, void **device)
{
  PetscFunctionBeginUser;
  PetscCallRuntime(cudaMalloc(device, bytes + 1));
  PetscCallRuntime(cudaMemcpy(*device, host, bytes, cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Get(size_t bytes, const void *device, void **host)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(bytes + 1, host));
  PetscCallRuntime(cudaDeviceSynchronize());
  PetscCallRuntime(cudaMemcpy(*host, device, bytes, cudaMemcpyDeviceToHost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode PutMatrix(const CAMGMatrix *A, CAMGMatrix *D)
{
  PetscFunctionBeginUser;
  *D = *A;
  PetscCall(Put((size_t)(A->m + 1) * sizeof(PetscInt), A->i, (void **)&D->i));
  PetscCall(Put((size_t)A->nz * sizeof(PetscInt), A->j, (void **)&D->j));
  PetscCall(Put((size_t)(A->nz * A->rb * A->cb) * sizeof(PetscScalar), A->a, (void **)&D->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode FreeMatrix(CAMGMatrix *D)
{
  PetscFunctionBeginUser;
  PetscCallRuntime(cudaFree(D->i));
  PetscCallRuntime(cudaFree(D->j));
  PetscCallRuntime(cudaFree(D->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode FreeOperator(CAMGOperator *h, CAMGOperator *d)
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

/* ------------------------------------------------------------ comparisons */

static inline PetscErrorCode Integers(const char *what, PetscInt n, const PetscInt host[], const PetscInt device[])
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
static inline PetscErrorCode Reals(const char *what, PetscInt n, const void *host, const void *device, size_t bytes, PetscReal tolerance)
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

static inline PetscErrorCode Scalars(const char *what, PetscInt n, const PetscScalar host[], const PetscScalar device[])
{
  PetscFunctionBeginUser;
  PetscCall(Reals(what, n * (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal)), host, device, sizeof(PetscReal), TOLERANCE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* D is freed */
static inline PetscErrorCode Matrices(const char *what, const CAMGMatrix *A, CAMGMatrix *D)
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

/* ------------------------------------------------------------ forms */

/* Whether a matrix is Hermitian, on the host and on the device. The last rows are those of another process */
static inline PetscErrorCode TestForms(const CAMGMatrix *A, const CAMGMatrix *D, PetscBool *hermitian)
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
