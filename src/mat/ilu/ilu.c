/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   MATSOLVERLITHE: ILU(0) in the natural ordering of a MATSEQAIJCUSPARSE, made and applied on its device.

   PETSc's own factored matrix, on the host, takes the place of the device's where that cannot be: another ordering, fill-in,
   a shift of pivots, a pivot that is zero or no number, rows that are very long, and more levels than pay on a device.
   Solves with the transpose are on the host, too.
*/

#include "ilu.h"
#include <lithe/private/litheimpl.h>
#include <petsc/private/matimpl.h>
#include <petscdevice_cuda.h>

/* A triangle on the host */
typedef struct {
  PetscInt    *i, *j;
  PetscScalar *a;
} HostTriangle;

typedef struct {
  LitheDeviceFactor *device; /* NULL: host has the factors */
  Mat                host;   /* PETSc's; NULL: not there */
  IS                 row, col;
  MatFactorInfo      info;
  PetscLogDouble     nz;
  HostTriangle       lower, upper; /* copies for solves with the transpose, made at the first one; i NULL: none yet */
  PetscScalar       *inverse;
  Vec                work;
} Mat_LitheFactor;

static PetscErrorCode HostCopiesFree(Mat_LitheFactor *f)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(f->lower.i, f->lower.j, f->lower.a));
  PetscCall(PetscFree3(f->upper.i, f->upper.j, f->upper.a));
  PetscCall(PetscFree(f->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HostCopy(const LitheDeviceTriangle *t, HostTriangle *h)
{
  const size_t n = (size_t)t->n, nz = (size_t)t->nz;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n + 1, &h->i, nz, &h->j, nz, &h->a));
  PetscCallCUDA(cudaMemcpy(h->i, t->i, (n + 1) * sizeof(*h->i), cudaMemcpyDeviceToHost));
  if (nz) PetscCallCUDA(cudaMemcpy(h->j, t->j, nz * sizeof(*h->j), cudaMemcpyDeviceToHost));
  if (nz) PetscCallCUDA(cudaMemcpy(h->a, t->a, nz * sizeof(*h->a), cudaMemcpyDeviceToHost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatReset_LitheFactor(Mat_LitheFactor *f)
{
  PetscFunctionBegin;
  PetscCall(LitheCUDAFactorDestroy(&f->device));
  PetscCall(MatDestroy(&f->host));
  PetscCall(HostCopiesFree(f));
  PetscCall(ISDestroy(&f->row));
  PetscCall(ISDestroy(&f->col));
  PetscCall(VecDestroy(&f->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_LitheFactor(Mat F)
{
  PetscFunctionBegin;
  PetscCall(MatReset_LitheFactor((Mat_LitheFactor *)F->data));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
  PetscCall(PetscFree(F->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorGetSolverType_Lithe(Mat F, MatSolverType *type)
{
  PetscFunctionBegin;
  (void)F;
  *type = MATSOLVERLITHE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInfo_LitheFactor(Mat F, MatInfoType flag, MatInfo *info)
{
  const Mat_LitheFactor *f = (const Mat_LitheFactor *)F->data;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  if (f->host) PetscCall(MatGetInfo(f->host, flag, info));
  else {
    info->nz_allocated = info->nz_used = f->nz;
    info->fill_ratio_given = info->fill_ratio_needed = 1.0;
    info->memory                                     = f->nz * (sizeof(PetscScalar) + sizeof(PetscInt));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_LitheFactor(Mat F, PetscViewer viewer)
{
  const Mat_LitheFactor *f = (const Mat_LitheFactor *)F->data;
  PetscBool              ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (f->device)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  factors on the device: %" PetscInt_FMT " and %" PetscInt_FMT " levels\n", f->device->lower.nlevels,
                                     f->device->upper.nlevels));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  factors on the host, by PETSc\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- PETSc's factors, on the host ---- */

static PetscErrorCode MatCreateFactor_Host(const Mat_LitheFactor *f, Mat A, Mat *host)
{
  IS  row = f->row, col = f->col;
  Mat F;

  PetscFunctionBegin;
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, MAT_FACTOR_ILU, &F));
  PetscCall(MatILUFactorSymbolic(F, A, row, col, &f->info));
  *host = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatLUFactorNumeric_Host(Mat F, Mat A, const MatFactorInfo *info)
{
  Mat_LitheFactor *f = (Mat_LitheFactor *)F->data;

  PetscFunctionBegin;
  PetscCall(MatLUFactorNumeric(f->host, A, info));
  F->factorerrortype             = f->host->factorerrortype;
  F->factorerror_zeropivot_value = f->host->factorerror_zeropivot_value;
  F->factorerror_zeropivot_row   = f->host->factorerror_zeropivot_row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Factorization ---- */

static PetscErrorCode MatLUFactorNumeric_LitheFactor(Mat F, Mat A, const MatFactorInfo *info)
{
  Mat_LitheFactor   *f = (Mat_LitheFactor *)F->data;
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           row;

  PetscFunctionBegin;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  PetscCall(HostCopiesFree(f));
  if (f->device) {
    PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &i, &j));
    PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, &a));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(LitheCUDAFactorNumeric(f->device, i, a, info->zeropivot, &row));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(A, &a));
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(A, PETSC_FALSE, &i, &j));
    if (row >= 0) {
      PetscCall(PetscInfo(F, "The pivot of row %" PetscInt_FMT " is zero or no number: PETSc factors on the host\n", row));
      PetscCall(LitheCUDAFactorDestroy(&f->device));
      PetscCall(MatCreateFactor_Host(f, A, &f->host));
    }
  }
  if (f->host) PetscCall(MatLUFactorNumeric_Host(F, A, info));
  F->assembled    = PETSC_TRUE;
  F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether an ordering is the natural one */
static PetscErrorCode IsNatural(IS is, PetscBool *natural)
{
  PetscFunctionBegin;
  *natural = PETSC_TRUE;
  if (is) PetscCall(ISIdentity(is, natural));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatILUFactorSymbolic_LitheFactor(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info)
{
  Mat_LitheFactor *f = (Mat_LitheFactor *)F->data;
  PetscBool        natural[2], possible;
  MatInfo          matinfo;

  PetscFunctionBegin;
  PetscCall(MatReset_LitheFactor(f));
  f->info = *info;
  PetscCall(PetscObjectReference((PetscObject)row));
  PetscCall(PetscObjectReference((PetscObject)col));
  f->row = row;
  f->col = col;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &matinfo));
  f->nz = matinfo.nz_used;
  PetscCall(IsNatural(row, &natural[0]));
  PetscCall(IsNatural(col, &natural[1]));
  possible = (PetscBool)(natural[0] && natural[1] && info->levels == 0 && !A->boundtocpu && A->rmap->n == A->cmap->n && A->rmap->n > 0);
  /* Blocks of pivots are there in MATBAIJ only; every other shift changes factors where a pivot is small */
  if (info->shifttype != (PetscReal)MAT_SHIFT_NONE && info->shifttype != (PetscReal)MAT_SHIFT_INBLOCKS) possible = PETSC_FALSE;
  if (possible) {
    const PetscInt *i, *j;

    PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &i, &j));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(LitheCUDAFactorCreate(A->rmap->n, i, j, &f->device, &possible));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(A, PETSC_FALSE, &i, &j));
    if (!possible) PetscCall(LitheCUDAFactorDestroy(&f->device));
  }
  if (!possible) {
    PetscCall(PetscInfo(F, "PETSc factors on the host\n"));
    PetscCall(MatCreateFactor_Host(f, A, &f->host));
    F->factorerrortype = f->host->factorerrortype;
  }
  F->ops->lufactornumeric = MatLUFactorNumeric_LitheFactor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Solves ---- */

static PetscErrorCode MatSolve_LitheFactor(Mat F, Vec b, Vec x)
{
  Mat_LitheFactor   *f = (Mat_LitheFactor *)F->data;
  const PetscScalar *pb;
  PetscScalar       *px, *pw;
  PetscMemType       type;
  Vec                inverse;

  PetscFunctionBegin;
  if (!f->device) {
    PetscCall(MatSolve(f->host, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!f->work) PetscCall(VecCreateSeqCUDA(PETSC_COMM_SELF, F->rmap->n, &f->work));
  PetscCall(VecGetArrayReadAndMemType(b, &pb, &type));
  if (!PetscMemTypeDevice(type)) {
    Vec copy;

    /* Vectors on the host: there and back */
    PetscCall(VecRestoreArrayReadAndMemType(b, &pb));
    PetscCall(VecDuplicate(f->work, &copy));
    PetscCall(VecCopy(b, copy));
    PetscCall(MatSolve_LitheFactor(F, copy, copy));
    PetscCall(VecCopy(copy, x));
    PetscCall(VecDestroy(&copy));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecCUDAGetArrayWrite(f->work, &pw));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDATriangleSolve(&f->device->lower, f->device->ticket, pb, pw));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecCUDARestoreArrayWrite(f->work, &pw));
  PetscCall(VecRestoreArrayReadAndMemType(b, &pb));

  PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, F->rmap->n, f->device->inverse, &inverse));
  PetscCall(VecPointwiseMult(f->work, f->work, inverse));
  PetscCall(VecDestroy(&inverse));

  PetscCall(VecCUDAGetArrayRead(f->work, (const PetscScalar **)&pw));
  PetscCall(VecGetArrayWriteAndMemType(x, &px, NULL));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDATriangleSolve(&f->device->upper, f->device->ticket, pw, px));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecRestoreArrayWriteAndMemType(x, &px));
  PetscCall(VecCUDARestoreArrayRead(f->work, (const PetscScalar **)&pw));
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)(f->device->lower.nz + f->device->upper.nz) + (PetscLogDouble)F->rmap->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = (I - T)^-T x, on the host */
static void HostSolveTranspose(PetscInt n, PetscBool upper, const HostTriangle *t, PetscScalar x[])
{
  for (PetscInt s = 0; s < n; s++) {
    const PetscInt r = upper ? s : n - 1 - s;

    for (PetscInt k = t->i[r]; k < t->i[r + 1]; k++) x[t->j[k]] += t->a[k] * x[r];
  }
}

static PetscErrorCode MatSolveTranspose_LitheFactor(Mat F, Vec b, Vec x)
{
  Mat_LitheFactor *f = (Mat_LitheFactor *)F->data;
  const PetscInt   n = F->rmap->n;
  PetscScalar     *px;

  PetscFunctionBegin;
  if (f->host) {
    PetscCall(MatSolveTranspose(f->host, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!f->lower.i) {
    PetscCall(HostCopy(&f->device->lower, &f->lower));
    PetscCall(HostCopy(&f->device->upper, &f->upper));
    PetscCall(PetscMalloc1(n, &f->inverse));
    PetscCallCUDA(cudaMemcpy(f->inverse, f->device->inverse, (size_t)n * sizeof(*f->inverse), cudaMemcpyDeviceToHost));
  }
  PetscCall(VecCopy(b, x));
  PetscCall(VecGetArray(x, &px));
  HostSolveTranspose(n, PETSC_TRUE, &f->upper, px);
  for (PetscInt r = 0; r < n; r++) px[r] *= f->inverse[r];
  HostSolveTranspose(n, PETSC_FALSE, &f->lower, px);
  PetscCall(VecRestoreArray(x, &px));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatLitheGetFactor_Private(Mat F, const LitheDeviceFactor **device, Mat *host)
{
  const Mat_LitheFactor *f = (const Mat_LitheFactor *)F->data;

  PetscFunctionBegin;
  *device = f->device;
  *host   = f->host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetFactor_SeqAIJCUSPARSE_Lithe(Mat A, MatFactorType type, Mat *F)
{
  Mat              B;
  Mat_LitheFactor *f;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &B));
  PetscCall(MatSetSizes(B, A->rmap->n, A->cmap->n, A->rmap->n, A->cmap->n));
  PetscCall(MatSetBlockSizesFromMats(B, A, A));
  PetscCall(PetscStrallocpy(MATSOLVERLITHE, &((PetscObject)B)->type_name));
  PetscCall(MatSetUp(B));
  PetscCall(MatSetVecType(B, VECSEQCUDA));
  PetscCall(PetscNew(&f));
  B->data                   = f;
  B->factortype             = type;
  B->canuseordering         = PETSC_TRUE;
  B->ops->ilufactorsymbolic = MatILUFactorSymbolic_LitheFactor;
  B->ops->solve             = MatSolve_LitheFactor;
  B->ops->solvetranspose    = MatSolveTranspose_LitheFactor;
  B->ops->getinfo           = MatGetInfo_LitheFactor;
  B->ops->view              = MatView_LitheFactor;
  B->ops->destroy           = MatDestroy_LitheFactor;
  PetscCall(PetscStrallocpy(MATORDERINGNATURAL, (char **)&B->preferredordering[MAT_FACTOR_ILU]));
  PetscCall(PetscFree(B->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERLITHE, &B->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatFactorGetSolverType_C", MatFactorGetSolverType_Lithe));
  *F = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
