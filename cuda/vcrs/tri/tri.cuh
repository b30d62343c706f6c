/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the kernels of triangular systems: x = b + T x, with each row after its needed rows.

     tri.cu      set-up per triangle; solves by levels
     trigrid.cu  solves by tiles of a grid
     factor.cu   incomplete factorization
     exact.cu    solves and products with exact triangles
     order.cu    the order of a triangle, and its border
     mirror.cu   triangles that are transposes of other triangles

   A missing entry of x has all bits set, a number that no computation gives. An entry therefore shows whether it
   exists: neither flags nor fences are needed. A counter assigns work in order: a thread that waits for an entry waits
   for work that is already assigned. All sums are in a fixed order.
*/

#include "../mult/row.cuh"
#include <lithe/private/vcrs/order.h>

/* Data prepared once per triangle; pointers are to the device */
typedef struct {
  VCRSOrder order; /* without arrays */
  /* levels: [n] places in the plan of the rows of order.row, see OpenRow() */
  PetscInt *slot;
  PetscInt *task; /* order.task */
  /* grids, index sets: relative places of the entries, see trigrid.cu */
  int          *way;
  unsigned int *ticket; /* number of assigned tasks */
  /* blocks: of the launch; grids: bytes of shared memory, and entries per row in shared memory */
  int blocks, bytes, entries;
} VCRSTri;

/* The position of a column in a sorted row, or -1 */
[[maybe_unused]] static __device__ __forceinline__ PetscInt TriFind(const PetscInt *__restrict__ j, PetscInt begin, PetscInt end, PetscInt column)
{
  while (end - begin > 8) {
    const PetscInt middle = begin + (end - begin) / 2;

    if (j[middle] <= column) begin = middle;
    else end = middle;
  }
  for (; begin < end; begin++) {
    if (j[begin] == column) return begin;
  }
  return -1;
}

struct TriArguments {
  const Number   *b;
  Number         *x;
  const PetscInt *task;
  unsigned int    ntasks, *ticket;
};

#if defined(PETSC_USE_REAL_SINGLE)
typedef unsigned int TriBits;
#else
typedef unsigned long long TriBits;
#endif
#define VCRS_TRI_UNSET (~static_cast<TriBits>(0))

static __device__ __forceinline__ TriBits TriGetBits(PetscReal a)
{
#if defined(PETSC_USE_REAL_SINGLE)
  return __float_as_uint(a);
#else
  return static_cast<TriBits>(__double_as_longlong(a));
#endif
}

/* Replaces a NaN with the mark's bits by another NaN */
static __device__ __forceinline__ PetscReal TriSettle(PetscReal a)
{
#if defined(PETSC_USE_REAL_SINGLE)
  return TriGetBits(a) == VCRS_TRI_UNSET ? __uint_as_float(0x7fc00000u) : a;
#else
  return TriGetBits(a) == VCRS_TRI_UNSET ? __longlong_as_double(0x7ff8000000000000ll) : a;
#endif
}

/* Pauses: meanwhile the units work for other warps */
static __device__ __forceinline__ void TriPause()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  __nanosleep(40);
#endif
}

/* Loads and stores of x for threads that run at the same time */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  #define TRI_ASM_LOAD  "ld.relaxed.gpu.global"
  #define TRI_ASM_STORE "st.relaxed.gpu.global"
#else
  #define TRI_ASM_LOAD  "ld.volatile.global"
  #define TRI_ASM_STORE "st.volatile.global"
#endif

#if defined(PETSC_USE_COMPLEX)
static __device__ __forceinline__ Number TriLoad(const Number *p)
{
  Number v;

  asm volatile(TRI_ASM_LOAD ".v2." VCRS_ASM_REAL " {%0, %1}, [%2];" : "=" VCRS_ASM_REGISTER(v.re), "=" VCRS_ASM_REGISTER(v.im) : "l"(p) : "memory");
  return v;
}

static __device__ __forceinline__ void TriStore(Number *p, Number v)
{
  asm volatile(TRI_ASM_STORE ".v2." VCRS_ASM_REAL " [%0], {%1, %2};"
               :
               : "l"(p), VCRS_ASM_REGISTER(TriSettle(v.re)), VCRS_ASM_REGISTER(TriSettle(v.im))
               : "memory");
}

/* The two parts may arrive separately */
static __device__ __forceinline__ bool TriIsSet(Number a)
{
  return TriGetBits(a.re) != VCRS_TRI_UNSET && TriGetBits(a.im) != VCRS_TRI_UNSET;
}
#else
static __device__ __forceinline__ Number TriLoad(const Number *p)
{
  Number v;

  asm volatile(TRI_ASM_LOAD "." VCRS_ASM_REAL " %0, [%1];" : "=" VCRS_ASM_REGISTER(v) : "l"(p) : "memory");
  return v;
}

static __device__ __forceinline__ void TriStore(Number *p, Number v)
{
  asm volatile(TRI_ASM_STORE "." VCRS_ASM_REAL " [%0], %1;" : : "l"(p), VCRS_ASM_REGISTER(TriSettle(v)) : "memory");
}

static __device__ __forceinline__ bool TriIsSet(Number a)
{
  return TriGetBits(a) != VCRS_TRI_UNSET;
}
#endif

static __device__ __forceinline__ Number TriWaitOne(const Number *x)
{
  Number v;

  do v = TriLoad(x);
  while (!TriIsSet(v));
  return v;
}

/* Loads `batch` codes of a row: entries k, k + step, ... before length */
template <int batch, class Code>
static __device__ __forceinline__ void TriReadCodes(const RowCursor &c, const Code *value, PetscInt first, PetscInt k, PetscInt step, Code code[])
{
#pragma unroll
  for (int q = 0; q < batch; q++) {
    const PetscInt kq = k + q * step;

    code[q] = Code();
    if (kq < c.length) code[q] = __ldg(value + (c.position + c.step * static_cast<PetscInt64>(kq - first)));
  }
}

/*
   Loads `batch` entries k, k + step, ... of a row as numbers, without the row's power of two. The container is tested
   once, so the loads of a batch are in flight together. After the end of the row, numbers are zero.
*/
template <int batch>
static __device__ __forceinline__ void TriReadValues(const VCRSPlan &p, const RowCursor &c, PetscInt k, PetscInt step, Number v[])
{
  const PetscInt first = p.difference ? 1 : 0;

#define TRI_CODES(Code) \
  Code code[batch];     \
  TriReadCodes<batch>(c, static_cast<const Code *>(p.slices.value), first, k, step, code)
#if defined(PETSC_USE_COMPLEX)
  #define TRI_PARTS(expression)                                                                        \
    Number                                                                                             \
    {                                                                                                  \
      static_cast<PetscReal>((expression)(code[q].x)), static_cast<PetscReal>((expression)(code[q].y)) \
    }
  #define TRI_TYPE(real, two) two
#else
  #define TRI_PARTS(expression) static_cast<PetscReal>((expression)(code[q]))
  #define TRI_TYPE(real, two)   real
#endif
  if (c.direct) {
#pragma unroll
    for (int q = 0; q < batch; q++) v[q] = k + q * step < c.length ? Read(c.direct + k + q * step) : Number{};
    return;
  }
  switch (p.values) {
  case VCRS_VALUES_SINGLE: {
    auto plain = [](float f) { return f; };
    TRI_CODES(TRI_TYPE(float, float2));

#pragma unroll
    for (int q = 0; q < batch; q++) v[q] = TRI_PARTS(plain);
  } break;
  case VCRS_VALUES_DICT8: {
    TRI_CODES(unsigned char);

#pragma unroll
    for (int q = 0; q < batch; q++) v[q] = k + q * step < c.length ? Read(reinterpret_cast<const Number *>(p.decoding.dict) + code[q]) : Number{};
  } break;
  case VCRS_VALUES_DICT16: {
    TRI_CODES(unsigned short);

#pragma unroll
    for (int q = 0; q < batch; q++) v[q] = k + q * step < c.length ? Read(reinterpret_cast<const Number *>(p.decoding.dict) + code[q]) : Number{};
  } break;
  case VCRS_VALUES_LOG8: {
    auto look = [&](unsigned int u) { return __ldg(p.decoding.coarse + u); };
    TRI_CODES(TRI_TYPE(unsigned char, uchar2));

#pragma unroll
    for (int q = 0; q < batch; q++) {
      v[q] = Number{};
      if (k + q * step < c.length) v[q] = TRI_PARTS(look);
    }
  } break;
  case VCRS_VALUES_LOG16: {
    auto look = [&](unsigned int u) { return __ldg(p.decoding.coarse + (u >> 8)) * __ldg(p.decoding.fine + (u & 255u)); };
    TRI_CODES(TRI_TYPE(unsigned short, ushort2));

#pragma unroll
    for (int q = 0; q < batch; q++) {
      v[q] = Number{};
      if (k + q * step < c.length) v[q] = TRI_PARTS(look);
    }
  } break;
  case VCRS_VALUES_FIXED8: {
    auto whole = [](int i) { return i; };
    TRI_CODES(TRI_TYPE(signed char, char2));

#pragma unroll
    for (int q = 0; q < batch; q++) v[q] = TRI_PARTS(whole);
  } break;
  case VCRS_VALUES_FIXED16: {
    auto whole = [](int i) { return i; };
    TRI_CODES(TRI_TYPE(short, short2));

#pragma unroll
    for (int q = 0; q < batch; q++) v[q] = TRI_PARTS(whole);
  } break;
  default:
#pragma unroll
    for (int q = 0; q < batch; q++) {
      const PetscInt kq = k + q * step;

      v[q] = Number{};
      if (kq < c.length) v[q] = Read(static_cast<const Number *>(p.slices.value) + (c.position + c.step * static_cast<PetscInt64>(kq - first)));
    }
  }
#undef TRI_CODES
#undef TRI_PARTS
#undef TRI_TYPE
}

/* Columns of the same entries; after the end of the row, the row itself */
template <int batch>
static __device__ __forceinline__ void TriReadColumns(const RowCursor &c, PetscInt k, PetscInt step, PetscInt column[])
{
  if (c.group || c.packed) {
#pragma unroll
    for (int q = 0; q < batch; q++) {
      column[q] = c.row;
      if (k + q * step < c.length) column[q] = Column(c, k + q * step);
    }
  } else {
#pragma unroll
    for (int q = 0; q < batch; q++) {
      column[q] = c.row;
      if (k + q * step < c.length) column[q] = c.base + __ldg(c.column + k + q * step);
    }
  }
}

/* tri.cu: marks all x as missing before a solve, and resets the counter of tasks */
PETSC_INTERN PetscErrorCode VCRSTriStart(PetscScalar *x, PetscInt n, unsigned int *ticket, cudaStream_t);
/* trigrid.cu */
PETSC_INTERN PetscErrorCode VCRSTriGridPrepare(VCRSTri *, const VCRSPlan *, cudaStream_t);
PETSC_INTERN PetscErrorCode VCRSTriGridSolve(const VCRSTri *, const VCRSPlan *, const PetscScalar *, PetscScalar *, cudaStream_t);
