/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Sums of the lanes of a slice in registers, by quads of numbers: the loops of slices.c, where the compiler has vectors
   (VCRS_QUADS).
*/

#include "slices.h"

#define X_AHEAD 8 /* distance in steps of the prefetch of x without a window: X_LINES lines from the base of a step on */
#define X_LINES 4

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
