/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The memory of the host */

#include <lithe/private/litheimpl.h>
#include <unistd.h>

/* Half of the free memory, since PETSc and all processes need some; 0: unknown */
PetscErrorCode LitheGetFreeMemory(size_t *bytes)
{
  PetscFunctionBegin;
  *bytes = 0;
#if defined(_SC_AVPHYS_PAGES) && defined(_SC_PAGESIZE)
  {
    const long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    if (pages > 0 && size > 0) *bytes = (size_t)pages / 2 * (size_t)size;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
