/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <petscsys.h>

/*
   An error on all processes if the first process cannot write a file of this name, before a program computes what the
   file is for. option: in the message, for example "-picture". suffix: of a file, if the option is the beginning of
   several names; otherwise NULL. Nothing is checked for an empty path, and no file is left behind. Collective
*/
PETSC_INTERN PetscErrorCode OutputCheck(MPI_Comm comm, const char option[], const char path[], const char suffix[]);
