/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layouts L1 and L2 with complex entries of a few bytes, if the most frequent index set is the 27-point stencil. Bytes
   are few, so loads of x and latency are the limits.

   A block has neighbouring rows of a plane and marches from plane to plane. The values of x in a plane are loaded once
   and enter the sums of three rows per thread: as the last, the middle and the first plane of points. One or two warps
   copy data for all warps to shared memory, asynchronously (TMA, from compute capability 9.0 on). The copies are x of
   the next plane, and the entries of the plane for three slices per warp.

   Rows at the ends of a line, and in the first and the last line of a plane, lack the points outside. These rows use
   the same loop: x is zero at missing points, or a whole slice leaves the points out. A list, made once per matrix, has
   the remaining rows: the first and the last plane, and corners.
*/

#include "stencil27copy.cuh"
#include <type_traits>

/* Largest number of planes of a block */
static constexpr int mostplanes = 64;

/* Place of a thread's rows in their lines */
struct Place {
  bool begins, ends;

  /* Whether point t of a plane exists */
  __device__ __forceinline__ bool Has(int t) const
  {
    return !((t % 3 == 0 && begins) || (t % 3 == 2 && ends));
  }
};

/*
   Sums of a_k x_k over a row, plane by plane. Share() computes the contribution of a plane that is common to all rows.
   In the difference form, the row's own point has no entry. Finish() subtracts the sum of the entries multiplied by x
   of this point.
*/
template <bool difference, class V, class = void>
struct PlaneSums {
  Number sum, entries;

  struct Shared {};

  static __device__ __forceinline__ Shared Share(Number)
  {
    return Shared{};
  }

  __device__ __forceinline__ void Clear()
  {
    sum = entries = Number{};
  }

  __device__ __forceinline__ void Add(Shared)
  {
  }

  /* Adds entry k of a plane, for point t. If the point is missing, x is zero and the code is arbitrary */
  __device__ __forceinline__ void AddEntry(const V &values, typename Register<typename V::Code>::type c, Number x, Place place, int t, int, bool)
  {
    Number a;

    if constexpr (V::finite) a = values.DecodeBytes(c, 0, place.Has(t) ? ~0u : 0u);
    else a = place.Has(t) ? values.Decode(c) : Number{};
    sum = MultiplyAdd(a, x, sum);
    if (difference) entries = entries + a;
  }

  __device__ __forceinline__ Number Finish(Number own) const
  {
    return difference ? MultiplyAdd(Number{} - entries, own, sum) : sum;
  }
};

#if VCRS_STENCIL27
/*
   Complex fixed point in double precision. The first integer is converted by a conversion instruction. The second
   integer is inserted into the mantissa of 3/2 2^power + c by one integer instruction, which needs neither the
   conversion unit nor the floating-point unit. The sum of 3/2 2^power i x_k, common to all rows, is subtracted. Codes
   are summed as integers, two codes of 8 bits at a time.
*/
template <bool difference, class V>
struct PlaneSums<difference, V, typename std::enable_if<V::packed>::type> {
  static constexpr int bits = 4 * sizeof(typename V::Code);
  Number               sum;
  int                  re, im;
  unsigned int         held; /* the previous code, if not yet added; heldof: its point */
  int                  heldof;

  typedef Number Shared;

  /* all: the sum of x over the plane */
  static __device__ __forceinline__ Shared Share(Number all)
  {
    constexpr double middle = 3 << (V::power - 1);

    return Number{-middle * all.im, middle * all.re};
  }

  __device__ __forceinline__ void Clear()
  {
    sum = Number{};
    re = im = 0;
  }

  __device__ __forceinline__ void Add(Shared s)
  {
    sum = sum - s;
  }

  /* The upper bytes of an 8-bit code are zero, and replace a missing code */
  __device__ __forceinline__ void AddEntry(const V &, typename Register<typename V::Code>::type c, Number x, Place place, int t, int k, bool last)
  {
    sum = MultiplyAdd(Number{V::RealPart(c), V::MantissaOfSecond(c)}, x, sum);
    if (!difference) return;
    if (bits == 8 && k % 2) {
      const int two = static_cast<int>(__byte_perm(held, c, 0x5410 ^ (place.Has(heldof) ? 0 : 0x0032) ^ (place.Has(t) ? 0 : 0x7600)));

      re = __dp4a(two, 0x010001, re);
      im = __dp4a(two, 0x01000100, im);
    } else if (bits == 8 && !last) {
      held   = c;
      heldof = t;
    } else V::AddCode(c, place.Has(t) ? ~0 : 0, re, im);
  }

  __device__ __forceinline__ Number Finish(Number own) const
  {
    return difference ? MultiplyAdd(Number{static_cast<double>(-re), static_cast<double>(-im)}, own, sum) : sum;
  }
};
#endif

/* Loaded data of a row of the list */
struct ListedRow {
  VCRSUnsigned row;
  RowHead      head;
  PetscInt     start;
  int          length;
};

/*
   Computes items item, item + step, ... before `end` of the list. An item has 32 rows, a thread per row. allx: x of the
   first column. The row number, its head and the beginning of its set depend on each other, and are loaded while
   earlier rows are summed. A thread without a listed row loads the last row.
*/
template <class V, bool difference>
static __device__ __forceinline__ void MultListed(const Stencil27Arguments &a, const Number *allx, const V &values, PetscInt item, PetscInt end, PetscInt step)
{
  const int  lane    = static_cast<int>(threadIdx.x % 32);
  const auto readrow = [&](PetscInt i) { return static_cast<VCRSUnsigned>(__ldg(a.listed + min(32 * min(i, end - 1) + lane, a.nlisted - 1))); };
  const auto readset = [&](ListedRow *r) {
    r->start  = __ldg(a.setptr + r->head.id);
    r->length = static_cast<int>(__ldg(a.setptr + r->head.id + 1) - r->start);
  };

  if (item >= end) return;

  ListedRow    next;
  VCRSUnsigned after;

  next.row  = readrow(item);
  after     = readrow(item + step);
  next.head = ReadHead<V::scaled, difference>(a, next.row, true);
  readset(&next);
#pragma unroll 1
  for (; item < end; item += step) {
    const ListedRow r = next;

    next.row  = after;
    next.head = ReadHead<V::scaled, difference>(a, next.row, true);
    after     = readrow(item + 2 * step);

    const Number    sigma  = difference ? ReadHeadSigma(a, r.head, r.row) : Number{};
    const PetscInt *offset = a.setoffset + r.start;
    const Number   *x      = Whole(allx + r.row);
    const Number    xref   = difference && r.length > 0 ? Read(x + __ldg(offset)) : Number{};
    const Number sum = SumTable<9, difference>(values, static_cast<const typename V::Code *>(a.value) + r.head.start + r.row % 32, x, xref, offset, r.length);

    readset(&next);
    if (32 * item + lane < a.nlisted) WriteRow<V::scaled, difference>(a, r.row, r.head.exponent, r.length == 0, sigma, xref, sum);
  }
}

/* Rows that a plane's points belong to. Before the beginning and after the end of a band, a plane belongs to a single
   row */
enum Rows {
  ROWS_ALL,
  ROWS_FIRST,
  ROWS_LAST
};

/*
   Adds a plane's points: as the first plane of a row, as the middle plane of a second row, and as the last plane of a
   third row. Returns the sum of x over the points. Rows at ends of lines have no gaps for missing points. For a missing
   point, x is zero, and some other entry is loaded.
*/
template <bool difference, SliceKind kind, Rows rows, class V, class Sums>
static __device__ __forceinline__ Number AddPlane(const V &values, const typename V::Code *value, const Number *x, const Number *zero, int pitch, Place at,
                                                  Sums &first, Sums &middle, Sums &last)
{
  typedef Pieces<difference, kind>                  P;
  typedef typename Register<typename V::Code>::type Code;
  const bool                                        whole  = !(at.begins || at.ends);
  const int                                         before = at.begins ? 32 : 0, aline = whole ? 0 : 32;
  const typename V::Code                           *value0 = value - before;
  const typename V::Code                           *value1 = value + 32 * P::at1 - before + (whole ? 32 * (P::points - P::begin1) : 0);
  const typename V::Code                           *value2 = value + 32 * P::at2 - before + (whole ? 32 * (P::entries - P::points - P::begin2) : 0);
  Number                                            all    = Number{};

#pragma unroll
  for (int j = 0; j < P::points; j++) {
    /* k: number of the entry of point t, without the row's own point */
    const int     t = P::point + j, k = j - (difference && t > plane / 2 ? 1 : 0);
    const Number *line = x + (t / 3 - 1) * pitch, *side = at.Has(t) ? line : zero + 1 - t % 3;
    const Number  xt = side[t % 3 - 1];

    all = all + xt;
    if (rows != ROWS_LAST) first.AddEntry(values, Code{value0[32 * j]}, xt, at, t, j, j + 1 == P::points);
    if (rows == ROWS_ALL && (!difference || t != plane / 2)) middle.AddEntry(values, Code{value1[32 * k]}, xt, at, t, k, k + 1 == P::middle);
    if (rows != ROWS_FIRST) last.AddEntry(values, Code{value2[32 * j]}, xt, at, t, j, j + 1 == P::points);
    if (t % 3 == 2) {
      value0 -= aline;
      value1 -= aline;
      value2 -= aline;
    }
  }
  return all;
}

/*
   The rows of a warp, plane by plane. row0: the warp's first row; rows below writefrom are written by another block.
   room: the warp's entries in a stage. Barriers "empty" follow barriers "full".
*/
template <class V, bool difference, int stages, SliceKind kind>
static __device__ __forceinline__ void MultPlanes(const Stencil27Arguments &a, const V &values, VCRSUnsigned row0, VCRSUnsigned writefrom, bool is, int room,
                                                  const char *from, const Number *zero, const uint64_t *barriers)
{
  typedef typename V::Code         Code;
  typedef PlaneSums<difference, V> Sums;
  const int                        lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const uint32_t                   xat = Keep(static_cast<uint32_t>(sizeof(Number)) * ((is ? 32 * warp : 0) + lane + a.pitch + 1)),
                 valueat               = Keep(a.valuesat + static_cast<uint32_t>(sizeof(Code)) * (32 * room + lane));
  const uint32_t     begin = Keep(SharedAddress(from)), barrier = Keep(SharedAddress(barriers));
  const VCRSUnsigned stride = static_cast<VCRSUnsigned>(a.stride), column = (row0 + lane) % static_cast<VCRSUnsigned>(a.line);
  const Place        place = {kind == SLICE_ENDS && column == 0, kind == SLICE_ENDS && column + 1 == static_cast<VCRSUnsigned>(a.line)};
  /* the first plane that completes a row to be written */
  const int writes = !is ? mostplanes + 1 : 1 + (row0 < writefrom ? static_cast<int>((writefrom - row0 + stride - 1) / stride) : 0);
  Sums      first, middle, last;
  Number    own = Number{};
  /* the row that the next plane completes; before the band at first */
  VCRSUnsigned row   = row0 + lane - 2 * stride;
  int          stage = 0, p = -1;
  uint32_t     parity = 0;

  const auto step = [&](auto of) {
    constexpr Rows  rows     = decltype(of)::value;
    const uint32_t  at       = begin + static_cast<uint32_t>(stage) * a.stagebytes;
    uint64_t *const full     = AtShared<uint64_t>(barrier) + stage;
    const Number   *x        = AtShared<Number>(at + xat);
    const Number    before   = own;
    const bool      wanted   = rows != ROWS_FIRST && p >= writes;
    uint32_t        main     = 0;
    int             exponent = 0;
    Number          sigma    = Number{};

    /* after a branch, the compiler would copy the loaded sum, and wait for the load */
    if (difference) sigma = ReadIf(wanted && a.sigma.kind == VCRS_SIGMA_FULL, a.sigma.sigma + row);
    if (wanted) {
      main = __ldg(a.main + row / 32);
      if (V::scaled) exponent = __ldcs(a.exponent + row);
    }
    last   = middle;
    middle = first;
    first.Clear();
    BarrierWait(full, parity);
    own = *x;

    const Number all = AddPlane<difference, kind, rows>(values, AtShared<Code>(at + valueat), x, zero, a.pitch, place, first, middle, last);

    first.Add(Sums::Share(all));
    middle.Add(Sums::Share(difference ? all - own : all));
    last.Add(Sums::Share(all));
    __syncwarp();
    if (lane == 0) BarrierArrive(full + stages);
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
    if (rows != ROWS_FIRST && main >> lane & 1u) {
      if (difference && a.sigma.kind == VCRS_SIGMA_SPARSE) sigma = ReadSigma(a.sigma, row);
      WriteRow<V::scaled, difference>(a, row, exponent, false, sigma, before, last.Finish(before));
    }
    row += stride;
    p++;
  };

  first.Clear();
  middle.Clear();
  step(std::integral_constant<Rows, ROWS_FIRST>());
#pragma unroll 1
  while (p < a.planes) step(std::integral_constant<Rows, ROWS_ALL>());
  step(std::integral_constant<Rows, ROWS_LAST>());
}

/*
   `warps` warps multiply, `copiers` warps copy. `lists` further warps compute rows of the list at the same time; at the
   end, all warps compute the rest of the list.
*/
template <class V, bool difference, int stages, int warps, int copiers, int lists, int blocks>
static __global__ void __launch_bounds__(32 * (warps + copiers + lists), blocks) Stencil27Kernel(const __grid_constant__ Stencil27Arguments a)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) char shared[];
  char *const                           from = shared + V::sharedbytes;
  Number *const                         zero = reinterpret_cast<Number *>(from + stages * a.stagebytes);
  uint64_t *const full = reinterpret_cast<uint64_t *>(zero + 1), *const empty = full + stages;
  const int          warp   = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
  const VCRSUnsigned stride = a.stride, bandrows = static_cast<VCRSUnsigned>(a.planes) * stride;
  const unsigned int band = blockIdx.x / a.columns, place = 32 * warps * (blockIdx.x - band * a.columns),
                     rows = min(32u * warps, static_cast<unsigned int>(stride) - place);
  /* the last band begins earlier if necessary, to end with the last row */
  const VCRSUnsigned begin = band * bandrows,
                     first = static_cast<VCRSUnsigned>(a.firstmain) + min(begin, static_cast<VCRSUnsigned>(a.nmain) - bandrows) + place;
  const PetscInt items = (a.nlisted + 31) / 32, meanwhile = min(items, static_cast<PetscInt>(gridDim.x * lists) * (a.planes / 2));
  V              values;

  PDLTrigger();
  values.Setup(shared, a.decode);
  if (threadIdx.x == 0) *zero = Number{};
  if (threadIdx.x < stages) {
    cuda::ptx::mbarrier_init(full + threadIdx.x, copiers);
    cuda::ptx::mbarrier_init(empty + threadIdx.x, warps);
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
  }
  __syncthreads();
  if (warp >= warps && warp < warps + copiers) CopyPlanes<V, difference, stages, warps, copiers>(a, warp - warps, first, rows, from, full, empty);

  const Number *const allx = PDLWait(a.x);

  if (warp < warps) {
    const bool         is   = 32u * warp < rows;
    const VCRSUnsigned row0 = first + (is ? 32 * warp : 0), writefrom = static_cast<VCRSUnsigned>(a.firstmain) + begin;
    const int          room = SlicesRoom<difference>(warp, CountBelow(FindEnds<warps>(a, first), warp));

    /* for a warp without rows, too, which reads its own room */
    switch (GetSliceKind(static_cast<VCRSUnsigned>(a.line), stride, first + 32 * warp)) {
    case SLICE_WHOLE:
      MultPlanes<V, difference, stages, SLICE_WHOLE>(a, values, row0, writefrom, is, room, from, zero, full);
      break;
    case SLICE_ENDS:
      MultPlanes<V, difference, stages, SLICE_ENDS>(a, values, row0, writefrom, is, room, from, zero, full);
      break;
    case SLICE_LOW:
      MultPlanes<V, difference, stages, SLICE_LOW>(a, values, row0, writefrom, is, room, from, zero, full);
      break;
    default:
      MultPlanes<V, difference, stages, SLICE_HIGH>(a, values, row0, writefrom, is, room, from, zero, full);
    }
  } else if (warp >= warps + copiers)
    MultListed<V, difference>(a, allx, values, static_cast<PetscInt>(blockIdx.x * lists) + warp - warps - copiers, meanwhile,
                              static_cast<PetscInt>(gridDim.x * lists));
  __syncwarp();
  MultListed<V, difference>(a, allx, values, meanwhile + static_cast<PetscInt>(blockIdx.x * (blockDim.x / 32)) + warp, items,
                            static_cast<PetscInt>(gridDim.x * (blockDim.x / 32)));
#endif
}

/*
   Planes per band. The time is the time of the successive bands of a multiprocessor. Each band has two planes more than
   rows, plus a start-up.
*/
[[maybe_unused]] static int Stencil27ChoosePlanes(PetscInt64 columns, PetscInt64 nmain, PetscInt64 stride, PetscInt64 resident)
{
  PetscInt64 best   = 0;
  int        planes = 1;

  for (PetscInt64 n = 1; n <= PetscMin(nmain / stride, static_cast<PetscInt64>(mostplanes)); n++) {
    const PetscInt64 bands = (nmain + n * stride - 1) / (n * stride), time = (bands * columns + resident - 1) / resident * (n + 3);

    if (!best || time <= best) {
      best   = time;
      planes = static_cast<int>(n);
    }
  }
  return planes;
}

/* Launches the kernel if the blocks fit into the shared memory of a multiprocessor. *fits: whether the blocks fit */
template <class V, bool difference, int stages, int warps, int copiers, int lists, int blocks>
static PetscErrorCode Stencil27Launch(const VCRSLaunch *l, const SetsArguments *sets, bool *fits, cudaStream_t stream)
{
  const auto         kernel = Stencil27Kernel<V, difference, stages, warps, copiers, lists, blocks>;
  Stencil27Arguments a;
  PetscInt64         bands;
  size_t             bytes;

  PetscFunctionBegin;
  static_assert(warps <= VCRS_STENCIL27_WARPS, "a word has a bit per warp");
  static_cast<SetsArguments &>(a) = *sets;
  a.stride                        = l->stride;
  a.line                          = l->line;
  a.firstmain                     = l->main.first;
  a.nmain                         = l->main.n;
  a.nlisted                       = l->main.nlisted;
  a.listed                        = l->main.dlisted;
  a.main                          = l->main.dmain;
  a.window                        = a.line <= 32 * warps ? 32 * warps + 2 + 2 * static_cast<int>(a.line) : 0;
  a.pitch                         = a.window ? static_cast<int>(a.line) : 32 * warps + 2;
  a.valuesat                      = static_cast<unsigned int>(((a.window ? a.window : 3 * a.pitch) * sizeof(Number) + 127) / 128 * 128);
  a.stagebytes                    = a.valuesat + static_cast<unsigned int>(32 * SlicesRoom<difference>(warps, l->ends[warps]) * sizeof(typename V::Code));
  bytes                           = V::sharedbytes + stages * (a.stagebytes + 2 * sizeof(uint64_t)) + sizeof(Number);
  *fits                           = bytes + 1024 <= static_cast<size_t>(l->device.sharedbytes) / blocks;
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  a.columns = static_cast<int>((a.stride + 32 * warps - 1) / (32 * warps));
  a.planes  = Stencil27ChoosePlanes(a.columns, a.nmain, a.stride, static_cast<PetscInt64>(l->device.multiprocessors) * blocks);
  bands     = (a.nmain + static_cast<PetscInt64>(a.planes) * a.stride - 1) / (static_cast<PetscInt64>(a.planes) * a.stride);
  PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  PetscCallCUDA(PDLLaunch(kernel, a.pdl, dim3(static_cast<unsigned int>(bands * a.columns)), dim3(32 * (warps + copiers + lists)), bytes, stream, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Shapes are measured, see docs/internals/kernels.md. If instructions are the limit, a block has as many warps as
   registers allow. If look-ups would wait for the first copying warp, a second warp copies. With one block per
   multiprocessor, the table of 16 bits is stored once, which leaves room for more warps. If a shape does not fit, fewer
   warps or blocks are tried.
*/
template <class V, bool difference>
static PetscErrorCode Stencil27LaunchKind(const VCRSLaunch *l, const SetsArguments *a, cudaStream_t stream)
{
  constexpr bool wide = sizeof(typename V::Code) > 2, lookups = V::sharedbytes > 0;
  bool           fits = false;

  PetscFunctionBegin;
  if constexpr (!wide && !lookups) PetscCall((Stencil27Launch<V, difference, 2, 12, 1, 1, 2>(l, a, &fits, stream)));
  if constexpr (!wide && lookups) PetscCall((Stencil27Launch<V, difference, 2, 8, 2, 1, 2>(l, a, &fits, stream)));
  if constexpr (wide && lookups) PetscCall((Stencil27Launch<V, difference, 2, 20, 2, 1, 1>(l, a, &fits, stream)));
  if constexpr (wide) {
    if (!fits) PetscCall((Stencil27Launch<V, difference, 2, 8, 1, 1, 2>(l, a, &fits, stream)));
  }
  if (!fits) PetscCall((Stencil27Launch<V, difference, 2, 8, 1, 1, 1>(l, a, &fits, stream)));
  if constexpr (wide && lookups) {
    /* 100 KB per multiprocessor */
    if (!fits) PetscCall((Stencil27Launch<V, difference, 2, 6, 1, 1, 1>(l, a, &fits, stream)));
  }
  PetscCheck(fits, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A plane does not fit into the shared memory of %d bytes", l->device.sharedbytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class V>
static PetscErrorCode Stencil27LaunchForm(const VCRSLaunch *l, const VCRSPlan *p, const SetsArguments *a, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (p->difference) PetscCall((Stencil27LaunchKind<V, true>(l, a, stream)));
  else PetscCall((Stencil27LaunchKind<V, false>(l, a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Stencil27Mult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, cudaStream_t stream)
{
  PetscFunctionBegin;
#if VCRS_STENCIL27
  SetsArguments a;

  SetsGetArguments(l, p, v, &a);
  switch (p->values) {
  case VCRS_VALUES_FIXED8:
    PetscCall((Stencil27LaunchForm<Values<VCRS_VALUES_FIXED8>>(l, p, &a, stream)));
    break;
  case VCRS_VALUES_FIXED16:
    PetscCall((Stencil27LaunchForm<Values<VCRS_VALUES_FIXED16>>(l, p, &a, stream)));
    break;
  case VCRS_VALUES_LOG8:
    if (p->decoding.shortlog) PetscCall((Stencil27LaunchForm<ShortValues<VCRS_VALUES_LOG8>::type>(l, p, &a, stream)));
    else PetscCall((Stencil27LaunchForm<Values<VCRS_VALUES_LOG8>>(l, p, &a, stream)));
    break;
  /*
     Short logarithms, see Stencil27Runs(). Whole doubles take no more cycles of shared memory than half as many copies
     of upper words, and save the instruction for the lower word.
  */
  case VCRS_VALUES_LOG16:
    if (p->decoding.power[3] == 0.F) PetscCall((Stencil27LaunchForm<ShortLog16<SharedTable<double>, 3>>(l, p, &a, stream)));
    else if (p->decoding.power[4] == 0.F) PetscCall((Stencil27LaunchForm<ShortLog16<SharedTable<double>, 4>>(l, p, &a, stream)));
    else PetscCall((Stencil27LaunchForm<ShortLog16<SharedTable<double>, VCRS_LOG_POWERS>>(l, p, &a, stream)));
    break;
  case VCRS_VALUES_DICT8:
    PetscCall((Stencil27LaunchForm<Values<VCRS_VALUES_DICT8>>(l, p, &a, stream)));
    break;
  default:
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "No kernel for grids with these entries");
  }
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "No kernel for grids with these scalars");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether Stencil27Mult() supports entries of this kind: long tables of 16 bits leave no room for planes */
static bool Stencil27Runs(const VCRSLaunch *l, const VCRSPlan *p)
{
  return VCRS_STENCIL27 && l->device.sm90 &&
         (p->values == VCRS_VALUES_FIXED8 || p->values == VCRS_VALUES_FIXED16 || p->values == VCRS_VALUES_LOG8 || p->values == VCRS_VALUES_DICT8 ||
          (p->values == VCRS_VALUES_LOG16 && p->decoding.shortlog));
}

/*
   L1, L2: whether the common set is the 27-point stencil of a grid; the order is kept. Rows at an end of a line, or in
   the first or last line of a plane, have all points except the points outside.
*/
static void ChooseStencil27(VCRSLaunch *l, PetscInt m, PetscInt nsets, PetscBool difference)
{
  constexpr int n = 27, self = 13, plane = 9;
  uint32_t      beyond[4] = {0, 0, 0, 0};
  int           inset[n];

  if (l->length != n) return;
  for (int k = 0; k < n; k++) inset[k] = !difference ? k : (k == self ? 0 : (k < self ? k + 1 : k));

  const PetscInt stride = l->offset[inset[self + plane]], line = l->offset[inset[self + 3]];

  if (line < 32 || stride % line || stride % VCRS_SLICE || stride > m / VCRS_STRIDE_BANDS) return;
  for (int k = 0; k < n; k++) {
    if (l->offset[inset[k]] != (k / plane - 1) * stride + (k % plane / 3 - 1) * line + k % 3 - 1) return;
    if (k % 3 != 1) beyond[k % 3 / 2] |= 1u << inset[k];
    if (k % plane / 3 != 1) beyond[2 + k % plane / 3 / 2] |= 1u << inset[k];
  }
  l->stencil27 = PETSC_TRUE;
  l->stride    = stride;
  l->line      = line;
  for (int e = 0; e < 4; e++) {
    l->side[e] = -1;
    for (PetscInt p = 0; p < nsets; p++)
      if (l->word[p] == (l->word[l->id] & ~beyond[e])) l->side[e] = p;
  }
}

static PetscErrorCode Stencil27Prepare(VCRSLaunch *l, const VCRSPlan *table, VCRSPlan *p, bool *runs)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  *runs = false;
  if ((p->layout != MATVCRS_LAYOUT_L1 && p->layout != MATVCRS_LAYOUT_L2) || !Stencil27Runs(l, p)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VCRSCommonSets(l, table, p));
  if (l->id < 0) PetscFunctionReturn(PETSC_SUCCESS);
  ChooseStencil27(l, p->m, table->sets.n, p->difference);
  if (!l->stencil27) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  VCRSCommonMain(l, p->m, p->n);
  PetscCall(VCRSRowList(l, p, l->word[l->id], &l->stencil27, stream));
  *runs = l->stencil27 ? true : false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VCRSKernel VCRSKernelStencil27 = {"stencil27", Stencil27Prepare, Stencil27Mult};
