/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Creation of a compressed basis at the place of a vector: the sizes, and the choice of the implementation */

#include <lithe/private/cb/basis.h>
#include <lithe/private/lithememtype.h>

PetscErrorCode CBBasisCreate(Vec x, PetscInt columns, PetscInt pairs, const LitheStorage *storage, PetscBool products, CBBasis *basis)
{
  CBBasis   b;
  PetscInt  n;
  PetscBool device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscNew(&b));
  PetscCall(VecGetLocalSize(x, &n));
  b->comm    = PetscObjectComm((PetscObject)x);
  b->n       = (size_t)n * (sizeof(PetscScalar) / sizeof(PetscReal));
  b->columns = columns;
  b->pairs   = pairs;
  b->storage = *storage;
  b->vbytes  = LitheStorageValueBytes(storage, b->n);
  b->ebytes  = LitheStorageExponentBytes(storage, b->n);

  /* columns of norm 1 have a known largest exponent, and no number above 1 */
  if (products && storage->kind == LITHE_STORAGE_FRSZ2) b->base = LitheFRSZ2Base(&storage->frsz2, LitheFRSZ2Modulus((PetscReal)CB_LARGEST));
  if (products && storage->kind == LITHE_STORAGE_HALF) b->shift = CB_HALF_SHIFT;
  if (products) {
    const size_t ld = (size_t)columns + 1;

    b->host.ld = columns + 1;
    PetscCall(
      PetscCalloc6(2 * ld + 1, &b->host.sums, ld * ld, &b->host.gram, ld, &b->host.c, ld + 1, &b->host.work, ld * ld, &b->host.hessenberg, ld, &b->host.step));
  }
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  PetscCall(LitheVecsGetPlace(1, &x, &device, NULL));
  if (device) PetscCall(CBBasisCreate_Device(b));
#endif
  if (!device) PetscCall(CBBasisCreate_Host(b));
  *basis = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}
