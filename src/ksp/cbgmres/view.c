/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The view of a KSPCBGMRES: options, the storage and memory of the basis, and the last solve. */

#include "cbgmresimpl.h"
#include <petscviewer.h>

/* Of both bases and all processes */
static PetscErrorCode CBGMRESBytes_Private(KSP ksp, PetscLogDouble *bytes, PetscLogDouble *uncompressed)
{
  KSP_CBGMRES   *gm      = (KSP_CBGMRES *)ksp->data;
  CBBasis        basis[] = {gm->bases.V, gm->bases.Z, gm->bases.Vritz};
  PetscLogDouble sum[2]  = {0.0, 0.0};

  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(basis); i++) {
    PetscLogDouble b, u;

    if (!basis[i]) continue;
    PetscCall(CBBasisGetBytes(basis[i], &b, &u));
    sum[0] += b;
    sum[1] += u;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)ksp)));
  *bytes        = sum[0];
  *uncompressed = sum[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPCBGMRESGetInfo_CBGMRES(KSP ksp, KSPCBGMRESInfo *info)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  *info = (KSPCBGMRESInfo){.bits      = (PetscReal)LitheStorageBitsPerValue(&gm->bases.storage),
                           .columns   = gm->bases.V ? gm->bases.V->columns : 0,
                           .cycles    = gm->cycle.cycles,
                           .continued = gm->cycle.continued,
                           .passes    = gm->cycle.passes,
                           .raises    = gm->progress.raises,
                           .skew      = gm->cycle.skew,
                           .gap       = gm->progress.gap,
                           .stagnated = gm->progress.stagnated};
  PetscCall(CBGMRESStorageName_Private(&gm->bases.storage, info->storage, sizeof(info->storage)));
  PetscCall(CBGMRESBytes_Private(ksp, &info->bytes, &info->uncompressed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *CBGMRESOrthogonalization_Private(LitheOrthogonalization o)
{
  if (o.modified) return "classical Gram-Schmidt in two passes, in place of modified Gram-Schmidt";
  if (o.foreign) return "unknown orthogonalization";
  switch (o.refine) {
  case KSP_ORTHOGONALIZATION_CGS_REFINE_ALWAYS:
    return "classical Gram-Schmidt in two passes";
  case KSP_ORTHOGONALIZATION_CGS_REFINE_IFNEEDED:
    return "classical Gram-Schmidt, in two passes where needed";
  default:
    return "classical Gram-Schmidt with delayed re-orthogonalization";
  }
}

/* The host has only one transport */
static PetscErrorCode CBGMRESViewSums_Private(CBBasis V, PetscViewer viewer)
{
  LitheTransport transport;
  const char    *reason;
  PetscBool      host;

  PetscFunctionBegin;
  PetscCall(LitheReduceGetTransport(V->sums, &transport, &reason));
  PetscCall(PetscStrcmp(V->where, "host", &host));
  if (host || transport == LITHE_TRANSPORT_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  sums over processes by %s%s%s%s\n", LitheTransports[transport], reason ? " (" : "", reason ? reason : "",
                                   reason ? ")" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPView_CBGMRES(KSP ksp, PetscViewer viewer)
{
  KSP_CBGMRES           *gm = (KSP_CBGMRES *)ksp->data;
  KSPCBGMRESInfo         info;
  LitheOrthogonalization o;
  PetscBool              isascii, isstring;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &isstring));
  if (!isascii && !isstring) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPCBGMRESGetInfo_CBGMRES(ksp, &info));
  if (isstring) {
    PetscCall(PetscViewerStringSPrintf(viewer, "%s restart %" PetscInt_FMT, info.storage, gm->opt.restart));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LitheKSPGetOrthogonalization(ksp, &o));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  restart=%" PetscInt_FMT ", using %s\n", gm->opt.restart, CBGMRESOrthogonalization_Private(o)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  happy breakdown tolerance=%g\n", (double)gm->opt.haptol));
  PetscCall(
    PetscViewerASCIIPrintf(viewer, "  basis: storage %s%s, %g bits per number\n", info.storage, gm->opt.adaptive ? " (adaptive)" : "", (double)info.bits));
  if (gm->bases.V) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  basis: %" PetscInt_FMT " vectors on the %s, %.0f bytes, %.3f of double\n", info.columns, gm->bases.V->where,
                                     info.bytes, info.uncompressed > 0.0 ? info.bytes / info.uncompressed : 1.0));
    if (gm->bases.V->pairs)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  basis: first %" PetscInt_FMT " vectors of a cycle in two parts, for the tolerance\n", gm->bases.V->pairs));
  }
  if (gm->bases.unlike)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  basis: an exponent for each number, since residuals have entries of unlike sizes side by side\n"));
  if (gm->bases.Z && gm->bases.finer) {
    char name[16];

    PetscCall(CBGMRESStorageName_Private(&gm->bases.Z->storage, name, sizeof(name)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  basis: preconditioned vectors in storage %s, since coarser ones lost parts that the operator sees\n", name));
  }
  if (gm->bases.V) PetscCall(CBGMRESViewSums_Private(gm->bases.V, viewer));
  if (info.cycles)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  last solve: %" PetscInt_FMT " cycles, continued %" PetscInt_FMT " times, %" PetscInt_FMT
                                     " second passes, storage raised %" PetscInt_FMT " times\n",
                                     info.cycles, info.continued, info.passes, info.raises));
  if (info.stagnated && gm->progress.roundofflimited)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve: ended at the rounding level of the operator and the preconditioner\n"));
  else if (info.stagnated)
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "  last solve: ended because the storage is too coarse; use -ksp_cbgmres_adaptive, or a finer -ksp_cbgmres_storage\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCBGMRESGetInfo - Gets the memory of a `KSPCBGMRES` or `KSPCBFGMRES`, and facts of the last solve

  Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. info - see `KSPCBGMRESInfo`

  Level: intermediate

.seealso: `KSPCBGMRES`, `KSPCBGMRESInfo`, `KSPCBGMRESSetStorage()`
@*/
PetscErrorCode KSPCBGMRESGetInfo(KSP ksp, KSPCBGMRESInfo *info)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscAssertPointer(info, 2);
  PetscUseMethod(ksp, "KSPCBGMRESGetInfo_C", (KSP, KSPCBGMRESInfo *), (ksp, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
