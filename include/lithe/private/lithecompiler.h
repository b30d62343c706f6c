/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Compiler features for the host loops. Each macro is empty if the compiler lacks the feature.

     LITHE_TARGET_CLONES         Before a function: compiled for AVX-512, for AVX2 and for the base, chosen when the
                                 library is loaded. Each clone contains its LITHE_ALWAYS_INLINE functions.
                                 -DLITHE_NO_TARGET_CLONES disables clones, for valgrind and sanitizers: some choosers
                                 crash in their start-up.
     LITHE_TARGET_CLONES_NARROW  The same without AVX-512, for loops that gather. Wide vectors are built from single
                                 loads, and a vector of two or four costs less per entry than a vector of eight.
     LITHE_TARGET_FMA            Before a function: compiled for AVX2 and fused products and sums. Call the function
                                 only if LITHE_HAS_FMA() is true.
     LITHE_TARGET_AVX512         The same for AVX-512, with LITHE_HAS_AVX512(). Undefined without compiler support,
                                 because functions with this target use intrinsics.
     LITHE_ALWAYS_INLINE         In place of inline.
     LITHE_NO_INLINE             Before a function that is never inlined, not even into clones of its callers.
     LITHE_INDEPENDENT           Before a loop: no iteration reads numbers that another iteration writes.
     LITHE_PREFETCH(address)     The address will be read soon.
     LITHE_UNROLL                Before a loop of a constant number of iterations, at most 8: unrolled completely.
*/

#include <stdlib.h> /* defines __GLIBC__ if the C library is glibc: only the loader of glibc chooses among clones */

#if defined(__has_attribute) && defined(__x86_64__) && defined(__ELF__) && defined(__GLIBC__) && !defined(LITHE_NO_TARGET_CLONES) && \
  !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  #if __has_attribute(target_clones) && ((defined(__clang__) && __clang_major__ >= 14) || (!defined(__clang__) && __GNUC__ >= 12))
    #define LITHE_TARGET_CLONES        __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
    #define LITHE_TARGET_CLONES_NARROW __attribute__((target_clones("arch=x86-64-v3", "default")))
    #define LITHE_TARGET_FMA           __attribute__((target("avx2,fma")))
    #define LITHE_HAS_FMA()            (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    #define LITHE_TARGET_AVX512        __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")))
    #define LITHE_HAS_AVX512()                                                                                                             \
      (LITHE_HAS_FMA() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && \
       __builtin_cpu_supports("avx512vl"))
  #endif
#endif
#if !defined(LITHE_TARGET_CLONES)
  #define LITHE_TARGET_CLONES
  #define LITHE_TARGET_CLONES_NARROW
  #define LITHE_TARGET_FMA
  #define LITHE_HAS_FMA() 0
#endif

#if defined(__GNUC__)
  #define LITHE_ALWAYS_INLINE     inline __attribute__((always_inline))
  #define LITHE_NO_INLINE         __attribute__((noinline))
  #define LITHE_PREFETCH(address) __builtin_prefetch(address)
#else
  #define LITHE_ALWAYS_INLINE inline
  #define LITHE_NO_INLINE
  #define LITHE_PREFETCH(address) ((void)(address))
#endif

#if defined(__clang__)
  #define LITHE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
  #define LITHE_UNROLL      _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
  #define LITHE_INDEPENDENT _Pragma("GCC ivdep")
  #define LITHE_UNROLL      _Pragma("GCC unroll 8")
#else
  #define LITHE_INDEPENDENT
  #define LITHE_UNROLL
#endif
