/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* A function for the host and for kernels */
#if defined(__CUDACC__)
  #define FORMULA static __host__ __device__ inline
#else
  #define FORMULA static inline
#endif
