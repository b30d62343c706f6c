/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Shared by compressed bases on a host and on a device: sums over processes, and the small algebra of a step */

#include <lithe/private/cb/coefficients.h>

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
