/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The options of KSPCBGMRES: defaults and limits, the options database and the setters, including the setters of
   KSPGMRES.
*/

#include "cbgmresimpl.h"

/*
   FRSZ2 of 32 bits: a relative rounding of 5e-10 suffices for a restart cycle of 30 or 100 vectors on nearly all
   systems. The basis takes half of the memory, and solves take the iterations of double storage.
*/
PetscErrorCode CBGMRESOptionsDefault_Private(KSP ksp)
{
  CBGMRESOptions *opt = &((KSP_CBGMRES *)ksp->data)->opt;

  PetscFunctionBegin;
  opt->restart      = 30;
  opt->every        = 1;
  opt->exponentbits = 8;
  opt->haptol       = 1.0e-30;
  opt->breakdowntol = 0.1;
  PetscCheck(LitheStorageSetUp(&opt->storage, LITHE_STORAGE_FRSZ2, PetscMin(32, LITHE_FRSZ2_MAX_BITS), (int)opt->exponentbits), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The default storage is none");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options that determine allocations: the next solve allocates again */
static PetscErrorCode CBGMRESSetUpAgain_Private(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_CBGMRES(ksp));
  ksp->setupstage = KSP_SETUP_NEW;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBGMRESSetStorage_Private(KSP ksp, const LitheStorage *storage)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  PetscBool    same;

  PetscFunctionBegin;
  PetscCall(PetscMemcmp(storage, &gm->opt.storage, sizeof(*storage), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS); /* a storage raised by a solve stays */
  gm->opt.storage = *storage;
  PetscCall(CBGMRESSetUpAgain_Private(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCBGMRESSetStorage_CBGMRES(KSP ksp, const char name[])
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  LitheStorage storage;

  PetscFunctionBegin;
  PetscCall(CBGMRESStorageParse_Private(ksp, name, (int)gm->opt.exponentbits, &storage));
  PetscCall(CBGMRESSetStorage_Private(ksp, &storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBGMRESSetExponentBits_Private(KSP ksp, PetscInt bits)
{
  KSP_CBGMRES *gm      = (KSP_CBGMRES *)ksp->data;
  LitheStorage storage = gm->opt.storage;

  PetscFunctionBegin;
  PetscCheck(bits == 8 || bits == 16, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "-ksp_cbgmres_exponent_bits %" PetscInt_FMT ": an exponent has 8 or 16 bits", bits);
  gm->opt.exponentbits = bits;
  if (storage.kind != LITHE_STORAGE_FRSZ2) PetscFunctionReturn(PETSC_SUCCESS);
  LitheStorageSetUp(&storage, LITHE_STORAGE_FRSZ2, storage.bits, (int)bits);
  PetscCall(CBGMRESSetStorage_Private(ksp, &storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Functions of KSPGMRES, under the same names */

static PetscErrorCode KSPGMRESSetRestart_CBGMRES(KSP ksp, PetscInt restart)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  PetscCheck(restart >= 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "-ksp_gmres_restart %" PetscInt_FMT ": Restart must be positive",
             restart);
  if (restart == gm->opt.restart) PetscFunctionReturn(PETSC_SUCCESS);
  gm->opt.restart = restart;
  if (ksp->setupstage) PetscCall(CBGMRESSetUpAgain_Private(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGMRESGetRestart_CBGMRES(KSP ksp, PetscInt *restart)
{
  PetscFunctionBegin;
  *restart = ((KSP_CBGMRES *)ksp->data)->opt.restart;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGMRESSetHapTol_CBGMRES(KSP ksp, PetscReal tol)
{
  PetscFunctionBegin;
  PetscCheck(tol >= 0.0, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "-ksp_gmres_haptol %g: use a tolerance of at least 0", (double)tol);
  ((KSP_CBGMRES *)ksp->data)->opt.haptol = tol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGMRESSetBreakdownTolerance_CBGMRES(KSP ksp, PetscReal tol)
{
  PetscFunctionBegin;
  if (tol == (PetscReal)PETSC_DEFAULT) tol = 0.1;
  PetscCheck(tol >= 0.0, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "-ksp_gmres_breakdown_tolerance %g: use a tolerance of at least 0",
             (double)tol);
  ((KSP_CBGMRES *)ksp->data)->opt.breakdowntol = tol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The basis is always allocated as a whole */
static PetscErrorCode KSPGMRESSetPreAllocateVectors_CBGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPFlexibleSetModifyPC_CBFGMRES(KSP ksp, KSPFlexibleModifyPCFn *modify, PetscCtx ctx, PetscCtxDestroyFn *destroy)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  if (gm->modify.destroy) PetscCall((*gm->modify.destroy)(&gm->modify.ctx));
  gm->modify.pc      = modify;
  gm->modify.ctx     = ctx;
  gm->modify.destroy = destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws each new column in a separate window, as KSPGMRESMonitorKrylov() does for KSPGMRES */
static PetscErrorCode CBGMRESMonitorKrylov_Private(KSP ksp, PetscInt its, PetscReal norm, void *ctx)
{
  KSP_CBGMRES *gm      = (KSP_CBGMRES *)ksp->data;
  PetscViewers viewers = (PetscViewers)ctx;
  PetscViewer  viewer;
  PetscBool    isdraw;
  Vec          column;

  PetscFunctionBegin;
  if (!gm->cycle.building) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewersGetViewer(viewers, gm->cycle.building, &viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERDRAW, &isdraw));
  if (!isdraw) {
    PetscCall(PetscViewerSetType(viewer, PETSCVIEWERDRAW));
    PetscCall(PetscViewerDrawSetInfo(viewer, NULL, "Krylov GMRES Monitor", PETSC_DECIDE, PETSC_DECIDE, 300, 300));
  }
  PetscCall(VecDuplicate(CB_COLUMN(ksp), &column));
  PetscCall((*gm->bases.V->ops->load)(gm->bases.V, gm->cycle.building, column));
  PetscCall(VecView(column, viewer));
  PetscCall(VecDestroy(&column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBGMRESSetFromOptionsGMRES_Private(KSP ksp, PetscOptionItems PetscOptionsObject)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  PetscInt     restart;
  PetscReal    tol;
  PetscBool    flg, set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-ksp_gmres_restart", "Number of basis vectors", "KSPGMRESSetRestart", gm->opt.restart, &restart, &set));
  if (set) PetscCall(KSPGMRESSetRestart(ksp, restart));
  PetscCall(PetscOptionsReal("-ksp_gmres_haptol", "A smaller entry of the Hessenberg matrix ends a cycle", "KSPGMRESSetHapTol", gm->opt.haptol, &tol, &set));
  if (set) PetscCall(KSPGMRESSetHapTol(ksp, tol));
  PetscCall(PetscOptionsReal("-ksp_gmres_breakdown_tolerance", "Largest difference of residual and recurrence at a restart", "KSPGMRESSetBreakdownTolerance",
                             gm->opt.breakdowntol, &tol, &set));
  if (set) PetscCall(KSPGMRESSetBreakdownTolerance(ksp, tol));
  flg = PETSC_TRUE;
  PetscCall(PetscOptionsBool("-ksp_gmres_preallocate", "The basis is always allocated as a whole", "KSPGMRESSetPreAllocateVectors", flg, &flg, NULL));
  PetscCheck(flg, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP, "Cannot turn off preallocation with -ksp_gmres_preallocate false");
  flg = PETSC_FALSE;
  PetscCall(PetscOptionsBool("-ksp_gmres_krylov_monitor", "Plot the basis vectors", "KSPMonitorSet", flg, &flg, NULL));
  if (flg && !gm->opt.krylovmonitor) {
    PetscViewers viewers;

    gm->opt.krylovmonitor = PETSC_TRUE;
    PetscCall(PetscViewersCreate(PetscObjectComm((PetscObject)ksp), &viewers));
    PetscCall(KSPMonitorSet(ksp, CBGMRESMonitorKrylov_Private, viewers, (PetscCtxDestroyFn *)PetscViewersDestroy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSetFromOptions_CBGMRES(KSP ksp, PetscOptionItems PetscOptionsObject)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  char         name[16], chosen[64];
  PetscInt     count;
  PetscBool    flg, set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "GMRES with a compressed basis");
  PetscCall(CBGMRESSetFromOptionsGMRES_Private(ksp, PetscOptionsObject));
  PetscCall(LitheKSPOrthogonalizationSetFromOptions(ksp, PetscOptionsObject));
  PetscCall(PetscOptionsInt("-ksp_cbgmres_exponent_bits", "Bits of the exponent that 32 numbers of FRSZ2 share: 8 or 16", "KSPCBGMRESSetStorage",
                            gm->opt.exponentbits, &count, &set));
  if (set) PetscCall(CBGMRESSetExponentBits_Private(ksp, count));
  PetscCall(CBGMRESStorageName_Private(&gm->opt.storage, name, sizeof(name)));
  PetscCall(PetscOptionsString("-ksp_cbgmres_storage", "Storage of a basis vector: double, single, half, bfloat16, frsz2_<bits>", "KSPCBGMRESSetStorage", name,
                               chosen, sizeof(chosen), &set));
  if (set) PetscCall(KSPCBGMRESSetStorage(ksp, chosen));
  PetscCall(PetscOptionsBool("-ksp_cbgmres_adaptive", "Take a finer storage if the storage is too coarse", NULL, gm->opt.adaptive, &gm->opt.adaptive, NULL));
  PetscCall(PetscOptionsInt("-ksp_cbgmres_check_every", "Iterations between looks at the residual", NULL, gm->opt.every, &count, &set));
  PetscCheck(!set || count >= 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "-ksp_cbgmres_check_every %" PetscInt_FMT ": use a number of iterations, at least 1", count);
  if (set) gm->opt.every = count;
  if (gm->flexible) {
    PetscCall(PetscOptionsBoolGroupBegin("-ksp_fgmres_modifypcnochange", "Do not vary the preconditioner", "KSPFlexibleSetModifyPC", &flg));
    if (flg) PetscCall(KSPFlexibleSetModifyPC(ksp, KSPFlexibleModifyPCNoChange, NULL, NULL));
    PetscCall(PetscOptionsBoolGroupEnd("-ksp_fgmres_modifypcksp", "Vary the KSP based preconditioner", "KSPFlexibleSetModifyPC", &flg));
    if (flg) PetscCall(KSPFlexibleSetModifyPC(ksp, KSPFlexibleModifyPCKSP, NULL, NULL));
  }
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Composes, or removes, all functions found by name, and the function of the user */
PetscErrorCode CBGMRESComposeOptions_Private(KSP ksp, PetscBool on)
{
  PetscObject o        = (PetscObject)ksp;
  PetscBool   flexible = ((KSP_CBGMRES *)ksp->data)->flexible;

  PetscFunctionBegin;
  PetscCall(KSPFlexibleSetModifyPC_CBFGMRES(ksp, KSPFlexibleModifyPCNoChange, NULL, NULL));
  PetscCall(PetscObjectComposeFunction(o, "KSPGMRESSetRestart_C", on ? KSPGMRESSetRestart_CBGMRES : NULL));
  PetscCall(PetscObjectComposeFunction(o, "KSPGMRESGetRestart_C", on ? KSPGMRESGetRestart_CBGMRES : NULL));
  PetscCall(PetscObjectComposeFunction(o, "KSPGMRESSetHapTol_C", on ? KSPGMRESSetHapTol_CBGMRES : NULL));
  PetscCall(PetscObjectComposeFunction(o, "KSPGMRESSetBreakdownTolerance_C", on ? KSPGMRESSetBreakdownTolerance_CBGMRES : NULL));
  PetscCall(PetscObjectComposeFunction(o, "KSPGMRESSetPreAllocateVectors_C", on ? KSPGMRESSetPreAllocateVectors_CBGMRES : NULL));
  PetscCall(LitheKSPComposeOrthogonalization(ksp, on));
  if (flexible) PetscCall(PetscObjectComposeFunction(o, "KSPFlexibleSetModifyPC_C", on ? KSPFlexibleSetModifyPC_CBFGMRES : NULL));
  PetscCall(PetscObjectComposeFunction(o, "KSPCBGMRESSetStorage_C", on ? KSPCBGMRESSetStorage_CBGMRES : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCBGMRESSetStorage - Sets the storage of the basis vectors of a `KSPCBGMRES` or `KSPCBFGMRES`

  Logically Collective

  Input Parameters:
+ ksp     - the solver
- storage - "double" (`PetscReal`), "single", "half", "bfloat16", or "frsz2_<bits>" with 8 to 53 bits (24 in single
    precision)

  Options Database Key:
. -ksp_cbgmres_storage <frsz2_32> - the storage (frsz2_24 in single precision)

  Level: beginner

  Notes:
  The iteration continues until the residual itself meets the tolerance, whatever the storage. A coarser storage may
  need more iterations, and may be too coarse: -ksp_cbgmres_adaptive then takes a finer one.

  In FRSZ2, blocks of 32 numbers share an exponent of 8 bits, or of 16 bits with -ksp_cbgmres_exponent_bits 16. frsz2_32
  takes 32.25 bits per number, and frsz2_16 takes 16.25 bits.

.seealso: `KSPCBGMRES`, `KSPCBGMRESGetInfo()`
@*/
PetscErrorCode KSPCBGMRESSetStorage(KSP ksp, const char storage[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscAssertPointer(storage, 2);
  PetscTryMethod(ksp, "KSPCBGMRESSetStorage_C", (KSP, const char[]), (ksp, storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}
