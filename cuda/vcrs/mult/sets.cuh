/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by the kernels of L1 and L2: arguments, the head of a row, and sums of the rows of a slice */

#include "../finish.cuh"

/* Odd rows per slice, at most, which several threads sum together. An odd row has a set without a common part */
#define VCRS_ODD_ROWS 4

/* A bit per entry of a set */
static inline uint32_t VCRSAllEntries(int length)
{
  return length < 32 ? (1u << length) - 1 : ~0u;
}

struct SetsArguments : MultArguments {
  PetscInt m;
  PetscInt common; /* id of the common set, or -1 */
  int      idbytes;
  int      length; /* length of the common set */
  uint32_t all;    /* a bit per entry of the common set */
  /* per set: bits of the entries of the common set; 0: the set has further entries, or no entry */
  const uint32_t *part;
  /* entries after the end are read, but not used */
  PetscInt          offset[VCRS_COMMON_MAX + 16];
  const void       *id;
  const PetscInt   *setptr, *setoffset;
  const PetscInt64 *sliceptr;
  const void       *value;
  const int16_t    *exponent;
  DecodeArguments   decode;
  SigmaArguments    sigma;
};

static inline void SetsGetArguments(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, SetsArguments *arguments)
{
  SetsArguments &a = *arguments;

  static_cast<MultArguments &>(a) = *v;
  a.m                             = p->m;
  a.common                        = l->id;
  a.idbytes                       = static_cast<int>(p->sets.idbytes);
  a.length                        = l->length;
  a.all                           = VCRSAllEntries(l->length);
  a.part                          = l->dword;
  a.id                            = p->sets.id;
  a.setptr                        = p->sets.ptr;
  a.setoffset                     = p->sets.offset;
  a.sliceptr                      = p->slices.ptr;
  a.value                         = p->slices.value;
  a.exponent                      = p->decoding.exponent;
  a.decode                        = GetDecodeArguments(p);
  a.sigma                         = GetSigmaArguments(p);
  for (int k = 0; k < l->length; k++) a.offset[k] = l->offset[k];
}

/* The head of a row: data needed before the entries, and read during the work on the previous row */
struct RowHead {
  PetscInt   id; /* -2: the row does not exist */
  PetscInt64 start;
  int        exponent;
  uint32_t   sigmabits;
  PetscInt   sigmastart;
};

/* Slices, and masks of row sums, exist for all lanes of a slice, even after the last row */
template <bool scaled, bool difference>
static __device__ __forceinline__ RowHead ReadHead(const SetsArguments &a, VCRSUnsigned row, bool slice)
{
  RowHead h = {-2, 0, 0, 0, 0};

  if (slice) {
    h.start = __ldg(a.sliceptr + row / 32);
    if (difference && a.sigma.kind == VCRS_SIGMA_SPARSE) {
      h.sigmabits  = __ldg(a.sigma.mask + row / 32);
      h.sigmastart = __ldg(a.sigma.ptr + row / 32);
    }
  }
  if (row < static_cast<VCRSUnsigned>(a.m)) {
    h.id = ReadId(a.id, a.idbytes, row);
    if (scaled) h.exponent = __ldcs(a.exponent + row);
  }
  return h;
}

/* Bits of the entries of the common set in a row */
static __device__ __forceinline__ uint32_t ReadPart(const SetsArguments &a, PetscInt id)
{
  if (id == a.common) return a.all;
  return id >= 0 && a.part ? __ldg(a.part + id) : 0;
}

static __device__ __forceinline__ Number ReadHeadSigma(const SetsArguments &a, const RowHead &h, VCRSUnsigned row)
{
  const int k = static_cast<int>(row % 32);

  if (a.sigma.kind == VCRS_SIGMA_FULL) return ReadOnce(a.sigma.sigma + row);
  if (!h.sigmabits) return Number{}; /* no row of the slice has a row sum: the most frequent case */
  if (h.sigmabits >> k & 1u) return Read(a.sigma.sigma + h.sigmastart + CountBelow(h.sigmabits, k));
  return Number{};
}

/* Writes y of a row from the sum over its stored entries */
template <bool scaled, bool difference>
static __device__ __forceinline__ void WriteRow(const SetsArguments &a, VCRSUnsigned row, int exponent, bool empty, Number sigma, Number xref, Number sum)
{
  const RowEnd end = {exponent, sigma, a.add ? a.add[row] : Number{}};

  FinishRow<scaled, difference>(a, row, end, empty, sum, xref);
}

/* Sums a row from the tables; value points to the first entry */
template <int batch, bool difference, class V>
static __device__ __forceinline__ Number SumTable(const V &values, const typename V::Code *value, const Number *x, Number xref, const PetscInt *offset,
                                                  int length)
{
  constexpr int           first = difference ? 1 : 0;
  EntrySum<difference, V> sum;

  sum.Clear();
#pragma unroll 1
  for (int k0 = first; k0 < length; k0 += batch) {
    typename Register<typename V::Code>::type c[batch];
    PetscInt                                  o[batch];
    Number                                    xs[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) {
      o[k] = k0 + k < length ? __ldg(offset + k0 + k) : 0;
      c[k] = ReadOnceIf(k0 + k < length, value + 32 * k);
    }
#pragma unroll
    for (int k = 0; k < batch; k++) xs[k] = ReadIf(k0 + k < length, x + o[k]);
#pragma unroll
    for (int k = 0; k < batch; k++) sum.AddIf(k0 + k < length, values, c[k], xs[k], xref);
    value += 32 * batch;
  }
  return sum.Finish(xref);
}

/* Loads the code of entry k of the common set from value + at. With parts, the entry may be missing; `at` only advances
   for existing entries */
template <bool parts, class V>
static __device__ __forceinline__ void ReadCode(uint32_t part, int k, const typename V::Code *value, int *at, typename Register<typename V::Code>::type *c)
{
  if constexpr (parts) {
    const uint32_t has = part & (1u << k);

    *c = ReadOnceIf(has, value + *at);
    if (has) *at += 32;
  } else {
    *c = __ldcs(value + *at);
    *at += 32;
  }
}

/* Loads the code and x of entry k */
template <bool parts, class V>
static __device__ __forceinline__ void ReadEntry(uint32_t part, int k, PetscInt offset, const typename V::Code *value, const Number *x, int *at,
                                                 typename Register<typename V::Code>::type *c, Number *xs)
{
  ReadCode<parts, V>(part, k, value, at, c);
  *xs = parts ? ReadIf(part & (1u << k), x + offset) : Read(x + offset);
}

template <bool parts, bool difference, class V>
static __device__ __forceinline__ void AddEntry(uint32_t part, int k, const V &values, typename Register<typename V::Code>::type c, Number xs, Number xref,
                                                EntrySum<difference, V> *sum)
{
  if constexpr (parts) sum->AddIf(part & (1u << k), values, c, xs, xref);
  else sum->Add(values, c, xs, xref);
}

/*
   Sums a row with the common set, or with the entries in part, for a length known to the compiler. The loads of a batch
   are in flight while the previous batch is summed.
*/
template <int length, int batch, bool parts, bool difference, class V>
static __device__ __forceinline__ Number SumCommonOf(const SetsArguments &a, const V &values, const typename V::Code *value, const Number *x, Number xref,
                                                     uint32_t part)
{
  constexpr int                             first = difference ? 1 : 0, n = length - first;
  EntrySum<difference, V>                   sum;
  Number                                    xs[2][batch];
  int                                       at = 0;
  typename Register<typename V::Code>::type c[2][batch];

  sum.Clear();
#pragma unroll
  for (int k0 = 0; k0 < n + batch; k0 += batch) {
    const int now = k0 / batch % 2;

#pragma unroll
    for (int k = 0; k < batch; k++) {
      if (k0 + k < n) ReadEntry<parts, V>(part, first + k0 + k, a.offset[first + k0 + k], value, x, &at, &c[now][k], &xs[now][k]);
    }
#pragma unroll
    for (int k = 0; k < batch; k++) {
      if (k0 >= batch && k0 - batch + k < n) AddEntry<parts>(part, first + k0 - batch + k, values, c[1 - now][k], xs[1 - now][k], xref, &sum);
    }
  }
  return sum.Finish(xref);
}

/* Sums rows of a warp in which all rows have the common set, or the entries in part */
template <int batch, bool parts, bool difference, class V>
static __device__ __forceinline__ Number SumCommon(const SetsArguments &a, const V &values, const typename V::Code *value, const Number *x, Number xref,
                                                   uint32_t part)
{
  constexpr int           first = difference ? 1 : 0;
  EntrySum<difference, V> sum;
  int                     k0 = first;

  sum.Clear();

#pragma unroll 1
  for (; k0 + batch <= a.length; k0 += batch) {
    typename Register<typename V::Code>::type c[batch];
    Number                                    xs[batch];
    int                                       at = 0;

#pragma unroll
    for (int k = 0; k < batch; k++) ReadEntry<parts, V>(part, k0 + k, a.offset[k0 + k], value, x, &at, &c[k], &xs[k]);
#pragma unroll
    for (int k = 0; k < batch; k++) AddEntry<parts>(part, k0 + k, values, c[k], xs[k], xref, &sum);
    value += at;
  }
  if (k0 < a.length) {
    const uint32_t                            rest = parts ? part & a.all : a.all;
    typename Register<typename V::Code>::type c[batch];
    Number                                    xs[batch];
    int                                       at = 0;

#pragma unroll
    for (int k = 0; k < batch - 1; k++) ReadEntry<true, V>(rest >> k0, k, a.offset[k0 + k], value, x, &at, &c[k], &xs[k]);
#pragma unroll
    for (int k = 0; k < batch - 1; k++) AddEntry<true>(rest >> k0, k, values, c[k], xs[k], xref, &sum);
  }
  return sum.Finish(xref);
}

template <int length, int batch, bool parts, bool difference, class V>
static __device__ __forceinline__ Number SumCommonRow(const SetsArguments &a, const V &values, const typename V::Code *value, const Number *x, Number xref,
                                                      uint32_t part)
{
  if constexpr (length > 0) return SumCommonOf<length, batch, parts, difference>(a, values, value, x, xref, part);
  else return SumCommon<batch, parts, difference>(a, values, value, x, xref, part);
}

/* Sums the first 32 / group rows with a bit in odd, with a group of threads per row. All threads of a group get the
   sum, reference and length of their row */
template <int group, bool difference, class V>
static __device__ __forceinline__ Number SumOdd(const SetsArguments &a, const V &values, uint32_t odd, PetscInt id, const typename V::Code *value,
                                                const Number *x, Number *xreference, int *length)
{
  constexpr int first = difference ? 1 : 0;
  const int     lane  = threadIdx.x % 32;
  Number        sum = Number{}, xref = Number{};

#pragma unroll
  for (int q = 1; q < 32 / group; q++) {
    if (lane >= q * group) odd &= odd - 1;
  }
  const int l = odd ? __ffs(odd) - 1 : 0;

  id      = __shfl_sync(0xffffffffu, id, l);
  *length = 0;
  if (odd) {
    const PetscInt  start  = __ldg(a.setptr + id);
    const PetscInt *offset = a.setoffset + start;

    *length = static_cast<int>(__ldg(a.setptr + id + 1) - start);
    x += l;
    value += l;
    if (difference && *length > 0) xref = Read(x + __ldg(offset));
    for (int k = first + lane % group; k < *length; k += group) {
      const Number xs = Read(x + __ldg(offset + k));

      sum = MultiplyAdd(values.Decode(__ldcs(value + 32 * (k - first))), difference ? xs - xref : xs, sum);
    }
  }
  *xreference = xref;
  return WarpSum<group>(sum);
}

/* The sum of the thread's row, for any sets in the warp. allx: x of the first column; part: the entries of the common
   set in the row */
template <int length, int batch, bool difference, class V>
static __device__ __forceinline__ Number SumRow(const SetsArguments &a, const Number *allx, const V &values, const typename V::Code *value, VCRSUnsigned row,
                                                PetscInt id, uint32_t part, Number *xreference, bool *isempty)
{
  /* group: threads per odd row */
  constexpr int  group = length == 7 ? 8 : 32, rows = 32 / group;
  const int      lane  = threadIdx.x % 32;
  const uint32_t odd   = __ballot_sync(0xffffffffu, id >= 0 && !part);
  bool           empty = false;
  Number         sum, xref = Number{};

  if (a.common >= 0 && __popc(odd) <= VCRS_ODD_ROWS) {
    const Number *x = Whole(allx + row);

    if (__all_sync(0xffffffffu, part == a.all)) {
      if (difference) xref = Read(x + a.offset[0]);
      sum = SumCommonRow<length, batch, false, difference>(a, values, value, x, xref, part);
    } else {
      if (difference) xref = ReadIf(part, x + a.offset[0]);
      sum = SumCommonRow<length, batch, true, difference>(a, values, value, x, xref, part);
    }

    for (uint32_t rest = odd; rest;) {
      const int  rank = CountBelow(rest, lane), from = rank % rows * group;
      const bool mine = (rest >> lane & 1u) && rank < rows;
      int        entries;
      Number     reference, together = SumOdd<group, difference>(a, values, rest, id, value - lane, allx + (row - lane), &reference, &entries);

      if (group < 32) {
        together  = Shuffle(together, from);
        reference = Shuffle(reference, from);
        entries   = __shfl_sync(0xffffffffu, entries, from);
      }
      if (mine) {
        sum   = together;
        xref  = reference;
        empty = entries == 0;
      }
      rest = rows == 1 ? rest & (rest - 1) : 0; /* a pass sums all VCRS_ODD_ROWS rows, or one row */
    }
  } else {
    const Number   *x       = Whole(allx + row);
    const PetscInt  start   = id >= 0 ? __ldg(a.setptr + id) : 0;
    const PetscInt *offset  = a.setoffset + start;
    const int       entries = id >= 0 ? static_cast<int>(__ldg(a.setptr + id + 1) - start) : 0;

    empty = entries == 0;
    if (difference && !empty) xref = Read(x + __ldg(offset));
    sum = SumTable<batch, difference>(values, value, x, xref, offset, entries);
  }
  *xreference = xref;
  *isempty    = empty;
  return sum;
}
