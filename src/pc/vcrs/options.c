/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The options of PCVCRS: their defaults and limits, the options database, and setters.
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
  PetscCall(
    PetscOptionsInt("-pc_vcrs_coarse_bits", "The same on the coarse levels of a multigrid preconditioner", NULL, opt.coarsebits, &opt.coarsebits, NULL));
  PetscCall(PetscOptionsInt("-pc_vcrs_bins", "Number of bins of the losses bins and binclasses", NULL, opt.bins, &opt.bins, NULL));
  PetscCall(PetscOptionsReal("-pc_vcrs_lambda", "Tolerance of the losses classes and binclasses", NULL, opt.lambda, &opt.lambda, NULL));
  PetscCall(PetscOptionsEnum("-pc_vcrs_lambda_unit", "Unit of lambda", NULL, MatVCRSUnits, (PetscEnum)opt.unit, (PetscEnum *)&opt.unit, NULL));
  PetscCall(PetscOptionsBool("-pc_vcrs_preserve_row_sums", "Keep row sums if entries change", NULL, opt.rowsums, &opt.rowsums, NULL));
  PetscCall(PetscOptionsEnum("-pc_vcrs_factor_solve", "How systems with triangular factors are solved", "PCVCRSSetFactorSolve", PCVCRSFactorSolveTypes,
                             (PetscEnum)opt.factorsolve, (PetscEnum *)&opt.factorsolve, NULL));
  PetscCall(PetscOptionsInt("-pc_vcrs_factor_sweeps", "Sweeps of Jacobi's method per triangular factor", NULL, opt.sweeps, &opt.sweeps, NULL));
  PetscCall(PetscOptionsEnum("-pc_vcrs_precision", "Precision of input, output and all entries", NULL, PCVCRSPrecisions, (PetscEnum)opt.precision,
                             (PetscEnum *)&opt.precision, NULL));
  PetscCall(PetscOptionsBool("-pc_vcrs_drop_exact", "Free exact matrices owned only by the inner preconditioner", NULL, opt.dropexact, &opt.dropexact, NULL));
  PetscCall(PetscOptionsBool("-pc_vcrs_store_restrictions", "On a device: store transposed interpolations as restrictions", NULL, opt.restrictions,
                             &opt.restrictions, NULL));
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

static PetscErrorCode PCVCRSSetBits_VCRS(PC pc, PetscInt bits)
{
  PCVCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_VCRS *)pc->data)->opt, sizeof(opt)));
  opt.bits = bits;
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

PetscErrorCode PCVCRSComposeOptions_Private(PC pc, PetscBool compose)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetLoss_C", compose ? PCVCRSSetLoss_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetBits_C", compose ? PCVCRSSetBits_VCRS : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSSetFactorSolve_C", compose ? PCVCRSSetFactorSolve_VCRS : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSSetLoss - Sets the loss of a `PCVCRS`: the permitted change of entries of compressed matrices

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner; ignored if the type is not `PCVCRS`
- loss - the loss; `MATVCRS_LOSS_LOG` is the default

  Options Database Key:
. -pc_vcrs_loss <none,bins,classes,log,fixed,single,binclasses> - the loss

  Level: intermediate

  Note:
  With `MATVCRS_LOSS_NONE` the preconditioner equals the inner preconditioner up to rounding.

.seealso: `PCVCRS`, `PCVCRSSetBits()`, `MatVCRSSetLoss()`
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

.seealso: `PCVCRS`, `PCVCRSSetLoss()`, `MatVCRSSetBits()`
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

  Transposed substitution on a device stores a triangle a second time. `PCICC` and `PCCHOLESKY`
  store it at set-up, all other factors at the first `PCApplyTranspose()`.

.seealso: `PCVCRS`, `PCVCRSFactorSolveType`
@*/
PetscErrorCode PCVCRSSetFactorSolve(PC pc, PCVCRSFactorSolveType type)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, type, 2);
  PetscTryMethod(pc, "PCVCRSSetFactorSolve_C", (PC, PCVCRSFactorSolveType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}
