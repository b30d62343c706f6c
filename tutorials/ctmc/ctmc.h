/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Declarations shared by the files of the program ctmc */

#include <tutorials/common/chain.h>

/* explicitfile.c: a chain from files of transitions and of labels */
PETSC_INTERN PetscErrorCode ChainFile(MPI_Comm, const char tra[], const char lab[], PetscInt initial, const Shares *, Chain *);
