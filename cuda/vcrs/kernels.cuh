/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the kernels of a compressed matrix: reading of ids and row sums, and parameters chosen once per matrix.
   docs/internals/kernels.md lists the files.
*/

#include <lithe/private/cuda/vcrs.h>
#include <lithe/private/lithestep.h>
#include <lithe/private/vcrs/unions.h>
#include "../common/number.cuh"
#include "../common/petsccuda.cuh"

/* Real numbers of a scalar */
#if defined(PETSC_USE_COMPLEX)
  #define VCRS_COMPONENTS 2
#else
  #define VCRS_COMPONENTS 1
#endif

/* Whether vcrs/mult/stencil27.cu supports the scalar type: bulk copies can begin with any complex double */
#if defined(PETSC_USE_COMPLEX) && defined(PETSC_USE_REAL_DOUBLE)
  #define VCRS_STENCIL27 1
#else
  #define VCRS_STENCIL27 0
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

/* In program order: the compiler moves Read() and ReadIf() out of a loop, to a place before the conditions on a.kind */
static __device__ __forceinline__ Number ReadSigma(const SigmaArguments &a, PetscInt row)
{
  if (a.kind == VCRS_SIGMA_FULL) return ReadInOrder(a.sigma + row);
  if (a.kind == VCRS_SIGMA_SPARSE) {
    const uint32_t bits = __ldg(a.mask + row / 32);

    if (bits >> row % 32 & 1u) return ReadInOrder(a.sigma + __ldg(a.ptr + row / 32) + CountBelow(bits, static_cast<int>(row % 32)));
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

/* L0: largest number of pairs in the parameters of a launch: the most frequent pairs with the common offsets.
   Several only with several media */
#define VCRS_COMMON_PAIRS 6

/* Bits of the word of a pair. DIAGONAL: the pair has a diagonal entry; SAME: its offsets are the common offsets. The
   lower bits mark common entries of the pair */
#define VCRS_WORD_DIAGONAL 0x80000000u
#define VCRS_WORD_SAME     0x40000000u
#define VCRS_WORD_ENTRIES  30

/* Rows with all columns of the common set inside x, for L0 with several media and for 27-point stencils */
typedef struct {
  PetscInt first, n;
  /* device: the remaining rows, and rows with a different index set */
  PetscInt nlisted, *dlisted;
  /* device, 27-point stencils: bit row % 32 of word row / 32 is set for rows outside of dlisted */
  uint32_t *dmain;
} VCRSMainRows; /* owner: common.cu, mult/rowlist.cu */

/*
   L0: the common offsets, ordered as triples {b - stride, b, b + stride} and singles, and the pairs with these offsets.
   A thread with rows `stride` apart then loads each entry of x once for up to three rows.
*/
typedef struct {
  int ntriple, nsingle;
  /* place of the k-th reordered entry in its set */
  int order[VCRS_COMMON_MAX];
  /* the pairs; the first is the common set */
  int      n;
  PetscInt pair[VCRS_COMMON_PAIRS];
  /* reordered values; VCRSLaunch.offset has the same order */
  PetscScalar value[VCRS_COMMON_PAIRS][VCRS_COMMON_MAX];
  /* device, [nsets]: diagonal entries */
  PetscScalar *ddiagonal;
} VCRSFrequentPairs; /* owner: common.cu, mult/pairs.cu */

/* The device */
typedef struct {
  int multiprocessors;
  /* shared memory of a multiprocessor, and the part available to a block */
  int sharedbytes, blockbytes;
  /* the code is for compute capability 9.0 or later: launches may overlap with previous kernels (common/pdl.cuh), and
     vcrs/mult/groups.cu and vcrs/mult/stencil27.cu run */
  bool sm90;
} VCRSDevice; /* owner: plan/kernels.cu */

/*
   Parameters chosen once per matrix. The most frequent set (pair) is a kernel parameter: offsets and values are
   immediate operands.
*/
typedef struct VCRSLaunch_ {
  const struct VCRSKernel *kernel;
  VCRSDevice               device;
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
  PetscInt          line;
  VCRSMainRows      main;
  VCRSFrequentPairs common;
  /* L1, L2: vcrs/mult/stencil27.cu runs. The set is the 27-point stencil of a grid; stride is the distance of planes */
  PetscBool stencil27;
  /* 27-point stencils: sets with all points inside the grid. side[0], side[1]: at the beginning and at the end of a
     line; side[2], side[3]: in the first and last line of a plane; -1: none */
  PetscInt side[4];
  /* 27-point stencils: ends[k] is the largest number of slices with ends of lines among k neighbouring slices */
  int ends[VCRS_STENCIL27_WARPS + 1];
  /* L1, L2, L3: warps per slice, see vcrs/mult/small.cu; 0: the kernels for large matrices */
  int split;
  /* device, L3 with split and very long rows: bit row % 32 of word row / 32 is set for very long rows */
  uint32_t *dlong;
  /* device, [nsets]: the common entries of a pair (L1, L2: of a set); 0: the pair (set) has further entries */
  uint32_t *dword;
  /* device, L0: mixed slices; nunions > 0: the unions of vcrs/mult/unions.cu */
  VCRSUnions unions;
} VCRSLaunch; /* owner: common.cu, plan/kernels.cu, mult/small.cu, mult/stencil27.cu, mult/rowlist.cu, mult/unions.cu */

/* Arguments of every product */
struct MultArguments {
  /* y = sign A x + add; without add, y = A x */
  const Number *x, *add;
  Number       *y;
  PetscReal     sign;
  /* the kernel may begin before the end of the previous kernel, see common/pdl.cuh */
  bool pdl;
};

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

static __host__ __device__ inline SigmaArguments GetSigmaArguments(const VCRSPlan *p)
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
