/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The options of PCVCRS: their defaults and limits, the options database and the setters.
*/

#include "pcvcrsimpl.h"

const char *const PCVCRSFactorSolveTypes[] = {"auto", "substitution", "jacobi", "PCVCRSFactorSolveType", "PCVCRS_FACTOR_", NULL};
const char *const PCVCRSPrecisions[]       = {"double", "single", "PCVCRSPrecision", "PCVCRS_PRECISION_", NULL};

/*
   Logarithmic values of 8 bits keep the sign of every entry and change it by a small factor, including the weak
   couplings of a row. A symmetric M-matrix therefore remains an M-matrix, and the preconditioner stays spectrally
   close. Fixed point of 8 bits, relative to the largest entry, loses weak couplings.
*/
PetscErrorCode PCVCRSOptionsDefault_Private(PCVCRSOptions *opt)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(opt, sizeof(*opt)));
  opt->loss       = MATVCRS_LOSS_LOG;
  opt->bits       = 8;
  opt->coarsebits = 16;
  opt->bins       = 100000;
  opt->lambda     = 0.1;
  opt->unit       = MATVCRS_UNIT_ROW;
  opt->rowsums    = PETSC_TRUE;
  opt->sweeps     = PETSC_DECIDE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks and takes over new options; the next application makes copies with them */
static PetscErrorCode PCVCRSSetOptions_Private(PC pc, const PCVCRSOptions *opt)
{
  PC_VCRS  *v    = (PC_VCRS *)pc->data;
  MPI_Comm  comm = PetscObjectComm((PetscObject)pc);
  PetscBool same;

  PetscFunctionBegin;
  PetscCheck(opt->bits == 8 || opt->bits == 16, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_vcrs_bits %" PetscInt_FMT ": an entry has 8 or 16 bits", opt->bits);
  PetscCheck(opt->coarsebits == 8 || opt->coarsebits == 16, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_vcrs_coarse_bits %" PetscInt_FMT ": an entry has 8 or 16 bits",
             opt->coarsebits);
  PetscCheck(opt->bins >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_vcrs_bins %" PetscInt_FMT ": use at least one bin; 100000 is the default", opt->bins);
  PetscCheck(opt->lambda >= 0.0 && !PetscIsInfOrNanReal(opt->lambda), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_vcrs_lambda %g: use a tolerance of at least 0 (0 is lossless)", (double)opt->lambda);
  PetscCheck(opt->unit != MATVCRS_UNIT_ENTRY || opt->lambda < 1.0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_vcrs_lambda %g with -pc_vcrs_lambda_unit entry: use a tolerance below 1, or entries lose their sign", (double)opt->lambda);
  PetscCheck(opt->sweeps >= 0 || opt->sweeps == PETSC_DECIDE, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_vcrs_factor_sweeps %" PetscInt_FMT ": use a number of at least 0, or PETSC_DECIDE", opt->sweeps);
  PetscCall(PetscMemcmp(opt, &v->opt, sizeof(*opt), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCVCRSClear_Private(v));
  v->opt                   = *opt;
  pc->ops->applyrichardson = NULL; /* until the next set-up, which knows whether the function may exist */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inside PetscOptionsBegin/End of pc */
PetscErrorCode PCVCRSSetFromOptions_Private(PC pc, PetscOptionItems PetscOptionsObject)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  PetscOptionsHeadBegin(PetscOptionsObject, "Compressed preconditioner (vcrs)");
  PetscCall(PetscOptionsEnum("-pc_vcrs_loss", "Loss of the entries of the matrices", "PCVCRSSetLoss", MatVCRSLosses, (PetscEnum)opt.loss,
                             (PetscEnum *)&opt.loss, NULL));
  PetscCall(PetscOptionsInt("-pc_vcrs_bits", "Bits per entry of the losses log and fixed: 8 or 16", "PCVCRSSetBits", opt.bits, &opt.bits, NULL));
  PetscCall(PetscOptionsInt("-pc_vcrs_coarse_bits", "The same on the coarse levels of a multigrid preconditioner", "PCVCRSSetCoarseBits", opt.coarsebits,
                            &opt.coarsebits, NULL));
  PetscCall(PetscOptionsInt("-pc_vcrs_bins", "Number of bins of the loss bins", "PCVCRSSetBins", opt.bins, &opt.bins, NULL));
  PetscCall(PetscOptionsReal("-pc_vcrs_lambda", "Tolerance of the loss classes", "PCVCRSSetLambda", opt.lambda, &opt.lambda, NULL));
  PetscCall(PetscOptionsEnum("-pc_vcrs_lambda_unit", "Unit of lambda", "PCVCRSSetLambda", MatVCRSUnits, (PetscEnum)opt.unit, (PetscEnum *)&opt.unit, NULL));
  PetscCall(PetscOptionsBool("-pc_vcrs_preserve_row_sums", "Keep row sums if entries change", "PCVCRSSetPreserveRowSums", opt.rowsums, &opt.rowsums, NULL));
  PetscCall(PetscOptionsEnum("-pc_vcrs_factor_solve", "How systems with triangular factors are solved", "PCVCRSSetFactorSolve", PCVCRSFactorSolveTypes,
                             (PetscEnum)opt.factorsolve, (PetscEnum *)&opt.factorsolve, NULL));
  PetscCall(
    PetscOptionsInt("-pc_vcrs_factor_sweeps", "Sweeps of Jacobi's method per triangular factor", "PCVCRSSetFactorSweeps", opt.sweeps, &opt.sweeps, NULL));
  PetscCall(PetscOptionsEnum("-pc_vcrs_precision", "Precision of input, output and all entries", "PCVCRSSetPrecision", PCVCRSPrecisions,
                             (PetscEnum)opt.precision, (PetscEnum *)&opt.precision, NULL));
  PetscCall(PetscOptionsBool("-pc_vcrs_drop_exact", "Free exact matrices owned only by the inner preconditioner", "PCVCRSSetDropExact", opt.dropexact,
                             &opt.dropexact, NULL));
  PetscCall(PetscOptionsBool("-pc_vcrs_store_restrictions", "On a device: store transposed interpolations as restrictions", "PCVCRSSetStoreRestrictions",
                             opt.restrictions, &opt.restrictions, NULL));
  PetscOptionsHeadEnd();
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSSetLoss_VCRS(PC pc, MatVCRSLoss loss)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.loss = loss;
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSGetLoss_VCRS(PC pc, MatVCRSLoss *loss)
{
  PetscFunctionBegin;
  *loss = ((PC_VCRS *)pc->data)->opt.loss;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSSetBits_VCRS(PC pc, PetscInt bits)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.bits = bits;
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSSetCoarseBits_VCRS(PC pc, PetscInt bits)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.coarsebits = bits;
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSSetBins_VCRS(PC pc, PetscInt bins)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.bins = bins;
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSSetLambda_VCRS(PC pc, PetscReal lambda, MatVCRSUnit unit)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.lambda = lambda;
  opt.unit   = unit;
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSSetPreserveRowSums_VCRS(PC pc, PetscBool preserve)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.rowsums = preserve;
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSSetFactorSolve_VCRS(PC pc, PCVCRSFactorSolveType type)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.factorsolve = type;
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSSetFactorSweeps_VCRS(PC pc, PetscInt sweeps)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.sweeps = sweeps;
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSSetPrecision_VCRS(PC pc, PCVCRSPrecision precision)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.precision = precision;
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSSetDropExact_VCRS(PC pc, PetscBool drop)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.dropexact = drop;
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSSetStoreRestrictions_VCRS(PC pc, PetscBool store)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.restrictions = store;
  PetscCall(PCVCRSSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSComposeOptions_Private(PC pc, PetscBool compose)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetLoss_C", compose ? PCVCRSSetLoss_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSGetLoss_C", compose ? PCVCRSGetLoss_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetBits_C", compose ? PCVCRSSetBits_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetCoarseBits_C", compose ? PCVCRSSetCoarseBits_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetBins_C", compose ? PCVCRSSetBins_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetLambda_C", compose ? PCVCRSSetLambda_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetPreserveRowSums_C", compose ? PCVCRSSetPreserveRowSums_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetFactorSolve_C", compose ? PCVCRSSetFactorSolve_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetFactorSweeps_C", compose ? PCVCRSSetFactorSweeps_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetPrecision_C", compose ? PCVCRSSetPrecision_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetDropExact_C", compose ? PCVCRSSetDropExact_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetStoreRestrictions_C", compose ? PCVCRSSetStoreRestrictions_VCRS : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetLoss - Sets the loss of a `PCVCRS`: the permitted change of entries of compressed matrices

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner; ignored if the type is not `PCVCRS`
- loss - the loss; `MATVCRS_LOSS_LOG` is the default

  Options Database Key:
. -pc_vcrs_loss <none,bins,classes,log,fixed,single> - the loss

  Level: intermediate

  Note:
  With `MATVCRS_LOSS_NONE` the preconditioner equals the inner preconditioner up to rounding.

.seealso: `PCVCRS`, `PCVCRSGetLoss()`, `PCVCRSSetBits()`, `PCVCRSSetBins()`, `PCVCRSSetLambda()`, `MatVCRSSetLoss()`
@*/
PetscErrorCode PCVCRSSetLoss(PC pc, MatVCRSLoss loss)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, loss, 2);
  PetscTryMethod(pc, "PCVCRSSetLoss_C", (PC, MatVCRSLoss), (pc, loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSGetLoss - Gets the loss of a `PCVCRS`: the permitted change of entries of compressed matrices

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCVCRS`

  Output Parameter:
. loss - the loss

  Level: intermediate

.seealso: `PCVCRS`, `PCVCRSSetLoss()`
@*/
PetscErrorCode PCVCRSGetLoss(PC pc, MatVCRSLoss *loss)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(loss, 2);
  PetscUseMethod(pc, "PCVCRSGetLoss_C", (PC, MatVCRSLoss *), (pc, loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetBits - Sets the bits per entry of the losses `MATVCRS_LOSS_LOG` and `MATVCRS_LOSS_FIXED` of a `PCVCRS`

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner; ignored if the type is not `PCVCRS`
- bits - 8, the default, or 16. A complex entry has two parts of `bits` bits

  Options Database Key:
. -pc_vcrs_bits <8,16> - the bits

  Level: intermediate

  Note:
  If 8 bits of the loss log could change an entry of a matrix by more than 10 percent, the matrix has 16 bits.

.seealso: `PCVCRS`, `PCVCRSSetCoarseBits()`, `PCVCRSSetLoss()`, `MatVCRSSetBits()`
@*/
PetscErrorCode PCVCRSSetBits(PC pc, PetscInt bits)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, bits, 2);
  PetscTryMethod(pc, "PCVCRSSetBits_C", (PC, PetscInt), (pc, bits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetCoarseBits - Sets the bits per entry of the losses `MATVCRS_LOSS_LOG` and `MATVCRS_LOSS_FIXED` on the coarse
  levels of a multigrid preconditioner inside of a `PCVCRS`

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner; ignored if the type is not `PCVCRS`
- bits - 8, or 16, the default

  Options Database Key:
. -pc_vcrs_coarse_bits <8,16> - the bits

  Level: intermediate

  Notes:
  All levels except the finest are coarse; restrictions to coarse levels are coarse, too. Coarse levels have few
  entries, and no finer level corrects errors of a coarse level. A solve with 8 bits on coarse levels can take 10
  percent more iterations than the exact preconditioner.

  Without multigrid inside the function has no effect.

.seealso: `PCVCRS`, `PCVCRSSetBits()`, `PCVCRSSetLoss()`, `MatVCRSSetBits()`
@*/
PetscErrorCode PCVCRSSetCoarseBits(PC pc, PetscInt bits)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, bits, 2);
  PetscTryMethod(pc, "PCVCRSSetCoarseBits_C", (PC, PetscInt), (pc, bits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetBins - Sets the number of bins of the loss `MATVCRS_LOSS_BINS` of a `PCVCRS`

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner; ignored if the type is not `PCVCRS`
- bins - at least 1; 100000 is the default

  Options Database Key:
. -pc_vcrs_bins <bins> - the number of bins

  Level: intermediate

.seealso: `PCVCRS`, `PCVCRSSetLoss()`, `MatVCRSSetBins()`
@*/
PetscErrorCode PCVCRSSetBins(PC pc, PetscInt bins)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, bins, 2);
  PetscTryMethod(pc, "PCVCRSSetBins_C", (PC, PetscInt), (pc, bins));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetLambda - Sets the tolerance of the loss `MATVCRS_LOSS_CLASSES` of a `PCVCRS`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner; ignored if the type is not `PCVCRS`
. lambda - at least 0, which is lossless; 0.1 is the default
- unit   - the unit of lambda; `MATVCRS_UNIT_ROW` is the default

  Options Database Keys:
+ -pc_vcrs_lambda <lambda>                  - the tolerance
- -pc_vcrs_lambda_unit <row,entry,absolute> - the unit

  Level: intermediate

.seealso: `PCVCRS`, `PCVCRSSetLoss()`, `MatVCRSSetLambda()`
@*/
PetscErrorCode PCVCRSSetLambda(PC pc, PetscReal lambda, MatVCRSUnit unit)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, lambda, 2);
  PetscValidLogicalCollectiveEnum(pc, unit, 3);
  PetscTryMethod(pc, "PCVCRSSetLambda_C", (PC, PetscReal, MatVCRSUnit), (pc, lambda, unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetPreserveRowSums - Sets whether the lossy modes of a `PCVCRS` keep the row sums of its matrices

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner; ignored if the type is not `PCVCRS`
- preserve - `PETSC_TRUE` (the default) to keep row sums

  Options Database Key:
. -pc_vcrs_preserve_row_sums <bool> - keep row sums

  Level: advanced

.seealso: `PCVCRS`, `PCVCRSSetLoss()`, `MatVCRSSetPreserveRowSums()`
@*/
PetscErrorCode PCVCRSSetPreserveRowSums(PC pc, PetscBool preserve)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, preserve, 2);
  PetscTryMethod(pc, "PCVCRSSetPreserveRowSums_C", (PC, PetscBool), (pc, preserve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetFactorSolve - Sets the method of solves with the compressed factors of `PCILU`, `PCICC`, `PCLU` and
  `PCCHOLESKY`

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner; ignored if the type is not `PCVCRS`
- type - `PCVCRS_FACTOR_AUTO` (the default), `PCVCRS_FACTOR_SUBSTITUTION` or `PCVCRS_FACTOR_JACOBI`

  Options Database Key:
. -pc_vcrs_factor_solve <auto,substitution,jacobi> - the method

  Level: intermediate

  Note:
  `PCVCRS_FACTOR_AUTO` takes the type of vectors from the factored matrix (`MatGetVecType()`). With vectors on a
  device, an estimate of time chooses among substitution on the device, sweeps, and substitution on the host.
  Substitution on the host copies vectors both ways. `PCView()` shows the choice.

  Transposed substitution on a device, `MatVCRSSubstitute()`, stores a triangle a second time. `PCICC` and `PCCHOLESKY`
  store it at set-up, all other factors at the first `PCApplyTranspose()`.

.seealso: `PCVCRS`, `PCVCRSSetFactorSweeps()`
@*/
PetscErrorCode PCVCRSSetFactorSolve(PC pc, PCVCRSFactorSolveType type)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, type, 2);
  PetscTryMethod(pc, "PCVCRSSetFactorSolve_C", (PC, PCVCRSFactorSolveType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetFactorSweeps - Sets the number of sweeps of Jacobi's method of a `PCVCRS` for a compressed triangular factor

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner; ignored if the type is not `PCVCRS`
- sweeps - at least 0 (the triangle counts as the identity), or `PETSC_DECIDE` (the default)

  Options Database Key:
. -pc_vcrs_factor_sweeps <sweeps> - the number of sweeps

  Level: intermediate

  Notes:
  Each sweep is a product with the factor. A number of sweeps equal to the number of levels of dependent rows solves the
  system exactly.

  With `PETSC_DECIDE` the set-up finds the number of sweeps, up to 100, that come within 2 percent of the solution for a
  right-hand side of ones. If sweeps do not suffice, or take longer, `PCVCRS_FACTOR_AUTO` substitutes.

.seealso: `PCVCRS`, `PCVCRSSetFactorSolve()`
@*/
PetscErrorCode PCVCRSSetFactorSweeps(PC pc, PetscInt sweeps)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, sweeps, 2);
  PetscTryMethod(pc, "PCVCRSSetFactorSweeps_C", (PC, PetscInt), (pc, sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetPrecision - Sets the precision of the application of a `PCVCRS`

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner; ignored if the type is not `PCVCRS`
- precision - `PCVCRS_PRECISION_DOUBLE` (the default) or `PCVCRS_PRECISION_SINGLE`

  Options Database Key:
. -pc_vcrs_precision <double,single> - the precision

  Level: intermediate

  Note:
  With single precision the input and the output are rounded, and entries of double precision are stored in single
  precision. Both vectors are first divided by a power of two, to keep small residuals from underflow. Internal vectors
  keep the type `PetscScalar`, the only type of PETSc's vectors. The number of iterations is as with a preconditioner in
  single precision, but the bytes of vectors are unchanged.

.seealso: `PCVCRS`, `PCVCRSSetLoss()`
@*/
PetscErrorCode PCVCRSSetPrecision(PC pc, PCVCRSPrecision precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscTryMethod(pc, "PCVCRSSetPrecision_C", (PC, PCVCRSPrecision), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetDropExact - Sets whether a `PCVCRS` frees the exact matrices owned only by the inner preconditioner

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner; ignored if the type is not `PCVCRS`
- drop - `PETSC_TRUE` to free the matrices; `PETSC_FALSE` is the default

  Options Database Key:
. -pc_vcrs_drop_exact <bool> - free the matrices

  Level: intermediate

  Notes:
  Level operators, interpolations and factors then exist in compressed form only. The next set-up orders, coarsens and
  interpolates anew. All other inner preconditioners keep their settings: fields, subdomains and blocks.

  Levels are kept if a `PCMG` could not make the levels again. Examples are a `PCMG` without a `DM` or Galerkin
  operators, with interpolations of the program, or with `PCASM` or `PCFIELDSPLIT` inside.

  A caller who asks the inner preconditioner for matrices gets the compressed matrices.

.seealso: `PCVCRS`, `PCVCRSGetPC()`, `MatVCRSDropAIJ()`
@*/
PetscErrorCode PCVCRSSetDropExact(PC pc, PetscBool drop)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, drop, 2);
  PetscTryMethod(pc, "PCVCRSSetDropExact_C", (PC, PetscBool), (pc, drop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetStoreRestrictions - Sets whether a `PCVCRS` on a device stores restrictions that are transposed
  interpolations

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner; ignored if the type is not `PCVCRS`
- store - `PETSC_TRUE` to store restrictions; `PETSC_FALSE` is the default

  Options Database Key:
. -pc_vcrs_store_restrictions <bool> - store restrictions

  Level: intermediate

  Note:
  `PCGAMG` restricts with the transpose of its interpolation. On a device products with a transpose are slow, because
  many threads add to one entry. The order of the sums varies, and the last digits change from one application to the
  next. A stored restriction is faster and always gives the same bits. For 4 million unknowns, an application took 1.74
  ms with stored restrictions and 1.89 ms without. All matrices together took 2.35 and 3.26 times less memory than in
  AIJ.

.seealso: `PCVCRS`, `PCMGSetRestriction()`
@*/
PetscErrorCode PCVCRSSetStoreRestrictions(PC pc, PetscBool store)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, store, 2);
  PetscTryMethod(pc, "PCVCRSSetStoreRestrictions_C", (PC, PetscBool), (pc, store));
  PetscFunctionReturn(PETSC_SUCCESS);
}
