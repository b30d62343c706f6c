/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Marks an inline function for both host code and kernels */
#if defined(__CUDACC__)
  #define LITHE_HD __host__ __device__
#else
  #define LITHE_HD
#endif
