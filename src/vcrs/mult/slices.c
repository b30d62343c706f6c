/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products with slices on the host, y = A x (+ add): slices of layout L3, and slices of L1 and L2 whose index sets
   change from row to row.

   The lanes of a slice are summed in registers, group by group, over the entries common to all lanes of a group.
   Further entries of longer lanes are masked. With one column of x, stored entries and stored places in x are read
   directly. Several columns share a decoded batch.

   x and tables are read by single loads, which are combined in registers. Compilers would use gather instructions,
   which are slower on most processors. Data of rows other than entries are prepared for a window of rows, where they
   are contiguous.
*/

#include "slices.h"

#define SLICE_COLUMNS 4 /* columns of x in one pass over a decoded slice */
#define X_AHEAD       8 /* and of x without a window: X_LINES lines from the base of a step on */
#define X_LINES       4

/* The storage of the places of entries in x, as the sums read them */
typedef enum {
  PLACES_8,       /* uint8_t, from a base */
  PLACES_16,      /* uint16_t, from a base or from the beginning of a window */
  PLACES_32,      /* uint32_t, from a base */
  PLACES_DECODED, /* PetscInt */
  PLACES_SETS     /* L1, L2: for each lane a pointer to the offsets of its index set, relative to x of the lane's row */
} Places;

/* The shortest and the longest of n lanes, which are in falling order if sorted */
static LITHE_ALWAYS_INLINE void MeasureLanes(PetscBool sorted, int n, const uint8_t length[], PetscInt *shortest, PetscInt *longest)
{
  uint8_t low = length[n - 1], high = length[0];

  if (!sorted) {
    for (int l = 0; l < n; l++) {
      low  = PetscMin(low, length[l]);
      high = PetscMax(high, length[l]);
    }
  }
  *shortest = low;
  *longest  = high;
}

/* ------------------------------------------------------------------ sums in registers */

#if defined(VCRS_QUADS)
  /* Two registers for a quad are not enough for a slice: where a compiler can choose at run time, quads need AVX2 */
  #if defined(LITHE_TARGET_AVX512)
    #define QUADS_TARGET LITHE_TARGET_FMA
    #define HAS_QUADS()  LITHE_HAS_FMA()
  #else
    #define QUADS_TARGET
    #define HAS_QUADS() PETSC_TRUE
  #endif
  #define QUAD   VCRS_QUAD
  #define LANES  (QUAD / VCRS_COMPONENTS) /* of a quad */
  #define NQUADS (VCRS_SLICE / LANES)

  /* Quads summed at once, in sixteen registers with their data: all of a slice if entries are read undecoded, in the
     order of storage */
  #define NSUMS(values) ((values) == VCRS_VALUES_FULL ? 8 : 4)
  #define MOST_SUMS     8

typedef PetscReal   Pair __attribute__((vector_size(2 * sizeof(PetscReal)), aligned(sizeof(PetscReal)), may_alias));
typedef VCRSQuad    Quad;
typedef int16_t     Int16Quad __attribute__((vector_size(QUAD * sizeof(int16_t)), aligned(sizeof(int16_t)), may_alias));
typedef int32_t     Int32Quad __attribute__((vector_size(QUAD * sizeof(int32_t)), aligned(sizeof(int32_t)), may_alias));
typedef VCRSMaskInt Mask __attribute__((vector_size(QUAD * sizeof(VCRSMaskInt)), aligned(sizeof(VCRSMaskInt)), may_alias));

  /* Codes are read by the word, since loads are scarce; a compiler short of registers would read the word again for
     each */
  #define IN_REGISTER(word) __asm__("" : "+r"(word))

  /* A quad of a table of reals, or of scalars */
  #define LOOK_UP_REALS(table, INDEX) ((Quad){(table)[INDEX(0)], (table)[INDEX(1)], (table)[INDEX(2)], (table)[INDEX(3)]})
  #if PetscDefined(USE_COMPLEX)
    #define LOOK_UP(table, INDEX) __builtin_shufflevector(*(const Pair *)((table) + INDEX(0)), *(const Pair *)((table) + INDEX(1)), 0, 1, 2, 3)
  #else
    #define LOOK_UP(table, INDEX) LOOK_UP_REALS(table, INDEX)
  #endif

/* Bytes of a place in a step */
static LITHE_ALWAYS_INLINE size_t PlaceBytes(const Places places)
{
  switch (places) {
  case PLACES_8:
    return sizeof(uint8_t);
  case PLACES_16:
    return sizeof(uint16_t);
  case PLACES_32:
    return sizeof(uint32_t);
  case PLACES_DECODED:
    return sizeof(PetscInt);
  default:
    return 0;
  }
}

/*
   The x of the lanes of quad q. Index sets, entries k: lanes without entry get arbitrary x. length: of each lane, or
   NULL if all lanes have these entries
*/
static LITHE_ALWAYS_INLINE void GatherQuad(const Places places, const void *place, int q, PetscInt k, const uint8_t length[], const PetscScalar *x, Quad *out)
{
  const uint8_t         *p8  = (const uint8_t *)place + LANES * q;
  const uint16_t        *p16 = (const uint16_t *)place + LANES * q;
  const uint32_t        *p32 = (const uint32_t *)place + LANES * q;
  const PetscInt        *p   = (const PetscInt *)place + LANES * q;
  const PetscInt *const *set = (const PetscInt *const *)place + LANES * q;

  #define INDEX8(u)  p8[u]
  #define INDEX16(u) p16[u]
  #define INDEX32(u) p32[u]
  #define INDEX(u)   p[u]
  #define OFFSET(u)  (LANES * q + (u) + set[u][!length || k < length[LANES * q + (u)] ? k : 0])
  if (places == PLACES_8) *out = LOOK_UP(x, INDEX8);
  else if (places == PLACES_16) *out = LOOK_UP(x, INDEX16);
  else if (places == PLACES_32) *out = LOOK_UP(x, INDEX32);
  else if (places == PLACES_DECODED) *out = LOOK_UP(x, INDEX);
  else *out = LOOK_UP(x, OFFSET);
  #undef INDEX8
  #undef INDEX16
  #undef INDEX32
  #undef INDEX
  #undef OFFSET
}

/* The entries of the lanes of quad q, of fixed point without their powers of two */
static LITHE_ALWAYS_INLINE void DecodeQuad(const VCRSPlan *plan, const VCRSValues values, const void *value, int q, Quad *out)
{
  const int      first = values == VCRS_VALUES_DICT8 || values == VCRS_VALUES_DICT16 ? LANES * q : QUAD * q;
  const uint8_t *c8 = (const uint8_t *)value + first, *c16 = (const uint8_t *)value + 2 * first;
  const float   *single = (const float *)value + first;
  uint32_t       word32 = 0;
  uint64_t       word64 = 0;

  #define CODE8(u)  ((uint8_t)(word32 >> 8 * (u)))
  #define CODE16(u) ((uint16_t)(word64 >> 16 * (u)))
  #define COARSE(u) ((uint8_t)(word64 >> (16 * (u) + 8)))
  #define FINE(u)   ((uint8_t)(word64 >> 16 * (u)))
  switch (values) {
  case VCRS_VALUES_SINGLE:
    *out = (Quad){single[0], single[1], single[2], single[3]};
    break;
  case VCRS_VALUES_DICT8:
    memcpy(&word32, c8, LANES);
    IN_REGISTER(word32);
    *out = LOOK_UP(plan->decoding.dict, CODE8);
    break;
  case VCRS_VALUES_DICT16:
    memcpy(&word64, c16, 2 * LANES);
    IN_REGISTER(word64);
    *out = LOOK_UP(plan->decoding.dict, CODE16);
    break;
  case VCRS_VALUES_LOG8:
    memcpy(&word32, c8, QUAD);
    IN_REGISTER(word32);
    *out = LOOK_UP_REALS(plan->decoding.coarse, CODE8);
    break;
  case VCRS_VALUES_LOG16:
    memcpy(&word64, c16, 2 * QUAD);
    IN_REGISTER(word64);
    *out = LOOK_UP_REALS(plan->decoding.coarse, COARSE) * LOOK_UP_REALS(plan->decoding.fine, FINE);
    break;
  case VCRS_VALUES_FIXED8:
    /* each number is moved to the upper end of a word, and then shifted down with its sign */
    memcpy(&word32, c8, QUAD);
    *out = __builtin_convertvector(((Int32Quad){(int32_t)word32, (int32_t)word32, (int32_t)word32, (int32_t)word32} << (Int32Quad){24, 16, 8, 0}) >> 24, Quad);
    break;
  case VCRS_VALUES_FIXED16:
    *out = __builtin_convertvector(__builtin_convertvector(*(const Int16Quad *)c16, Int32Quad), Quad);
    break;
  default:
    *out = *(const Quad *)((const PetscReal *)value + first);
    break;
  }
  #undef CODE8
  #undef CODE16
  #undef COARSE
  #undef FINE
}

/* *sum += a d; of complex numbers the products with the imaginary parts of a are kept apart, for CloseSum() */
static LITHE_ALWAYS_INLINE void AddProducts(const Quad *a, const Quad *d, Quad *sum, Quad *imaginary)
{
  #if PetscDefined(USE_COMPLEX)
  *sum += __builtin_shufflevector(*a, *a, 0, 0, 2, 2) * *d;
  *imaginary += __builtin_shufflevector(*a, *a, 1, 1, 3, 3) * *d;
  #else
  (void)imaginary;
  *sum += *a * *d;
  #endif
}

static LITHE_ALWAYS_INLINE void CloseSum(Quad *sum, const Quad *imaginary)
{
  #if PetscDefined(USE_COMPLEX)
  *sum += __builtin_shufflevector(-*imaginary, *imaginary, 1, 4, 3, 6);
  #else
  (void)sum;
  (void)imaginary;
  #endif
}

/* The lengths of the lanes of a quad, once for each component */
static LITHE_ALWAYS_INLINE void QuadLengths(const uint8_t length[], Mask *out)
{
  #if PetscDefined(USE_COMPLEX)
  *out = (Mask){length[0], length[0], length[1], length[1]};
  #else
  *out = (Mask){length[0], length[1], length[2], length[3]};
  #endif
}

/* The references of the lanes of quad q, whose places are given, and the initial values of their sums: t as in
   AddProducts(). all: each lane has an entry */
static LITHE_ALWAYS_INLINE void BeginQuad(const VCRSHostWindow *window, const VCRSHostSlice *slice, PetscBool all, const Places places, const void *place,
                                          int q, const PetscScalar *x, Quad *r, Quad *s, Quad *t)
{
  const uint8_t *row   = slice->row + LANES * q;
  Quad           sigma = {0};

  GatherQuad(places, place, q, 0, all ? NULL : slice->length, x, r);
  #define ROW(u) row[u]
  if (window->sigma) sigma = LOOK_UP(window->sigma, ROW);
  #undef ROW
  if (!all) {
    const Mask none = {0};
    Mask       n;

    QuadLengths(slice->length + LANES * q, &n);
    n     = n > none;
    *r    = (Quad)((Mask)*r & n);
    sigma = (Quad)((Mask)sigma & n);
  }
  if (window->sigma) AddProducts(&sigma, r, s, t);
}

/*
   sum[l] += a_kl (x_kl - ref[l]) for the lanes l from quad first on, and the entries k of some steps that a lane has.
   Other lanes add nothing, without a product. Their places are 0, which may be read. If places are not decoded, the
   steps are all steps, and ref and the initial values of sum are computed here. Numbers written to memory lane by lane
   could not be read back as whole quads. The arguments values and places must be constants.
*/
static LITHE_ALWAYS_INLINE void AddGroup(const VCRSPlan *plan, const VCRSValues values, const Places places, const VCRSHostWindow *window,
                                         const VCRSHostSlice *slice, const VCRSHostSteps *steps, int first, const PetscScalar *x, const PetscScalar ref[],
                                         PetscScalar sum[])
{
  const PetscBool fixed      = (PetscBool)(values == VCRS_VALUES_FIXED8 || values == VCRS_VALUES_FIXED16);
  const int       nsums      = NSUMS(values);
  const size_t    valuewidth = VCRS_SLICE * VCRSValueBytes(values);
  const size_t    placewidth = VCRS_SLICE * PlaceBytes(places);
  const uint8_t  *length = slice->length + LANES * first, *row = slice->row + LANES * first;
  const char     *value = (const char *)steps->value + LANES * (size_t)first * VCRSValueBytes(values), *place = (const char *)steps->place;
  const PetscInt *base = steps->base;
  PetscInt        shortest, longest, j = 0;
  Quad            s[MOST_SUMS], t[MOST_SUMS], r[MOST_SUMS], power[MOST_SUMS];
  Mask            n[MOST_SUMS] = {{0}};

  MeasureLanes(slice->sorted, nsums * LANES, length, &shortest, &longest);
  memset(power, 0, sizeof(power));
  #define POWER_ROW(u) row[LANES * b + (u) / VCRS_COMPONENTS]
  LITHE_UNROLL
  for (int b = 0; b < nsums; b++) {
    s[b] = t[b] = r[b] = (Quad){0};
    if (fixed) power[b] = LOOK_UP_REALS(window->power, POWER_ROW);
  }
  #undef POWER_ROW
  if (places == PLACES_DECODED) {
    LITHE_UNROLL
    for (int b = 0; b < nsums; b++) {
      s[b] = ((const Quad *)sum)[first + b];
      r[b] = ((const Quad *)ref)[first + b];
    }
  } else if (plan->difference) {
    if (longest) {
      const PetscScalar *x0 = base ? x + *base : x;

      LITHE_UNROLL
      for (int b = 0; b < nsums; b++) BeginQuad(window, slice, (PetscBool)(shortest > 0), places, place, first + b, x0, &r[b], &s[b], &t[b]);
    }
    place += placewidth;
    base = PetscSafePointerPlusOffset(base, 1);
  }
  shortest = PetscMin(steps->n, shortest - steps->first);
  longest  = PetscMin(steps->n, longest - steps->first);
  for (; j < shortest; j++, value += valuewidth, place += placewidth) {
    const PetscScalar *xj = base ? x + *base++ : x;

    LITHE_UNROLL
    for (int b = 0; b < nsums; b++) {
      Quad a, d;

      DecodeQuad(plan, values, value, b, &a);
      if (fixed) a *= power[b];
      GatherQuad(places, place, first + b, steps->first + j, NULL, xj, &d);
      d -= r[b];
      AddProducts(&a, &d, &s[b], &t[b]);
    }
    /* undecoded entries are read in the order of storage, which processors prefetch; half a slice is one step */
    if (values == VCRS_VALUES_FULL && places != PLACES_DECODED && base) {
      const char *ahead = (const char *)(x + base[steps->ahead]);

      LITHE_UNROLL
      for (int line = 0; line < X_LINES; line++) LITHE_PREFETCH(ahead + CACHE_LINE * line);
    }
    if (values != VCRS_VALUES_FULL) {
      LITHE_UNROLL
      for (size_t line = 0; line < valuewidth * nsums / NQUADS; line += CACHE_LINE) LITHE_PREFETCH(value + SLICE_AHEAD * valuewidth + line);
      if (places != PLACES_SETS) LITHE_PREFETCH(place + LANES * (size_t)first * (placewidth / VCRS_SLICE) + SLICE_AHEAD * placewidth);
    }
  }
  if (j < longest) {
    LITHE_UNROLL
    for (int b = 0; b < nsums; b++) QuadLengths(length + LANES * b, &n[b]);
  }
  for (; j < longest; j++, value += valuewidth, place += placewidth) {
    const PetscScalar *xj   = base ? x + *base++ : x;
    const VCRSMaskInt  k    = steps->first + j;
    const Mask         most = {k, k, k, k};

    LITHE_UNROLL
    for (int b = 0; b < nsums; b++) {
      const Mask in = n[b] > most;
      Quad       a, d;

      DecodeQuad(plan, values, value, b, &a);
      if (fixed) a *= power[b];
      GatherQuad(places, place, first + b, steps->first + j, slice->length, xj, &d);
      d -= r[b];
      a = (Quad)((Mask)a & in);
      d = (Quad)((Mask)d & in);
      AddProducts(&a, &d, &s[b], &t[b]);
    }
  }
  LITHE_UNROLL
  for (int b = 0; b < nsums; b++) {
    CloseSum(&s[b], &t[b]);
    ((Quad *)sum)[first + b] = s[b];
  }
}

/* The same for all groups of a slice, whose steps are stored in the format of the plan */
static LITHE_ALWAYS_INLINE void AddStored(const VCRSPlan *plan, const Places places, const VCRSHostWindow *window, const VCRSHostSlice *slice,
                                          const VCRSHostSteps *steps, const PetscScalar *x, PetscScalar sum[])
{
  #define ADD_GROUPS(values)                                                                                               \
  case values:                                                                                                             \
    for (int q = 0; q < NQUADS; q += NSUMS(values)) AddGroup(plan, values, places, window, slice, steps, q, x, NULL, sum); \
    break
  switch (plan->values) {
    ADD_GROUPS(VCRS_VALUES_FULL);
    ADD_GROUPS(VCRS_VALUES_SINGLE);
    ADD_GROUPS(VCRS_VALUES_DICT8);
    ADD_GROUPS(VCRS_VALUES_DICT16);
    ADD_GROUPS(VCRS_VALUES_LOG8);
    ADD_GROUPS(VCRS_VALUES_LOG16);
    ADD_GROUPS(VCRS_VALUES_FIXED8);
    ADD_GROUPS(VCRS_VALUES_FIXED16);
  }
  #undef ADD_GROUPS
}
#endif

/* ------------------------------------------------------------------ slices */

static LITHE_ALWAYS_INLINE void BeginWindow(const VCRSPlan *plan, PetscInt w, VCRSHostWindow *window)
{
  const PetscInt first = VCRS_WINDOW * w, n = PetscMin(VCRS_WINDOW, plan->m - first);

  window->first  = first;
  window->whole  = (PetscBool)(n == VCRS_WINDOW);
  window->normal = plan->decoding.exponent ? VCRSPowersOfTwo(n, plan->decoding.exponent + first, window->power) : PETSC_TRUE;
  for (PetscInt r = n; r < VCRS_WINDOW; r++) window->power[r] = 1; /* of padding lanes */
  window->sigma = NULL;
  if (!plan->difference) return;
  if (plan->sums.kind == VCRS_SIGMA_FULL && window->whole) {
    window->sigma = plan->sums.value + first;

    /* lanes read x in permuted order: no processor can predict the start of the next window's x */
    for (PetscInt r = VCRS_WINDOW; r < 2 * VCRS_WINDOW; r += CACHE_LINE / (PetscInt)sizeof(PetscScalar)) LITHE_PREFETCH(window->sigma + r);
  } else if (VCRSGetSigma(plan, first, n, window->room)) {
    for (PetscInt r = n; r < VCRS_WINDOW; r++) window->room[r] = 0;
    window->sigma = window->room;
  }
}

/* natural[]: 0, 1, ... as far as a window goes */
static LITHE_ALWAYS_INLINE void BeginSlice(const VCRSPlan *plan, PetscInt s, const VCRSHostWindow *window, const uint8_t natural[], VCRSHostSlice *slice)
{
  slice->number = s;
  slice->sorted = plan->lanes.perm ? PETSC_TRUE : PETSC_FALSE;
  slice->length = plan->lanes.length + VCRS_SLICE * s;
  MeasureLanes(slice->sorted, VCRS_SLICE, slice->length, &slice->shortest, &slice->longest);
  slice->row = plan->lanes.perm ? plan->lanes.perm + VCRS_SLICE * s : natural + VCRS_SLICE * (s % VCRS_WINDOW_SLICES);
}

/* The references of the lanes, whose places are given, and the initial values of their sums */
static LITHE_ALWAYS_INLINE void BeginSums(const VCRSPlan *plan, const VCRSHostWindow *window, const VCRSHostSlice *slice, const PetscInt place[],
                                          const PetscScalar *x, PetscScalar ref[], PetscScalar sum[])
{
  for (PetscInt l = 0; l < VCRS_SLICE; l++) {
    const PetscBool in = (PetscBool)(plan->difference && slice->length[l]);

    ref[l] = in ? x[place[l]] : 0;
    sum[l] = in && window->sigma ? VCRSAddProduct(0, window->sigma[slice->row[l]], ref[l], 0) : 0;
  }
}

/* The same for nc columns of x, batch by batch */
static LITHE_ALWAYS_INLINE void SumBatches(const VCRSPlan *plan, const PetscBool quads, const VCRSHostWindow *window, const VCRSHostSlice *slice, PetscInt nc,
                                           const PetscScalar *x, size_t ldx, PetscScalar sum[][VCRS_SLICE])
{
  const PetscInt first = plan->difference ? 1 : 0;
  PetscScalar    buffer[VCRS_BATCH * VCRS_SLICE], ref[SLICE_COLUMNS][VCRS_SLICE];
  PetscReal      scale[VCRS_COMPONENTS * VCRS_SLICE];
  PetscInt       place[VCRS_BATCH * VCRS_SLICE], row[VCRS_SLICE];

  VCRSLaneRows(plan, slice->number, row);
  for (PetscInt l = 0; plan->decoding.exponent && l < VCRS_COMPONENTS * VCRS_SLICE; l++) scale[l] = window->power[slice->row[l / VCRS_COMPONENTS]];
  if (plan->difference && slice->longest) VCRSDecodePlaces(plan, slice->number, 0, 1, place);
  for (PetscInt c = 0; c < nc; c++) BeginSums(plan, window, slice, place, x + c * ldx, ref[c], sum[c]);
  for (PetscInt k = first, n; k < slice->longest; k += n) {
    const PetscScalar *a;

    n = PetscMin(VCRS_BATCH, slice->longest - k);
    a = VCRSDecode(plan, plan->slices.ptr[slice->number] + VCRS_SLICE * (k - first), VCRS_SLICE * n, row, scale, window->normal, buffer);
    VCRSDecodePlaces(plan, slice->number, k, n, place);
    for (PetscInt c = 0; c < nc; c++) {
#if defined(VCRS_QUADS)
      if (quads) {
        const VCRSHostSteps steps = {.first = k, .n = n, .value = a, .place = place};

        for (int q = 0; q < NQUADS; q += NSUMS(VCRS_VALUES_FULL))
          AddGroup(plan, VCRS_VALUES_FULL, PLACES_DECODED, window, slice, &steps, q, x + c * ldx, ref[c], sum[c]);
        continue;
      }
#endif
      for (PetscInt p = 0; p < VCRS_SLICE * n; p++) {
        const PetscInt l = p % VCRS_SLICE;

        if (k + p / VCRS_SLICE < slice->length[l]) sum[c][l] = VCRSAddProduct(sum[c][l], a[p], x[c * ldx + place[p]], ref[c][l]);
      }
    }
  }
}

#if defined(VCRS_QUADS)
/* The sums of a slice for one column of x, if a loop exists for the storage of its entries and places */
static LITHE_ALWAYS_INLINE PetscBool SumEntries(const VCRSPlan *plan, const VCRSHostWindow *window, const VCRSHostSlice *slice, const PetscScalar *x,
                                                PetscScalar sum[])
{
  const PetscInt   s = slice->number, width = plan->grouped ? (PetscInt)sizeof(uint16_t) : plan->columns.width[s], first = plan->difference ? 1 : 0;
  const PetscInt64 column = VCRSColumnBase(plan, s);
  VCRSHostSteps    steps  = {.first = first, .n = UINT8_MAX};

  if (width > (PetscInt)sizeof(uint32_t) || !window->normal) return PETSC_FALSE;
  steps.value = (const char *)plan->slices.value + (size_t)plan->slices.ptr[s] * VCRSValueBytes(plan->values);
  steps.place = (const char *)plan->columns.offset + (plan->grouped ? VCRS_SLICE * width * column : plan->columns.begin[s]);
  steps.base  = plan->grouped ? NULL : plan->columns.base + column;
  steps.ahead = (PetscInt)PetscMin(X_AHEAD, VCRSColumnBase(plan, plan->slices.n) - 1 - column - slice->longest);
  if (VCRSSumAVX512_Private(plan, window, slice, &steps, width, x, sum)) return PETSC_TRUE;
  if (width == 1) AddStored(plan, PLACES_8, window, slice, &steps, x, sum);
  else if (width == 2) AddStored(plan, PLACES_16, window, slice, &steps, x, sum);
  else AddStored(plan, PLACES_32, window, slice, &steps, x, sum);
  return PETSC_TRUE;
}
#endif

/* y = add + sum for the rows of a slice */
static LITHE_ALWAYS_INLINE void EndSums(const VCRSPlan *plan, const VCRSHostWindow *window, const VCRSHostSlice *slice, const PetscScalar sum[],
                                        const PetscScalar *add, PetscScalar *y)
{
  const uint8_t *row = slice->row;

  y += window->first;
  if (add) add += window->first;
  if (window->whole && !add) {
    for (PetscInt l = 0; l < VCRS_SLICE; l += 8) {
      LITHE_UNROLL
      for (PetscInt u = 0; u < 8; u++) y[row[l + u]] = sum[l + u];
    }
  } else {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) {
      if (window->first + row[l] < plan->m) y[row[l]] = (add ? add[row[l]] : 0) + sum[l];
    }
  }
}

/* Fetches a part of the x of window w: one part with each slice of the window before */
static LITHE_ALWAYS_INLINE void FetchWindow(const VCRSPlan *plan, PetscInt w, PetscInt part, const PetscScalar *x)
{
  const uint16_t    *group = plan->groups.group + plan->groups.ptr[w];
  const PetscScalar *from  = x + VCRS_GROUP * (size_t)plan->groups.first[w];
  const PetscInt     n = plan->groups.ptr[w + 1] - plan->groups.ptr[w], first = n * part / VCRS_WINDOW_SLICES, end = n * (part + 1) / VCRS_WINDOW_SLICES;

  for (PetscInt k = first; k < end; k++) LITHE_PREFETCH(from + VCRS_GROUP * (PetscInt)group[k]);
}

/* quads: sums of quads in registers; a constant */
static LITHE_ALWAYS_INLINE void MultSlices(const VCRSPlan *plan, const PetscBool quads, const VCRSOperands *v, PetscScalar *xwindow, size_t ldxwindow)
{
  const PetscScalar *xs  = xwindow ? xwindow : v->x;
  const size_t       ldx = xwindow ? ldxwindow : v->ldx;
  PetscScalar        sum[SLICE_COLUMNS][VCRS_SLICE];
  uint8_t            natural[VCRS_WINDOW];
  VCRSHostWindow     window;
  VCRSHostSlice      slice;

  for (PetscInt r = 0; r < VCRS_WINDOW; r++) natural[r] = (uint8_t)r;
  for (PetscInt s = 0; s < plan->slices.n; s++) {
    if (s % VCRS_WINDOW_SLICES == 0) {
      BeginWindow(plan, s / VCRS_WINDOW_SLICES, &window);
      if (xwindow) VCRSGatherWindow(plan, s / VCRS_WINDOW_SLICES, v->nrhs, v->x, v->ldx, xwindow, ldxwindow);
    }
    if (xwindow && s / VCRS_WINDOW_SLICES + 1 < VCRSWindows(plan)) FetchWindow(plan, s / VCRS_WINDOW_SLICES + 1, s % VCRS_WINDOW_SLICES, v->x);
    BeginSlice(plan, s, &window, natural, &slice);
    for (PetscInt c0 = 0; c0 < v->nrhs; c0 += SLICE_COLUMNS) {
      const PetscInt     nc   = PetscMin(SLICE_COLUMNS, v->nrhs - c0);
      const PetscScalar *x    = xs + c0 * ldx;
      PetscBool          done = PETSC_FALSE;

#if defined(VCRS_QUADS)
      if (quads && v->nrhs == 1) done = SumEntries(plan, &window, &slice, x, sum[0]);
#endif
      if (!done) SumBatches(plan, quads, &window, &slice, nc, x, ldx, sum);
      for (PetscInt c = 0; c < nc; c++) EndSums(plan, &window, &slice, sum[c], v->add ? v->add + (c0 + c) * v->ldadd : NULL, v->y + (c0 + c) * v->ldy);
    }
  }
}

#if defined(VCRS_QUADS)
static QUADS_TARGET void MultSlicesQuads(const VCRSPlan *plan, const VCRSOperands *v, PetscScalar *xwindow, size_t ldxwindow)
{
  MultSlices(plan, PETSC_TRUE, v, xwindow, ldxwindow);
}

/* The rows of slice s of L1 or L2, lane by lane; PETSC_FALSE if no loop exists for them */
static QUADS_TARGET PetscBool MultSetSlice(const VCRSPlan *plan, const VCRSOperands *v, PetscInt s)
{
  const PetscInt  row = VCRS_SLICE * s, rows = PetscMin(VCRS_SLICE, plan->m - row);
  const PetscInt *lane[VCRS_SLICE];
  PetscInt        none[VCRS_SLICE]; /* the offsets read by lanes without entries: the offset of x[0] */
  uint8_t         natural[VCRS_SLICE], length[VCRS_SLICE];
  PetscScalar     sum[VCRS_SLICE];
  VCRSHostWindow  window;
  VCRSHostSlice   slice = {.number = s, .sorted = PETSC_FALSE, .length = length, .row = natural};
  VCRSHostSteps   steps = {.first = plan->difference ? 1 : 0, .n = UINT8_MAX, .place = lane};

  window.first  = row;
  window.whole  = (PetscBool)(rows == VCRS_SLICE);
  window.normal = plan->decoding.exponent ? VCRSPowersOfTwo(rows, plan->decoding.exponent + row, window.power) : PETSC_TRUE;
  window.sigma  = plan->difference && VCRSGetSigma(plan, row, rows, window.room) ? window.room : NULL;
  if (!window.normal) return PETSC_FALSE;
  for (PetscInt l = 0; l < VCRS_SLICE; l++) {
    PetscInt n = 0;

    if (l < rows) {
      const PetscInt set = VCRSGetId(plan, row + l);

      lane[l] = plan->sets.offset + plan->sets.ptr[set];
      n       = plan->sets.ptr[set + 1] - plan->sets.ptr[set];
      if (n > UINT8_MAX) return PETSC_FALSE;
    } else {
      window.power[l] = 1;
      window.room[l]  = 0;
    }
    if (!n) {
      none[l] = -(row + l);
      lane[l] = &none[l];
    }
    length[l]  = (uint8_t)n;
    natural[l] = (uint8_t)l;
  }
  MeasureLanes(slice.sorted, VCRS_SLICE, length, &slice.shortest, &slice.longest);
  steps.value = (const char *)plan->slices.value + (size_t)plan->slices.ptr[s] * VCRSValueBytes(plan->values);
  for (PetscInt c = 0; c < v->nrhs; c++) {
    AddStored(plan, PLACES_SETS, &window, &slice, &steps, v->x + c * v->ldx + row, sum);
    EndSums(plan, &window, &slice, sum, v->add ? v->add + c * v->ldadd : NULL, v->y + c * v->ldy);
  }
  return PETSC_TRUE;
}
#endif

/*
   y = A x (+ add) for the rows of slice s of L1 or L2, whose index sets change from row to row; PETSC_FALSE, with
   nothing done, if no loop exists
*/
PetscBool VCRSPlanMultSetSlice_Private(const VCRSPlan *plan, const VCRSOperands *v, PetscInt s)
{
#if defined(VCRS_QUADS)
  return HAS_QUADS() ? MultSetSlice(plan, v, s) : PETSC_FALSE;
#else
  (void)plan;
  (void)v;
  (void)s;
  return PETSC_FALSE;
#endif
}

/* y = A x (+ add) for the rows in slices of L3. xwindow: room for the x of a window if columns are grouped, with
   ldxwindow numbers per column of x */
void VCRSPlanMultSlices_Private(const VCRSPlan *plan, const VCRSOperands *v, PetscScalar *xwindow, size_t ldxwindow)
{
#if defined(VCRS_QUADS)
  if (HAS_QUADS()) {
    MultSlicesQuads(plan, v, xwindow, ldxwindow);
    return;
  }
#endif
  MultSlices(plan, PETSC_FALSE, v, xwindow, ldxwindow);
}
