/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* A scalar of kernels: arithmetic, and predicated reads of memory */

#include <petscsys.h>
#include <cuda_runtime.h>
#include <stdint.h>

/* A scalar for arithmetic in device code, with the bytes of a PetscScalar */
#if defined(PETSC_USE_COMPLEX)
struct alignas(2 * sizeof(PetscReal)) Number {
  PetscReal re, im;
};
#else
typedef PetscReal                        Number;
#endif
static_assert(sizeof(Number) == sizeof(PetscScalar), "a number is a PetscScalar");

#if defined(PETSC_USE_COMPLEX)
static __device__ __forceinline__ Number operator+(Number a, Number b)
{
  return Number{a.re + b.re, a.im + b.im};
}

static __device__ __forceinline__ Number operator-(Number a, Number b)
{
  return Number{a.re - b.re, a.im - b.im};
}

static __device__ __forceinline__ Number Conjugate(Number a)
{
  return Number{a.re, -a.im};
}

/* s + a b */
static __device__ __forceinline__ Number MultiplyAdd(Number a, Number b, Number s)
{
  s.re = fma(a.re, b.re, s.re);
  s.im = fma(a.re, b.im, s.im);
  s.re = fma(-a.im, b.im, s.re);
  s.im = fma(a.im, b.re, s.im);
  return s;
}

static __device__ __forceinline__ void AtomicAdd(Number *y, Number a)
{
  atomicAdd(&y->re, a.re);
  atomicAdd(&y->im, a.im);
}
#else
static __device__ __forceinline__ Number Conjugate(Number a)
{
  return a;
}

static __device__ __forceinline__ Number MultiplyAdd(Number a, Number b, Number s)
{
  return fma(a, b, s);
}

static __device__ __forceinline__ void AtomicAdd(Number *y, Number a)
{
  atomicAdd(y, a);
}
#endif

/* add + sign sum */
static __device__ __forceinline__ Number AddSigned(Number add, PetscReal sign, Number sum)
{
#if defined(PETSC_USE_COMPLEX)
  return Number{fma(sign, sum.re, add.re), fma(sign, sum.im, add.im)};
#else
  return fma(sign, sum, add);
#endif
}

/* Whether the bits of 2^e can be computed (2^e is a normal number, in double precision), and 2^e */
static __device__ __forceinline__ bool HasPower(int e)
{
  return sizeof(PetscReal) == sizeof(double) && static_cast<unsigned int>(e + 1022) < 2046u;
}

static __device__ __forceinline__ PetscReal Power(int e)
{
  return static_cast<PetscReal>(__hiloint2double((e + 1023) << 20, 0));
}

/* a 2^e, also if 2^e is out of range */
static __device__ __forceinline__ Number ScaleByPower(Number a, int e)
{
#if defined(PETSC_USE_COMPLEX)
  return HasPower(e) ? Number{a.re * Power(e), a.im * Power(e)} : Number{scalbn(a.re, e), scalbn(a.im, e)};
#else
  return HasPower(e) ? a * Power(e) : scalbn(a, e);
#endif
}

/* An unsigned integer, or a vector of integers, with a given number of bytes */
template <int bytes>
struct Raw;
template <>
struct Raw<1> {
  typedef unsigned char type;
};
template <>
struct Raw<2> {
  typedef unsigned short type;
};
template <>
struct Raw<4> {
  typedef unsigned int type;
};
template <>
struct Raw<8> {
  typedef uint2 type;
};
template <>
struct Raw<16> {
  typedef uint4 type;
};

/* A code of one or two bytes is kept in a whole register: the compiler would truncate a short type before each use */
template <class Code>
struct Register {
  typedef Code type;
};
template <>
struct Register<unsigned char> {
  typedef unsigned int type;
};
template <>
struct Register<unsigned short> {
  typedef unsigned int type;
};

/* The value of thread `lane` of the warp */
static __device__ __forceinline__ Number Shuffle(Number a, int lane)
{
#if defined(PETSC_USE_COMPLEX)
  return Number{__shfl_sync(0xffffffffu, a.re, lane), __shfl_sync(0xffffffffu, a.im, lane)};
#else
  return __shfl_sync(0xffffffffu, a, lane);
#endif
}

/* The sum over each group of neighbouring threads of a warp, in all threads of the group */
template <int threads>
static __device__ __forceinline__ Number WarpSum(Number sum)
{
#pragma unroll
  for (int d = threads / 2; d; d /= 2) sum = sum + Shuffle(sum, static_cast<int>(threadIdx.x % 32) ^ d);
  return sum;
}

/* Address type of shared memory */
static __device__ __forceinline__ uint32_t SharedAddress(const void *p)
{
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

template <class T>
static __device__ __forceinline__ T *AtShared(uint32_t address)
{
  return static_cast<T *>(__cvta_shared_to_generic(address));
}

/* Hides the origin of a row's pointer from the compiler: the address of column k is then one multiply-add */
template <class T>
static __device__ __forceinline__ const T *Whole(const T *p)
{
  asm("" : "+l"(p));
  return p;
}

/* Loads data that are used once, without eviction of x from L1 */
static __device__ __forceinline__ Number ReadOnce(const Number *p)
{
  typedef Raw<sizeof(Number)>::type raw;
  union {
    raw    bits;
    Number number;
  } u;

  u.bits = __ldcs(reinterpret_cast<const raw *>(p));
  return u.number;
}

/* Stores data that are not read soon */
static __device__ __forceinline__ void WriteOnce(Number *p, Number number)
{
  typedef Raw<sizeof(Number)>::type raw;
  union {
    raw    bits;
    Number number;
  } u;

  u.number = number;
  __stcs(reinterpret_cast<raw *>(p), u.bits);
}

/* Loads of this function are executed in program order */
static __device__ __forceinline__ Number ReadInOrder(const Number *p)
{
  typedef Raw<sizeof(Number)>::type raw;
  union {
    raw    bits;
    Number number;
  } u;

  u.bits = __ldca(reinterpret_cast<const raw *>(p));
  return u.number;
}

#if defined(PETSC_USE_COMPLEX)
static __device__ __forceinline__ PetscReal ReadInOrder(const PetscReal *p)
{
  return __ldca(p);
}
#endif

/*
   Predicated loads and sums, in assembler. C++ conditions would become branches, and the loads of a batch would wait
   for each other. wanted: any bit of a word.
*/
#if defined(PETSC_USE_REAL_SINGLE)
  #define VCRS_ASM_REAL     "f32"
  #define VCRS_ASM_REGISTER "f"
  #define VCRS_ASM_ZERO     "0f00000000"
#else
  #define VCRS_ASM_REAL     "f64"
  #define VCRS_ASM_REGISTER "d"
  #define VCRS_ASM_ZERO     "0d0000000000000000"
#endif
#define VCRS_ASM_IF(condition) "{\n .reg .pred q;\n setp.ne.u32 q, " condition ", 0;\n"

/* Loads data that no running kernel changes (see common/pdl.cuh), in one access. The compiler may move these loads */
static __device__ __forceinline__ Number Read(const Number *p)
{
  Number v;

#if defined(PETSC_USE_COMPLEX)
  asm("ld.global.v2." VCRS_ASM_REAL " {%0, %1}, [%2];" : "=" VCRS_ASM_REGISTER(v.re), "=" VCRS_ASM_REGISTER(v.im) : "l"(p));
#else
  asm("ld.global." VCRS_ASM_REAL " %0, [%1];" : "=" VCRS_ASM_REGISTER(v) : "l"(p));
#endif
  return v;
}

/* The same load; zero if not wanted */
static __device__ __forceinline__ Number ReadIf(unsigned int wanted, const Number *p)
{
  Number v;

#if defined(PETSC_USE_COMPLEX)
  asm(VCRS_ASM_IF("%3") " mov." VCRS_ASM_REAL " %0, " VCRS_ASM_ZERO ";\n mov." VCRS_ASM_REAL " %1, " VCRS_ASM_ZERO ";\n @q ld.global.v2." VCRS_ASM_REAL
                        " {%0, %1}, [%2];\n}"
      : "=" VCRS_ASM_REGISTER(v.re), "=" VCRS_ASM_REGISTER(v.im)
      : "l"(p), "r"(wanted));
#else
  asm(VCRS_ASM_IF("%2") " mov." VCRS_ASM_REAL " %0, " VCRS_ASM_ZERO ";\n @q ld.global." VCRS_ASM_REAL " %0, [%1];\n}"
      : "=" VCRS_ASM_REGISTER(v)
      : "l"(p), "r"(wanted));
#endif
  return v;
}

#if defined(PETSC_USE_COMPLEX)
/* The same load; undefined if not wanted, which saves two initializations */
static __device__ __forceinline__ Number ReadAnyIf(unsigned int wanted, const Number *p)
{
  Number v;

  asm(VCRS_ASM_IF("%3") " @q ld.global.v2." VCRS_ASM_REAL " {%0, %1}, [%2];\n}"
      : "=" VCRS_ASM_REGISTER(v.re), "=" VCRS_ASM_REGISTER(v.im)
      : "l"(p), "r"(wanted));
  return v;
}
#else
static __device__ __forceinline__ Number ReadAnyIf(unsigned int wanted, const Number *p)
{
  return ReadIf(wanted, p);
}
#endif

/* Loads an integer of the matrix; zero if not wanted */
#if defined(PETSC_USE_64BIT_INDICES)
  #define VCRS_ASM_INT     "u64"
  #define VCRS_ASM_INTEGER "l"
#else
  #define VCRS_ASM_INT     "u32"
  #define VCRS_ASM_INTEGER "r"
#endif
static __device__ __forceinline__ PetscInt ReadIf(unsigned int wanted, const PetscInt *p)
{
  PetscInt v;

  asm(VCRS_ASM_IF("%2") " mov." VCRS_ASM_INT " %0, 0;\n @q ld.global.nc." VCRS_ASM_INT " %0, [%1];\n}" : "=" VCRS_ASM_INTEGER(v) : "l"(p), "r"(wanted));
  return v;
}

/* s + a b if wanted, otherwise s for any a and b */
static __device__ __forceinline__ Number MultiplyAddIf(unsigned int wanted, Number a, Number b, Number s)
{
#if defined(PETSC_USE_COMPLEX)
  asm(VCRS_ASM_IF("%6") " .reg ." VCRS_ASM_REAL " t;\n neg." VCRS_ASM_REAL " t, %3;\n @q fma.rn." VCRS_ASM_REAL " %0, %2, %4, %0;\n @q fma.rn." VCRS_ASM_REAL
                        " %1, %2, %5, %1;\n @q fma.rn." VCRS_ASM_REAL " %0, t, %5, %0;\n @q fma.rn." VCRS_ASM_REAL " %1, %3, %4, %1;\n}"
      : "+" VCRS_ASM_REGISTER(s.re), "+" VCRS_ASM_REGISTER(s.im)
      : VCRS_ASM_REGISTER(a.re), VCRS_ASM_REGISTER(a.im), VCRS_ASM_REGISTER(b.re), VCRS_ASM_REGISTER(b.im), "r"(wanted));
#else
  asm(VCRS_ASM_IF("%3") " @q fma.rn." VCRS_ASM_REAL " %0, %1, %2, %0;\n}" : "+" VCRS_ASM_REGISTER(s) : VCRS_ASM_REGISTER(a), VCRS_ASM_REGISTER(b), "r"(wanted));
#endif
  return s;
}

/*
   Loads data that are used once, without eviction of x from L1. Returns zero if not wanted, so a table can be indexed
   by the code. Small codes stay in their register.
*/
#define VCRS_ASM_ONCE(condition, type) VCRS_ASM_IF(condition) " @q ld.global.nc.L1::no_allocate." type " "

static __device__ __forceinline__ unsigned int ReadOnceIf(unsigned int wanted, const unsigned char *p)
{
  unsigned int v = 0;

  asm(VCRS_ASM_ONCE("%2", "u8") "%0, [%1];\n}" : "+r"(v) : "l"(p), "r"(wanted));
  return v;
}

static __device__ __forceinline__ unsigned int ReadOnceIf(unsigned int wanted, const unsigned short *p)
{
  unsigned int v = 0;

  asm(VCRS_ASM_ONCE("%2", "u16") "%0, [%1];\n}" : "+r"(v) : "l"(p), "r"(wanted));
  return v;
}

static __device__ __forceinline__ unsigned int ReadOnceIf(unsigned int wanted, const unsigned int *p)
{
  unsigned int v = 0;

  asm(VCRS_ASM_ONCE("%2", "u32") "%0, [%1];\n}" : "+r"(v) : "l"(p), "r"(wanted));
  return v;
}

static __device__ __forceinline__ unsigned long long ReadOnceIf(unsigned int wanted, const unsigned long long *p)
{
  unsigned long long v = 0;

  asm(VCRS_ASM_ONCE("%2", "u64") "%0, [%1];\n}" : "+l"(v) : "l"(p), "r"(wanted));
  return v;
}

static __device__ __forceinline__ uint2 ReadOnceIf(unsigned int wanted, const uint2 *p)
{
  uint2 v = {0, 0};

  asm(VCRS_ASM_ONCE("%3", "v2.u32") "{%0, %1}, [%2];\n}" : "+r"(v.x), "+r"(v.y) : "l"(p), "r"(wanted));
  return v;
}

static __device__ __forceinline__ uint4 ReadOnceIf(unsigned int wanted, const uint4 *p)
{
  uint4 v = {0, 0, 0, 0};

  asm(VCRS_ASM_ONCE("%5", "v4.u32") "{%0, %1, %2, %3}, [%4];\n}" : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w) : "l"(p), "r"(wanted));
  return v;
}

/* A number of a row or of an entry in device code: an unsigned PetscInt */
#if defined(PETSC_USE_64BIT_INDICES)
typedef uint64_t VCRSUnsigned;
#else
typedef uint32_t VCRSUnsigned;
#endif

/* Keeps a value in a register; called by whole warps. Otherwise the assembler would compute the value again, or treat
   the value as a constant */
[[maybe_unused]] static __device__ __forceinline__ uint32_t Keep(uint32_t v)
{
  return __shfl_sync(0xffffffffu, v, static_cast<int>(threadIdx.x % 32));
}
