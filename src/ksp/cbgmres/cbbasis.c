/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compressed bases: their sizes, and the small algebra of a step, whatever holds the columns.
*/

#include "cbcoefficients.h"
#include <lithe/private/litheplace.h>

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

  /* Columns of norm 1 have a largest exponent that is known, and no number above 1 */
  if (products && storage->kind == LITHE_STORAGE_FRSZ2) b->base = LitheFRSZ2Base(&storage->frsz2, LitheFRSZ2Modulus((PetscReal)CB_LARGEST));
  if (products && storage->kind == LITHE_STORAGE_HALF) b->shift = CB_HALF_SHIFT;
  if (products) {
    const size_t ld = (size_t)columns + 1;

    b->host.ld = columns + 1;
    PetscCall(PetscCalloc6(2 * ld + 1, &b->host.sums, ld * ld, &b->host.gram, ld, &b->host.c, ld + 1, &b->host.work, ld * ld, &b->host.hessenberg, ld, &b->host.step));
  }
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  PetscCall(LitheVecsGetPlace(1, &x, &device, NULL));
  if (device) PetscCall(CBBasisCreate_Device(b));
#endif
  if (!device) PetscCall(CBBasisCreate_Host(b));
  *basis = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CBBasisCreateSums_Private(CBBasis b, PetscMemType memory)
{
  PetscFunctionBegin;
  if (b->host.ld) PetscCall(LitheReduceCreate(b->comm, LITHE_TRANSPORT_AUTO, memory, 2 * b->host.ld + 1, &b->sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CBBasisSum_Private(CBBasis b, PetscInt k, PetscInt pass, PetscScalar sums[])
{
  PetscFunctionBegin;
  PetscCall(LitheReduceSum(b->sums, CBBasisSums(k, pass), sums + (pass ? k : 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CBBasisDestroy(CBBasis *basis)
{
  CBBasis b = *basis;

  PetscFunctionBegin;
  if (!b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*b->ops->destroy)(b));
  PetscCall(PetscFree6(b->host.sums, b->host.gram, b->host.c, b->host.work, b->host.hessenberg, b->host.step));
  PetscCall(PetscFree(*basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CBBasisGetBytes(CBBasis b, PetscLogDouble *bytes, PetscLogDouble *uncompressed)
{
  PetscFunctionBegin;
  *bytes        = (PetscLogDouble)(b->columns + b->pairs) * (PetscLogDouble)(b->vbytes + b->ebytes);
  *uncompressed = (PetscLogDouble)b->columns * (PetscLogDouble)b->n * (PetscLogDouble)sizeof(PetscReal);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CBBasisCoefficients(CBScalars *s, PetscInt k, PetscInt pass)
{
  const CBTeam alone = {0, 1, 1};

  CBTeamCoefficients(&alone, s, k, pass);
}
