/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   MATSOLVERLITHE: ILU(0) and ICC(0) in the natural ordering of a MATSEQAIJCUSPARSE, made and applied on its device.

   A factored matrix of PETSc on the host replaces the device factor in some cases: another ordering, fill-in, or a
   shift of pivots; a pivot that is zero or not finite; very long rows; more levels than pay on a device. Solves with
   the transpose of ILU are on the host, too.

   ICC is ILU of a symmetric matrix, in complex arithmetic as well: PETSc's factors are U^T D U with complex D and U.
   As in PETSc, only entries on and above the diagonal are read, but the pattern must be symmetric. By default PETSc
   shifts the diagonal if a pivot is not safely positive: then PETSc makes the factors. Otherwise no factor has a shift.
*/

#include <lithe/private/litheilu.h>
#include <lithe/private/litheimpl.h>
#include <lithe/private/lithememtype.h>
#include <petsc/private/matimpl.h>
#include <petscdevice_cuda.h>

/* A triangle on the host */
typedef struct {
  PetscInt    *i, *j;
  PetscScalar *a;
} HostTriangle;

typedef struct {
  LitheDeviceFactor *device; /* NULL: host has the factors */
  Mat                host;   /* factors of PETSc; NULL: none */
  IS                 row, col;
  MatFactorInfo      info;
  PetscLogDouble     nz;
  HostTriangle       lower, upper; /* copies for solves with the transpose, made at the first such solve; i NULL: none yet */
  PetscScalar       *inverse;
  Vec                work;
  Vec                roots; /* ICC: square roots of the inverse pivots for half solves, made at the first such solve; NULL: none yet */
} Mat_LitheFactor;

/* Frees data that is made of the factors on demand */
static PetscErrorCode CopiesFree(Mat_LitheFactor *f)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&f->roots));
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
  PetscCall(CopiesFree(f));
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

static PetscErrorCode MatCreateFactor_Host(Mat F, Mat A)
{
  Mat_LitheFactor *f = (Mat_LitheFactor *)F->data;

  PetscFunctionBegin;
  PetscCall(PetscInfo(F, "PETSc factors on the host\n"));
  PetscCall(LitheCUDAFactorDestroy(&f->device));
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, F->factortype, &f->host));
  if (F->factortype == MAT_FACTOR_ICC) PetscCall(MatICCFactorSymbolic(f->host, A, f->row, &f->info));
  else PetscCall(MatILUFactorSymbolic(f->host, A, f->row, f->col, &f->info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorNumeric_Host(Mat F, Mat A, const MatFactorInfo *info)
{
  Mat_LitheFactor *f = (Mat_LitheFactor *)F->data;

  PetscFunctionBegin;
  if (F->factortype == MAT_FACTOR_ICC) PetscCall(MatCholeskyFactorNumeric(f->host, A, info));
  else PetscCall(MatLUFactorNumeric(f->host, A, info));
  F->factorerrortype             = f->host->factorerrortype;
  F->factorerror_zeropivot_value = f->host->factorerror_zeropivot_value;
  F->factorerror_zeropivot_row   = f->host->factorerror_zeropivot_row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Factorization ---- */

/*
   Whether pivots may be used unshifted: a shift changes factors if a pivot is small. ICC knows whether a shift would be
   applied. Only MATBAIJ has blocks of pivots
*/
static PetscBool MayBeWithoutShift(MatFactorType type, const MatFactorInfo *info)
{
  if (type == MAT_FACTOR_ICC && info->shifttype == (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE) return PETSC_TRUE;
  return (PetscBool)(info->shifttype == (PetscReal)MAT_SHIFT_NONE || info->shifttype == (PetscReal)MAT_SHIFT_INBLOCKS);
}

static PetscErrorCode MatFactorNumeric_Device(Mat F, Mat A, const MatFactorInfo *info, PetscBool *done)
{
  const PetscBool    positive = (PetscBool)(info->shifttype == (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE);
  Mat_LitheFactor   *f        = (Mat_LitheFactor *)F->data;
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           row;

  PetscFunctionBegin;
  *done = MayBeWithoutShift(F->factortype, info); /* which may have changed since the symbolic factorization */
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &i, &j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, &a));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDAFactorNumeric(f->device, i, a, info->zeropivot, positive, &row));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(A, &a));
  PetscCall(MatSeqAIJCUSPARSERestoreIJ(A, PETSC_FALSE, &i, &j));
  *done = (PetscBool)(row < 0);
  if (!*done) PetscCall(PetscInfo(F, "The pivot of row %" PetscInt_FMT " is %s or no number\n", row, positive ? "not safely positive" : "zero"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorNumeric_LitheFactor(Mat F, Mat A, const MatFactorInfo *info)
{
  Mat_LitheFactor *f = (Mat_LitheFactor *)F->data;

  PetscFunctionBegin;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  PetscCall(CopiesFree(f));
  if (f->device) {
    PetscBool done;

    PetscCall(MatFactorNumeric_Device(F, A, info, &done));
    if (!done) PetscCall(MatCreateFactor_Host(F, A));
  }
  if (f->host) PetscCall(MatFactorNumeric_Host(F, A, info));
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

static PetscErrorCode MatFactorSymbolic_LitheFactor(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info)
{
  const PetscBool  symmetric = (PetscBool)(F->factortype == MAT_FACTOR_ICC);
  Mat_LitheFactor *f         = (Mat_LitheFactor *)F->data;
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
  f->nz = symmetric ? (matinfo.nz_used + (PetscLogDouble)A->rmap->n) / 2.0 : matinfo.nz_used;
  PetscCall(IsNatural(row, &natural[0]));
  PetscCall(IsNatural(col, &natural[1]));
  possible = (PetscBool)(natural[0] && natural[1] && info->levels == 0 && !A->boundtocpu && A->rmap->n == A->cmap->n && A->rmap->n > 0);
  if (!MayBeWithoutShift(F->factortype, info)) possible = PETSC_FALSE;
  if (possible) {
    const PetscInt *i, *j;

    PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &i, &j));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(LitheCUDAFactorCreate(A->rmap->n, i, j, symmetric, &f->device, &possible));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(A, PETSC_FALSE, &i, &j));
    if (possible) PetscCall(LitheCite(LITHE_CITE_FACTOR));
  }
  if (!possible) {
    PetscCall(MatCreateFactor_Host(F, A));
    F->factorerrortype = f->host->factorerrortype;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatILUFactorSymbolic_LitheFactor(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatFactorSymbolic_LitheFactor(F, A, row, col, info));
  F->ops->lufactornumeric = MatFactorNumeric_LitheFactor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatICCFactorSymbolic_LitheFactor(Mat F, Mat A, IS perm, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatFactorSymbolic_LitheFactor(F, A, perm, perm, info));
  F->ops->choleskyfactornumeric = MatFactorNumeric_LitheFactor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Solves ---- */

/* Solves with vectors on the device, where b may be x; other vectors are copied to the device and back */
static PetscErrorCode SolveOnDevice(Mat F, PetscErrorCode (*solve)(Mat, Vec, Vec), Vec b, Vec x)
{
  Mat_LitheFactor *f = (Mat_LitheFactor *)F->data;
  PetscBool        device;
  Vec              copy;

  PetscFunctionBegin;
  if (!f->work) PetscCall(VecCreateSeqCUDAWithArrays(PETSC_COMM_SELF, 1, F->rmap->n, NULL, NULL, &f->work));
  PetscCall(LitheVecsGetPlace(2, (const Vec[]){b, x}, &device, NULL));
  if (device) PetscCall((*solve)(F, b, x));
  else {
    PetscCall(LitheVecDuplicateOnDevice(f->work, &copy));
    PetscCall(VecCopy(b, copy));
    PetscCall((*solve)(F, copy, copy));
    PetscCall(VecCopy(copy, x));
    PetscCall(VecDestroy(&copy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = (I - T)^-1 b; x is not b */
static PetscErrorCode SolveTriangle(const Mat_LitheFactor *f, PetscBool upper, Vec b, Vec x)
{
  const LitheDeviceTriangle *t = upper ? &f->device->upper : &f->device->lower;
  const PetscScalar         *pb;
  PetscScalar               *px;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(b, &pb, NULL));
  PetscCall(VecGetArrayWriteAndMemType(x, &px, NULL));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDATriangleSolve(t, f->device->ticket, 1, &pb, &px));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecRestoreArrayWriteAndMemType(x, &px));
  PetscCall(VecRestoreArrayReadAndMemType(b, &pb));
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)t->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolve_Device(Mat F, Vec b, Vec x)
{
  const Mat_LitheFactor *f = (const Mat_LitheFactor *)F->data;
  Vec                    inverse;

  PetscFunctionBegin;
  PetscCall(SolveTriangle(f, PETSC_FALSE, b, f->work));
  PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, F->rmap->n, f->device->inverse, &inverse));
  PetscCall(VecPointwiseMult(f->work, f->work, inverse));
  PetscCall(VecDestroy(&inverse));
  PetscCall(SolveTriangle(f, PETSC_TRUE, f->work, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolve_LitheFactor(Mat F, Vec b, Vec x)
{
  const Mat_LitheFactor *f = (const Mat_LitheFactor *)F->data;

  PetscFunctionBegin;
  if (f->device) PetscCall(SolveOnDevice(F, MatSolve_Device, b, x));
  else PetscCall(MatSolve(f->host, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Square roots of the inverse pivots. As in PETSc, half solves are an error if the inverse pivots are not real and
   nonnegative
*/
static PetscErrorCode GetRoots(Mat F, Vec *roots)
{
  Mat_LitheFactor *f     = (Mat_LitheFactor *)F->data;
  PetscReal        least = 0.0, imaginary;
  Vec              inverse;

  PetscFunctionBegin;
  if (!f->roots) {
    PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, F->rmap->n, f->device->inverse, &inverse));
    PetscCall(LitheVecDuplicateOnDevice(f->work, &f->roots));
    PetscCall(VecCopy(inverse, f->roots));
    PetscCall(VecImaginaryPart(f->roots));
    PetscCall(VecNorm(f->roots, NORM_INFINITY, &imaginary));
    PetscCall(VecCopy(inverse, f->roots));
    PetscCall(VecDestroy(&inverse));
    PetscCall(VecMin(f->roots, NULL, &least));
    if (!(least >= 0.0 && imaginary == 0.0)) PetscCall(VecDestroy(&f->roots));
    PetscCheck(f->roots, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Half of a solution needs pivots that are real and not negative: the least real part of their inverses is %g, the largest imaginary part %g. "
               "Use a "
               "method that applies the preconditioner from one side",
               (double)least, (double)imaginary);
    PetscCall(VecSqrtAbs(f->roots));
  }
  *roots = f->roots;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = inverse^(1/2) (I - lower)^-1 b */
static PetscErrorCode MatForwardSolve_Device(Mat F, Vec b, Vec x)
{
  const Mat_LitheFactor *f = (const Mat_LitheFactor *)F->data;
  Vec                    roots;

  PetscFunctionBegin;
  PetscCall(GetRoots(F, &roots));
  PetscCall(SolveTriangle(f, PETSC_FALSE, b, f->work));
  PetscCall(VecPointwiseMult(x, f->work, roots));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatForwardSolve_LitheFactor(Mat F, Vec b, Vec x)
{
  const Mat_LitheFactor *f = (const Mat_LitheFactor *)F->data;

  PetscFunctionBegin;
  if (f->device) PetscCall(SolveOnDevice(F, MatForwardSolve_Device, b, x));
  else PetscCall(MatForwardSolve(f->host, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = (I - upper)^-1 inverse^(1/2) b */
static PetscErrorCode MatBackwardSolve_Device(Mat F, Vec b, Vec x)
{
  const Mat_LitheFactor *f = (const Mat_LitheFactor *)F->data;
  Vec                    roots;

  PetscFunctionBegin;
  PetscCall(GetRoots(F, &roots));
  PetscCall(VecPointwiseMult(f->work, b, roots));
  PetscCall(SolveTriangle(f, PETSC_TRUE, f->work, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBackwardSolve_LitheFactor(Mat F, Vec b, Vec x)
{
  const Mat_LitheFactor *f = (const Mat_LitheFactor *)F->data;

  PetscFunctionBegin;
  if (f->device) PetscCall(SolveOnDevice(F, MatBackwardSolve_Device, b, x));
  else PetscCall(MatBackwardSolve(f->host, b, x));
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
  *F = NULL;
  if (PetscDefined(USE_COMPLEX) && type == MAT_FACTOR_ICC && A->hermitian == PETSC_BOOL3_TRUE && A->symmetric != PETSC_BOOL3_TRUE) {
    /* as in PETSc, factors belong to symmetric matrices */
    PetscCall(PetscInfo(A, "There are no incomplete Cholesky factors of Hermitian matrices\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, &B));
  PetscCall(MatSetSizes(B, A->rmap->n, A->cmap->n, A->rmap->n, A->cmap->n));
  PetscCall(MatSetBlockSizesFromMats(B, A, A));
  PetscCall(PetscStrallocpy(MATSOLVERLITHE, &((PetscObject)B)->type_name));
  PetscCall(MatSetUp(B));
  PetscCall(MatSetVecType(B, VECSEQCUDA));
  PetscCall(PetscNew(&f));
  B->data           = f;
  B->factortype     = type;
  B->canuseordering = PETSC_TRUE;
  if (type == MAT_FACTOR_ICC) {
    B->ops->iccfactorsymbolic = MatICCFactorSymbolic_LitheFactor;
    B->ops->solvetranspose    = MatSolve_LitheFactor;
    B->ops->forwardsolve      = MatForwardSolve_LitheFactor;
    B->ops->backwardsolve     = MatBackwardSolve_LitheFactor;
  } else {
    B->ops->ilufactorsymbolic = MatILUFactorSymbolic_LitheFactor;
    B->ops->solvetranspose    = MatSolveTranspose_LitheFactor;
  }
  B->ops->solve   = MatSolve_LitheFactor;
  B->ops->getinfo = MatGetInfo_LitheFactor;
  B->ops->view    = MatView_LitheFactor;
  B->ops->destroy = MatDestroy_LitheFactor;
  PetscCall(PetscStrallocpy(MATORDERINGNATURAL, (char **)&B->preferredordering[type]));
  PetscCall(PetscFree(B->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERLITHE, &B->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatFactorGetSolverType_C", MatFactorGetSolverType_Lithe));
  *F = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
