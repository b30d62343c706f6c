/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products with the slices of layout L3 on processors with AVX-512, real double precision: all lanes of a slice at
   once, eight per register.

   A slice is read once from beginning to end, and ends with one mispredicted branch. Lanes without further entries are
   masked. x and tables are read by single loads, as in quads.h.
*/

#include "slices.h"

#if defined(LITHE_TARGET_AVX512) && PetscDefined(USE_REAL_DOUBLE) && !PetscDefined(USE_COMPLEX)
  #define VCRS_HAVE_AVX512
  #include <immintrin.h>

  #define LANES    8
  #define NVECTORS (VCRS_SLICE / LANES)
  /*
     steps: whole entries come in the order of storage, which processors see; only the way from the second-level cache
     is shortened
  */
  #define FULL_AHEAD       4
  #define IS_FIXED(values) ((values) == VCRS_VALUES_FIXED8 || (values) == VCRS_VALUES_FIXED16)

  /* a function inlined into a function for a target must be compiled for the same target */
  #define AVX512_INLINE static LITHE_ALWAYS_INLINE LITHE_TARGET_AVX512

/* Two numbers. Compilers tend to load the second by itself and to join the two afterwards */
AVX512_INLINE __m128d LoadPair(const PetscReal *low, const PetscReal *high)
{
  const __m128d first = _mm_load_sd(low);
  __m128d       pair;

  __asm__("vmovhpd %2, %1, %0" : "=v"(pair) : "v"(first), "m"(*high));
  return pair;
}

AVX512_INLINE __m512d LookUp(const PetscReal *t, uint32_t i0, uint32_t i1, uint32_t i2, uint32_t i3, uint32_t i4, uint32_t i5, uint32_t i6, uint32_t i7)
{
  const __m256d low  = _mm256_insertf128_pd(_mm256_castpd128_pd256(LoadPair(t + i0, t + i1)), LoadPair(t + i2, t + i3), 1);
  const __m256d high = _mm256_insertf128_pd(_mm256_castpd128_pd256(LoadPair(t + i4, t + i5)), LoadPair(t + i6, t + i7), 1);

  return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}

/* a vector of table entries, read one by one */
AVX512_INLINE __m512d LookUp8(const PetscReal *t, const uint8_t i[])
{
  return LookUp(t, i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7]);
}

AVX512_INLINE __m512d LookUp16(const PetscReal *t, const uint16_t i[])
{
  return LookUp(t, i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7]);
}

/*
   The same at places that are eight bytes of a word from bit first on: every byte or, in two words, every other byte.
   Loads are the bottleneck
*/
AVX512_INLINE __m512d LookUpCodes(const PetscReal *t, const void *code, const int width, const int first)
{
  uint64_t w[2];

  memcpy(&w[0], code, sizeof(uint64_t));
  memcpy(&w[1], (const char *)code + (width - 1) * sizeof(uint64_t), sizeof(uint64_t));
  __asm__("" : "+r"(w[0]), "+r"(w[1]));
  #define CODE(u) (uint8_t)(w[width * (u) / 8] >> (8 * width * (u) % 64 + first))
  return LookUp(t, CODE(0), CODE(1), CODE(2), CODE(3), CODE(4), CODE(5), CODE(6), CODE(7));
  #undef CODE
}

/* The x of vector b; each place takes width bytes */
AVX512_INLINE __m512d Gather(const PetscInt width, const void *place, int b, const PetscReal *x)
{
  const uint32_t *p32 = (const uint32_t *)place + LANES * b;

  if (width == 1) return LookUp8(x, (const uint8_t *)place + LANES * b);
  if (width == 2) return LookUp16(x, (const uint16_t *)place + LANES * b);
  return LookUp(x, p32[0], p32[1], p32[2], p32[3], p32[4], p32[5], p32[6], p32[7]);
}

/*
   The entries of vectors b and b + 1, of fixed point without their powers of two. powers: coefficients of the
   polynomial, or 0 for look-ups in logfine[]
*/
AVX512_INLINE void DecodePair(const VCRSPlan *plan, const VCRSValues values, const int powers, const void *value, int b, __m512d a[2])
{
  const uint8_t  *c8  = (const uint8_t *)value + LANES * b;
  const uint16_t *c16 = (const uint16_t *)value + LANES * b;

  LITHE_UNROLL
  for (int o = 0; o < 2; o++) {
    switch (values) {
    case VCRS_VALUES_SINGLE:
      a[o] = _mm512_cvtps_pd(_mm256_loadu_ps((const float *)value + LANES * (b + o)));
      break;
    case VCRS_VALUES_DICT8:
      a[o] = LookUpCodes(plan->decoding.dict, c8 + LANES * o, 1, 0);
      break;
    case VCRS_VALUES_DICT16:
      a[o] = LookUp16(plan->decoding.dict, c16 + LANES * o);
      break;
    case VCRS_VALUES_LOG8:
      a[o] = LookUpCodes(plan->decoding.coarse, c8 + LANES * o, 1, 0);
      break;
    case VCRS_VALUES_LOG16:
      /* x86 has the lower byte first */
      a[o] = LookUpCodes(plan->decoding.coarse, c16 + LANES * o, 2, 8);
      if (!powers) a[o] = _mm512_mul_pd(a[o], LookUpCodes(plan->decoding.fine, c16 + LANES * o, 2, 0));
      break;
    case VCRS_VALUES_FIXED8:
      a[o] = _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(c8 + LANES * o))));
      break;
    case VCRS_VALUES_FIXED16:
      a[o] = _mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(c16 + LANES * o))));
      break;
    default:
      a[o] = _mm512_loadu_pd((const PetscReal *)value + LANES * (b + o));
      break;
    }
  }
  if (values == VCRS_VALUES_LOG16 && powers) {
    /* as LitheLogFine(), bit for bit */
    const __m512 c = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)c16)), _mm512_set1_epi32(255)));
    __m512       v = _mm512_set1_ps(plan->decoding.power[powers - 1]);

    LITHE_UNROLL
    for (int k = powers - 2; k >= 0; k--) v = _mm512_fmadd_ps(v, c, _mm512_set1_ps(plan->decoding.power[k]));
    a[0] = _mm512_mul_pd(a[0], _mm512_cvtps_pd(_mm512_castps512_ps256(v)));
    a[1] = _mm512_mul_pd(a[1], _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)));
  }
}

/* s += a (x - r) for the entries k of all lanes; masked: only for lanes that are long enough */
AVX512_INLINE void AddStep(const VCRSPlan *plan, const VCRSValues values, const int powers, const PetscInt width, const PetscBool masked, __m256i length,
                           PetscInt k, const void *value, const void *place, const PetscReal *x, const __m512d power[], const __m512d r[], __m512d s[])
{
  const __mmask32 in = masked ? _mm256_cmpgt_epu8_mask(length, _mm256_set1_epi8((char)k)) : 0;

  LITHE_UNROLL
  for (int b = 0; b < NVECTORS; b += 2) {
    __m512d a[2];

    DecodePair(plan, values, powers, value, b, a);
    LITHE_UNROLL
    for (int o = 0; o < 2; o++) {
      const __m512d d = _mm512_sub_pd(Gather(width, place, b + o, x), r[b + o]);

      if (IS_FIXED(values)) a[o] = _mm512_mul_pd(a[o], power[b + o]);
      if (masked) s[b + o] = _mm512_mask3_fmadd_pd(a[o], d, s[b + o], (__mmask8)(in >> LANES * (b + o)));
      else s[b + o] = _mm512_fmadd_pd(a[o], d, s[b + o]);
    }
  }
}

/* The sums of a slice, as AddGroup() of quads.h computes them. values, powers and width must be constants */
AVX512_INLINE void SumSlice(const VCRSPlan *plan, const VCRSValues values, const int powers, const PetscInt width, const VCRSHostWindow *window,
                            const VCRSHostSlice *slice, const VCRSHostSteps *steps, const PetscReal *x, PetscReal sum[])
{
  const size_t    valuewidth = VCRS_SLICE * VCRSValueBytes(values), placewidth = VCRS_SLICE * (size_t)width;
  const size_t    ahead  = values == VCRS_VALUES_FULL ? FULL_AHEAD : SLICE_AHEAD;
  const __m256i   length = _mm256_loadu_si256((const __m256i *)slice->length);
  const __mmask32 any    = _mm256_cmpgt_epu8_mask(length, _mm256_setzero_si256());
  const char     *value = (const char *)steps->value, *place = (const char *)steps->place;
  const PetscInt *base = steps->base;
  __m512d         s[NVECTORS], r[NVECTORS], power[NVECTORS];
  PetscInt        k = 0;

  LITHE_UNROLL
  for (int b = 0; b < NVECTORS; b++) {
    const uint8_t *row = slice->row + LANES * b;

    s[b] = r[b] = power[b] = _mm512_setzero_pd();
    if (IS_FIXED(values)) power[b] = LookUp8(window->power, row);
    if (plan->difference && slice->longest) {
      const __mmask8 in = (__mmask8)(any >> LANES * b);

      r[b] = _mm512_maskz_mov_pd(in, Gather(width, place, b, base ? x + *base : x));
      if (window->sigma) s[b] = _mm512_maskz_mul_pd(in, LookUp8(window->sigma, row), r[b]);
    }
  }
  if (plan->difference) {
    place += placewidth;
    base = PetscSafePointerPlusOffset(base, 1);
    k    = 1;
  }
  for (; k < slice->shortest; k++, value += valuewidth, place += placewidth) {
    AddStep(plan, values, powers, width, PETSC_FALSE, length, k, value, place, base ? x + *base++ : x, power, r, s);
    LITHE_UNROLL
    for (size_t line = 0; line < valuewidth; line += CACHE_LINE) LITHE_PREFETCH(value + ahead * valuewidth + line);
    LITHE_PREFETCH(place + ahead * placewidth);
  }
  for (; k < slice->longest; k++, value += valuewidth, place += placewidth)
    AddStep(plan, values, powers, width, PETSC_TRUE, length, k, value, place, base ? x + *base++ : x, power, r, s);
  for (int b = 0; b < NVECTORS; b++) _mm512_storeu_pd(sum + LANES * b, s[b]);
}

  #if VCRS_LOG_POWERS != 5
    #error "There is a function for each number of coefficients"
  #endif

/* One function per container: in a single function all containers would share registers */
  #define SUM(name, values, powers)                                                                                                       \
    static LITHE_NO_INLINE LITHE_TARGET_AVX512 void name(const VCRSPlan *plan, const VCRSHostWindow *window, const VCRSHostSlice *slice,  \
                                                         const VCRSHostSteps *steps, PetscInt width, const PetscReal *x, PetscReal sum[]) \
    {                                                                                                                                     \
      if (width == 1) SumSlice(plan, values, powers, 1, window, slice, steps, x, sum);                                                    \
      else if (width == 2) SumSlice(plan, values, powers, 2, window, slice, steps, x, sum);                                               \
      else SumSlice(plan, values, powers, 4, window, slice, steps, x, sum);                                                               \
    }
SUM(SumFull, VCRS_VALUES_FULL, 0)
SUM(SumSingle, VCRS_VALUES_SINGLE, 0)
SUM(SumDict8, VCRS_VALUES_DICT8, 0)
SUM(SumDict16, VCRS_VALUES_DICT16, 0)
SUM(SumLog8, VCRS_VALUES_LOG8, 0)
SUM(SumLog16, VCRS_VALUES_LOG16, 0)
SUM(SumLog16Powers3, VCRS_VALUES_LOG16, 3)
SUM(SumLog16Powers4, VCRS_VALUES_LOG16, 4)
SUM(SumLog16Powers5, VCRS_VALUES_LOG16, 5)
SUM(SumFixed8, VCRS_VALUES_FIXED8, 0)
SUM(SumFixed16, VCRS_VALUES_FIXED16, 0)
  #undef SUM

typedef void (*SumFunction)(const VCRSPlan *, const VCRSHostWindow *, const VCRSHostSlice *, const VCRSHostSteps *, PetscInt, const PetscReal *, PetscReal[]);

/*
   Whether the processor has the instructions. -mat_vcrs_avx512 0 denies the instructions, for tests of the code for
   older processors
*/
static PetscBool HasAVX512(void)
{
  static int has = -1;

  if (has < 0) {
    PetscBool wanted = PETSC_TRUE;

    if (PetscOptionsGetBool(NULL, NULL, "-mat_vcrs_avx512", &wanted, NULL)) wanted = PETSC_FALSE; /* anything but a bool is an error of options */
    has = LITHE_HAS_AVX512() && wanted;
  }
  return (PetscBool)(has != 0);
}
#endif

/*
   The sums of a slice for one column of x, whose places have width bytes, at most four; PETSC_FALSE, without any
   effect, on a processor without AVX-512
*/
PetscBool VCRSSumAVX512_Private(const VCRSPlan *plan, const VCRSHostWindow *window, const VCRSHostSlice *slice, const VCRSHostSteps *steps, PetscInt width,
                                const PetscScalar *x, PetscScalar sum[])
{
#if defined(VCRS_HAVE_AVX512)
  static const SumFunction sums[] = {
    [VCRS_VALUES_FULL] = SumFull, [VCRS_VALUES_SINGLE] = SumSingle, [VCRS_VALUES_DICT8] = SumDict8,   [VCRS_VALUES_DICT16] = SumDict16,
    [VCRS_VALUES_LOG8] = SumLog8, [VCRS_VALUES_LOG16] = SumLog16,   [VCRS_VALUES_FIXED8] = SumFixed8, [VCRS_VALUES_FIXED16] = SumFixed16,
  };
  SumFunction function = sums[plan->values];

  if (!HasAVX512()) return PETSC_FALSE;
  if (plan->values == VCRS_VALUES_LOG16 && plan->decoding.shortlog)
    function = plan->decoding.power[4] != 0.F ? SumLog16Powers5 : (plan->decoding.power[3] != 0.F ? SumLog16Powers4 : SumLog16Powers3);
  (*function)(plan, window, slice, steps, width, x, sum);
  return PETSC_TRUE;
#else
  (void)plan;
  (void)window;
  (void)slice;
  (void)steps;
  (void)width;
  (void)x;
  (void)sum;
  return PETSC_FALSE;
#endif
}
