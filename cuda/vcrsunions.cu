/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layout L0 where neighbouring rows have several pairs (vcrsunions.h): chains of states, say, whose rates repeat every few rows.

   From device memory such a product reads an id, an entry of x, and writes one of y. What binds is L1: each read of 32 neighbouring
   entries of x is two or three turns of it, and each look-up as many as there are places looked up. So the threads of a warp go through
   the union of their sets together, two slices at a time: an offset is read once for 64 rows, and values are looked up only where rows differ.

   The second limit is what goes from L2 to L1. A block therefore takes a strip of two slices and goes along lines, at a distance
   that the commonest sets have: entries that rows of several lines read are still in L1.
*/

#include "step.cuh"
#include "upload.cuh"
#include "vcrspairs.cuh"

#define UNIONS_ROWS    2 /* of a thread, in neighbouring slices */
#define UNIONS_WARPS   8 /* a line each, at a time */
#define UNIONS_BLOCKS  (VCRS_COMPONENTS == 2 ? 2 : 4) /* a multiprocessor */
#define UNIONS_LINES   96 /* of a block */
#define UNIONS_THREADS (32 * UNIONS_WARPS)

/* Distances shorter than this are within a strip, or nearly */
#define UNIONS_LEAST_LINE 256

struct alignas(VCRSUnionEntry) UnionsEntry {
  PetscInt offset;
  int      values;
  Number   value;
};
static_assert(sizeof(UnionsEntry) == sizeof(VCRSUnionEntry), "an entry is that of the host");

struct UnionsArguments : MultArguments, PairsTables {
  VCRSUnsigned          m;
  VCRSUnsigned          line, nlines, nslices;
  unsigned int          strips, grouplines;
  const uint16_t       *slice;
  const uint8_t        *local;
  const VCRSUnionHead  *head;
  const VCRSUnionEntry *entry;
  const uint32_t       *has;
  const Number         *diagonal, *value;
  bool                  own; /* add is x */
};

/* What is known of a thread's row before its entries */
struct UnionsPlace {
  VCRSUnsigned row; /* m: none */
  unsigned int slice, local;
};

/* Reads v from p if wanted, else leaves it */
static __device__ __forceinline__ void ReadOver(bool wanted, const Number *p, Number *v)
{
#if defined(PETSC_USE_COMPLEX)
  asm(VCRS_ASM_IF("%3") " @q ld.global.nc.v2." VCRS_ASM_REAL " {%0, %1}, [%2];\n}" : "+" VCRS_ASM_REGISTER(v->re), "+" VCRS_ASM_REGISTER(v->im) : "l"(p), "r"(static_cast<unsigned int>(wanted)));
#else
  asm(VCRS_ASM_IF("%2") " @q ld.global.nc." VCRS_ASM_REAL " %0, [%1];\n}" : "+" VCRS_ASM_REGISTER(*v) : "l"(p), "r"(static_cast<unsigned int>(wanted)));
#endif
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

/* The thread's rows in a strip of a line */
static __device__ __forceinline__ void FindPlaces(const UnionsArguments &a, VCRSUnsigned line, unsigned int strip, UnionsPlace place[UNIONS_ROWS])
{
  const unsigned long long begin = static_cast<unsigned long long>(line) * a.line;
  const VCRSUnsigned       first = static_cast<VCRSUnsigned>(begin / 32), last = line + 1 < a.nlines ? static_cast<VCRSUnsigned>((begin + a.line) / 32) : a.nslices;

#pragma unroll
  for (int j = 0; j < UNIONS_ROWS; j++) {
    const VCRSUnsigned s = first + strip * UNIONS_ROWS + j, row = s * 32 + threadIdx.x % 32;

    place[j].row   = s < last && row < a.m ? row : a.m;
    place[j].slice = s < last ? __ldg(a.slice + s) : VCRS_NO_UNION;
    place[j].local = place[j].row < a.m ? __ldcs(a.local + row) : 0;
  }
}

/* Rows of slices with union u: sums over their entries, and their own entries of x where these are wanted */
template <int rows>
static __device__ __forceinline__ void SumUnion(const UnionsArguments &a, unsigned int u, const UnionsPlace place[rows], Number own[rows], Number sum[rows])
{
  const uint4           head  = __ldg(reinterpret_cast<const uint4 *>(a.head + u)); /* entry, local, length */
  const VCRSUnionEntry *entry = a.entry + head.x;
  const Number         *x[rows];
  uint32_t              has[rows];

#pragma unroll
  for (int j = 0; j < rows; j++) {
    const bool is = place[j].row < a.m;

    has[j] = is ? __ldg(a.has + head.y + place[j].local) : 0;
    x[j]   = Whole(a.x + place[j].row);
    own[j] = ReadIf(has[j] & VCRS_UNION_DIAGONAL || (is && a.own), x[j]);
    sum[j] = MultiplyAddIf(has[j] & VCRS_UNION_DIAGONAL, ReadIf(has[j] & VCRS_UNION_DIAGONAL, a.diagonal + head.y + place[j].local), own[j], Number{});
  }
#pragma unroll 1
  for (unsigned int k = 0; k < head.z; k += VCRS_UNION_BATCH, entry += VCRS_UNION_BATCH) {
    UnionsEntry e[VCRS_UNION_BATCH];
    Number      xs[VCRS_UNION_BATCH][rows];

#pragma unroll
    for (int b = 0; b < VCRS_UNION_BATCH; b++) e[b] = ReadEntry(entry + b);
#pragma unroll
    for (int b = 0; b < VCRS_UNION_BATCH; b++) {
#pragma unroll
      for (int j = 0; j < rows; j++) xs[b][j] = ReadIf(has[j] >> b & 1u, x[j] + e[b].offset);
    }
#pragma unroll
    for (int b = 0; b < VCRS_UNION_BATCH; b++) {
#pragma unroll
      for (int j = 0; j < rows; j++) {
        Number v = e[b].value;

        ReadOver(e[b].values >= 0, a.value + e[b].values + place[j].local, &v);
        sum[j] = MultiplyAdd(v, xs[b][j], sum[j]);
      }
    }
#pragma unroll
    for (int j = 0; j < rows; j++) has[j] >>= VCRS_UNION_BATCH;
  }
}

template <bool sums>
static __global__ void __launch_bounds__(UNIONS_THREADS, UNIONS_BLOCKS) UnionsKernel(const __grid_constant__ UnionsArguments a, const __grid_constant__ LitheStep step)
{
  const unsigned int group = blockIdx.x / a.strips, strip = blockIdx.x - group * a.strips;
  const VCRSUnsigned begin = static_cast<VCRSUnsigned>(group) * a.grouplines, end = a.nlines - begin < a.grouplines ? a.nlines : begin + a.grouplines;
  VCRSUnsigned       line  = begin + threadIdx.x / 32;
  UnionsPlace        place[UNIONS_ROWS], next[UNIONS_ROWS];

  if (line >= end) return;
  FindPlaces(a, line, strip, next);
#pragma unroll 1
  for (; line < end; line += UNIONS_WARPS) {
    Number own[UNIONS_ROWS], sum[UNIONS_ROWS];
    bool   same = true;

    /* what the next rows need first is under way while these are worked on */
#pragma unroll
    for (int j = 0; j < UNIONS_ROWS; j++) place[j] = next[j];
    if (line + UNIONS_WARPS < end) FindPlaces(a, line + UNIONS_WARPS, strip, next);

#pragma unroll
    for (int j = 0; j < UNIONS_ROWS; j++) same = same && place[j].slice == place[0].slice;
    if (same && place[0].slice != VCRS_NO_UNION) SumUnion<UNIONS_ROWS>(a, place[0].slice, place, own, sum);
    else {
#pragma unroll
      for (int j = 0; j < UNIONS_ROWS; j++) {
        const VCRSUnsigned row = place[j].row;

        own[j] = sum[j] = Number{};
        if (place[j].slice != VCRS_NO_UNION) SumUnion<1>(a, place[j].slice, place + j, own + j, sum + j);
        else if (row < a.m) {
          sum[j] = SumTable(a, ReadId(a.id, a.idbytes, row), a.x + row);
          own[j] = ReadIf(a.own, a.x + row);
        }
      }
    }
#pragma unroll
    for (int j = 0; j < UNIONS_ROWS; j++) {
      const VCRSUnsigned row = place[j].row;

      if (row < a.m) {
        Number y = sum[j];

        if (a.add) y = AddSigned(a.own ? own[j] : ReadOnce(a.add + row), a.sign, y);
        a.y[row] = y;
        if (sums) StepAddToSums(step, row, own[j], y);
      }
    }
  }
}

PetscErrorCode VCRSUnionsMult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, const LitheStep *step, cudaStream_t stream)
{
  const VCRSUnions *u = &l->unions;
  UnionsArguments   a;
  PetscInt64        lines, blocks;

  PetscFunctionBegin;
  static_cast<MultArguments &>(a) = *v;
  static_cast<PairsTables &>(a)   = PairsGetTables(p);
  a.m        = p->m;
  a.line     = l->unionline;
  a.nlines   = (a.m + a.line - 1) / a.line;
  a.nslices  = u->nslices;
  a.strips   = l->unionline == 32 * UNIONS_ROWS ? 1 : static_cast<unsigned int>((l->unionline / 32 + UNIONS_ROWS + 1) / UNIONS_ROWS);
  a.slice    = u->slice;
  a.local    = u->local;
  a.head     = u->head;
  a.entry    = u->entry;
  a.has      = u->has;
  a.diagonal = reinterpret_cast<const Number *>(u->diagonal);
  a.value    = reinterpret_cast<const Number *>(u->value);
  a.own      = v->add == v->x;

  /* the fewer lines a block has, the more of x is read twice; but no multiprocessor may be left waiting */
  lines        = static_cast<PetscInt64>(a.nlines) * a.strips / (6 * UNIONS_BLOCKS * static_cast<PetscInt64>(l->multiprocessors)) / UNIONS_WARPS * UNIONS_WARPS;
  a.grouplines = static_cast<unsigned int>(PetscMax(UNIONS_WARPS, PetscMin(UNIONS_LINES, lines)));
  blocks       = (static_cast<PetscInt64>(a.nlines) + a.grouplines - 1) / a.grouplines * a.strips;
  if (step) UnionsKernel<true><<<static_cast<unsigned int>(blocks), UNIONS_THREADS, 0, stream>>>(a, *step);
  else UnionsKernel<false><<<static_cast<unsigned int>(blocks), UNIONS_THREADS, 0, stream>>>(a, LitheStep{});
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ once per matrix */

/* The shortest distance of some length that a common pair has */
static PetscInt UnionsChooseLine(const VCRSPlan *table, PetscInt m)
{
  PetscInt line = 0;

  for (PetscInt p = 0; p < table->nsets; p++) {
    if (table->setcount[p] < m / 64) continue;
    for (PetscInt e = table->setptr[p]; e < table->setptr[p + 1]; e++) {
      const PetscInt distance = table->setoffset[e] < 0 ? -table->setoffset[e] : table->setoffset[e];

      if (distance >= UNIONS_LEAST_LINE && distance <= m / 16 && (!line || distance < line)) line = distance;
    }
  }
  return line ? line : 32 * UNIONS_ROWS;
}

PetscErrorCode VCRSUnionsPrepare(VCRSLaunch *l, const VCRSPlan *table, const VCRSPlan *dplan, const uint32_t word[])
{
  const size_t bytes   = static_cast<size_t>(dplan->m) * dplan->idbytes;
  VCRSPlan     plan    = *table;
  PetscInt64   covered = 0; /* rows that have a part of the common pair */
  void        *id      = NULL;
  VCRSUnions   u;
  PetscBool    good;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < table->nsets; p++)
    if (word[p] & ~VCRS_WORD_SAME) covered += table->setcount[p];
  if (2 * covered >= dplan->m) PetscFunctionReturn(PETSC_SUCCESS);

  /* a plan that was made on the device has its ids there only */
  if (!table->id) {
    PetscCall(PetscMalloc(bytes, &id));
    PetscCallCUDA(cudaMemcpy(id, dplan->id, bytes, cudaMemcpyDeviceToHost));
  }
  plan.m       = dplan->m;
  plan.nz      = dplan->nz;
  plan.idbytes = dplan->idbytes;
  plan.nsets   = dplan->nsets;
  PetscCall(VCRSUnionsCreate(&plan, id ? id : table->id, &u, &good));
  PetscCall(PetscFree(id));
  if (!good) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(UploadArray(u.slice, u.nslices, &l->unions.slice));
  PetscCall(UploadArray(u.local, u.m, &l->unions.local));
  PetscCall(UploadArray(u.head, u.nunions, &l->unions.head));
  PetscCall(UploadArray(u.entry, u.nentries, &l->unions.entry));
  PetscCall(UploadArray(u.has, u.nlocal, &l->unions.has));
  PetscCall(UploadArray(u.diagonal, u.nlocal, &l->unions.diagonal));
  PetscCall(UploadArray(u.value, u.nvalues, &l->unions.value));
  l->unions.m        = u.m;
  l->unions.nslices  = u.nslices;
  l->unions.nunions  = u.nunions;
  l->unions.nentries = u.nentries;
  l->unions.nlocal   = u.nlocal;
  l->unions.nvalues  = u.nvalues;
  PetscCall(VCRSUnionsDestroy(&u));
  l->unionline = UnionsChooseLine(table, dplan->m);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSUnionsFree(VCRSUnions *u)
{
  PetscFunctionBegin;
  if (u->slice) PetscCallCUDA(cudaFree(u->slice));
  if (u->local) PetscCallCUDA(cudaFree(u->local));
  if (u->head) PetscCallCUDA(cudaFree(u->head));
  if (u->entry) PetscCallCUDA(cudaFree(u->entry));
  if (u->has) PetscCallCUDA(cudaFree(u->has));
  if (u->diagonal) PetscCallCUDA(cudaFree(u->diagonal));
  if (u->value) PetscCallCUDA(cudaFree(u->value));
  *u = VCRSUnions{};
  PetscFunctionReturn(PETSC_SUCCESS);
}
