/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Compiler features for the host loops: each macro is empty where a compiler lacks the feature.

     LITHE_TARGET_CLONES         before a function: compiled for AVX-512, for AVX2 and for the base, chosen when the
                                 library is loaded. What is LITHE_ALWAYS_INLINE is compiled into each clone.
                                 -DLITHE_NO_TARGET_CLONES turns it off: for valgrind and for sanitizers, whose
                                 start-up some choosers do not survive.
     LITHE_TARGET_CLONES_NARROW  the same without AVX-512, for loops that gather: wide vectors are built from
                                 single loads, and two or four of them cost less an entry than eight
     LITHE_TARGET_FMA            before a function: compiled for AVX2 and fused products and sums; to be called where LITHE_HAS_FMA() says so
     LITHE_TARGET_AVX512         the same for AVX-512, and LITHE_HAS_AVX512(). Not defined where there is none: what is so compiled needs intrinsics
     LITHE_ALWAYS_INLINE         in place of inline
     LITHE_NO_INLINE             before a function that is to stay one, and out of the clones of its callers
     LITHE_INDEPENDENT           before a loop: no iteration reads what another one writes
     LITHE_PREFETCH(address)     will be read soon
     LITHE_UNROLL                before a loop of at most 8 iterations, a constant number: no loop is to remain
*/

#include <stdlib.h> /* defines __GLIBC__ if the C library is glibc: only its loader chooses among clones */

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
