/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Off-diagonal blocks in which few rows have entries, on the host; cuda/hyb/offdiagonal.cu has the same for devices */

#include <lithe/private/litheoffdiagonal.h>
#if defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

/* Nonempty rows are at both ends of the m rows: the longest run of empty rows lies between */
static void OffDiagonalGetEnds(PetscInt m, LitheOffDiagonal *d)
{
  PetscInt most = -1;

  d->end[0] = d->end[1] = 0;
  for (PetscInt k = 0; k <= d->nrows; k++) {
    const PetscInt begin = k ? d->row[k - 1] + 1 : 0, end = k < d->nrows ? d->row[k] : m;

    if (end - begin <= most) continue;
    most      = end - begin;
    d->end[0] = begin;
    d->end[1] = m - end;
  }
}

PetscErrorCode LitheOffDiagonalCreate(PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar a[], LitheOffDiagonal *d)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < m; r++) n += i[r + 1] > i[r];
  d->nrows = n;
  d->nz    = i[m] - i[0];
  PetscCall(PetscMalloc1(n, &d->row));
  PetscCall(PetscMalloc1(n + 1, &d->rowptr));
  PetscCall(PetscMalloc1(d->nz, &d->col));
  PetscCall(PetscMalloc1(d->nz, &d->value));

  /* empty rows take no space: the entries keep the order of the matrix */
  n            = 0;
  d->rowptr[0] = 0;
  for (PetscInt r = 0; r < m; r++) {
    if (i[r + 1] == i[r]) continue;
    d->row[n]      = r;
    d->rowptr[++n] = i[r + 1] - i[0];
  }
  OffDiagonalGetEnds(m, d);
  PetscCall(PetscArraycpy(d->col, PetscSafePointerPlusOffset(j, i[0]), d->nz));
  PetscCall(PetscArraycpy(d->value, PetscSafePointerPlusOffset(a, i[0]), d->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheOffDiagonalDestroy(LitheOffDiagonal *d)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(d->row));
  PetscCall(PetscFree(d->rowptr));
  PetscCall(PetscFree(d->col));
  PetscCall(PetscFree(d->value));
  d->nrows = d->nz = d->end[0] = d->end[1] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheOffDiagonalAdd(const LitheOffDiagonal *d, const LitheStep *step, const PetscScalar ghost[], PetscScalar y[])
{
  const PetscReal scale = step ? step->scale : 1;
  const PetscInt  nsums = step ? step->nsums : 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < d->nrows; r++) {
    PetscScalar sum = 0;

    for (PetscInt k = d->rowptr[r]; k < d->rowptr[r + 1]; k++) sum += d->value[k] * ghost[d->col[k]];
    sum *= scale;
    y[d->row[r]] += sum;
    for (PetscInt q = 0; q < nsums; q++) step->sum[q][d->row[r]] += step->weight[q] * sum;
  }
  PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)d->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
PetscErrorCode LitheOffDiagonalEnd(const LitheOffDiagonal *d, LitheHalo halo, const LitheStep *step, PetscScalar dy[])
{
  LitheHaloEpoch epoch;
  cudaStream_t   stream;
  const void    *dghost;

  PetscFunctionBegin;
  PetscCall(LitheHaloReceive(halo, &epoch, &dghost));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDAOffDiagonalAdd(d, &epoch, step, (const PetscScalar *)dghost, dy, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
