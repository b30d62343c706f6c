/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Storages of basis vectors: their names, their unit roundoff, and the next finer storage */

#include "cbgmresimpl.h"

PetscErrorCode CBGMRESStorageName_Private(const LitheStorage *s, char name[], size_t length)
{
  const char *const names[] = {"double", "single", "half", "bfloat16"};

  PetscFunctionBegin;
  if (s->kind == LITHE_STORAGE_FRSZ2) PetscCall(PetscSNPrintf(name, length, "frsz2_%d", s->bits));
  else PetscCall(PetscStrncpy(name, names[s->kind], length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CBGMRESStorageParse_Private(KSP ksp, const char name[], int exponentbits, LitheStorage *s)
{
  const LitheStorageKind kinds[] = {LITHE_STORAGE_FULL, LITHE_STORAGE_SINGLE, LITHE_STORAGE_HALF, LITHE_STORAGE_BFLOAT16};
  char                   known[16], lower[64];
  PetscInt               bits;
  PetscBool              same;
  int                    good = 0;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(lower, name, sizeof(lower)));
  PetscCall(PetscStrtolower(lower));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(kinds); i++) {
    if (!LitheStorageSetUp(s, kinds[i], 0, 0)) continue;
    PetscCall(CBGMRESStorageName_Private(s, known, sizeof(known)));
    PetscCall(PetscStrcmp(lower, known, &same));
    if (same) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrncmp(lower, "frsz2_", 6, &same));
  if (same && lower[6] && lower[6 + strspn(lower + 6, "0123456789")] == '\0') {
    PetscCall(PetscOptionsStringToInt(lower + 6, &bits));
    PetscCheck(bits >= LITHE_FRSZ2_MIN_BITS && bits <= LITHE_FRSZ2_MAX_BITS, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
               "-ksp_cbgmres_storage %s: a width of %" PetscInt_FMT " bits is not supported; use frsz2_<bits> with %d to %d bits", name, bits,
               LITHE_FRSZ2_MIN_BITS, LITHE_FRSZ2_MAX_BITS);
    good = LitheStorageSetUp(s, LITHE_STORAGE_FRSZ2, (int)bits, exponentbits);
  }
  PetscCheck(good, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-ksp_cbgmres_storage %s: use double, single, half, bfloat16, or frsz2_<bits> with %d to %d bits", name, LITHE_FRSZ2_MIN_BITS,
             LITHE_FRSZ2_MAX_BITS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The relative rounding error, in the norm, of a vector of many numbers of similar size */
PetscReal CBGMRESStorageUnit_Private(const LitheStorage *s)
{
  switch (s->kind) {
  case LITHE_STORAGE_SINGLE:
    return (PetscReal)LithePow2(-25);
  case LITHE_STORAGE_HALF:
    return (PetscReal)LithePow2(-12);
  case LITHE_STORAGE_BFLOAT16:
    return (PetscReal)LithePow2(-9);
  case LITHE_STORAGE_FRSZ2:
    /* 0.289 steps; the largest number of a block is two or three times the root mean square */
    return (PetscReal)LithePow2(1 - s->bits);
  default:
    return PETSC_MACHINE_EPSILON / 2;
  }
}

/* The next finer storage: 32 bits, then double. Returns PETSC_FALSE if none exists */
PetscBool CBGMRESStorageRaise_Private(LitheStorage *s)
{
  if (s->kind == LITHE_STORAGE_FULL) return PETSC_FALSE;
  if (s->bits <= 24 && LITHE_FRSZ2_MAX_BITS >= 32) LitheStorageSetUp(s, LITHE_STORAGE_FRSZ2, 32, s->kind == LITHE_STORAGE_FRSZ2 ? s->frsz2.exponentbits : 8);
  else LitheStorageSetUp(s, LITHE_STORAGE_FULL, 0, 0);
  return PETSC_TRUE;
}

/*
   Replaces numbers with a shared exponent or a short range by floating point numbers of at least as many bits. Returns
   PETSC_FALSE if the storage already has floating point numbers.
*/
PetscBool CBGMRESStorageFloat_Private(LitheStorage *s)
{
  if (s->kind != LITHE_STORAGE_FRSZ2 && s->kind != LITHE_STORAGE_HALF) return PETSC_FALSE;
  if (s->bits <= 16) LitheStorageSetUp(s, LITHE_STORAGE_BFLOAT16, 0, 0);
  else LitheStorageSetUp(s, s->bits <= 32 ? LITHE_STORAGE_SINGLE : LITHE_STORAGE_FULL, 0, 0);
  return PETSC_TRUE;
}
