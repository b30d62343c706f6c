/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layout L0 with several pairs in neighbouring rows (vcrs/unions.h), for example chains of states whose rates repeat
   every few rows.

   Per row, the product reads an entry of x from device memory, and writes an entry of y. L1 is the limit: a load of 32
   neighbouring entries of x takes two or three cycles of L1, and a look-up takes a cycle per place. The threads of a
   warp therefore go through the union of their sets together, for rows of several periods at once. Offsets, values and
   the pattern of entries are loaded once for all rows. The entry of x a period before is the entry of the previous row.

   The second limit is the traffic from L2 to L1. A multiprocessor has a single block, which goes along strips of lines:
   entries read by rows of several lines are still in L1. Blocks have neighbouring pieces of the list of tasks, so
   neighbouring strips are read at about the same time.
*/

#include "../../common/pdl.cuh"
#include "../../step/step.cuh"
#include "../../common/upload.cuh"
#include "pairs.cuh"
#include <lithe/private/cuda/halo.h>

#define UNIONS_WARPS   32
#define UNIONS_THREADS (32 * UNIONS_WARPS)
#define UNIONS_NO_ROW  static_cast<VCRSUnsigned>(-1)
#define UNIONS_REST    128 /* threads */
/* smallest number of tasks per block, if a multiprocessor has more than one task */
#define UNIONS_SHARE (5 * UNIONS_WARPS)

struct alignas(VCRSUnionEntry) UnionsEntry {
  Number   value;
  PetscInt offset;
  int      values;
};
static_assert(sizeof(UnionsEntry) == sizeof(VCRSUnionEntry) && offsetof(UnionsEntry, offset) == offsetof(VCRSUnionEntry, offset) &&
                offsetof(UnionsEntry, values) == offsetof(VCRSUnionEntry, values),
              "entries have the layout of the host");
static_assert(sizeof(VCRSUnionTask) == sizeof(uint4), "a task is loaded at once");

struct UnionsArguments : MultArguments, PairsTables {
  VCRSUnsigned          period;
  unsigned int          begin, end; /* tasks */
  unsigned int          share;      /* tasks per block */
  const VCRSUnionTask  *task;
  const VCRSUnionEntry *entry;
  const uint32_t       *has;
  const Number         *diagonal, *before, *value;
  bool                  own; /* add is x */
};

/* Loads an entry of x, or zero if not wanted. Loads keep their order, so many loads are in flight */
static __device__ __forceinline__ Number GatherIf(unsigned int wanted, const Number *p)
{
  Number v;

#if defined(PETSC_USE_COMPLEX)
  asm volatile(VCRS_ASM_IF("%3") " mov." VCRS_ASM_REAL " %0, " VCRS_ASM_ZERO ";\n mov." VCRS_ASM_REAL " %1, " VCRS_ASM_ZERO ";\n @q ld.global.v2." VCRS_ASM_REAL
                                 " {%0, %1}, [%2];\n}"
               : "=" VCRS_ASM_REGISTER(v.re), "=" VCRS_ASM_REGISTER(v.im)
               : "l"(p), "r"(wanted));
#else
  asm volatile(VCRS_ASM_IF("%2") " mov." VCRS_ASM_REAL " %0, " VCRS_ASM_ZERO ";\n @q ld.global." VCRS_ASM_REAL " %0, [%1];\n}"
               : "=" VCRS_ASM_REGISTER(v)
               : "l"(p), "r"(wanted));
#endif
  return v;
}

/* Loads *v from p if wanted; otherwise *v is unchanged */
static __device__ __forceinline__ void GatherOver(unsigned int wanted, const Number *p, Number *v)
{
#if defined(PETSC_USE_COMPLEX)
  asm volatile(VCRS_ASM_IF("%3") " @q ld.global.nc.v2." VCRS_ASM_REAL " {%0, %1}, [%2];\n}"
               : "+" VCRS_ASM_REGISTER(v->re), "+" VCRS_ASM_REGISTER(v->im)
               : "l"(p), "r"(wanted));
#else
  asm volatile(VCRS_ASM_IF("%2") " @q ld.global.nc." VCRS_ASM_REAL " %0, [%1];\n}" : "+" VCRS_ASM_REGISTER(*v) : "l"(p), "r"(wanted));
#endif
}

/* Prefetches sums of a step from memory to L2. The sums are needed at the end of a task, and no registers are free
   before */
static __device__ __forceinline__ void PrefetchIf(unsigned int wanted, const void *p)
{
  asm volatile(VCRS_ASM_IF("%1") " @q prefetch.global.L2 [%0];\n}" ::"l"(p), "r"(wanted));
}

static __device__ __forceinline__ UnionsEntry ReadEntry(const VCRSUnionEntry *p)
{
  union {
    uint4       part[sizeof(VCRSUnionEntry) / sizeof(uint4)];
    UnionsEntry entry;
  } u;

#pragma unroll
  for (size_t k = 0; k < sizeof(VCRSUnionEntry) / sizeof(uint4); k++) u.part[k] = __ldg(reinterpret_cast<const uint4 *>(p) + k);
  return u.entry;
}

/* Finishes a thread's rows, which are complete except for added terms */
template <int rows, bool sums>
static __device__ __forceinline__ void FinishRows(const UnionsArguments &a, const LitheStep &step, VCRSUnsigned row, const Number own[rows],
                                                  const Number sum[rows])
{
  Number add[rows], y[rows];

  if (a.add) {
#pragma unroll
    for (int j = 0; j < rows; j++) add[j] = a.own ? own[j] : ReadOnce(a.add + row + j * a.period);
  }
#pragma unroll
  for (int j = 0; j < rows; j++) {
    y[j]                    = a.add ? AddSigned(add[j], a.sign, sum[j]) : sum[j];
    a.y[row + j * a.period] = y[j];
  }
  if (sums) StepAddToSums<rows>(step, row, a.period, own, y);
}

template <int rows, bool sums>
static __device__ __forceinline__ void DoTask(const UnionsArguments &a, const LitheStep &step, const uint4 task)
{
  const unsigned int    lane = threadIdx.x % 32, q = task.z + lane;
  VCRSUnsigned          row   = task.x + lane;
  const VCRSUnionEntry *entry = a.entry + (task.y & 0xffffffu);
  const Number         *value = Whole(a.value + lane), *x[rows];
  uint32_t              has   = __ldg(a.has + q);
  const uint32_t        is    = has & VCRS_UNION_ROW;
  Number                own[rows], sum[rows];

#pragma unroll
  for (int j = 0; j < rows; j++) x[j] = Whole(a.x + (row + j * a.period));
#pragma unroll
  for (int j = 0; j < rows; j++) own[j] = GatherIf(is, x[j]);
  if (sums) {
    for (int k = 0; k < step.nsums; k++) {
#pragma unroll
      for (int j = 0; j < rows; j++) PrefetchIf(is && !step.first[k], step.sum[k] + row + j * a.period);
    }
  }
  if (!is) row = UNIONS_NO_ROW; /* saves the register of `is` */
  {
    const uint32_t hasbefore = has & VCRS_UNION_BEFORE, hasdiagonal = has & VCRS_UNION_DIAGONAL;
    const Number   before = Read(a.before + q), diagonal = Read(a.diagonal + q), first = GatherIf(hasbefore, x[0] - a.period);

#pragma unroll
    for (int j = 0; j < rows; j++) {
      sum[j] = MultiplyAddIf(hasbefore, before, j ? own[j ? j - 1 : 0] : first, Number{});
      sum[j] = MultiplyAddIf(hasdiagonal, diagonal, own[j], sum[j]);
    }
  }
  has &= VCRS_UNION_BEFORE - 1;
#pragma unroll 1
  for (unsigned int length = task.y >> 24; length; length -= VCRS_UNION_BATCH, entry += VCRS_UNION_BATCH) {
    UnionsEntry e[VCRS_UNION_BATCH];
    Number      xs[VCRS_UNION_BATCH][rows];

#pragma unroll
    for (int b = 0; b < VCRS_UNION_BATCH; b++) e[b] = ReadEntry(entry + b);
#pragma unroll
    for (int b = 0; b < VCRS_UNION_BATCH; b++) {
#pragma unroll
      for (int j = 0; j < rows; j++) xs[b][j] = GatherIf(has & (1u << b), x[j] + e[b].offset);
    }
#pragma unroll
    for (int b = 0; b < VCRS_UNION_BATCH; b++) GatherOver(e[b].values >= 0, value + e[b].values, &e[b].value);
    __syncwarp();
#pragma unroll
    for (int b = 0; b < VCRS_UNION_BATCH; b++) {
#pragma unroll
      for (int j = 0; j < rows; j++) sum[j] = MultiplyAdd(e[b].value, xs[b][j], sum[j]);
    }
    has >>= VCRS_UNION_BATCH;
  }
  if (row != UNIONS_NO_ROW) FinishRows<rows, sums>(a, step, row, own, sum);
}

template <bool sums>
static __global__ void __launch_bounds__(UNIONS_THREADS, 1) UnionsKernel(const __grid_constant__ UnionsArguments a, const __grid_constant__ LitheStep step)
{
  __shared__ unsigned int taken;
  const unsigned int      begin = a.begin + blockIdx.x * a.share, end = a.end - begin < a.share ? a.end : begin + a.share;
  unsigned int            t    = begin + threadIdx.x / 32;
  uint4                   next = {0, 0, 0, 0};

  if (threadIdx.x == 0) taken = begin + UNIONS_WARPS;
  if (t < end) next = __ldg(reinterpret_cast<const uint4 *>(a.task) + t);
  __syncthreads();
  (void)PDLWait(a.x); /* also waits for y and the sums */
#pragma unroll 1
  while (t < end) {
    const uint4 task = next;

    /* an idle warp takes the next task, whose data are in flight during the present task */
    if (threadIdx.x % 32 == 0) t = atomicAdd(&taken, 1u);
    t = __shfl_sync(0xffffffffu, t, 0);
    if (t < end) next = __ldg(reinterpret_cast<const uint4 *>(a.task) + t);

    if (task.w == VCRS_UNION_ROWS) DoTask<VCRS_UNION_ROWS, sums>(a, step, task);
    else DoTask<1, sums>(a, step, task);
  }
}

/* Slices without a union, a warp per slice */
template <bool sums>
static __global__ void __launch_bounds__(UNIONS_REST)
  UnionsRestKernel(const __grid_constant__ UnionsArguments a, const VCRSUnionTask *rest, unsigned int n, const __grid_constant__ LitheStep step)
{
  const unsigned int k = blockIdx.x * (UNIONS_REST / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;

  if (k >= n) return;
  const uint4        task = __ldg(reinterpret_cast<const uint4 *>(rest) + k);
  const VCRSUnsigned row  = task.x + lane;

  if (lane < task.z) {
    const Number own = Read(a.x + row), sum = SumTable(a, ReadId(a.id, a.idbytes, row), a.x + row);

    FinishRows<1, sums>(a, step, row, &own, &sum);
  }
}

template <bool sums>
static PetscErrorCode UnionsLaunch(const UnionsArguments &a, const VCRSUnions *u, const LitheStep &step, cudaStream_t stream)
{
  const unsigned int nrest = static_cast<unsigned int>(u->nrest);

  PetscFunctionBegin;
  if (a.begin < a.end) PetscCallCUDA(PDLLaunch(UnionsKernel<sums>, a.pdl, dim3((a.end - a.begin - 1) / a.share + 1), dim3(UNIONS_THREADS), 0, stream, a, step));
  if (nrest) UnionsRestKernel<sums><<<(nrest - 1) / (UNIONS_REST / 32) + 1, UNIONS_REST, 0, stream>>>(a, u->rest, nrest, step);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSUnionsMult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, const LitheStep *step, cudaStream_t stream)
{
  const VCRSUnions  *u = &l->unions;
  const unsigned int n = static_cast<unsigned int>(p->beside && l->device.multiprocessors > 8 * LITHE_HALO_MULTIPROCESSORS
                                                     ? l->device.multiprocessors - LITHE_HALO_MULTIPROCESSORS
                                                     : l->device.multiprocessors);
  UnionsArguments    a;
  unsigned int       turns;

  PetscFunctionBegin;
  static_cast<MultArguments &>(a) = *v;
  static_cast<PairsTables &>(a)   = PairsGetTables(p);
  a.period                        = static_cast<VCRSUnsigned>(u->period);
  a.begin                         = static_cast<unsigned int>(u->group[step->skip[0] / u->grouprows]);
  a.end                           = static_cast<unsigned int>(u->group[(static_cast<PetscInt64>(u->m) - step->skip[1] + u->grouprows - 1) / u->grouprows]);
  a.task                          = u->task;
  a.entry                         = u->entry;
  a.has                           = u->has;
  a.diagonal                      = reinterpret_cast<const Number *>(u->diagonal);
  a.before                        = reinterpret_cast<const Number *>(u->before);
  a.value                         = reinterpret_cast<const Number *>(u->value);
  a.own                           = v->add == v->x;

  /*
     turns per multiprocessor: with more turns, simultaneous loads are closer to each other. A share has at least a task
     per warp of a block
  */
  a.end   = PetscMax(a.begin, a.end);
  turns   = PetscMax(1, (a.end - a.begin) / (n * UNIONS_SHARE));
  a.share = PetscMax(UNIONS_WARPS, (a.end - a.begin + turns * n - 1) / (turns * n));
  if (step->nsums) PetscCall(UnionsLaunch<true>(a, u, *step, stream));
  else PetscCall(UnionsLaunch<false>(a, u, *step, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ once per matrix */

PetscErrorCode VCRSUnionsPrepare(VCRSLaunch *l, const VCRSPlan *table, const VCRSPlan *dplan)
{
  const size_t bytes   = static_cast<size_t>(dplan->m) * dplan->sets.idbytes;
  VCRSPlan     plan    = *table;
  PetscInt64   covered = 0; /* rows with a part of the common pair */
  void        *id      = NULL;
  VCRSUnions   u;
  PetscBool    good;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < table->sets.n; p++)
    if (l->word[p] & ~VCRS_WORD_SAME) covered += table->sets.count[p];
  if (2 * covered >= dplan->m) PetscFunctionReturn(PETSC_SUCCESS);

  /* for a plan made on the device, the ids are on the device only */
  if (!table->sets.id) {
    PetscCall(PetscMalloc(bytes, &id));
    PetscCallCUDA(cudaMemcpy(id, dplan->sets.id, bytes, cudaMemcpyDeviceToHost));
  }
  plan.m            = dplan->m;
  plan.nz           = dplan->nz;
  plan.sets.idbytes = dplan->sets.idbytes;
  plan.sets.n       = dplan->sets.n;
  PetscCall(VCRSUnionsCreate(&plan, id ? id : table->sets.id, UNIONS_WARPS * l->device.multiprocessors, &u, &good));
  PetscCall(PetscFree(id));
  if (!good) PetscFunctionReturn(PETSC_SUCCESS);

  l->unions.m         = u.m;
  l->unions.period    = u.period;
  l->unions.ntasks    = u.ntasks;
  l->unions.nrest     = u.nrest;
  l->unions.ngroups   = u.ngroups;
  l->unions.grouprows = u.grouprows;
  PetscCall(UploadArray(u.task, u.ntasks, &l->unions.task));
  PetscCall(UploadArray(u.rest, u.nrest, &l->unions.rest));
  PetscCall(UploadArray(u.entry, u.nentries, &l->unions.entry));
  PetscCall(UploadArray(u.has, VCRS_SLICE * u.nunions, &l->unions.has));
  PetscCall(UploadArray(u.diagonal, VCRS_SLICE * u.nunions, &l->unions.diagonal));
  PetscCall(UploadArray(u.before, VCRS_SLICE * u.nunions, &l->unions.before));
  PetscCall(UploadArray(u.value, u.nvalues, &l->unions.value));
  l->unions.group   = u.group;
  u.group           = NULL;
  l->unions.nunions = u.nunions;
  PetscCall(VCRSUnionsDestroy(&u));

  /* L1 gets all memory that L1 and shared memory have in common */
  PetscCallCUDA(cudaFuncSetAttribute(UnionsKernel<false>, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
  PetscCallCUDA(cudaFuncSetAttribute(UnionsKernel<true>, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSUnionsFree(VCRSUnions *u)
{
  PetscFunctionBegin;
  if (u->task) PetscCallCUDA(cudaFree(u->task));
  if (u->rest) PetscCallCUDA(cudaFree(u->rest));
  if (u->entry) PetscCallCUDA(cudaFree(u->entry));
  if (u->has) PetscCallCUDA(cudaFree(u->has));
  if (u->diagonal) PetscCallCUDA(cudaFree(u->diagonal));
  if (u->before) PetscCallCUDA(cudaFree(u->before));
  if (u->value) PetscCallCUDA(cudaFree(u->value));
  PetscCall(PetscFree(u->group));
  *u = VCRSUnions{};
  PetscFunctionReturn(PETSC_SUCCESS);
}
