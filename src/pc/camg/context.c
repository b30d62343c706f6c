/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The context of a PCCAMG: memory, failure */

#include "camgimpl.h"

/* No preconditioner: the solver ends with KSP_DIVERGED_PC_FAILED, and -ksp_view tells why */
PetscErrorCode PCCAMGFail_Private(PC pc, const char format[], ...)
{
  PC_CAMG *mg = (PC_CAMG *)pc->data;
  va_list  list;
  size_t   length;

  PetscFunctionBegin;
  va_start(list, format);
  PetscCall(PetscVSNPrintf(mg->failed, sizeof(mg->failed), format, &length, list));
  va_end(list);
  PetscCall(PetscInfo(pc, "No preconditioner: %s\n", mg->failed));
  PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* pointer: the place of a pointer to memory of the kernels, which becomes NULL */
PetscErrorCode PCCAMGFree_Private(const PC_CAMG *mg, void *pointer)
{
  void **p = (void **)pointer;

  PetscFunctionBegin;
  if (*p) PetscCall((*mg->kernels->memory->free)(p));
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy of x, of own bytes, with room for n; x may be NULL */
PetscErrorCode PCCAMGGrow_Private(const PC_CAMG *mg, size_t own, size_t n, const void *x, void **y)
{
  PetscFunctionBegin;
  *y = NULL;
  if (!x) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*mg->kernels->memory->alloc)(n, y));
  PetscCall((*mg->kernels->memory->copy)(own, x, *y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
