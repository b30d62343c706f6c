/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <petscsys.h>

/* halonccl.c: a communicator of NCCL, or NULL */
PETSC_INTERN PetscErrorCode LitheHaloNCCLDestroy_Private(void *);
