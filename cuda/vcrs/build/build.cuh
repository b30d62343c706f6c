/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the parts of the compression on the device.

     build.cu   the operations that src/vcrs/build/choose.c calls; the decision for the host
     loss.cu    survey and rounding (include/lithe/private/vcrs/steps.h, round.h); a block's data for an agreement of
                processes
     csr.cu     transposes, rows of entries, sums of rows
     sets.cu    classes of rows, the dictionary, containers of values
     encode.cu  slices, and the arrays of the plan
     groups.cu  grouped columns
     split.cu   rows of a process as two blocks

   The parts correspond to the files of src/vcrs/build with the same names. Both use the same functions of rows and
   entries, so the plans are equal. Each row is read by a single thread: rows are short, and the order of summation is
   the host's.
*/

#include <lithe/private/vcrs/round.h>
#include <lithe/private/cuda/vcrs.h>
#include "../../common/petsccuda.cuh"
#include "../../common/scan.cuh"

#define VCRS_BLOCK    256
#define VCRS_GRID_MAX 4096
#define VCRS_BUFFERS  64

/* Device memory that is freed at the end of a build, even after an error, except the memory kept by the plan */
typedef struct {
  void *pointer[VCRS_BUFFERS];
  int   n;
} DeviceMemory;

typedef struct {
  PetscInt  n;
  PetscInt *rep;            /* device, [n]: first row of each set */
  PetscInt *length, *count; /* host, [n] */
} DeviceSets;

/* Data of the dictionary of values */
typedef struct {
  unsigned long long *key;   /* hashes of values; 0: free */
  unsigned long long *first; /* first occurrence of the value */
  uint16_t           *code;
  PetscInt64          nslot;
} DeviceDictionary;

/* A VCRSBuild with data of a device; the operations of build.cu get the first member */
typedef struct {
  VCRSBuild        b;           /* arrays, including csr, are on the device */
  VCRSPlan        *table;       /* the host's parts of the plan: sets, dictionary, scales */
  PetscInt64      *setsliceptr; /* offsets of slices of L1 and L2 */
  LitheLogScale   *log;         /* on the host; b.rounded.log is the copy on the device */
  PetscInt64       nz;
  PetscInt         longest;
  cudaStream_t     stream;
  DeviceMemory     memory;
  DeviceSets       sets, pairs;
  DeviceDictionary dictionary;
  PetscScalar     *dict; /* host, [b.ndict] */
  PetscInt        *dictuses;
} DeviceBuild;

static inline int LaunchBlocks(PetscInt64 threads)
{
  const PetscInt64 blocks = (threads + VCRS_BLOCK - 1) / VCRS_BLOCK;

  return (int)(blocks < 1 ? 1 : (blocks > VCRS_GRID_MAX ? VCRS_GRID_MAX : blocks));
}

/* All items 0 ... n-1, divided among the threads of a launch */
#define VCRS_FOR_ALL(type, item, n) for (type item = (type)blockIdx.x * blockDim.x + threadIdx.x; item < (n); item += (type)gridDim.x * blockDim.x)

template <class T>
static inline PetscErrorCode DeviceAllocate(DeviceMemory *memory, size_t n, T **p)
{
  void *pointer = NULL;
  int   slot    = 0;

  PetscFunctionBegin;
  *p = NULL;
  while (slot < memory->n && memory->pointer[slot]) slot++;
  PetscCheck(slot < VCRS_BUFFERS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A compression takes more than %d buffers", VCRS_BUFFERS);
  PetscCallCUDA(cudaMalloc(&pointer, (n ? n : 1) * sizeof(T)));
  memory->pointer[slot] = pointer;
  memory->n             = PetscMax(memory->n, slot + 1);
  *p                    = static_cast<T *>(pointer);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes a buffer from the memory of the build: the caller owns the buffer */
template <class T>
static inline T *DeviceKeep(DeviceMemory *memory, T *p)
{
  for (int k = 0; k < memory->n; k++) {
    if (memory->pointer[k] == static_cast<void *>(p)) memory->pointer[k] = NULL;
  }
  return p;
}

template <class T>
static inline PetscErrorCode DeviceFree(DeviceMemory *memory, T **p)
{
  PetscFunctionBegin;
  if (*p) {
    (void)DeviceKeep(memory, *p);
    PetscCallCUDA(cudaFree(*p));
    *p = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies from and to the host, complete at return */
template <class T>
static inline PetscErrorCode DeviceGet(DeviceBuild *d, const T *from, size_t n, T *to)
{
  PetscFunctionBegin;
  if (n) PetscCallCUDA(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, d->stream));
  PetscCallCUDA(cudaStreamSynchronize(d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
static inline PetscErrorCode DevicePut(DeviceBuild *d, const T *from, size_t n, T *to)
{
  PetscFunctionBegin;
  if (n) PetscCallCUDA(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyHostToDevice, d->stream));
  PetscCallCUDA(cudaStreamSynchronize(d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
static inline PetscErrorCode DeviceAllocateZero(DeviceBuild *d, size_t n, T **p)
{
  PetscFunctionBegin;
  PetscCall(DeviceAllocate(&d->memory, n, p));
  if (n) PetscCallCUDA(cudaMemsetAsync(*p, 0, n * sizeof(T), d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a[k] becomes a[0] + ... + a[k-1] */
template <class T>
static inline PetscErrorCode DeviceScan(DeviceBuild *d, PetscInt64 n, T *a)
{
  size_t bytes = 0;
  char  *work;

  PetscFunctionBegin;
  if (n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(LitheScan(NULL, &bytes, a, n, d->stream));
  PetscCall(DeviceAllocate(&d->memory, bytes, &work));
  PetscCallCUDA(LitheScan(work, &bytes, a, n, d->stream));
  PetscCall(DeviceFree(&d->memory, &work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reduces the values of all threads of a block by join(); the first thread gets the result */
template <class T, class Join>
static __device__ void BlockJoin(T *shared, T *mine, Join join)
{
  shared[threadIdx.x] = *mine;
  for (int half = VCRS_BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) join(&shared[threadIdx.x], &shared[threadIdx.x + half]);
  }
  *mine = shared[threadIdx.x];
}

static __device__ __forceinline__ PetscInt WarpMax(PetscInt v)
{
  for (int half = 16; half > 0; half /= 2) {
    const PetscInt other = __shfl_xor_sync(0xffffffffu, v, half); /* the macro evaluates its arguments twice */

    v = PetscMax(v, other);
  }
  return v;
}

static __device__ __forceinline__ PetscInt WarpMin(PetscInt v)
{
  for (int half = 16; half > 0; half /= 2) {
    const PetscInt other = __shfl_xor_sync(0xffffffffu, v, half); /* the macro evaluates its arguments twice */

    v = PetscMin(v, other);
  }
  return v;
}

static __device__ __forceinline__ bool SameBits(PetscScalar a, PetscScalar b)
{
  const uint32_t *x = reinterpret_cast<const uint32_t *>(&a), *y = reinterpret_cast<const uint32_t *>(&b);
  bool            same = true;

  for (size_t k = 0; k < sizeof(PetscScalar) / sizeof(uint32_t); k++) same = same && x[k] == y[k];
  return same;
}

/* The slot of a value in the dictionary */
static __device__ __forceinline__ PetscInt64 DictionaryFind(const DeviceDictionary &t, PetscScalar v)
{
  unsigned long long h = LitheHashFinish(LitheHashScalar(0, v));
  PetscInt64         pos;

  if (!h) h = 1;
  for (pos = (PetscInt64)(h & (t.nslot - 1)); t.key[pos] != h; pos = (pos + 1) & (t.nslot - 1)) {
  }
  return pos;
}

static inline DeviceBuild *DeviceOf(VCRSBuild *b)
{
  return reinterpret_cast<DeviceBuild *>(b); /* b is the first member */
}

/* loss.cu */
PETSC_INTERN PetscErrorCode DeviceLossPropose(DeviceBuild *, VCRSSurvey *, PetscInt[]);
PETSC_INTERN PetscErrorCode DeviceLossApply(DeviceBuild *, VCRSReport *);

/* sets.cu */
PETSC_INTERN PetscErrorCode DeviceMeasureRows(VCRSBuild *);
PETSC_INTERN PetscErrorCode DeviceFindSets(VCRSBuild *, PetscInt);
PETSC_INTERN PetscErrorCode DeviceFindPairs(VCRSBuild *, PetscInt);
PETSC_INTERN PetscErrorCode DeviceForgetSets(DeviceBuild *);
PETSC_INTERN PetscErrorCode DeviceCountValueSets(VCRSBuild *, PetscInt64 *);
PETSC_INTERN PetscErrorCode DeviceFindDictionary(VCRSBuild *, PetscInt);
PETSC_INTERN PetscErrorCode DeviceFindFixedPoint(VCRSBuild *);
PETSC_INTERN PetscErrorCode DeviceFindSingle(VCRSBuild *);

/* groups.cu */
PETSC_INTERN PetscErrorCode DeviceFindGroups(VCRSBuild *, VCRSPlan *);

/* encode.cu */
PETSC_INTERN PetscErrorCode DeviceMeasureSetSlices(VCRSBuild *);
PETSC_INTERN PetscErrorCode DeviceFindSlices(VCRSBuild *, size_t, VCRSPlan *);
PETSC_INTERN PetscErrorCode DeviceEncodeSets(VCRSBuild *, VCRSPlan *);
PETSC_INTERN PetscErrorCode DeviceEncodeSlices(VCRSBuild *, VCRSPlan *);
PETSC_INTERN PetscErrorCode DeviceEncodeSigma(VCRSBuild *, VCRSPlan *);
