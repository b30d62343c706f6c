/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The whole public API. A source file may include only the headers that it needs. */

#include <lithesys.h>
#include <lithefarm.h>
#include <lithemat.h>
#include <lithepc.h>
#include <litheksp.h>
#include <lithets.h>
