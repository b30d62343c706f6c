/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* PCGRIDMG on devices of several processes with overlapping boxes: boxes of cells, words of numbers for exchanges, and
   vectors of the matrix */

#include "gridmg.cuh"

#define PARTS (PetscDefined(USE_COMPLEX) ? 2 : 1)

/* ------------------------------------------------------------ boxes */

/* blockIdx.x, y and z count pieces of lines, lines and planes. The grid has at most 65535 blocks of lines and 65535 of
   planes, so a block may have several lines and planes */
template <class F>
static __global__ void __launch_bounds__(GRIDMG_THREADS) BoxKernel(const __grid_constant__ GridMGBox box, F f)
{
  const PetscInt i = static_cast<PetscInt>(blockIdx.x) * static_cast<PetscInt>(blockDim.x) + static_cast<PetscInt>(threadIdx.x);

  if (i >= box.n[0]) return;
  for (PetscInt k = static_cast<PetscInt>(blockIdx.z); k < box.n[2]; k += static_cast<PetscInt>(gridDim.z)) {
    for (PetscInt j = static_cast<PetscInt>(blockIdx.y) * static_cast<PetscInt>(blockDim.y) + static_cast<PetscInt>(threadIdx.y); j < box.n[1];
         j += static_cast<PetscInt>(gridDim.y) * static_cast<PetscInt>(blockDim.y))
      f(box.begin[0] + i + box.stride[0][0] * j + box.stride[0][1] * k, box.begin[1] + i + box.stride[1][0] * j + box.stride[1][1] * k);
  }
}

template <class F>
static PetscErrorCode LaunchBox(const GridMGBox *box, F f)
{
  const unsigned int n[3]  = {static_cast<unsigned int>(box->n[0]), static_cast<unsigned int>(box->n[1]), static_cast<unsigned int>(box->n[2])};
  unsigned int       width = GRIDMG_THREADS;
  cudaStream_t       stream;

  PetscFunctionBegin;
  if (!n[0] || !n[1] || !n[2]) PetscFunctionReturn(PETSC_SUCCESS);
  while (width > GRIDMG_WARP && width / 2 >= n[0]) width /= 2;
  {
    const unsigned int lines = GRIDMG_THREADS / width;
    const dim3         threads(width, lines), blocks((n[0] + width - 1) / width, PetscMin((n[1] + lines - 1) / lines, 65535u), PetscMin(n[2], 65535u));

    PetscCall(LitheGraphGetStream(&stream));
    BoxKernel<<<blocks, threads, 0, stream>>>(*box, f);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
struct CopyNumber {
  const T *x;
  T       *y;

  __device__ __forceinline__ void operator()(PetscInt from, PetscInt to) const
  {
    y[to] = x ? x[from] : T{};
  }
};

template <class T>
static PetscErrorCode CopyBox(const GridMGBox *box, const void *x, void *y)
{
  PetscFunctionBegin;
  PetscCall(LaunchBox(box, CopyNumber<T>{static_cast<const T *>(x), static_cast<T *>(y)}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGCopyBox(size_t unit, const GridMGBox *box, const void *x, void *y)
{
  PetscFunctionBegin;
  if (unit == 1) PetscCall(CopyBox<uint8_t>(box, x, y));
  else if (unit == 2) PetscCall(CopyBox<uint16_t>(box, x, y));
  else if (unit == 4) PetscCall(CopyBox<uint32_t>(box, x, y));
  else if (unit == 8) PetscCall(CopyBox<unsigned long long>(box, x, y));
  else PetscCall(CopyBox<uint4>(box, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct AddNumber {
  const double *x;
  double       *y;
  double        factor;

  __device__ __forceinline__ void operator()(PetscInt from, PetscInt to) const
  {
    y[to] += factor * x[from];
  }
};

PetscErrorCode LitheCUDAGridMGAddBox(const GridMGBox *box, double factor, const double *x, double *y)
{
  PetscFunctionBegin;
  PetscCall(LaunchBox(box, AddNumber{x, y, factor}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct EnterNumber {
  const PetscReal *x;
  float           *b;
  const double    *largest;

  __device__ __forceinline__ void operator()(PetscInt from, PetscInt to) const
  {
    b[to] = static_cast<float>(static_cast<double>(x[from * PARTS]) * LitheMGScaleOf(*largest));
  }
};

PetscErrorCode LitheCUDAGridMGEnterBox(const GridMGBox *box, int part, const PetscScalar *x, void *b, const double *scale)
{
  PetscFunctionBegin;
  PetscCall(LaunchBox(box, EnterNumber{reinterpret_cast<const PetscReal *>(x) + part, static_cast<float *>(b), scale}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct LeaveNumber {
  const float  *x;
  PetscReal    *y;
  double        factor;
  const double *largest;

  __device__ __forceinline__ void operator()(PetscInt from, PetscInt to) const
  {
    y[to * PARTS] = static_cast<PetscReal>(static_cast<double>(x[from]) * factor * (1 / LitheMGScaleOf(*largest)));
  }
};

PetscErrorCode LitheCUDAGridMGLeaveBox(const GridMGBox *box, int part, double factor, const double *scale, const void *x, PetscScalar *y)
{
  PetscFunctionBegin;
  PetscCall(LaunchBox(box, LeaveNumber{static_cast<const float *>(x), reinterpret_cast<PetscReal *>(y) + part, factor, scale}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A thread per number. Infinity and NaN are kept */
static __global__ void ScaleSumKernel(bool back, double factor, double *numbers, PetscScalar *scalars)
{
  if (back) numbers[threadIdx.x] = factor * static_cast<double>(PetscRealPart(scalars[threadIdx.x]));
  else scalars[threadIdx.x] = static_cast<PetscReal>(factor * numbers[threadIdx.x]);
}

PetscErrorCode LitheCUDAGridMGScaleSum(PetscBool back, int n, double factor, double *numbers, PetscScalar *scalars)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  ScaleSumKernel<<<1, static_cast<unsigned int>(n), 0, stream>>>(static_cast<bool>(back), factor, numbers, scalars);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ words */

template <class T>
static __global__ void __launch_bounds__(GRIDMG_THREADS) WordsKernel(PetscInt n, const T *__restrict__ x, int first, int step, uint32_t *__restrict__ words)
{
  const PetscInt i = static_cast<PetscInt>(blockIdx.x) * GRIDMG_THREADS + static_cast<PetscInt>(threadIdx.x);

  if (i < n) words[i] = x[first + static_cast<size_t>(step) * static_cast<size_t>(i)];
}

template <class T>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  PlaceKernel(PetscInt n, const PetscInt *__restrict__ index, const uint32_t *__restrict__ words, int first, int step, T *x)
{
  const PetscInt w = static_cast<PetscInt>(blockIdx.x) * GRIDMG_THREADS + static_cast<PetscInt>(threadIdx.x);

  if (w < n) x[first + static_cast<size_t>(step) * static_cast<size_t>(index ? index[w] : w)] = static_cast<T>(words[w]);
}

template <class T>
static __global__ void __launch_bounds__(GRIDMG_THREADS) PlaceNumbersKernel(PetscInt n, const PetscInt *__restrict__ index, const T *__restrict__ numbers, T *x)
{
  const PetscInt w = static_cast<PetscInt>(blockIdx.x) * GRIDMG_THREADS + static_cast<PetscInt>(threadIdx.x);

  if (w < n) x[index ? index[w] : w] = numbers[w];
}

static int FirstOf(GridMGWord word)
{
  return word == GRIDMG_WORD_HIGH ? 1 : 0;
}

static int StepOf(GridMGWord word)
{
  return word == GRIDMG_WORD_HIGH || word == GRIDMG_WORD_LOW ? 2 : 1;
}

PetscErrorCode LitheCUDAGridMGWords(GridMGWord word, PetscInt n, const void *x, void *words)
{
  const unsigned int blocks = GridMGBlocks(n, GRIDMG_THREADS);
  const int          first = FirstOf(word), step = StepOf(word);
  uint32_t          *to = static_cast<uint32_t *>(words);
  cudaStream_t       stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheGraphGetStream(&stream));
  if (word == GRIDMG_WORD_BYTE) WordsKernel<<<blocks, GRIDMG_THREADS, 0, stream>>>(n, static_cast<const uint8_t *>(x), first, step, to);
  else if (word == GRIDMG_WORD_SHORT) WordsKernel<<<blocks, GRIDMG_THREADS, 0, stream>>>(n, static_cast<const uint16_t *>(x), first, step, to);
  else WordsKernel<<<blocks, GRIDMG_THREADS, 0, stream>>>(n, static_cast<const uint32_t *>(x), first, step, to);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGPlace(GridMGWord word, PetscInt n, const PetscInt *index, const void *words, void *x)
{
  const unsigned int blocks = GridMGBlocks(n, GRIDMG_THREADS);
  const int          first = FirstOf(word), step = StepOf(word);
  const uint32_t    *from = static_cast<const uint32_t *>(words);
  cudaStream_t       stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheGraphGetStream(&stream));
  if (word == GRIDMG_WORD_BYTE) PlaceKernel<<<blocks, GRIDMG_THREADS, 0, stream>>>(n, index, from, first, step, static_cast<uint8_t *>(x));
  else if (word == GRIDMG_WORD_SHORT) PlaceKernel<<<blocks, GRIDMG_THREADS, 0, stream>>>(n, index, from, first, step, static_cast<uint16_t *>(x));
  else if (word == GRIDMG_WORD_TWO)
    PlaceNumbersKernel<<<blocks, GRIDMG_THREADS, 0, stream>>>(n, index, static_cast<const uint2 *>(words), static_cast<uint2 *>(x));
  else if (word == GRIDMG_WORD_FOUR)
    PlaceNumbersKernel<<<blocks, GRIDMG_THREADS, 0, stream>>>(n, index, static_cast<const uint4 *>(words), static_cast<uint4 *>(x));
  else PlaceKernel<<<blocks, GRIDMG_THREADS, 0, stream>>>(n, index, from, first, step, static_cast<uint32_t *>(x));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
