/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The options of MATVCRS: the options database and the setters. The defaults and limits are in context.c. */

#include "vcrsimpl.h"

/* Sets options of a program or of the options database. The first lossy matrix starts the guard of solves */
static PetscErrorCode MatVCRSSetOptions_Private(Mat A, const VCRSOptions *opt)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSReplaceOptions_Private(A, opt));
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx->settings.lossy) PetscCall(MatVCRSOperatorGuardStart());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSGetLoss_Private(Mat A, MatVCRSLoss *loss, PetscBool *lossy)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  *loss  = ctx->settings.opt.loss;
  *lossy = ctx->settings.lossy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of A and of the blocks of a parallel A: a program may multiply with a block, too */
static PetscErrorCode MatVCRSAllowLossyOperator_Private(Mat A, PetscBool allow)
{
  Mat_VCRS *ctx;
  PetscBool isseq;
  Mat       block[2] = {NULL, NULL};

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  ctx->settings.allowlossy = allow;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJVCRS, &isseq));
  if (!isseq) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2; b++) {
    if (!block[b]) continue;
    PetscCall(MatVCRSGetContext(block[b], &ctx));
    if (ctx) ctx->settings.allowlossy = allow;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of A and of its blocks, see MATVCRS. A lossy matrix: before the first product, see -mat_vcrs_plain_rows */
PetscErrorCode MatVCRSSetPlainRows_Private(Mat A, PetscBool may)
{
  Mat_VCRS *ctx;
  Mat       block[2];
  PetscBool parallel;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  ctx->settings.mayplain = may;
  if (!may) {
    PetscCall(MatVCRSPlansSetPlainRows_Private(ctx, NULL));

    /* AIJ arrays may have changed: their compression waits for the next use */
    if (ctx->last.dropped || ctx->settings.lossy) PetscCall(MatVCRSLeavePlainRows_Private(A));
    else if (ctx->plans.host && ctx->plans.host->plainrows) MatVCRSSetOutdated_Private(ctx);
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJVCRS, &parallel));
  if (!parallel || !A->preallocated) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2; b++) {
    PetscCall(MatVCRSGetContext(block[b], &ctx));
    if (ctx) PetscCall(MatVCRSSetPlainRows_Private(block[b], may));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inside PetscOptionsBegin/End of A */
PetscErrorCode MatVCRSSetFromOptions_Private(Mat A, PetscOptionItems PetscOptionsObject)
{
  Mat_VCRS      *ctx;
  VCRSOptions    opt;
  PetscBool      drop, allow, plain, grids = PETSC_TRUE;
  LitheTransport transport;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetOptions_Private(ctx, &opt));
  drop      = ctx->settings.dropaij;
  allow     = ctx->settings.allowlossy;
  plain     = ctx->settings.mayplain;
  transport = ctx->exchange.transport;

  PetscOptionsHeadBegin(PetscOptionsObject, "Compressed sparse rows (vcrs)");
  PetscCall(PetscOptionsEnum("-mat_vcrs_layout", "How the matrix is stored", "MatVCRSSetLayout", MatVCRSLayouts, (PetscEnum)opt.layout,
                             (PetscEnum *)&opt.layout, NULL));
  PetscCall(
    PetscOptionsEnum("-mat_vcrs_loss", "Permitted change of entries", "MatVCRSSetLoss", MatVCRSLosses, (PetscEnum)opt.loss, (PetscEnum *)&opt.loss, NULL));
  PetscCall(PetscOptionsInt("-mat_vcrs_bits", "Bits per entry of the losses log and fixed: 8 or 16", "MatVCRSSetBits", opt.bits, &opt.bits, NULL));
  PetscCall(PetscOptionsInt("-mat_vcrs_bins", "Number of bins of the losses bins and binclasses", "MatVCRSSetBins", opt.bins, &opt.bins, NULL));
  PetscCall(PetscOptionsReal("-mat_vcrs_lambda", "Tolerance of the losses classes and binclasses", "MatVCRSSetLambda", opt.lambda, &opt.lambda, NULL));
  PetscCall(PetscOptionsEnum("-mat_vcrs_lambda_unit", "Unit of lambda", "MatVCRSSetLambda", MatVCRSUnits, (PetscEnum)opt.unit, (PetscEnum *)&opt.unit, NULL));
  PetscCall(PetscOptionsBool("-mat_vcrs_preserve_row_sums", "Keep row sums if entries change", "MatVCRSSetPreserveRowSums", opt.rowsums, &opt.rowsums, NULL));
  PetscCall(PetscOptionsBool("-mat_vcrs_refine_loss", "Use a finer loss if the loss is too coarse for many rows", "MatVCRSSetRefineLoss", opt.refine,
                             &opt.refine, NULL));
  PetscCall(PetscOptionsBool("-mat_vcrs_drop_aij", "Give the AIJ arrays back once compressed", "MatVCRSDropAIJ", drop, &drop, NULL));
  PetscCall(PetscOptionsBool("-mat_vcrs_allow_lossy_operator", "Multiply with a lossy matrix also outside of preconditioners", "MatVCRSSetAllowLossyOperator",
                             allow, &allow, NULL));
  PetscCall(PetscOptionsBool("-mat_vcrs_plain_rows", "Let products on a CPU use plain rows", NULL, plain, &plain, NULL));
  PetscCall(PetscOptionsEnum("-mat_vcrs_transport", "How ghost values travel between processes", NULL, LitheTransports, (PetscEnum)transport,
                             (PetscEnum *)&transport, NULL));
  /* for -help only: a device reads this option of the triangle itself, which may be a copy */
  PetscCall(PetscOptionsBool("-mat_vcrs_substitution_grids", "On a device: substitution may use tiles of a grid", NULL, grids, &grids, NULL));
  PetscOptionsHeadEnd();

  PetscCall(MatVCRSSetOptions_Private(A, &opt));
  PetscCall(MatVCRSSetTransport_Private(ctx, transport));
  ctx->settings.dropaij = drop;
  if (drop) PetscCall(MatVCRSComposeComparisons_Private(A));
  PetscCall(MatVCRSAllowLossyOperator_Private(A, allow));
  PetscCall(MatVCRSSetPlainRows_Private(A, plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The context of a matrix; an error if the matrix is no MATVCRS */
static PetscErrorCode MatVCRSGetContextChecked_Private(Mat A, Mat_VCRS **ctx)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(MatVCRSGetContext(A, ctx));
  PetscCheck(*ctx, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "The matrix has type %s, not vcrs; use MatSetType(A, MATVCRS) or MatConvert()",
             ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "none yet");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSSetLayout - Sets the storage layout of a `MATVCRS` matrix

  Logically Collective

  Input Parameters:
+ A - the matrix
- layout - the layout; `MATVCRS_LAYOUT_AUTO` is the default

  Options Database Key:
. -mat_vcrs_layout <auto,literal,l0,l1,l2,l3> - the layout

  Level: intermediate

  Note:
  `MATVCRS_LAYOUT_AUTO` takes the layout that needs the fewest bytes in a product. If a layout cannot hold the matrix,
  the next use of the matrix raises an error: for example `MATVCRS_LAYOUT_L2` if entries are no fixed-point numbers.

.seealso: `MATVCRS`, `MatVCRSLayout`, `MatVCRSSetLoss()`
@*/
PetscErrorCode MatVCRSSetLayout(Mat A, MatVCRSLayout layout)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContextChecked_Private(A, &ctx));
  PetscValidLogicalCollectiveEnum(A, layout, 2);
  PetscCall(MatVCRSGetOptions_Private(ctx, &opt));
  opt.layout = layout;
  PetscCall(MatVCRSSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSSetLoss - Sets the permitted change of the entries of a `MATVCRS` matrix

  Logically Collective

  Input Parameters:
+ A - the matrix
- loss - the loss; `MATVCRS_LOSS_NONE` is the default

  Options Database Key:
. -mat_vcrs_loss <none,bins,classes,log,fixed,single,binclasses> - the loss

  Level: intermediate

  Notes:
  Loss belongs in a preconditioner. Outside of a preconditioner, products with a lossy matrix are an error without
  permission by `MatVCRSSetAllowLossyOperator()`.

  The AIJ arrays hold the exact entries until `MatVCRSDropAIJ()`; products use the changed entries.

.seealso: `MATVCRS`, `MatVCRSLoss`, `MatVCRSSetBits()`, `MatVCRSSetBins()`, `MatVCRSSetLambda()`, `MatVCRSGetInfo()`
@*/
PetscErrorCode MatVCRSSetLoss(Mat A, MatVCRSLoss loss)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContextChecked_Private(A, &ctx));
  PetscValidLogicalCollectiveEnum(A, loss, 2);
  PetscCall(MatVCRSGetOptions_Private(ctx, &opt));
  opt.loss = loss;
  PetscCall(MatVCRSSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSSetBits - Sets the bits per entry of the losses `MATVCRS_LOSS_LOG` and `MATVCRS_LOSS_FIXED`

  Logically Collective

  Input Parameters:
+ A - the matrix
- bits - 8 or 16; 16 is the default. A complex entry has two parts of `bits` bits

  Options Database Key:
. -mat_vcrs_bits <8,16> - the bits

  Level: intermediate

  Note:
  Any other number is an error.

.seealso: `MATVCRS`, `MatVCRSSetLoss()`
@*/
PetscErrorCode MatVCRSSetBits(Mat A, PetscInt bits)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContextChecked_Private(A, &ctx));
  PetscValidLogicalCollectiveInt(A, bits, 2);
  PetscCall(MatVCRSGetOptions_Private(ctx, &opt));
  opt.bits = bits;
  PetscCall(MatVCRSSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSSetBins - Sets the number of bins of `MATVCRS_LOSS_BINS` and `MATVCRS_LOSS_BINCLASSES`

  Logically Collective

  Input Parameters:
+ A - the matrix
- bins - at least 1; 100000 is the default

  Options Database Key:
. -mat_vcrs_bins <bins> - the number of bins

  Level: intermediate

  Note:
  An entry is changed by at most half a bin, (max - min)/(2 bins); with `MATVCRS_LOSS_BINCLASSES` by at most the larger
  of half a bin and the tolerance of `MatVCRSSetLambda()`.

.seealso: `MATVCRS`, `MatVCRSSetLoss()`
@*/
PetscErrorCode MatVCRSSetBins(Mat A, PetscInt bins)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContextChecked_Private(A, &ctx));
  PetscValidLogicalCollectiveInt(A, bins, 2);
  PetscCall(MatVCRSGetOptions_Private(ctx, &opt));
  opt.bins = bins;
  PetscCall(MatVCRSSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSSetLambda - Sets the tolerance of `MATVCRS_LOSS_CLASSES` and `MATVCRS_LOSS_BINCLASSES`

  Logically Collective

  Input Parameters:
+ A - the matrix
. lambda - at least 0; 0.1 is the default. 0 is lossless, and with `MATVCRS_LOSS_BINCLASSES` leaves bins alone
- unit - the unit of `lambda`; `MATVCRS_UNIT_ROW` is the default

  Options Database Keys:
+ -mat_vcrs_lambda <lambda> - the tolerance
- -mat_vcrs_lambda_unit <row,entry,absolute> - the unit

  Level: intermediate

  Note:
  Rows with the same pattern share a set of values if their entries agree within `lambda`. Entries are first rounded to
  a grid and then compared exactly: the classes do not depend on the order of rows.

.seealso: `MATVCRS`, `MatVCRSSetLoss()`, `MatVCRSUnit`
@*/
PetscErrorCode MatVCRSSetLambda(Mat A, PetscReal lambda, MatVCRSUnit unit)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContextChecked_Private(A, &ctx));
  PetscValidLogicalCollectiveReal(A, lambda, 2);
  PetscValidLogicalCollectiveEnum(A, unit, 3);
  PetscCall(MatVCRSGetOptions_Private(ctx, &opt));
  opt.lambda = lambda;
  opt.unit   = unit;
  PetscCall(MatVCRSSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSSetPreserveRowSums - Sets whether lossy modes keep the row sums of a `MATVCRS` matrix

  Logically Collective

  Input Parameters:
+ A - the matrix
- preserve - `PETSC_TRUE` (the default) to keep row sums

  Options Database Key:
. -mat_vcrs_preserve_row_sums <bool> - keep row sums

  Level: intermediate

  Note:
  A preconditioner made from a matrix whose row sums are off often fails, whatever the number of bits. The
  product is then evaluated as y_i = sigma_i x_i + sum_j a_ij (x_j - x_i), with the exact row sum sigma_i.

.seealso: `MATVCRS`, `MatVCRSSetLoss()`
@*/
PetscErrorCode MatVCRSSetPreserveRowSums(Mat A, PetscBool preserve)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContextChecked_Private(A, &ctx));
  PetscValidLogicalCollectiveBool(A, preserve, 2);
  PetscCall(MatVCRSGetOptions_Private(ctx, &opt));
  opt.rowsums = preserve;
  PetscCall(MatVCRSSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSSetRefineLoss - Sets whether a `MATVCRS` matrix uses a finer loss if the chosen loss is too coarse for many
  rows

  Logically Collective

  Input Parameters:
+ A      - the matrix
- refine - `PETSC_TRUE` (the default) to use a finer loss

  Options Database Key:
. -mat_vcrs_refine_loss <bool> - use a finer loss

  Level: advanced

  Notes:
  Rows have entries of very different size if unknowns have unlike units, or if couplings are much stronger than the
  diagonal. Rounding the large entries of a row can change a small diagonal entry by a multiple of its value. There
  are two reasons. The diagonal entry takes the rounding of all other entries (`MatVCRSSetPreserveRowSums()`), and the
  step of the loss follows the largest entry of the row.

  A row is coarse if the rounding of its entries would change the diagonal entry by more than an eighth. A row is also
  coarse if the losses bins, classes, binclasses or fixed change an entry by more than an eighth of the diagonal entry.
  If more than one row of 256 is coarse, entries have 16 bits. If more than one row of 256 is still coarse, each entry
  is rounded to single precision, and row sums are not kept. Entries out of the range of single precision are not
  rounded.

  `MatVCRSGetInfo()` and `-mat_view ::ascii_info` tell which loss was used.

.seealso: `MATVCRS`, `MatVCRSSetLoss()`, `MatVCRSSetBits()`, `MatVCRSGetInfo()`
@*/
PetscErrorCode MatVCRSSetRefineLoss(Mat A, PetscBool refine)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContextChecked_Private(A, &ctx));
  PetscValidLogicalCollectiveBool(A, refine, 2);
  PetscCall(MatVCRSGetOptions_Private(ctx, &opt));
  opt.refine = refine;
  PetscCall(MatVCRSSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSSetAllowLossyOperator - Sets whether a lossy `MATVCRS` matrix may multiply outside of preconditioners

  Logically Collective

  Input Parameters:
+ A     - the matrix
- allow - `PETSC_FALSE` (the default) to refuse products

  Options Database Key:
. -mat_vcrs_allow_lossy_operator <bool> - allow products

  Level: advanced

  Notes:
  With a lossy operator `KSPSolve()` converges to the solution of another system, and no printed residual shows the
  difference. An eigenvalue solver finds the eigenvalues of another matrix.

  Without permission a product of a lossy matrix (`MatMult()` and its relatives, `MatResidual()`, `MatMatMult()` with a
  dense matrix) is an error. The exception is a preconditioner of a solve with another operator: give the
  matrix to `KSPSetOperators()` as the second matrix only. A matrix whose loss changed no entry multiplies like a
  lossless matrix.

  A preconditioner is recognized by PETSc's log events. If the events are switched off (`-log_exclude pc`, PETSc
  without logging), products with a lossy matrix need permission inside preconditioners, too.

  Without permission `-mat_vcrs_drop_aij` keeps the AIJ arrays of a lossy matrix, because only the arrays hold the exact
  entries.

.seealso: `MATVCRS`, `MatVCRSSetLoss()`, `MatVCRSDropAIJ()`, `KSPSetOperators()`
@*/
PetscErrorCode MatVCRSSetAllowLossyOperator(Mat A, PetscBool allow)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContextChecked_Private(A, &ctx));
  PetscValidLogicalCollectiveBool(A, allow, 2);
  PetscCall(MatVCRSAllowLossyOperator_Private(A, allow));
  PetscFunctionReturn(PETSC_SUCCESS);
}
