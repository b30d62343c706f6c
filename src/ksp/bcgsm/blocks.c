/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The blocks of vectors of a KSPBCGSM: their memory, their columns, and their products with operator and
   preconditioner.

   Active columns come first in each block. Operator and preconditioner get views of the active columns. When columns
   leave, the last active columns take their places. New views are made, with products set up for the new number of
   columns. KSPSolve() uses the vectors of KSPSetWorkVecs().
*/

#include "bcgsmimpl.h"

PetscErrorCode BCGSMBlocksReset_Private(KSP ksp)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  for (int b = 0; b < BCGSM_NBLOCKS; b++) PetscCall(MatDestroy(&s->blocks.block[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks like B with n columns at least. Collective */
static PetscErrorCode BCGSMReserve_Private(KSP ksp, PetscInt n)
{
  KSP_BCGSM *s    = (KSP_BCGSM *)ksp->data;
  PetscBool  fits = PETSC_FALSE;
  PetscInt   rows[2], columns;

  PetscFunctionBegin;
  if (!s->blocks.B) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->blocks.block[0]) {
    PetscCall(MatGetSize(s->blocks.block[0], NULL, &columns));
    PetscCall(MatGetLocalSize(s->blocks.block[0], &rows[0], NULL));
    PetscCall(MatGetLocalSize(s->blocks.B, &rows[1], NULL));
    if (columns >= n && rows[0] == rows[1]) PetscCall(PetscObjectTypeCompare((PetscObject)s->blocks.block[0], ((PetscObject)s->blocks.B)->type_name, &fits));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)ksp)));
  if (fits) PetscFunctionReturn(PETSC_SUCCESS);
  for (int b = 0; b < BCGSM_NBLOCKS; b++) {
    PetscCall(MatDestroy(&s->blocks.block[b]));
    PetscCall(MatDuplicate(s->blocks.B, MAT_DO_NOT_COPY_VALUES, &s->blocks.block[b]));
    /* mark the block as assembled, although it has no values yet */
    PetscCall(MatSetOption(s->blocks.block[b], MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    PetscCall(MatAssemblyBegin(s->blocks.block[b], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(s->blocks.block[b], MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Views of the active columns */
static PetscErrorCode BCGSMView_Private(KSP_BCGSM *s)
{
  PetscFunctionBegin;
  if (!s->blocks.B || !s->columns.n) PetscFunctionReturn(PETSC_SUCCESS);
  for (int b = 0; b < BCGSM_NBLOCKS; b++) PetscCall(MatDenseGetSubMatrix(s->blocks.block[b], PETSC_DECIDE, PETSC_DECIDE, 0, s->columns.n, &s->blocks.view[b]));
  s->blocks.viewed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BCGSMUnview_Private(KSP_BCGSM *s)
{
  PetscFunctionBegin;
  if (!s->blocks.viewed) PetscFunctionReturn(PETSC_SUCCESS);
  for (int b = 0; b < BCGSM_NBLOCKS && s->blocks.multiplies; b++) PetscCall(MatProductClear(s->blocks.view[b]));
  for (int b = 0; b < BCGSM_NBLOCKS; b++) PetscCall(MatDenseRestoreSubMatrix(s->blocks.block[b], &s->blocks.view[b]));
  s->blocks.viewed = s->blocks.multiplies = s->blocks.single = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For the columns that are active now, of B and X, or of the vectors of KSPSolve() if B is NULL. Collective */
PetscErrorCode BCGSMBlocksStart_Private(KSP ksp, Mat B, Mat X)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  PetscCall(BCGSMUnview_Private(s)); /* an error may have left views behind */
  s->blocks.B       = B;
  s->blocks.X       = X;
  s->blocks.kernels = NULL;
  if (!B && !ksp->work) PetscCall(KSPSetWorkVecs(ksp, BCGSM_NBLOCKS));
  if (B) PetscCall(BCGSMChooseKernels_Private(ksp, B, X, &s->blocks.kernels, &s->blocks.device));
  PetscCall(BCGSMReserve_Private(ksp, s->columns.n));
  PetscCall(BCGSMView_Private(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BCGSMBlocksEnd_Private(KSP ksp)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  PetscCall(BCGSMUnview_Private(s));
  s->blocks.B = s->blocks.X = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other columns have become active */
PetscErrorCode BCGSMBlocksChange_Private(KSP ksp)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  PetscCall(BCGSMUnview_Private(s));
  PetscCall(BCGSMView_Private(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Active column j of a block; of the solutions, the column of its right-hand side. One column of a block at a time */
PetscErrorCode BCGSMColumnGet_Private(KSP ksp, BCGSMBlock which, PetscInt j, Vec *v)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  if (!s->blocks.B) *v = which == BCGSM_X ? ksp->vec_sol : ksp->work[which];
  else if (which == BCGSM_X) PetscCall(MatDenseGetColumnVec(s->blocks.X, s->columns.column[j].number, v));
  else PetscCall(MatDenseGetColumnVec(s->blocks.view[which], j, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BCGSMColumnRestore_Private(KSP ksp, BCGSMBlock which, PetscInt j, Vec *v)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  if (!s->blocks.B) *v = NULL;
  else if (which == BCGSM_X) PetscCall(MatDenseRestoreColumnVec(s->blocks.X, s->columns.column[j].number, v));
  else PetscCall(MatDenseRestoreColumnVec(s->blocks.view[which], j, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies column `from` of a block to column `to` */
static PetscErrorCode BCGSMMove_Private(KSP_BCGSM *s, Mat block, PetscInt from, PetscInt to)
{
  BCGSMArray a;
  PetscInt   m;
  Vec        v, w;

  PetscFunctionBegin;
  if (s->blocks.kernels) {
    PetscCall(MatGetLocalSize(block, &m, NULL));
    PetscCall(BCGSMArrayGet_Private(s, block, PETSC_TRUE, &a));
    if (m) PetscCall((*s->blocks.kernels->copy)(m, a.a + from * a.ld, a.a + to * a.ld));
    PetscCall(BCGSMArrayRestore_Private(s, block, PETSC_TRUE, &a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatDenseGetColumnVecRead(block, from, &v));
  PetscCall(VecDuplicate(v, &w));
  PetscCall(VecCopy(v, w));
  PetscCall(MatDenseRestoreColumnVecRead(block, from, &v));
  PetscCall(MatDenseGetColumnVecWrite(block, to, &v));
  PetscCall(VecCopy(w, v));
  PetscCall(MatDenseRestoreColumnVecWrite(block, to, &v));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A column takes the place of another one, in the blocks that the next iteration reads before writing. Collective */
PetscErrorCode BCGSMBlocksMove_Private(KSP ksp, PetscInt from, PetscInt to)
{
  const BCGSMBlock kept[] = {BCGSM_R, BCGSM_SHADOW, BCGSM_P, BCGSM_V};
  KSP_BCGSM       *s      = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  PetscCall(BCGSMUnview_Private(s));
  for (size_t b = 0; b < PETSC_STATIC_ARRAY_LENGTH(kept) && s->blocks.B; b++) PetscCall(BCGSMMove_Private(s, s->blocks.block[kept[b]], from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the operator and the preconditioner */

/* The null space of op(A), or of its transpose: right-hand sides must have no part in the latter */
PetscErrorCode BCGSMGetNullSpace_Private(KSP ksp, PetscBool transpose, MatNullSpace *null)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (transpose != ksp->transpose_solve) PetscCall(MatGetTransposeNullSpace(A, null));
  else PetscCall(MatGetNullSpace(A, null));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of input and output: of the operator, and of the preconditioner */
static void BCGSMWhere_Private(KSP ksp, PetscBool second, BCGSMBlock mult[2], BCGSMBlock apply[2])
{
  const PetscBool  right = (PetscBool)(ksp->pc_side == PC_RIGHT);
  const BCGSMBlock in = second ? BCGSM_R : BCGSM_P, work = second ? BCGSM_W2 : BCGSM_W1, out = second ? BCGSM_T : BCGSM_V;

  mult[0]  = right ? work : in;
  mult[1]  = right ? out : work;
  apply[0] = right ? in : work;
  apply[1] = right ? work : out;
}

/*
   Sets up products of the operator with several columns. If the operator has none, each column is multiplied separately
*/
static PetscErrorCode BCGSMSetUpProducts_Private(KSP ksp)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;
  Mat        A;

  PetscFunctionBegin;
  if (s->blocks.multiplies || s->blocks.single) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  for (int k = 0; k < 2; k++) {
    BCGSMBlock mult[2], apply[2];
    Mat        D;

    BCGSMWhere_Private(ksp, k ? PETSC_TRUE : PETSC_FALSE, mult, apply);
    D = s->blocks.view[mult[1]];
    PetscCall(MatProductCreateWithMat(A, s->blocks.view[mult[0]], NULL, D));
    s->blocks.multiplies = PETSC_TRUE; /* there are products to clear */
    PetscCall(MatProductSetType(D, ksp->transpose_solve ? MATPRODUCT_AtB : MATPRODUCT_AB));
    PetscCall(MatProductSetFromOptions(D));
    if (!D->ops->productsymbolic) {
      s->blocks.single = PETSC_TRUE;
      break;
    }
    PetscCall(MatProductSymbolic(D));
  }
  if (s->blocks.single) {
    PetscCall(PetscInfo(ksp, "An operator of type %s has no products with several columns: column by column\n", ((PetscObject)A)->type_name));
    for (int b = 0; b < BCGSM_NBLOCKS; b++) PetscCall(MatProductClear(s->blocks.view[b]));
    s->blocks.multiplies = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BCGSMMult_Private(KSP ksp, const BCGSMBlock mult[2])
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;
  Mat        A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (!s->blocks.B) {
    PetscCall(KSP_MatMult(ksp, A, ksp->work[mult[0]], ksp->work[mult[1]]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BCGSMSetUpProducts_Private(ksp));
  if (!s->blocks.single) PetscCall(MatProductNumeric(s->blocks.view[mult[1]]));
  for (PetscInt j = 0; j < s->columns.n && s->blocks.single; j++) {
    Vec x, y;

    PetscCall(BCGSMColumnGet_Private(ksp, mult[0], j, &x));
    PetscCall(BCGSMColumnGet_Private(ksp, mult[1], j, &y));
    PetscCall(KSP_MatMult(ksp, A, x, y));
    PetscCall(BCGSMColumnRestore_Private(ksp, mult[1], j, &y));
    PetscCall(BCGSMColumnRestore_Private(ksp, mult[0], j, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   An inner solver without a KSPMatSolve() of its own reports the reason of its last column only. Failures of other
   columns would pass as results. Applied to vectors, such a solver reports each column
*/
static PetscErrorCode BCGSMHasSolversOfVectors_Private(PC pc, PetscBool *has)
{
  PetscBool inner, jacobi, schwarz;
  PetscInt  n   = 0;
  KSP       one = NULL, *ksps = NULL;

  PetscFunctionBegin;
  *has = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCVCRS, &inner));
  if (inner) PetscCall(PCVCRSGetPC(pc, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCKSP, &inner));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, &schwarz));
  if (inner) {
    PetscCall(PCKSPGetKSP(pc, &one));
    ksps = &one;
    n    = 1;
  } else if (jacobi) PetscCall(PCBJacobiGetSubKSP(pc, &n, NULL, &ksps));
  else if (schwarz) PetscCall(PCASMGetSubKSP(pc, &n, NULL, &ksps));
  for (PetscInt k = 0; k < n; k++) *has = (PetscBool)(*has || !ksps[k]->ops->matsolve);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device: factors of PETSc on the host refuse blocks on a device, but accept vectors */
static PetscErrorCode BCGSMTakesBlocks_Private(KSP ksp, PetscBool *takes)
{
  PetscBool vectors = PETSC_FALSE;

  PetscFunctionBegin;
  if (((KSP_BCGSM *)ksp->data)->blocks.device) PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->pc, takes, PCGRIDMG, PCNONE, ""));
  else {
    PetscCall(BCGSMHasSolversOfVectors_Private(ksp->pc, &vectors));
    *takes = (PetscBool)!vectors;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With the null space of the operator removed, from the left, as KSP_PCApply() does */
static PetscErrorCode BCGSMPrecondition_Private(KSP ksp, const BCGSMBlock apply[2])
{
  KSP_BCGSM   *s = (KSP_BCGSM *)ksp->data;
  PetscBool    blocks;
  MatNullSpace null;

  PetscFunctionBegin;
  if (!s->blocks.B) {
    PetscCall(KSP_PCApply(ksp, ksp->work[apply[0]], ksp->work[apply[1]]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BCGSMTakesBlocks_Private(ksp, &blocks));
  for (PetscInt j = 0; j < s->columns.n && !blocks; j++) {
    Vec x, y;

    PetscCall(BCGSMColumnGet_Private(ksp, apply[0], j, &x));
    PetscCall(BCGSMColumnGet_Private(ksp, apply[1], j, &y));
    PetscCall(KSP_PCApply(ksp, x, y));
    PetscCall(BCGSMColumnRestore_Private(ksp, apply[1], j, &y));
    PetscCall(BCGSMColumnRestore_Private(ksp, apply[0], j, &x));
  }
  if (!blocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSP_PCMatApply(ksp, s->blocks.view[apply[0]], s->blocks.view[apply[1]]));
  if (ksp->pc_side != PC_LEFT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BCGSMGetNullSpace_Private(ksp, PETSC_FALSE, &null));
  for (PetscInt j = 0; j < s->columns.n && null; j++) {
    Vec y;

    PetscCall(BCGSMColumnGet_Private(ksp, apply[1], j, &y));
    PetscCall(MatNullSpaceRemove(null, y));
    PetscCall(BCGSMColumnRestore_Private(ksp, apply[1], j, &y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* V = K P, or T = K R, with K = M A from the left, A M from the right */
PetscErrorCode BCGSMApply_Private(KSP ksp, PetscBool second)
{
  BCGSMBlock mult[2], apply[2];

  PetscFunctionBegin;
  BCGSMWhere_Private(ksp, second, mult, apply);
  if (ksp->pc_side == PC_RIGHT) {
    PetscCall(BCGSMPrecondition_Private(ksp, apply));
    PetscCall(BCGSMMult_Private(ksp, mult));
  } else {
    PetscCall(BCGSMMult_Private(ksp, mult));
    PetscCall(BCGSMPrecondition_Private(ksp, apply));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* residual = b - image, or b; the part of b outside of the range is removed, as in KSPSolve() */
static PetscErrorCode BCGSMSubtract_Private(KSP ksp, PetscInt j, BCGSMBlock image, BCGSMBlock residual)
{
  KSP_BCGSM   *s = (KSP_BCGSM *)ksp->data;
  MatNullSpace null;
  Vec          b, r, y;

  PetscFunctionBegin;
  PetscCall(BCGSMGetNullSpace_Private(ksp, PETSC_TRUE, &null));
  PetscCall(MatDenseGetColumnVecRead(s->blocks.B, s->columns.column[j].number, &b));
  PetscCall(BCGSMColumnGet_Private(ksp, residual, j, &r));
  PetscCall(VecCopy(b, r));
  if (null) PetscCall(MatNullSpaceRemove(null, r));
  if (!ksp->guess_zero) {
    PetscCall(BCGSMColumnGet_Private(ksp, image, j, &y));
    PetscCall(VecAXPY(r, -1.0, y));
    PetscCall(BCGSMColumnRestore_Private(ksp, image, j, &y));
  }
  PetscCall(BCGSMColumnRestore_Private(ksp, residual, j, &r));
  PetscCall(MatDenseRestoreColumnVecRead(s->blocks.B, s->columns.column[j].number, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether columns of a block have a NaN or an infinity, or the preconditioner failed in set-up, on any process */
static PetscErrorCode BCGSMFindNoNumbers_Private(KSP ksp, BCGSMBlock block, PetscBool found[])
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < s->columns.n; j++) {
    const PetscScalar *a;
    PetscInt           m;
    Vec                x;

    found[j] = (PetscBool)(ksp->reason == KSP_DIVERGED_PC_FAILED);
    PetscCall(BCGSMColumnGet_Private(ksp, block, j, &x));
    PetscCall(VecGetLocalSize(x, &m));
    PetscCall(VecGetArrayRead(x, &a));
    for (PetscInt i = 0; i < m && !found[j]; i++) found[j] = (PetscBool)PetscIsInfOrNanScalar(a[i]);
    PetscCall(VecRestoreArrayRead(x, &a));
    PetscCall(BCGSMColumnRestore_Private(ksp, block, j, &x));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, found, (PetscMPIInt)s->columns.n, MPI_C_BOOL, MPI_LOR, PetscObjectComm((PetscObject)ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Column j of R becomes infinite on processes with flag: its solver stops as diverged. Collective */
static PetscErrorCode BCGSMFlag_Private(KSP ksp, PetscInt j, PetscBool flag)
{
  Vec r;

  PetscFunctionBegin;
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_R, j, &r));
  PetscCall(VecFlag(r, flag ? 1 : 0));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_R, j, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   R = M^-1 left[0] from the left. Inner solvers may return finite numbers for a residual with a NaN or an infinity: the
   column is flagged. A block without a good column is not preconditioned: before PETSc 3.26 KSPMatSolve() of an inner
   solver with a failed factor ends with an error
*/
static PetscErrorCode BCGSMPreconditionResidual_Private(KSP ksp, const BCGSMBlock left[2])
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;
  PetscBool *bad, any = PETSC_FALSE;

  PetscFunctionBegin;
  if (s->blocks.device) {
    PetscCall(BCGSMPrecondition_Private(ksp, left));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(s->columns.n, &bad));
  PetscCall(BCGSMFindNoNumbers_Private(ksp, left[0], bad));
  for (PetscInt j = 0; j < s->columns.n; j++) any = (PetscBool)(any || !bad[j]);
  if (any) PetscCall(BCGSMPrecondition_Private(ksp, left));
  else PetscCall(PCSetUp(ksp->pc)); /* as PCMatApply() would, for the next solve: before PETSc 3.26 KSPSetUp() may not */
  for (PetscInt j = 0; j < s->columns.n; j++) {
    if (bad[j]) PetscCall(BCGSMFlag_Private(ksp, j, PETSC_TRUE));
  }
  PetscCall(PetscFree(bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   R = b - A x, preconditioned if from the left; infinite on processes whose preconditioner failed in set-up, and in
   columns with a NaN
*/
PetscErrorCode BCGSMInitialResidual_Private(KSP ksp)
{
  const PetscBool  right   = (PetscBool)(ksp->pc_side == PC_RIGHT);
  const BCGSMBlock left[2] = {BCGSM_W2, BCGSM_R};
  KSP_BCGSM       *s       = (KSP_BCGSM *)ksp->data;
  BCGSMBlock       mult[2], apply[2];

  PetscFunctionBegin;
  if (!s->blocks.B) {
    PetscCall(KSPInitialResidual(ksp, ksp->vec_sol, ksp->work[BCGSM_V], ksp->work[BCGSM_T], ksp->work[BCGSM_R], ksp->vec_rhs));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  BCGSMWhere_Private(ksp, PETSC_FALSE, mult, apply);
  if (!ksp->guess_zero) {
    for (PetscInt j = 0; j < s->columns.n; j++) {
      Vec x, p;

      PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_X, j, &x));
      PetscCall(BCGSMColumnGet_Private(ksp, mult[0], j, &p));
      PetscCall(VecCopy(x, p));
      PetscCall(BCGSMColumnRestore_Private(ksp, mult[0], j, &p));
      PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_X, j, &x));
    }
    PetscCall(BCGSMMult_Private(ksp, mult));
  }
  for (PetscInt j = 0; j < s->columns.n; j++) PetscCall(BCGSMSubtract_Private(ksp, j, mult[1], right ? BCGSM_R : left[0]));
  if (!right) PetscCall(BCGSMPreconditionResidual_Private(ksp, left));
  for (PetscInt j = 0; j < s->columns.n; j++) PetscCall(BCGSMFlag_Private(ksp, j, (PetscBool)(ksp->reason == KSP_DIVERGED_PC_FAILED)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
