/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Rows of a process with columns of all processes: the blocks of a parallel matrix. A warp has a row */

#include "build.cuh"

#define WARP 32
#define ALL  0xffffffffu

static_assert(VCRS_BLOCK % WARP == 0, "a warp has a row");

static __device__ __forceinline__ bool IsOwn(PetscInt column, PetscInt begin, PetscInt end)
{
  return column >= begin && column < end;
}

/* count[m] is 0: an exclusive sum ends with the number of all entries */
static __global__ void __launch_bounds__(VCRS_BLOCK)
  SplitCount(PetscInt m, PetscInt begin, PetscInt end, const PetscInt *__restrict__ i, const PetscInt *__restrict__ j, PetscInt *__restrict__ count)
{
  const int lane = static_cast<int>(threadIdx.x) % WARP;

  VCRS_FOR_ALL(PetscInt64, t, (static_cast<PetscInt64>(m) + 1) * WARP)
  {
    const PetscInt64 row = t / WARP;
    int              own = 0;

    for (PetscInt k = row < m ? i[row] : 0; row < m && k < i[row + 1]; k += WARP)
      own += __popc(__ballot_sync(ALL, k + lane < i[row + 1] && IsOwn(j[k + lane], begin, end)));
    if (!lane) count[row] = own;
  }
}

typedef struct {
  PetscInt    *i[2], *j[2];
  PetscScalar *a[2];
} SplitBlocks;

/* first: of each row in block 0. The order of entries stays */
static __global__ void __launch_bounds__(VCRS_BLOCK)
  SplitEntries(PetscInt m, PetscInt begin, PetscInt end, const PetscInt *__restrict__ i, const PetscInt *__restrict__ j, const PetscScalar *__restrict__ a,
               const PetscInt *__restrict__ first, SplitBlocks to)
{
  const int          lane  = static_cast<int>(threadIdx.x) % WARP;
  const unsigned int below = (1u << lane) - 1u;

  VCRS_FOR_ALL(PetscInt64, t, (static_cast<PetscInt64>(m) + 1) * WARP)
  {
    const PetscInt64 row   = t / WARP;
    PetscInt         at[2] = {first[row], i[row] - first[row]};

    if (!lane) {
      to.i[0][row] = at[0];
      to.i[1][row] = at[1];
    }
    for (PetscInt k = i[row]; row < m && k < i[row + 1]; k += WARP) {
      const bool         here    = k + lane < i[row + 1];
      const PetscInt     column  = here ? j[k + lane] : 0;
      const bool         own     = here && IsOwn(column, begin, end);
      const unsigned int mask[2] = {__ballot_sync(ALL, own), __ballot_sync(ALL, here && !own)};
      const int          b       = own ? 0 : 1;

      if (here) {
        const PetscInt place = at[b] + __popc(mask[b] & below);

        to.j[b][place] = own ? column - begin : column;
        to.a[b][place] = a[k + lane];
      }
      at[0] += __popc(mask[0]);
      at[1] += __popc(mask[1]);
    }
  }
}

static PetscErrorCode SplitWith(DeviceMemory *memory, cudaStream_t stream, PetscInt m, PetscInt begin, PetscInt end, const PetscInt *i, const PetscInt *j,
                                const PetscScalar *a, PetscInt nz[2], SplitBlocks *to)
{
  const int blocks = LaunchBlocks((static_cast<PetscInt64>(m) + 1) * WARP);
  PetscInt *first, all;
  size_t    bytes = 0;
  char     *work;

  PetscFunctionBegin;
  PetscCall(DeviceAllocate(memory, static_cast<size_t>(m) + 1, &first));
  SplitCount<<<blocks, VCRS_BLOCK, 0, stream>>>(m, begin, end, i, j, first);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(LitheScan(NULL, &bytes, first, static_cast<PetscInt64>(m) + 1, stream));
  PetscCall(DeviceAllocate(memory, bytes, &work));
  PetscCallCUDA(LitheScan(work, &bytes, first, static_cast<PetscInt64>(m) + 1, stream));
  PetscCallCUDA(cudaMemcpyAsync(&nz[0], first + m, sizeof(nz[0]), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaMemcpyAsync(&all, i + m, sizeof(all), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  nz[1] = all - nz[0];
  for (int b = 0; b < 2; b++) {
    const size_t n = static_cast<size_t>(nz[b]), values = (n * sizeof(*a) + 15) / 16 * 16;
    char        *p;

    PetscCall(DeviceAllocate(memory, values + (n + static_cast<size_t>(m) + 1) * sizeof(*j), &p));
    to->a[b] = reinterpret_cast<PetscScalar *>(p);
    to->j[b] = reinterpret_cast<PetscInt *>(p + values);
    to->i[b] = to->j[b] + n;
  }
  SplitEntries<<<blocks, VCRS_BLOCK, 0, stream>>>(m, begin, end, i, j, a, first, *to);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an error all memory is freed */
PetscErrorCode LitheCUDACSRSplit(PetscInt m, PetscInt begin, PetscInt end, const PetscInt *di, const PetscInt *dj, const PetscScalar *da, PetscInt nz[2],
                                 PetscInt *newi[2], PetscInt *newj[2], PetscScalar *newa[2])
{
  DeviceMemory   memory;
  SplitBlocks    to = {};
  cudaStream_t   stream;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  memory.n = 0;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  ierr = SplitWith(&memory, stream, m, begin, end, di, dj, da, nz, &to);
  for (int b = 0; b < 2 && !ierr; b++) {
    newi[b] = to.i[b];
    newj[b] = to.j[b];
    newa[b] = DeviceKeep(&memory, to.a[b]);
  }
  for (int k = 0; k < memory.n; k++) {
    if (memory.pointer[k]) PetscCallCUDA(cudaFree(memory.pointer[k]));
  }
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void __launch_bounds__(VCRS_BLOCK) RenumberColumns(PetscInt nz, PetscInt n, const PetscInt *__restrict__ number, PetscInt *__restrict__ j)
{
  VCRS_FOR_ALL(PetscInt64, k, nz)
  {
    const PetscInt column = j[k];
    PetscInt       low = 0, high = n; /* number[low] <= column < number[high] */

    while (high - low > 1) {
      const PetscInt middle = low + (high - low) / 2;

      if (number[middle] <= column) low = middle;
      else high = middle;
    }
    j[k] = low;
  }
}

PetscErrorCode LitheCUDACSRRenumber(PetscInt nz, PetscInt *dj, PetscInt n, const PetscInt number[])
{
  const size_t bytes = static_cast<size_t>(n) * sizeof(*number);
  PetscInt    *there;
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&there), bytes));
  PetscCallCUDA(cudaMemcpyAsync(there, number, bytes, cudaMemcpyHostToDevice, stream));
  RenumberColumns<<<LaunchBlocks(nz), VCRS_BLOCK, 0, stream>>>(nz, n, there, dj);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(there));
  PetscFunctionReturn(PETSC_SUCCESS);
}
