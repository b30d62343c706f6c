/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layouts L1 and L2, real, in the difference form. The most frequent index set is a star of 5 or 7 points: the row,
   both neighbours, and two or four more points.

   A warp has 64 neighbouring rows, two per thread. Codes, x, exponents and row sums of both rows come in one access.
   Bytes are few, and the number of accesses is the limit: rows 32 apart would need twice as many accesses. Rows without
   the entry before or after the row (the ends of a grid's lines) are treated like interior rows. Rows of further
   boundaries are treated in the same way, with more loads. Slices with rows of different sets are summed one after the
   other as in sets.cu.
*/

#include "sets.cuh"

#if !defined(PETSC_USE_COMPLEX)

/* At most, per multiprocessor: registers for 24 warps. One block, so that lines of the grid meet in L1 */
static constexpr int maxthreads = 768;

struct Stencil7Arguments : SetsArguments {
  uint32_t odd; /* bit k: offset[k] is odd */
  /* in bytes, of the pair of x with the entry for the thread's first row */
  PetscInt64 byteoffset[VCRS_STENCIL7_MAX];
  /* units of 64 rows in which a pair of x is complete if its first entry exists */
  VCRSUnsigned whole;
};

/* Two neighbours, loaded in one access; p is aligned to both */
template <class T>
struct Two {
  union {
    typename Raw<2 * sizeof(T)>::type bits;
    T                                 part[2];
  };

  /* Loads data that are used once */
  static __device__ __forceinline__ Two ReadOnce(const T *p)
  {
    Two t;

    t.bits = __ldcs(reinterpret_cast<const typename Raw<2 * sizeof(T)>::type *>(p));
    return t;
  }
};

/* Like Read() and ReadIf(), for two entries */
static __device__ __forceinline__ void ReadTwo(const Number *p, Number &first, Number &second)
{
  asm("ld.global.v2." VCRS_ASM_REAL " {%0, %1}, [%2];" : "=" VCRS_ASM_REGISTER(first), "=" VCRS_ASM_REGISTER(second) : "l"(p));
}

static __device__ __forceinline__ void ReadTwoIf(uint32_t wanted, const Number *p, Number &first, Number &second)
{
  asm(VCRS_ASM_IF("%3") " mov." VCRS_ASM_REAL " %0, " VCRS_ASM_ZERO ";\n mov." VCRS_ASM_REAL " %1, " VCRS_ASM_ZERO ";\n @q ld.global.v2." VCRS_ASM_REAL
                        " {%0, %1}, [%2];\n}"
      : "=" VCRS_ASM_REGISTER(first), "=" VCRS_ASM_REGISTER(second)
      : "l"(p), "r"(wanted));
}

/*
   Data of a thread's rows that are needed before the entries. They are loaded during the work on the previous rows, and
   unpacked only when needed: unpacking waits for the load.
*/
struct Stencil7Head {
  PetscInt64   start; /* of the common slice */
  uint2        id;    /* as stored in memory */
  Two<int16_t> exponent;
  uint32_t     sigmabits;
};

template <bool scaled>
static __device__ __forceinline__ Stencil7Head ReadStencil7Head(const Stencil7Arguments &a, VCRSUnsigned unit)
{
  const VCRSUnsigned row = 64 * unit + 2 * (threadIdx.x % 32), slice = row / 32;
  const char        *id = static_cast<const char *>(a.id) + static_cast<size_t>(row) * a.idbytes;
  Stencil7Head       h;

  h.start = __ldg(a.sliceptr + slice);
  h.id.y  = 0;
  if (a.idbytes == 1) h.id.x = __ldcs(reinterpret_cast<const unsigned short *>(id));
  else if (a.idbytes == 2) h.id.x = __ldcs(reinterpret_cast<const unsigned int *>(id));
  else h.id = __ldcs(reinterpret_cast<const uint2 *>(id));
  if (scaled) h.exponent = Two<int16_t>::ReadOnce(a.exponent + row);
  h.sigmabits = a.sigma.kind == VCRS_SIGMA_SPARSE ? __ldg(a.sigma.mask + slice) : 0;
  return h;
}

static __device__ __forceinline__ void GetIds(const Stencil7Arguments &a, const Stencil7Head &h, PetscInt id[2])
{
  const int bits = 8 * a.idbytes;

  id[0] = static_cast<PetscInt>(bits < 32 ? h.id.x & ((1u << bits) - 1) : h.id.x);
  id[1] = static_cast<PetscInt>(bits < 32 ? h.id.x >> bits : h.id.y);
}

/* Entries that rows of a warp may lack: no entry; the entry before or after the row; any entry */
enum Lacking {
  LACKING_NONE,
  LACKING_ENDS,
  LACKING_ANY
};

/*
   The sums of both rows, with the entries in part. The loop has no branch and no exchange between threads. After a
   branch or an exchange, the compiler would place some loads of x, which would then begin late.
*/
template <int length, bool odd, Lacking lacking, class V>
static __device__ __forceinline__ void SumStencil7(const Stencil7Arguments &a, const V &values, const typename V::Code *value, const Number *x,
                                                   const uint32_t part[2], Number xref[2], Number sum[2])
{
  typedef typename V::Code              Code;
  typedef typename Register<Code>::type CodeRegister;
  constexpr int                         before = length / 2, after = before + 1;
  constexpr uint32_t                    low = 1u << before, high = 1u << after;
  /* entry k at k; the row's own point has no code */
  Two<Code>    code[length];
  CodeRegister c[2][length];
  Number       xs[2][length], next[length];

  /* codes of a row have no gaps */
  #pragma unroll
  for (int k = 1; k < length; k++) {
    if (lacking == LACKING_ANY) {
  #pragma unroll
      for (int j = 0; j < 2; j++) c[j][k] = ReadOnceIf(part[j] & (1u << k), value + 32 * (CountBelow(part[j], k) - 1) + j);
    } else code[k] = Two<Code>::ReadOnce(value + 32 * (k - 1));
  }

  /* an odd offset needs half of its pair and half of the next pair */
  #pragma unroll
  for (int k = 0; k < length; k++) {
    const uint32_t bit = 1u << k, apart = odd ? a.odd & bit : 0;
    const Number  *xk = reinterpret_cast<const Number *>(reinterpret_cast<const char *>(x) + a.byteoffset[k]);

    if (k == before || k == after) continue;
    if (lacking == LACKING_ANY && k > 0) {
      ReadTwoIf((part[0] | (apart ? 0 : part[1])) & bit, xk, xs[0][k], xs[1][k]);
      if (odd) next[k] = ReadIf(part[1] & apart, xk + 2);
    } else {
      ReadTwo(xk, xs[0][k], xs[1][k]);
      if (odd && k > 0) next[k] = ReadIf(apart, xk + 2);
    }
  }
  /* the lines of memory are already requested */
  xs[0][before] = lacking == LACKING_NONE ? Read(x - 1) : ReadIf(part[0] & low, x - 1);
  xs[1][after]  = lacking == LACKING_NONE ? Read(x + 2) : ReadIf(part[1] & high, x + 2);
  xs[1][before] = xs[0][0];
  xs[0][after]  = xs[1][0];
  if (odd) {
  #pragma unroll
    for (int k = 1; k < length; k++) {
      if (k == before || k == after) continue;
      if (a.odd & (1u << k)) {
        xs[0][k] = xs[1][k];
        xs[1][k] = next[k];
      }
    }
  }

  #pragma unroll
  for (int j = 0; j < 2; j++) {
    EntrySum<true, V> s;

    if (lacking != LACKING_ANY) {
  #pragma unroll
      for (int k = 1; k < length; k++) c[j][k] = code[k].part[j];
    }
    if (lacking == LACKING_ENDS) {
      /* codes after a missing entry are stored one place earlier */
      const bool nolow = !(part[j] & low), nohigh = !(part[j] & high);

  #pragma unroll
      for (int k = length - 1; k > after; k--) c[j][k] = nolow || nohigh ? c[j][k - 1] : c[j][k];
      c[j][after]  = nolow ? c[j][before] : c[j][after];
      c[j][after]  = nohigh ? CodeRegister{} : c[j][after];
      c[j][before] = nolow ? CodeRegister{} : c[j][before];
    }
    s.Clear();
  #pragma unroll
    for (int k = 1; k < length; k++) {
      const uint32_t has = part[j] & (1u << k);

      if (lacking == LACKING_ANY || (lacking == LACKING_ENDS && (k == before || k == after)))
        s.AddIf(has, values, c[j][k], has ? xs[j][k] : Number{}, xs[j][0]);
      else s.Add(values, c[j][k], xs[j][k], xs[j][0]);
    }
    xref[j] = xs[j][0];
    sum[j]  = s.Finish(xref[j]);
  }
}

/* Loads the row sums of both rows, if few slices have row sums; bits: of the thread's slice */
static __device__ __forceinline__ void ReadSparseSigmas(const Stencil7Arguments &a, uint32_t bits, VCRSUnsigned row, Number sigma[2])
{
  const Number *s = a.sigma.sigma + __ldg(a.sigma.ptr + row / 32);

  #pragma unroll
  for (int j = 0; j < 2; j++) {
    const int k = row % 32 + j;

    if (bits >> k & 1u) sigma[j] = Read(s + CountBelow(bits, k));
  }
}

/* Scales two sums with a single branch */
static __device__ __forceinline__ void ScaleTwoByPowers(Number sum[2], int e0, int e1)
{
  if (HasPower(e0) & HasPower(e1)) {
    sum[0] *= Power(e0);
    sum[1] *= Power(e1);
  } else {
    sum[0] = ScaleByPower(sum[0], e0);
    sum[1] = ScaleByPower(sum[1], e1);
  }
}

/* Writes y of both rows; y and add are aligned to pairs */
template <bool scaled>
static __device__ __forceinline__ void WriteStencil7(const Stencil7Arguments &a, VCRSUnsigned row, Two<int16_t> exponent, const Number sigma[2],
                                                     const Number xref[2], Number sum[2])
{
  Two<Number> y;

  if (scaled) ScaleTwoByPowers(sum, exponent.part[0], exponent.part[1]);
  if (a.sigma.kind != VCRS_SIGMA_NONE) {
  #pragma unroll
    for (int j = 0; j < 2; j++) sum[j] = MultiplyAdd(sigma[j], xref[j], sum[j]);
  }
  if (a.add) {
    y.bits = *reinterpret_cast<const decltype(y.bits) *>(a.add + row);
  #pragma unroll
    for (int j = 0; j < 2; j++) sum[j] = AddSigned(y.part[j], a.sign, sum[j]);
  }
  y.part[0]                                        = sum[0];
  y.part[1]                                        = sum[1];
  *reinterpret_cast<decltype(y.bits) *>(a.y + row) = y.bits;
}

template <VCRSValues kind, int length, bool odd>
static __global__ void __launch_bounds__(maxthreads, 1) Stencil7Kernel(const __grid_constant__ Stencil7Arguments a)
{
  typedef typename Values<kind>::Code Code;
  constexpr bool                      scaled = Values<kind>::scaled;
  constexpr uint32_t                  low = 1u << length / 2, high = 2 * low;
  extern __shared__ __align__(16) char shared[];
  const int                            lane = threadIdx.x % 32;
  const VCRSUnsigned                   m = a.m, units = m / 64, warps = blockDim.x / 32, step = gridDim.x * warps;
  const Code                          *value = static_cast<const Code *>(a.value);
  VCRSUnsigned                         unit  = blockIdx.x * warps + threadIdx.x / 32;
  Stencil7Head                         next  = {};
  Values<kind>                         values;

  PDLTrigger();
  if (unit < units) next = ReadStencil7Head<scaled>(a, unit);
  values.Setup(shared, a.decode);

  const Number *const allx = PDLWait(a.x);

  #pragma unroll 1
  for (; unit <= units; unit += step) {
    if (unit < units) {
      const Stencil7Head h   = next;
      const VCRSUnsigned row = 64 * unit + 2 * lane;
      PetscInt           id[2];

      GetIds(a, h, id);

      const uint32_t part[2] = {ReadPart(a, id[0]), ReadPart(a, id[1])};
      const bool     full    = __all_sync(0xffffffffu, (part[0] & part[1]) == a.all);
      Lacking        lacking = LACKING_NONE;
      bool           known   = true;

      if (unit + step < units) next = ReadStencil7Head<scaled>(a, unit + step);
      if (!full) {
        /* a slice has room for all codes if any row has the whole set */
        const uint32_t room = __ballot_sync(0xffffffffu, part[0] == a.all || part[1] == a.all);
        bool           ends = true;

  #pragma unroll
        for (int j = 0; j < 2; j++) ends = ends && (part[j] == a.all || part[j] == (a.all & ~low) || part[j] == (a.all & ~high));
        lacking = __all_sync(0xffffffffu, ends) && (room & 0xffffu) && (room >> 16) ? LACKING_ENDS : LACKING_ANY;
        known   = lacking == LACKING_ENDS || (__all_sync(0xffffffffu, part[0] && part[1]) && unit < a.whole);
      }
      if (known) {
        const Code   *v = Whole(value + h.start + row % 32);
        const Number *x = Whole(allx + row);
        Number        sigma[2], sum[2], xref[2];

        ReadTwoIf(a.sigma.kind == VCRS_SIGMA_FULL, a.sigma.sigma + row, sigma[0], sigma[1]);
        if (lacking == LACKING_NONE) SumStencil7<length, odd, LACKING_NONE>(a, values, v, x, part, xref, sum);
        else if (lacking == LACKING_ENDS) SumStencil7<length, odd, LACKING_ENDS>(a, values, v, x, part, xref, sum);
        else SumStencil7<length, odd, LACKING_ANY>(a, values, v, x, part, xref, sum);
        if (h.sigmabits) ReadSparseSigmas(a, h.sigmabits, row, sigma);
        WriteStencil7<scaled>(a, row, h.exponent, sigma, xref, sum);
        continue;
      }
    }
  #pragma unroll 1
    for (VCRSUnsigned first = 64 * unit; first < m && first < 64 * unit + 64; first += 32) {
      const VCRSUnsigned row   = first + lane;
      const RowHead      h     = ReadHead<Values<kind>::scaled, true>(a, row, true);
      const Number       sigma = h.id >= 0 ? ReadHeadSigma(a, h, row) : Number{};
      Number             xref, sum;
      bool               empty;

      sum = SumRow<length, length - 1, true>(a, allx, values, value + h.start + lane, row, h.id, ReadPart(a, h.id), &xref, &empty);
      if (row < m) WriteRow<Values<kind>::scaled, true>(a, row, h.exponent, empty, sigma, xref, sum);
    }
  }
}

template <VCRSValues kind, int length, bool odd>
static PetscErrorCode Stencil7Launch(const VCRSLaunch *l, const Stencil7Arguments *a, cudaStream_t stream)
{
  /* a persistent block per multiprocessor: tables are filled once, and heads of rows are read in time */
  constexpr size_t shared = Values<kind>::sharedbytes;
  const PetscInt64 units  = (static_cast<PetscInt64>(a->m) + 63) / 64,
                   warps  = PetscMin(maxthreads / 32, PetscMax(4, (units + l->device.multiprocessors - 1) / l->device.multiprocessors));
  const PetscInt64 n      = PetscMin((units + warps - 1) / warps, static_cast<PetscInt64>(l->device.multiprocessors));
  const auto       kernel = Stencil7Kernel<kind, length, odd>;

  PetscFunctionBegin;
  if (shared > 0) PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  PetscCallCUDA(PDLLaunch(kernel, a->pdl, dim3(static_cast<unsigned int>(n)), dim3(static_cast<unsigned int>(32 * warps)), shared, stream, *a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <VCRSValues kind>
static PetscErrorCode Stencil7LaunchKind(const VCRSLaunch *l, const Stencil7Arguments *a, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (a->length == 7) {
    if (a->odd) PetscCall((Stencil7Launch<kind, 7, true>(l, a, stream)));
    else PetscCall((Stencil7Launch<kind, 7, false>(l, a, stream)));
  } else {
    if (a->odd) PetscCall((Stencil7Launch<kind, 5, true>(l, a, stream)));
    else PetscCall((Stencil7Launch<kind, 5, false>(l, a, stream)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the difference form, the row itself is first; the remaining entries are in the order of columns */
static PetscErrorCode Stencil7Prepare(VCRSLaunch *l, const VCRSPlan *table, VCRSPlan *p, bool *runs)
{
  int before;

  PetscFunctionBegin;
  *runs = false;
  if ((p->layout != MATVCRS_LAYOUT_L1 && p->layout != MATVCRS_LAYOUT_L2) || !p->difference) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VCRSCommonSets(l, table, p));
  before = l->length / 2;
  *runs  = (l->length == 5 || l->length == VCRS_STENCIL7_MAX) && l->offset[0] == 0 && l->offset[before] == -1 && l->offset[before + 1] == 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Stencil7Mult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, cudaStream_t stream)
{
  Stencil7Arguments a;

  PetscFunctionBegin;
  /* if a vector is not aligned to pairs, a pair takes more than one access */
  if ((reinterpret_cast<uintptr_t>(v->x) | reinterpret_cast<uintptr_t>(v->y) | reinterpret_cast<uintptr_t>(v->add)) % (2 * sizeof(Number))) {
    PetscCall(VCRSSetsMult(l, p, v, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SetsGetArguments(l, p, v, &a);
  a.odd   = 0;
  a.whole = p->m / 64;
  if (p->n % 2) a.whole = PetscMax(0, PetscMin(p->m, p->n - l->offset[l->length - 1]) / 64 - 1);
  for (int k = 0; k < l->length; k++) {
    const PetscInt64 odd = l->offset[k] & 1;

    a.byteoffset[k] = (l->offset[k] - odd) * static_cast<PetscInt64>(sizeof(Number));
    if (odd && k != l->length / 2 && k != l->length / 2 + 1) a.odd |= 1u << k;
  }
  #define Stencil7Case(kind)                            \
  case kind:                                            \
    PetscCall(Stencil7LaunchKind<kind>(l, &a, stream)); \
    break
  switch (p->values) {
    VCRS_ALL_VALUES(Stencil7Case)
  }
  #undef Stencil7Case
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VCRSKernel VCRSKernelStencil7 = {"stencil7", Stencil7Prepare, Stencil7Mult};

#else

static PetscErrorCode Stencil7Prepare(VCRSLaunch *, const VCRSPlan *, VCRSPlan *, bool *runs)
{
  *runs = false;
  return PETSC_SUCCESS;
}

const VCRSKernel VCRSKernelStencil7 = {"stencil7", Stencil7Prepare, VCRSSetsMult};

#endif
