/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compressed bases: their sizes, and the small algebra of a step, whatever holds the columns.
*/

#include "cbbasis.h"

PetscErrorCode CBBasisCreate(Vec x, PetscInt columns, const LitheStorage *storage, PetscBool products, CBBasis *basis)
{
  CBBasis  b;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(PetscNew(&b));
  PetscCall(VecGetLocalSize(x, &n));
  b->comm    = PetscObjectComm((PetscObject)x);
  b->n       = (size_t)n * (sizeof(PetscScalar) / sizeof(PetscReal));
  b->columns = columns;
  b->storage = *storage;
  b->vbytes  = LitheStorageValueBytes(storage, b->n);
  b->ebytes  = LitheStorageExponentBytes(storage, b->n);

  /* Columns of norm 1 have a largest exponent that is known, and no number above 1 */
  if (products && storage->kind == LITHE_STORAGE_FRSZ2) b->base = LitheFRSZ2Base(&storage->frsz2, LitheFRSZ2Modulus((PetscReal)CB_LARGEST));
  if (products && storage->kind == LITHE_STORAGE_HALF) b->shift = CB_HALF_SHIFT;
  if (products) {
    const size_t ld = (size_t)columns + 1;

    b->host.ld = columns + 1;
    PetscCall(PetscCalloc6(2 * ld + 1, &b->host.sums, ld * ld, &b->host.gram, ld, &b->host.c, ld, &b->host.work, ld * ld, &b->host.hessenberg, ld, &b->host.step));
  }
  PetscCall(CBBasisCreate_Host(b));
  *basis = b;
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
  *bytes        = (PetscLogDouble)b->columns * (PetscLogDouble)(b->vbytes + b->ebytes);
  *uncompressed = (PetscLogDouble)b->columns * (PetscLogDouble)b->n * (PetscLogDouble)sizeof(PetscReal);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = b - G c, to work */
static void CBBasisResidual_Private(const CBScalars *s, PetscInt k, const PetscScalar b[])
{
  for (PetscInt i = 0; i < k; i++) s->work[i] = b[i];
  for (PetscInt l = 0; l < k; l++) {
    const PetscScalar *column = s->gram + (size_t)l * (size_t)s->ld, c = s->c[l];

    for (PetscInt i = 0; i < k; i++) s->work[i] -= column[i] * c;
  }
}

void CBBasisCoefficients(CBScalars *s, PetscInt k, PetscInt pass)
{
  const size_t       ld = (size_t)s->ld, j = (size_t)(k - 1);
  const PetscScalar *b    = s->sums + k;
  PetscScalar       *h    = s->hessenberg + j * ld;
  CBStep            *step = s->step + j;

  /* What the newest column has in common with the others */
  if (pass == 0) {
    step->skew  = 0.0;
    step->norm  = PetscRealPart(s->sums[j]);
    step->image = PetscRealPart(b[k]);
    for (size_t i = 0; i < j; i++) {
      s->gram[j * ld + i] = s->sums[i];
      s->gram[i * ld + j] = PetscConj(s->sums[i]);
      step->skew += PetscRealPart(PetscConj(s->sums[i]) * s->sums[i]);
    }
    s->gram[j * ld + j] = step->norm;
  }

  /* The coefficients, and what is left of w without them */
  step->before = PetscRealPart(b[k]);
  step->passes = pass + 1;
  for (PetscInt i = 0; i < k; i++) s->c[i] = 0.0;
  for (int sweep = 0; sweep < CB_SWEEPS; sweep++) {
    CBBasisResidual_Private(s, k, b);
    step->after = step->before;
    for (PetscInt i = 0; i < k; i++) {
      const PetscReal   d = PetscRealPart(s->gram[(size_t)i * ld + (size_t)i]);
      const PetscScalar r = s->work[i], e = d > 0.0 ? r / d : 0.0;

      step->after -= PetscRealPart(PetscConj(s->c[i]) * (b[i] + r)) + PetscRealPart(PetscConj(e) * r);
      s->c[i] += e;
    }
  }
  for (PetscInt i = 0; i < k; i++) h[i] = pass == 0 ? s->c[i] : h[i] + s->c[i];
  h[k] = step->after > 0.0 ? PetscSqrtReal(step->after) : 0.0;
}
