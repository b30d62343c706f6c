/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The bases of KSPCBGMRES and the arrays of its least squares problem: creation for the storage in use, and
   destruction. Both bases may be created again during a solve, with more bits.
*/

#include "cbgmresimpl.h"

PetscErrorCode CBGMRESDestroyBases_Private(KSP ksp)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  PetscCall(CBBasisDestroy(&gm->V));
  PetscCall(CBBasisDestroy(&gm->Z));
  PetscCall(CBBasisDestroy(&gm->Vritz));
  PetscCall(PetscFree2(gm->keptH, gm->keptR));
  PetscCall(PetscFree7(gm->R, gm->cosine, gm->sine, gm->g, gm->y, gm->x, gm->pivot));
  PetscCall(PetscFree5(gm->modulo, gm->self, gm->with, gm->withcolumn, gm->nwith));
  gm->columns = gm->best = gm->building = gm->ritzcolumns = gm->kept = gm->nleft = 0;
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
  const PetscReal unit = CBGMRESStorageUnit_Private(&gm->storage);

  if (gm->storage.kind == LITHE_STORAGE_FULL || unit > 1e-7 || unit < PETSC_MACHINE_EPSILON || ksp->normtype == KSP_NORM_NONE) return 0;
  return ksp->rtol > 10 * unit ? 0 : CB_PAIRS;
}

/* The preconditioned columns have any size: exponents of 16 bits, and FRSZ2 in place of half precision */
PetscErrorCode CBGMRESCreatePreconditioned_Private(KSP ksp, PetscInt columns)
{
  KSP_CBGMRES *gm      = (KSP_CBGMRES *)ksp->data;
  LitheStorage storage = gm->storage;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < gm->finer; i++) CBGMRESStorageRaise_Private(&storage);
  if (storage.kind == LITHE_STORAGE_HALF || storage.kind == LITHE_STORAGE_FRSZ2) LitheStorageSetUp(&storage, LITHE_STORAGE_FRSZ2, storage.bits, 16);
  PetscCall(CBBasisCreate(CB_COLUMN(ksp), columns, 0, &storage, PETSC_FALSE, &gm->Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates bases for gm->storage, and the arrays of the least squares problem, unless they exist and are large enough */
PetscErrorCode CBGMRESCreateBases_Private(KSP ksp)
{
  KSP_CBGMRES   *gm      = (KSP_CBGMRES *)ksp->data;
  const PetscInt columns = PetscMin(gm->opt.restart, PetscMax(ksp->max_it, 1)) + 1;
  size_t         ld;

  PetscFunctionBegin;
  if (gm->V && gm->V->columns >= columns && gm->V->pairs >= CBGMRESPairs_Private(ksp)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CBGMRESDestroyBases_Private(ksp));
  PetscCall(CBBasisCreate(CB_COLUMN(ksp), columns, CBGMRESPairs_Private(ksp), &gm->storage, PETSC_TRUE, &gm->V));
  if (gm->flexible) PetscCall(CBGMRESCreatePreconditioned_Private(ksp, columns - 1));
  ld = (size_t)gm->V->host.ld;
  PetscCall(PetscCalloc7(ld * ld, &gm->R, ld * (CB_LEFT + 1), &gm->cosine, ld * (CB_LEFT + 1), &gm->sine, ld, &gm->g, ld, &gm->y, ld, &gm->x, ld, &gm->pivot));
  PetscCall(PetscCalloc5(ld * CB_LEFT, &gm->modulo, ld, &gm->self, ld * CB_LEFT, &gm->with, ld * CB_LEFT, &gm->withcolumn, ld, &gm->nwith));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPReset_CBGMRES(KSP ksp)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  PetscCall(CBGMRESDestroyBases_Private(ksp));
  PetscCall(VecDestroy(&gm->built));
  PetscCall(VecDestroy(&gm->jacobi));
  gm->storage = gm->opt.storage;
  gm->unlike = gm->measured = PETSC_FALSE;
  gm->finer                 = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
