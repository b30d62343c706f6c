/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Memory for arrays of the matrix's length.

   The first touch of small pages takes a sixth of the time of a set-up of PCCAMG, and a third of that of a compression.
   Large pages are requested.
*/

#include <lithe/private/lithememory.h>
#if defined(__linux__)
  #include <sys/mman.h>
#endif

PetscErrorCode LitheAllocateLarge(size_t bytes, void **pointer)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc(bytes, pointer));
#if defined(MADV_HUGEPAGE)
  {
    const size_t huge = 2097152, start = ((size_t)*pointer + huge - 1) / huge * huge, end = ((size_t)*pointer + bytes) / huge * huge;

    /* The kernel may ignore this advice */
    if (*pointer && start < end) (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
