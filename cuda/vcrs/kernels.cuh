/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the kernels of a compressed matrix: scalars, reading and decoding of entries, and parameters chosen once
   per matrix. docs/internals/kernels.md lists the files.
*/

#include <lithe/private/cuda/vcrs.h>
#include <lithe/private/lithestep.h>
#include <lithe/private/vcrs/unions.h>

/* A scalar for arithmetic in device code, with the bytes of a PetscScalar */
#if defined(PETSC_USE_COMPLEX)
struct alignas(2 * sizeof(PetscReal)) Number {
  PetscReal re, im;
};
  #define VCRS_COMPONENTS 2
#else
typedef PetscReal                        Number;
  #define VCRS_COMPONENTS 1
#endif
static_assert(sizeof(Number) == sizeof(PetscScalar), "a number is a PetscScalar");

/* Whether vcrs/mult/stencil27.cu supports the scalar type: bulk copies can begin with any complex double */
#if defined(PETSC_USE_COMPLEX) && defined(PETSC_USE_REAL_DOUBLE)
  #define VCRS_STENCIL27 1
#else
  #define VCRS_STENCIL27 0
#endif

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

#if defined(PETSC_USE_64BIT_INDICES)
typedef uint64_t VCRSUnsigned;
#else
typedef uint32_t VCRSUnsigned;
#endif

static __device__ __forceinline__ PetscInt ReadId(const void *id, int idbytes, VCRSUnsigned row)
{
  if (idbytes == 1) return __ldcs(static_cast<const unsigned char *>(id) + row);
  if (idbytes == 2) return __ldcs(static_cast<const unsigned short *>(id) + row);
  return static_cast<PetscInt>(__ldcs(static_cast<const unsigned int *>(id) + row));
}

/* Converts a small signed integer to a real number without the slow conversion unit: the biased integer is the low word
   of 2^52 + u */
static __device__ __forceinline__ double BiasedToReal(unsigned int u, double bias, double)
{
  return __hiloint2double(0x43300000, static_cast<int>(u)) - (4503599627370496. + bias);
}

static __device__ __forceinline__ float BiasedToReal(unsigned int u, double bias, float)
{
  return static_cast<float>(static_cast<int>(u) - static_cast<int>(bias));
}

/* Whether a row of L3 without entries in its slice is a very long row, which is stored separately */
static __device__ __forceinline__ bool IsLongRow(const PetscInt *longrow, PetscInt nlong, VCRSUnsigned row)
{
  PetscInt low = 0, high = nlong;

  while (low < high) {
    const PetscInt middle = low + (high - low) / 2;

    if (static_cast<VCRSUnsigned>(longrow[middle]) < row) low = middle + 1;
    else high = middle;
  }
  return low < nlong && static_cast<VCRSUnsigned>(longrow[low]) == row;
}

/* Keeps a value in a register; called by whole warps. Otherwise the assembler would compute the value again, or treat
   the value as a constant */
[[maybe_unused]] static __device__ __forceinline__ uint32_t Keep(uint32_t v)
{
  return __shfl_sync(0xffffffffu, v, static_cast<int>(threadIdx.x % 32));
}

#include "../common/petsccuda.cuh"
#include "values.cuh"

/* The number of set bits below bit k */
static __device__ __forceinline__ int CountBelow(uint32_t bits, int k)
{
  return __popc(bits & ((1u << k) - 1));
}

/* Row sums of the difference form */
struct SigmaArguments {
  int             kind;
  const Number   *sigma;
  const uint32_t *mask;
  const PetscInt *ptr;
};

static __device__ __forceinline__ Number ReadSigma(const SigmaArguments &a, PetscInt row)
{
  if (a.kind == VCRS_SIGMA_FULL) return Read(a.sigma + row);
  if (a.kind == VCRS_SIGMA_SPARSE) {
    const uint32_t bits = __ldg(a.mask + row / 32);

    if (bits >> row % 32 & 1u) return Read(a.sigma + __ldg(a.ptr + row / 32) + CountBelow(bits, static_cast<int>(row % 32)));
  }
  return Number{};
}

/* The longest set in the parameters of a launch, and the longest star (vcrs/mult/stencil7.cu) */
#define VCRS_COMMON_MAX   32
#define VCRS_STENCIL7_MAX 7

/* L0: smallest ratio of rows to stride */
#define VCRS_STRIDE_BANDS 16

/* Rows left out by a kernel are listed only if the kernel's rows are at least this number of planes */
#define VCRS_GRID_PLANES 4

/* Largest number of summing warps per block in the kernel for 27-point stencils */
#define VCRS_STENCIL27_WARPS 32

/* L0: largest number of pairs in the parameters of a launch: the most frequent pairs with the common offsets. npair > 1
   only with several media */
#define VCRS_COMMON_PAIRS 6

/* Bits of the word of a pair. DIAGONAL: the pair has a diagonal entry; SAME: its offsets are the common offsets. The
   lower bits mark common entries of the pair */
#define VCRS_WORD_DIAGONAL 0x80000000u
#define VCRS_WORD_SAME     0x40000000u
#define VCRS_WORD_ENTRIES  30

/*
   Parameters chosen once per matrix. The most frequent set (pair) is a kernel parameter: offsets and values are
   immediate operands. In L0, the offsets are ordered as triples {b - stride, b, b + stride} and singles. A thread with
   rows `stride` apart then loads each entry of x once for up to three rows.
*/
typedef struct VCRSLaunch_ {
  const struct VCRSKernel *kernel;
  /* L1, L2: VCRSCommonSets() has been called */
  bool searched;
  /* host: a copy of dword, during the preparation of kernels only */
  uint32_t *word;
  PetscInt  id;     /* number of the common set, or -1 */
  int       length; /* length of the common set */
  /* offsets of the common set; L1, L2: in stored order */
  PetscInt offset[VCRS_COMMON_MAX];
  PetscInt stride;
  /* a distance that divides stride; a line of the grid, if stride is a plane; 0: none */
  PetscInt line;
  /* L1, L2: vcrs/mult/stencil27.cu runs. The set is the 27-point stencil of a grid; stride is the distance of planes */
  PetscBool stencil27;
  /* 27-point stencils: sets with all points inside the grid. side[0], side[1]: at the beginning and at the end of a
     line; side[2], side[3]: in the first and last line of a plane; -1: none */
  PetscInt side[4];
  /* 27-point stencils: ends[k] is the largest number of slices with ends of lines among k neighbouring slices */
  int ends[VCRS_STENCIL27_WARPS + 1];
  /* L0 with several media, 27-point stencils: rows with all columns of the common set inside x */
  PetscInt firstmain, nmain;
  /* device, in the same cases: the remaining rows, and rows with a different index set */
  PetscInt nlisted, *dlisted;
  /* device, 27-point stencils: bit row % 32 of word row / 32 is set for rows outside of dlisted */
  uint32_t *dmain;
  int       ntriple, nsingle;
  /* L0: place of the k-th reordered entry in its set */
  int order[VCRS_COMMON_MAX];
  /* L0: reordered values; offset[] has the same order */
  PetscScalar value[VCRS_COMMON_PAIRS][VCRS_COMMON_MAX];
  /* L0: the pairs with these values; the first is id */
  PetscInt pair[VCRS_COMMON_PAIRS];
  int      npair;
  int      multiprocessors;
  /* L1, L2, L3: warps per slice, see vcrs/mult/small.cu; 0: the kernels for large matrices */
  int split;
  /* the code is for compute capability 9.0 or later: launches may overlap with previous kernels (common/pdl.cuh), and
     vcrs/mult/groups.cu and vcrs/mult/stencil27.cu run */
  bool sm90;
  /* shared memory of a multiprocessor, and the part available to a block */
  int sharedbytes, blockbytes;
  /* device, L3 with split and very long rows: bit row % 32 of word row / 32 is set for very long rows */
  uint32_t *dlong;
  /* device, [nsets]: the common entries of a pair (L1, L2: of a set); 0: the pair (set) has further entries */
  uint32_t *dword;
  /* device, L0, [nsets]: diagonal entries */
  PetscScalar *ddiagonal;
  /* device, L0: mixed slices; nunions > 0: the unions of vcrs/mult/unions.cu */
  VCRSUnions unions;
} VCRSLaunch;

/* Arguments of every product */
struct MultArguments {
  /* y = sign A x + add; without add, y = A x */
  const Number *x, *add;
  Number       *y;
  PetscReal     sign;
  /* the kernel may begin before the end of the previous kernel, see common/pdl.cuh */
  bool pdl;
};

static __device__ __forceinline__ Number AddSigned(Number add, PetscReal sign, Number sum)
{
#if defined(PETSC_USE_COMPLEX)
  return Number{fma(sign, sum.re, add.re), fma(sign, sum.im, add.im)};
#else
  return fma(sign, sum, add);
#endif
}

static inline DecodeArguments GetDecodeArguments(const VCRSPlan *p)
{
  DecodeArguments a;

  a.dict   = reinterpret_cast<const Number *>(p->decoding.dict);
  a.ndict  = static_cast<int>(p->decoding.ndict);
  a.coarse = p->decoding.coarse;
  a.fine   = p->decoding.fine;
  for (int k = 0; k < VCRS_LOG_POWERS; k++) a.power[k] = p->decoding.power[k];
  return a;
}

static inline SigmaArguments GetSigmaArguments(const VCRSPlan *p)
{
  SigmaArguments a;

  a.kind  = p->sums.kind;
  a.sigma = reinterpret_cast<const Number *>(p->sums.value);
  a.mask  = p->sums.mask;
  a.ptr   = p->sums.ptr;
  return a;
}

/* Sets dplan->launch. table may be NULL or without tables of sets. Copies may be unfinished at return */
PETSC_INTERN PetscErrorCode VCRSLaunchCreate(const VCRSPlan *table, VCRSPlan *dplan);
PETSC_INTERN PetscErrorCode VCRSLaunchDestroy(VCRSPlan *dplan);

/* A kernel of y = A x for one column. prepare returns whether the kernel accepts the matrix, and, if so, creates the
   kernel's data. table: as for VCRSLaunchCreate() */
struct VCRSKernel {
  const char *name;
  PetscErrorCode (*prepare)(VCRSLaunch *, const VCRSPlan *table, VCRSPlan *dplan, bool *runs);
  PetscErrorCode (*mult)(const VCRSLaunch *, const VCRSPlan *, const MultArguments *, cudaStream_t);
};

PETSC_INTERN const VCRSKernel VCRSKernelGroups, VCRSKernelSmall, VCRSKernelPairs, VCRSKernelStencil27, VCRSKernelStencil7, VCRSKernelSets, VCRSKernelSlices,
  VCRSKernelRows;

/* L1, L2: the kernel without further conditions, with or without a common set */
PETSC_INTERN PetscErrorCode VCRSSetsMult(const VCRSLaunch *, const VCRSPlan *, const MultArguments *, cudaStream_t);

/* common.cu */
PETSC_INTERN PetscErrorCode VCRSCommonSets(VCRSLaunch *, const VCRSPlan *table, const VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSCommonPairs(VCRSLaunch *, const VCRSPlan *table, const VCRSPlan *);
PETSC_INTERN void           VCRSCommonMain(VCRSLaunch *, PetscInt m, PetscInt columns);

/* L0 with many pairs in a slice: unions, computed on the host from tables and l->word */
PETSC_INTERN PetscErrorCode VCRSUnionsPrepare(VCRSLaunch *, const VCRSPlan *table, const VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSUnionsMult(const VCRSLaunch *, const VCRSPlan *, const MultArguments *, const LitheStep *, cudaStream_t);
PETSC_INTERN PetscErrorCode VCRSUnionsFree(VCRSUnions *);
/* Lists the rows to be summed separately, for 27-point stencils and for L0 with several media */
PETSC_INTERN PetscErrorCode VCRSRowList(VCRSLaunch *, const VCRSPlan *, uint32_t, PetscBool *, cudaStream_t);
/* Permutes entries of grouped rows, as on the host. spread: the loads of x are spread over the banks of shared memory;
   otherwise entries return to the order of columns */
PETSC_INTERN PetscErrorCode VCRSBanksOrder(const VCRSPlan *, bool spread, cudaStream_t);

/* Any layout, entry by entry */
PETSC_INTERN PetscErrorCode VCRSRowsMult(const VCRSPlan *, PetscInt, const PetscScalar *, PetscInt, const PetscScalar *, PetscInt, PetscScalar *, PetscInt,
                                         PetscReal, cudaStream_t);
PETSC_INTERN PetscErrorCode VCRSRowsMultTranspose(const VCRSPlan *, PetscBool, PetscInt, const PetscScalar *, PetscInt, PetscScalar *, PetscInt, cudaStream_t);
PETSC_INTERN PetscErrorCode VCRSRowsGetDiagonal(const VCRSPlan *, PetscScalar *, cudaStream_t);
PETSC_INTERN PetscErrorCode VCRSRowsScan(const VCRSPlan *, int scan[4], cudaStream_t);
PETSC_INTERN PetscErrorCode VCRSRowsDecode(const VCRSPlan *, PetscInt *i, PetscInt *j, PetscScalar *a, cudaStream_t);
