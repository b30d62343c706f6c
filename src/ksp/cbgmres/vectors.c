/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The bases of KSPCBGMRES: creation for the storage in use, together with the arrays of the least squares problem, and
   destruction. Both bases may be created again during a solve, with more bits.
*/

#include "cbgmresimpl.h"
#include <lithe/private/lithememtype.h>

static PetscErrorCode CBGMRESDestroyBases_Private(KSP_CBGMRES *gm)
{
  PetscFunctionBegin;
  PetscCall(CBBasisDestroy(&gm->bases.V));
  PetscCall(CBBasisDestroy(&gm->bases.Z));
  PetscCall(CBBasisDestroy(&gm->bases.Vritz));
  PetscCall(CBGMRESLeastResize_Private(gm, 0));
  PetscCall(CBGMRESDirectionResize_Private(gm, 0));
  PetscCall(CBGMRESSpectrumReset_Private(gm));
  gm->bases.ritzcolumns = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The number of columns with second parts. Rounding of a cycle's first columns has the largest effect on the residual,
   mainly in a system that needs few iterations. The first columns get second parts if the tolerance is small enough to
   show an effect. A storage coarser than single precision would gain little, because each of its columns matters.
*/
PetscInt CBGMRESPairs_Private(KSP ksp)
{
  KSP_CBGMRES    *gm   = (KSP_CBGMRES *)ksp->data;
  const PetscReal unit = CBGMRESStorageUnit_Private(&gm->bases.storage);

  if (gm->bases.storage.kind == LITHE_STORAGE_FULL || unit > 1e-7 || unit < PETSC_MACHINE_EPSILON || ksp->normtype == KSP_NORM_NONE) return 0;
  return ksp->rtol > 10 * unit ? 0 : CB_PAIRS;
}

/* The preconditioned columns have any size: exponents of 16 bits, and FRSZ2 in place of half precision */
PetscErrorCode CBGMRESCreatePreconditioned_Private(KSP ksp, PetscInt columns)
{
  KSP_CBGMRES *gm      = (KSP_CBGMRES *)ksp->data;
  LitheStorage storage = gm->bases.storage;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < gm->bases.finer; i++) CBGMRESStorageRaise_Private(&storage);
  if (storage.kind == LITHE_STORAGE_HALF || storage.kind == LITHE_STORAGE_FRSZ2) LitheStorageSetUp(&storage, LITHE_STORAGE_FRSZ2, storage.bits, 16);
  PetscCall(CBBasisCreate(CB_COLUMN(ksp), columns, 0, &storage, PETSC_FALSE, &gm->bases.Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Bases without columns for bases.storage, and the arrays of the least squares problem: created, unless they exist and
   are large enough
*/
PetscErrorCode CBGMRESCreateBases_Private(KSP ksp)
{
  KSP_CBGMRES   *gm      = (KSP_CBGMRES *)ksp->data;
  const PetscInt columns = PetscMin(gm->opt.restart, PetscMax(ksp->max_it, 1)) + 1;

  PetscFunctionBegin;
  if (!gm->bases.V || gm->bases.V->columns < columns || gm->bases.V->pairs < CBGMRESPairs_Private(ksp)) {
    PetscCall(CBGMRESDestroyBases_Private(gm));
    PetscCall(CBBasisCreate(CB_COLUMN(ksp), columns, CBGMRESPairs_Private(ksp), &gm->bases.storage, PETSC_TRUE, &gm->bases.V));
    if (gm->flexible) PetscCall(CBGMRESCreatePreconditioned_Private(ksp, columns - 1));
    PetscCall(CBGMRESLeastResize_Private(gm, (size_t)gm->bases.V->host.ld));
    PetscCall(CBGMRESDirectionResize_Private(gm, (size_t)gm->bases.V->host.ld));
  }
  CBGMRESLeastBegin_Private(gm, 0.0);
  PetscCall(CBGMRESSpectrumReset_Private(gm));
  gm->bases.ritzcolumns = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Bases with more bits, or unlike: with an exponent for each number. raised: PETSC_FALSE, and nothing happens, if no
   finer storage exists
*/
PetscErrorCode CBGMRESRaiseBases_Private(KSP ksp, PetscBool unlike, const char why[], PetscBool *raised)
{
  KSP_CBGMRES *gm  = (KSP_CBGMRES *)ksp->data;
  LitheStorage was = gm->bases.storage;
  char         name[16], newname[16];

  PetscFunctionBegin;
  *raised = unlike ? CBGMRESStorageFloat_Private(&gm->bases.storage) : CBGMRESStorageRaise_Private(&gm->bases.storage);
  if (!*raised) PetscFunctionReturn(PETSC_SUCCESS);
  gm->bases.unlike = (PetscBool)(gm->bases.unlike || unlike);
  if (gm->bases.unlike) CBGMRESStorageFloat_Private(&gm->bases.storage);
  PetscCall(CBGMRESStorageName_Private(&was, name, sizeof(name)));
  PetscCall(CBGMRESStorageName_Private(&gm->bases.storage, newname, sizeof(newname)));
  PetscCall(PetscInfo(ksp, "Iteration %" PetscInt_FMT ": the storage %s %s, now %s\n", ksp->its, name, why, newname));
  PetscCall(CBGMRESDestroyBases_Private(gm));
  PetscCall(CBGMRESCreateBases_Private(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Another cycle begins. As in KSPGMRES, Ritz pairs are taken from the last full cycle, if any, else from the longest:
   the next cycle then has the other basis
*/
PetscErrorCode CBGMRESExchangeBases_Private(KSP ksp)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  CBBasis      V  = gm->bases.V;

  PetscFunctionBegin;
  if (!ksp->calc_ritz || (gm->least.columns < gm->opt.restart && gm->least.columns <= gm->bases.ritzcolumns)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!gm->bases.Vritz) PetscCall(CBBasisCreate(CB_COLUMN(ksp), V->columns, V->pairs, &gm->bases.storage, PETSC_TRUE, &gm->bases.Vritz));
  gm->bases.V           = gm->bases.Vritz;
  gm->bases.Vritz       = V;
  gm->bases.ritzcolumns = gm->least.columns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCJACOBI from the right, on a device: its inverse diagonal, found by applying it to ones. Collective; once per solve,
   since the operator may have changed before
*/
PetscErrorCode CBGMRESGetJacobi_Private(KSP ksp)
{
  KSP_CBGMRES *gm     = (KSP_CBGMRES *)ksp->data;
  const Vec    column = CB_COLUMN(ksp);
  PetscBool    jacobi, device;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &jacobi));
  PetscCall(LitheVecsGetPlace(1, &column, &device, NULL));
  if (!jacobi || !device || gm->flexible || ksp->pc_side != PC_RIGHT || ksp->transpose_solve) {
    PetscCall(VecDestroy(&gm->bases.jacobi));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!gm->bases.jacobi) PetscCall(VecDuplicate(CB_COLUMN(ksp), &gm->bases.jacobi));
  PetscCall(VecSet(CB_WORK(ksp), 1.0));
  PetscCall(PCApply(ksp->pc, CB_WORK(ksp), gm->bases.jacobi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPReset_CBGMRES(KSP ksp)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  PetscCall(CBGMRESDestroyBases_Private(gm));
  PetscCall(VecDestroy(&gm->built));
  PetscCall(VecDestroy(&gm->bases.jacobi));
  gm->bases.storage = gm->opt.storage;
  gm->bases.unlike = gm->bases.measured = PETSC_FALSE;
  gm->bases.finer                       = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
