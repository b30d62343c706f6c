/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCVCRS: any preconditioner of PETSc, with compressed copies of the matrices that its application reads.

   The inner preconditioner is set up on the exact matrix, and copies are made (compress.c). Each application of the
   inner preconditioner runs with the copies in the places of the exact matrices. PCVCRS lacks the operations that the
   inner preconditioner lacks: its abilities are known after the set-up.
*/

#include "pcvcrsimpl.h"
#include <lithe/private/litheimpl.h>
#include <lithe/private/lithetruth.h>

/*
   Puts the copies in place. They are remade if options have changed, or if the inner preconditioner has been set up
   since
*/
static PetscErrorCode PCVCRSBegin_Private(PC pc, PC *inner)
{
  PC_VCRS *v = (PC_VCRS *)pc->data;

  PetscFunctionBegin;
  if (!v->drop.dropped) PetscCall(PCVCRSExchange_Private(v, PETSC_FALSE)); /* an error may have left the copies in place */
  if (!v->parts.current || !v->inner.pc->setupcalled) {
    PetscCall(PCVCRSUndrop_Private(v));
    PetscCall(PCVCRSGetInner_Private(pc, inner));
    if (!v->inner.pc->pmat) PetscCall(PCSetOperators(v->inner.pc, pc->mat, pc->pmat));
    PetscCall(PCVCRSCompress_Private(pc));
  }
  PetscCall(PCVCRSExchange_Private(v, PETSC_TRUE));
  *inner = v->inner.pc;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts the exact matrices back after any result of the application, and then returns this result */
static PetscErrorCode PCVCRSEnd_Private(PC pc, PetscErrorCode ierr)
{
  PC_VCRS *v = (PC_VCRS *)pc->data;

  PetscFunctionBegin;
  if (!v->drop.dropped) PetscCall(PCVCRSExchange_Private(v, PETSC_FALSE));
  PetscCall(ierr);
  pc->failedreason     = v->inner.pc->failedreason;
  pc->failedreasonrank = v->inner.pc->failedreasonrank;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An application of the inner preconditioner that maps a vector to a vector */
static PetscErrorCode PCVCRSApplyWith_Private(PC pc, PetscErrorCode (*apply)(PC, Vec, Vec), Vec x, Vec y)
{
  PC_VCRS *v     = (PC_VCRS *)pc->data;
  PC       inner = NULL;

  PetscFunctionBegin;
  PetscCall(PCVCRSBegin_Private(pc, &inner));
  PetscCall(PCVCRSEnd_Private(pc, v->opt.precision == PCVCRS_PRECISION_SINGLE && !v->single.linear ? PCVCRSApplySingle_Private(v, apply, x, y)
                                                                                                   : (*apply)(inner, x, y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_VCRS(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSApplyWith_Private(pc, PCApply, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_VCRS(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSApplyWith_Private(pc, PCApplyTranspose, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplySymmetricLeft_VCRS(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSApplyWith_Private(pc, PCApplySymmetricLeft, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplySymmetricRight_VCRS(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSApplyWith_Private(pc, PCApplySymmetricRight, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSMatApplyWith_Private(PC pc, PetscErrorCode (*apply)(PC, Mat, Mat), Mat X, Mat Y)
{
  PC inner = NULL;

  PetscFunctionBegin;
  PetscCall(PCVCRSBegin_Private(pc, &inner));
  PetscCall(PCVCRSEnd_Private(pc, (*apply)(inner, X, Y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_VCRS(PC pc, Mat X, Mat Y)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSMatApplyWith_Private(pc, PCMatApply, X, Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApplyTranspose_VCRS(PC pc, Mat X, Mat Y)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSMatApplyWith_Private(pc, PCMatApplyTranspose, X, Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyRichardson_VCRS(PC pc, Vec b, Vec y, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt its, PetscBool guesszero,
                                             PetscInt *outits, PCRichardsonConvergedReason *reason)
{
  PC inner = NULL;

  PetscFunctionBegin;
  PetscCall(PCVCRSBegin_Private(pc, &inner));
  PetscCall(PCVCRSEnd_Private(pc, PCApplyRichardson(inner, b, y, w, rtol, abstol, dtol, its, guesszero, outits, reason)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The inner preconditioner's part before a solve (PCShellSetPreSolve()). With single precision, vectors are no longer
   rounded if the solver needs a linear preconditioner, and the true residual is tested
*/
static PetscErrorCode PCPreSolve_VCRS(PC pc, KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PC_VCRS *v = (PC_VCRS *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCPreSolve(v->inner.pc, ksp));
  if (v->opt.precision == PCVCRS_PRECISION_DOUBLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCVCRSSingleChoose_Private(pc, ksp));
  PetscCall(LitheKSPConfirmBegin(ksp, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inner preconditioner's part after a solve */
static PetscErrorCode PCPostSolve_VCRS(PC pc, KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PetscFunctionBegin;
  PetscCall(LitheKSPConfirmEnd(ksp));
  PetscCall(PCPostSolve(((PC_VCRS *)pc->data)->inner.pc, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The abilities of the inner preconditioner */
static PetscErrorCode PCVCRSSetOperations_Private(PC pc)
{
  PC_VCRS        *v      = (PC_VCRS *)pc->data;
  PC              inner  = v->inner.pc;
  const PetscBool single = (PetscBool)(v->opt.precision == PCVCRS_PRECISION_SINGLE);

  PetscFunctionBegin;
  PCVCRSSingleForget_Private(&v->single);
  pc->ops->applytranspose      = inner->ops->applytranspose ? PCApplyTranspose_VCRS : NULL;
  pc->ops->matapply            = inner->ops->matapply && !single ? PCMatApply_VCRS : NULL;
  pc->ops->matapplytranspose   = inner->ops->matapplytranspose && !single ? PCMatApplyTranspose_VCRS : NULL;
  pc->ops->applysymmetricleft  = inner->ops->applysymmetricleft ? PCApplySymmetricLeft_VCRS : NULL;
  pc->ops->applysymmetricright = inner->ops->applysymmetricright ? PCApplySymmetricRight_VCRS : NULL;
  pc->ops->presolve            = inner->ops->presolve || single ? PCPreSolve_VCRS : NULL;
  pc->ops->postsolve           = inner->ops->postsolve || single ? PCPostSolve_VCRS : NULL;

  /* Richardson's method inside the preconditioner takes residuals with the present operator. With loss Richardson's
     method would converge to the solution of another system */
  pc->ops->applyrichardson = inner->ops->applyrichardson && v->opt.loss == MATVCRS_LOSS_NONE && !single ? PCApplyRichardson_VCRS : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes made inside by a program since (another type of a block's solver, say) are found before a solve */
static PetscErrorCode PCSetUpOnBlocks_VCRS(PC pc)
{
  PC_VCRS  *v       = (PC_VCRS *)pc->data;
  PetscBool current = PETSC_TRUE;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < v->parts.nplaces && current; k++) PetscCall(PCVCRSPlaceIsCurrent_Private(&v->parts.place[k], &current));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &current, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)pc)));
  if (current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCVCRSCompress_Private(pc));
  PetscCall(PCVCRSSetOperations_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_VCRS(PC pc)
{
  PC_VCRS  *v     = (PC_VCRS *)pc->data;
  PC        inner = NULL;
  PetscBool isswapping, any;

  PetscFunctionBegin;
  PetscCall(LitheCite(LITHE_CITE_VCRS));
  PetscCall(PCVCRSGetInner_Private(pc, &inner));
  /* these types may map the left vectors of a rectangular matrix to right vectors */
  PetscCall(PetscObjectTypeCompareAny((PetscObject)inner, &any, PCQR, PCKSP, PCSHELL, PCCOMPOSITE, PCMAT, ""));
  if (!any) PetscCall(LitheCheckSquare((PetscObject)pc, pc->pmat));
  PetscCall(PetscObjectTypeCompare((PetscObject)inner, PCEISENSTAT, &isswapping));
  PetscCheck(!isswapping, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-%spc_type eisenstat: this preconditioner changes the operator of its solver, which here is not its own. Use sor inside of vcrs",
             ((PetscObject)inner)->prefix);

  /* preconditioners whose exact matrices were freed start from scratch, and may stop with an error if a repeated
     set-up fails */
  if (v->drop.dropped) {
    PetscBool finite;

    PetscCall(PCVCRSIsFinite_Private(pc->pmat, &finite));
    if (!finite) {
      pc->failedreason = pc->failedreasonrank = PC_SUBPC_ERROR;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }

  /* puts the exact matrices back, and releases references to solvers that the set-up is about to replace */
  PetscCall(PCVCRSForget_Private(v));
  PCVCRSSingleForgetSize_Private(&v->single);

  PetscCall(PCVCRSLookWhatIsTold_Private(v));
  PetscCall(PCSetOperators(inner, pc->mat, pc->pmat));
  PetscCall(PCSetErrorIfFailure(inner, pc->erroriffailure));
  PetscCall(PCVCRSSetUpInside_Private(inner));
  pc->failedreason     = inner->failedreason;
  pc->failedreasonrank = inner->failedreasonrank;
  PetscCall(PCVCRSCompress_Private(pc));
  PetscCall(PCVCRSSetOperations_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_VCRS(PC pc, PetscOptionItems PetscOptionsObject)
{
  PC inner = NULL;

  PetscFunctionBegin;
  PetscCall(PCVCRSSetFromOptions_Private(pc, PetscOptionsObject));
  PetscCall(PCVCRSGetPC_VCRS(pc, &inner));
  PetscCall(PCSetFromOptions(inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_VCRS(PC pc)
{
  PC_VCRS *v = (PC_VCRS *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCVCRSClear_Private(v));
  if (v->inner.pc) PetscCall(PCReset(v->inner.pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_VCRS(PC pc)
{
  PC_VCRS *v = (PC_VCRS *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCVCRSClear_Private(v));
  PetscCall(PCVCRSInnerDestroy_Private(&v->inner));
  PetscCall(PCVCRSComposeForwards_Private(pc, PETSC_FALSE));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSGetPC_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSGetInfo_C", NULL));
  PetscCall(PCVCRSComposeOptions_Private(pc, PETSC_FALSE));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSGetPC - Gets the preconditioner whose matrices a `PCVCRS` compresses

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCVCRS`

  Output Parameter:
. inner - the inner preconditioner, not to be destroyed

  Level: intermediate

  Note:
  The options prefix of the inner preconditioner is the prefix of `pc` followed by `vcrs_`. Many functions of the
  inner type may also be called with `pc`, which passes the calls on; functions of `PCMG` may not. A caller always
  finds the exact matrices inside; compressed copies replace the exact matrices only during an application.

.seealso: `PCVCRS`, `PCVCRSSetLoss()`
@*/
PetscErrorCode PCVCRSGetPC(PC pc, PC *inner)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(inner, 2);
  PetscUseMethod(pc, "PCVCRSGetPC_C", (PC, PC *), (pc, inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCVCRS - "vcrs" - Any preconditioner of PETSc, applied from compressed copies of all matrices

   Options Database Keys:
+ -vcrs_pc_type <type>                               - the inner preconditioner; all its options have the prefix `vcrs_`
. -pc_vcrs_loss <none,bins,classes,log,fixed,single,binclasses> - loss of the copies, see `MatVCRSLoss`; log is the
    default
. -pc_vcrs_bits <8,16>                               - bits of an entry of the losses log and fixed; 8 is the default
. -pc_vcrs_coarse_bits <8,16>                        - the same on the coarse levels of multigrid; 16 is the default
. -pc_vcrs_bins <100000>                             - number of bins of the losses bins and binclasses
. -pc_vcrs_lambda <0.1>                              - tolerance of the losses classes and binclasses
. -pc_vcrs_lambda_unit <row,entry,absolute>          - the unit of the tolerance
. -pc_vcrs_preserve_row_sums <true>                  - keep row sums if entries are changed
. -pc_vcrs_factor_solve <auto,substitution,jacobi>   - method of solves with triangular factors, see
    `PCVCRSFactorSolveType`
. -pc_vcrs_factor_sweeps <n>                         - sweeps of Jacobi's method for a triangular factor; measured at
    set-up by default
. -pc_vcrs_precision <double,single>                 - the precision of input, output and all entries
. -pc_vcrs_store_restrictions <false>                - on a device, store restrictions that are transposed
    interpolations: faster, larger
. -pc_vcrs_drop_exact <false>                        - free exact matrices owned only by the inner preconditioner
- -ksp_view                                          - prints a line per matrix: layout, bytes and the bound of the
    error

   Level: beginner

   Notes:
   The inner preconditioner is set up on the exact matrix. All matrices that an application reads are then copied into
   matrices of type `MATVCRS`. `PCMG` and `PCGAMG` read operators, residuals, interpolations and restrictions. `PCSOR`
   reads a matrix. `PCILU`, `PCICC`, `PCLU` and `PCCHOLESKY` read factors (`MATSOLVERPETSC`). Solvers inside
   `PCBJACOBI`, `PCASM`, `PCGASM`, `PCREDUNDANT`, `PCTELESCOPE`, `PCKSP`, `PCCOMPOSITE` and `PCFIELDSPLIT` are treated
   in the same way, including the operators of their iterations. `MATMAIJ`, `MATBAIJ` and `MATSBAIJ` matrices are read
   as `MATAIJ` if the result is smaller. Other types of matrices and preconditioners are left unchanged, unless a
   function names their matrices (`PCVCRSExchangeFn`). `PCView()` lists unchanged matrices.

   Triangular factors are scaled by their pivots. Each triangle has the chosen loss if the solutions for right-hand
   sides of ones and of random signs change by at most 10 percent. Otherwise row sums are kept; the next steps are
   entries of 16 bits, then single precision. The pivots, and factors of direct solvers, are in single precision
   unless the loss is none.

   A matrix with a NaN, an infinity, or numbers near the end of the range is left unchanged. The solve ends as with
   the inner preconditioner alone; `PCView()` and -info report the matrix.

   The copies have the options prefix of the inner preconditioner followed by `copy_`. Options of matrices without a
   prefix do not affect the copies.

   A new set-up makes new copies, except for unchanged matrices. `PCSetReusePreconditioner()` keeps all copies.

   An interpolation or restriction is compressed without loss if the result is smaller. An operator or a factor gets 16
   bits if 8 bits of the loss log could change an entry by more than 5 percent, as on coarse levels. For an
   interpolation the limit is 10 percent.

   By default row sums are exact for any loss. Row sums matter more than the number of bits for the success of a
   compressed preconditioner.

   All levels except the finest are coarse; restrictions to coarse levels are coarse, too. Coarse levels have few
   entries, and no finer level corrects errors of a coarse level. A solve with 8 bits on coarse levels can take 10
   percent more iterations than the exact preconditioner.

   A sweep with a triangular factor is a product with the factor. A number of sweeps equal to the number of levels of
   dependent rows solves the system exactly. By default the set-up finds the number of sweeps, up to 100, that come
   within 2 percent of the solution for a right-hand side of ones. If sweeps do not suffice, or take longer,
   `PCVCRS_FACTOR_AUTO` substitutes.

   With -pc_vcrs_precision single the input and the output are rounded, and entries of double precision are stored in
   single precision. Both vectors are first divided by a power of two, to keep small residuals from underflow. Internal
   vectors keep the type `PetscScalar`, the only type of PETSc's vectors. The number of iterations is as with a
   preconditioner in single precision, but the bytes of vectors are unchanged.

   With -pc_vcrs_drop_exact level operators, interpolations and factors exist in compressed form only. The next set-up
   orders, coarsens and interpolates anew. All other inner preconditioners keep their settings: fields, subdomains and
   blocks. Levels are kept if a `PCMG` could not make the levels again. Examples are a `PCMG` without a `DM` or Galerkin
   operators, with interpolations of the program, or with `PCASM` or `PCFIELDSPLIT` inside. A caller who asks the inner
   preconditioner for matrices gets the compressed matrices.

   `PCGAMG` restricts with the transpose of its interpolation. On a device products with a transpose are slow, because
   many threads add to one entry. The order of the sums varies, and the last digits change from one application to the
   next. With -pc_vcrs_store_restrictions an application is faster and always gives the same bits. For 4 million
   unknowns, it took 1.74 ms with stored restrictions and 1.89 ms without. All matrices together took 2.35 and 3.26
   times less memory than in AIJ.

   With a loss `PCApplyRichardson()` is missing, because the function would use the compressed matrix as the operator.
   `KSPRICHARDSON` then computes residuals with the exact operator.

   Methods with a symmetric preconditioner (`KSPCG`) need a matrix marked as symmetric, by `MatSetOption()` with
   `MAT_SYMMETRIC` or `MAT_SPD`. The copies are then symmetric, too.

   `PCSOR` relaxes the copy point by point. A `MATAIJ` with equal patterns in neighbouring rows is relaxed by blocks
   of rows, unless `MatSetOption()` sets `MAT_USE_INODES` to false.

.seealso: `PCVCRSGetPC()`, `PCVCRSGetInfo()`, `PCVCRSSetLoss()`, `PCVCRSSetBits()`, `PCVCRSSetFactorSolve()`, `MATVCRS`,
          `PCCreate()`, `PCSetType()`
M*/
PETSC_INTERN PetscErrorCode PCCreate_VCRS(PC);

PetscErrorCode PCCreate_VCRS(PC pc)
{
  PC_VCRS *v;

  PetscFunctionBegin;
  PetscCall(PetscNew(&v));
  pc->data = v;
  v->outer = pc;
  PCVCRSUnshareLine_Private(&v->lines);
  PetscCall(PCVCRSOptionsDefault_Private(&v->opt));

  pc->ops->apply          = PCApply_VCRS;
  pc->ops->applytranspose = PCApplyTranspose_VCRS;
  pc->ops->setup          = PCSetUp_VCRS;
  pc->ops->setuponblocks  = PCSetUpOnBlocks_VCRS;
  pc->ops->reset          = PCReset_VCRS;
  pc->ops->destroy        = PCDestroy_VCRS;
  pc->ops->setfromoptions = PCSetFromOptions_VCRS;
  pc->ops->view           = PCView_VCRS;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSGetPC_C", PCVCRSGetPC_VCRS));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSGetInfo_C", PCVCRSGetInfo_VCRS));
  PetscCall(PCVCRSComposeOptions_Private(pc, PETSC_TRUE));
  PetscCall(PCVCRSComposeForwards_Private(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
