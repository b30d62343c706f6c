/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Rows of several processes in one matrix, on a device: src/pc/camg/join.c */

#include "camg.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
/* Row r of A, with columns place[..], goes to block `at` of C. All lanes of a group */
template <int lanes>
static __device__ __forceinline__ void JoinRow(const CAMGMatrix &A, PetscInt r, const PetscInt *place, PetscInt at, int lane, const CAMGMatrix &C)
{
  const PetscInt begin = A.i[r], n = A.i[r + 1] - begin, size = A.rb * A.cb;

  for (PetscInt k = lane; k < n; k += lanes) C.j[at + k] = place ? place[A.j[begin + k]] : A.j[begin + k];
  for (PetscInt k = lane; k < n * size; k += lanes) C.a[static_cast<size_t>(at) * size + k] = A.a[static_cast<size_t>(begin) * size + k];
}

static __global__ void ExtractSizes(const __grid_constant__ CAMGMatrix A, PetscInt count, const PetscInt *__restrict__ row, PetscInt *__restrict__ i)
{
  CAMG_FOR_ALL(r, count)
  i[r] = A.i[row[r] + 1] - A.i[row[r]];
}

template <int lanes>
static __global__ void ExtractRows(const __grid_constant__ CAMGMatrix A, const PetscInt *__restrict__ row, const __grid_constant__ CAMGMatrix C)
{
  const CAMGGroupOf<lanes> g;

  if (g.row < C.m) JoinRow<lanes>(A, row[g.row], nullptr, C.i[g.row], g.lane, C);
}

PetscErrorCode LitheCUDACAMGExtract(const CAMGMatrix *A, PetscInt count, const PetscInt row[], CAMGMatrix *C)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  *C   = *A;
  C->m = count;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(count) + 1, &C->i));
  ExtractSizes<<<CAMGBlocks(count), CAMG_THREADS, 0, stream>>>(*A, count, row, C->i);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGScan(stream, count, C->i));
  PetscCall(CAMGGet(stream, 1, C->i + count, &C->nz));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(C->nz), &C->j));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(C->nz) * C->rb * C->cb, &C->a));
  CAMG_ROWS(C, (ExtractRows<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, row, *C)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes of rows of A, then those of B: at their place, or added */
static __global__ void JoinOwn(const __grid_constant__ CAMGMatrix A, PetscInt m, PetscInt *__restrict__ i)
{
  CAMG_FOR_ALL(r, m)
  i[r] = r < A.m ? A.i[r + 1] - A.i[r] : 0;
}

static __global__ void JoinMore(const __grid_constant__ CAMGMatrix B, const PetscInt *__restrict__ target, PetscInt *__restrict__ i)
{
  CAMG_FOR_ALL(r, B.m)
  {
    const PetscInt n = B.i[r + 1] - B.i[r];

    if (target) i[target[r]] = n;
    else i[r] += n;
  }
}

template <int lanes>
static __global__ void JoinOwnRows(const __grid_constant__ CAMGMatrix A, const __grid_constant__ CAMGMatrix C)
{
  const CAMGGroupOf<lanes> g;

  if (g.row < A.m) JoinRow<lanes>(A, static_cast<PetscInt>(g.row), nullptr, C.i[g.row], g.lane, C);
}

/* The rows of B end the rows of their targets, or overwrite them */
template <int lanes>
static __global__ void JoinMoreRows(const __grid_constant__ CAMGMatrix B, const PetscInt *__restrict__ target, const PetscInt *__restrict__ place,
                                    const __grid_constant__ CAMGMatrix C)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= B.m) return;
  const PetscInt r = static_cast<PetscInt>(g.row), to = target ? target[r] : r;

  JoinRow<lanes>(B, r, place, C.i[to + 1] - (B.i[r + 1] - B.i[r]), g.lane, C);
}

PetscErrorCode LitheCUDACAMGJoin(const CAMGMatrix *A, const CAMGMatrix *B, PetscInt m, PetscInt n, const PetscInt target[], const PetscInt place[],
                                 CAMGMatrix *C)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCheck(A->nz <= PETSC_INT_MAX - B->nz, PETSC_COMM_SELF, PETSC_ERR_SUP, "A process has more entries than PetscInt counts. Use more processes");
  PetscCall(CAMGCreate(stream, m, n, A->nz + B->nz, B->rb, B->cb, C));
  JoinOwn<<<CAMGBlocks(m), CAMG_THREADS, 0, stream>>>(*A, m, C->i);
  JoinMore<<<CAMGBlocks(B->m), CAMG_THREADS, 0, stream>>>(*B, target, C->i);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGScan(stream, m, C->i));
  CAMG_ROWS(A, (JoinOwnRows<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, *C)));
  CAMG_ROWS(B, (JoinMoreRows<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*B, target, place, *C)));
  if (target) PetscCall(CAMGGet(stream, 1, C->i + m, &C->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void MarkKernel(PetscInt nz, const PetscInt *__restrict__ j, PetscInt *__restrict__ used)
{
  CAMG_FOR_ALL(k, nz)
  used[j[k]] = 1;
}

PetscErrorCode LitheCUDACAMGMark(const CAMGMatrix *A, PetscInt used[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(used, 0, static_cast<size_t>(A->n) * sizeof(*used), stream));
  MarkKernel<<<CAMGBlocks(A->nz), CAMG_THREADS, 0, stream>>>(A->nz, A->j, used);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void RenumberKernel(PetscInt nz, PetscInt from, const PetscInt *__restrict__ map, PetscInt *__restrict__ j)
{
  CAMG_FOR_ALL(k, nz)
  {
    if (j[k] >= from) j[k] = map[j[k] - from];
  }
}

PetscErrorCode LitheCUDACAMGRenumber(CAMGMatrix *A, PetscInt from, const PetscInt map[])
{
  PetscFunctionBegin;
  PetscCall(CAMGLaunch(A->nz, RenumberKernel, A->nz, from, map, A->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int lanes>
static __global__ void TurnKernel(const __grid_constant__ CAMGMatrix A, PetscInt *__restrict__ j)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= A.m) return;
  for (PetscInt k = A.i[g.row] + g.lane; k < A.i[g.row + 1]; k += lanes) j[k] = A.j[k] < A.m ? A.j[k] : static_cast<PetscInt>(g.row);
}

PetscErrorCode LitheCUDACAMGTurn(const CAMGMatrix *A, PetscInt j[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  CAMG_ROWS(A, (TurnKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, j)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
