/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products with the slices of layout L3 on the host: y = A x (+ add).

   The 32 lanes of a slice are summed in registers over the entries that all of them have; what longer
   lanes have beyond is masked. Where there is one column of x, places in x and codes of tables are
   read as they are stored; numbers that are converted go through a buffer, batch by batch, for which
   compilers have better loops. Several columns share a decoded batch.

   x and tables are read by single loads that are put together in registers: compilers that are left
   to gather take instructions that are slower on most processors. What rows have besides their
   entries is made ready for a window of rows, where it is contiguous.
*/

#include "vcrshost.h"

#define SLICE_COLUMNS 4 /* columns of x that one pass over a decoded slice serves */
#define CACHE_LINE    64
#define SLICE_AHEAD   16 /* steps that converted values, codes and their places are fetched before they are needed */

/* How the places of entries in x are stored where they are summed */
typedef enum {
  PLACES_8,      /* uint8_t, from a base */
  PLACES_16,     /* uint16_t, from a base or from the beginning of a window */
  PLACES_DECODED /* PetscInt */
} Places;

/* Entries k of all lanes, for the k of a range: a step each */
typedef struct {
  PetscInt        n;
  const void     *value, *place; /* of the first */
  const PetscInt *base;          /* added to places, one for each step; or NULL */
  const char     *ahead;         /* stored values to be fetched at the first step; or NULL */
  size_t          aheadwidth;    /* bytes of them a step */
} Steps;

/* What the columns of x share of a window of rows, and of a slice in it */
typedef struct {
  PetscInt           first;              /* row of the window */
  PetscBool          whole;              /* all of its rows are in the matrix */
  PetscBool          normal;             /* no power of two is zero */
  const PetscScalar *sigma;              /* of each row, or NULL: all are zero */
  PetscScalar        room[VCRS_WINDOW];  /* for sigma */
  PetscReal          power[VCRS_WINDOW]; /* of two, for fixed point */
} Window;

typedef struct {
  PetscInt       number, shortest, longest;
  const uint8_t *length; /* of each lane */
  PetscInt       row[VCRS_SLICE];
  PetscReal      scale[VCRS_COMPONENTS * VCRS_SLICE];
} Slice;

/* ------------------------------------------------------------------ sums in registers */

#if defined(__has_builtin)
  #if __has_builtin(__builtin_shufflevector) && (PetscDefined(USE_REAL_SINGLE) || (PetscDefined(USE_REAL_DOUBLE) && defined(__x86_64__)))
    #define SLICE_VECTORS
  #endif
#endif

#if defined(SLICE_VECTORS)
  #define QUAD   4
  #define NQUADS (VCRS_COMPONENTS * VCRS_SLICE / QUAD)
  #define LANES  (QUAD / VCRS_COMPONENTS) /* of a quad */
  #define NSUMS  8                        /* quads that are summed at once, in sixteen registers with their operands */

typedef PetscReal Pair __attribute__((vector_size(2 * sizeof(PetscReal)), aligned(sizeof(PetscReal)), may_alias));
typedef PetscReal Quad __attribute__((vector_size(QUAD * sizeof(PetscReal)), aligned(sizeof(PetscReal)), may_alias));
  #if PetscDefined(USE_REAL_DOUBLE)
typedef int64_t MaskInt;
  #else
typedef int32_t MaskInt;
  #endif
typedef MaskInt Mask __attribute__((vector_size(QUAD * sizeof(MaskInt)), aligned(sizeof(MaskInt)), may_alias));

  /* A quad of a table of reals, or of scalars */
  #define LOOK_UP_REALS(table, INDEX) ((Quad){(table)[INDEX(0)], (table)[INDEX(1)], (table)[INDEX(2)], (table)[INDEX(3)]})
  #if PetscDefined(USE_COMPLEX)
    #define LOOK_UP(table, INDEX) __builtin_shufflevector(*(const Pair *)((table) + INDEX(0)), *(const Pair *)((table) + INDEX(1)), 0, 1, 2, 3)
  #else
    #define LOOK_UP(table, INDEX) LOOK_UP_REALS(table, INDEX)
  #endif

/* The x of the lanes of quad q */
static LITHE_ALWAYS_INLINE void GatherQuad(const Places places, const void *place, int q, const PetscScalar *x, Quad *out)
{
  const uint8_t  *p8  = (const uint8_t *)place + LANES * q;
  const uint16_t *p16 = (const uint16_t *)place + LANES * q;
  const PetscInt *p   = (const PetscInt *)place + LANES * q;

  #define INDEX8(u)  p8[u]
  #define INDEX16(u) p16[u]
  #define INDEX(u)   p[u]
  if (places == PLACES_8) *out = LOOK_UP(x, INDEX8);
  else if (places == PLACES_16) *out = LOOK_UP(x, INDEX16);
  else *out = LOOK_UP(x, INDEX);
  #undef INDEX8
  #undef INDEX16
  #undef INDEX
}

/* The entries of the lanes of quad q, from codes of tables or as they are */
static LITHE_ALWAYS_INLINE void DecodeQuad(const VCRSPlan *plan, const VCRSValues values, const void *value, int q, Quad *out)
{
  const int      first = values == VCRS_VALUES_DICT8 || values == VCRS_VALUES_DICT16 ? LANES * q : QUAD * q;
  const uint8_t *c8 = (const uint8_t *)value + first, *c16 = (const uint8_t *)value + 2 * first;
  uint32_t       word32 = 0;
  uint64_t       word64 = 0;

  /* Codes are read by the word: loads are what there are too few of */
  #define CODE8(u)  ((uint8_t)(word32 >> 8 * (u)))
  #define CODE16(u) ((uint16_t)(word64 >> 16 * (u)))
  #define COARSE(u) ((uint8_t)(word64 >> (16 * (u) + 8)))
  #define FINE(u)   ((uint8_t)(word64 >> 16 * (u)))
  switch (values) {
  case VCRS_VALUES_DICT8:
    memcpy(&word32, c8, LANES);
    *out = LOOK_UP(plan->dict, CODE8);
    break;
  case VCRS_VALUES_DICT16:
    memcpy(&word64, c16, 2 * LANES);
    *out = LOOK_UP(plan->dict, CODE16);
    break;
  case VCRS_VALUES_LOG8:
    memcpy(&word32, c8, QUAD);
    *out = LOOK_UP_REALS(plan->logcoarse, CODE8);
    break;
  case VCRS_VALUES_LOG16:
    memcpy(&word64, c16, 2 * QUAD);
    *out = LOOK_UP_REALS(plan->logcoarse, COARSE) * LOOK_UP_REALS(plan->logfine, FINE);
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

/* sum[l] += a_kl (x_kl - ref[l]) for all lanes l and the k of some steps; values and places must be constants */
static LITHE_ALWAYS_INLINE void AddSteps(const VCRSPlan *plan, const VCRSValues values, const Places places, const Steps *steps, const PetscScalar *x, const PetscScalar ref[], PetscScalar sum[])
{
  const size_t valuewidth = VCRS_SLICE * VCRSValueBytes(values);
  const size_t placewidth = VCRS_SLICE * (places == PLACES_8 ? sizeof(uint8_t) : places == PLACES_16 ? sizeof(uint16_t)
                                                                                                     : sizeof(PetscInt));

  for (int g = 0; g < NQUADS; g += NSUMS) {
    Quad s[NSUMS], t[NSUMS];

    LITHE_UNROLL
    for (int b = 0; b < NSUMS; b++) {
      s[b] = ((const Quad *)sum)[g + b];
      t[b] = (Quad){0};
    }
    for (PetscInt j = 0; j < steps->n; j++) {
      const char        *value = (const char *)steps->value + (size_t)j * valuewidth, *place = (const char *)steps->place + (size_t)j * placewidth;
      const PetscScalar *xj = steps->base ? x + steps->base[j] : x;

      LITHE_UNROLL
      for (int b = 0; b < NSUMS; b++) {
        Quad a, d;

        DecodeQuad(plan, values, value, g + b, &a);
        GatherQuad(places, place, g + b, xj, &d);
        d -= ((const Quad *)ref)[g + b];
        AddProducts(&a, &d, &s[b], &t[b]);
      }
      if (g == 0 && steps->ahead) {
        const char *ahead = steps->ahead + (size_t)j * steps->aheadwidth;

        LITHE_PREFETCH(ahead);
        if (steps->aheadwidth > CACHE_LINE) LITHE_PREFETCH(ahead + CACHE_LINE);
        LITHE_PREFETCH(place + SLICE_AHEAD * placewidth);
      }
    }
    LITHE_UNROLL
    for (int b = 0; b < NSUMS; b++) {
      CloseSum(&s[b], &t[b]);
      ((Quad *)sum)[g + b] = s[b];
    }
  }
}

/* The same where codes of tables are not decoded before */
static LITHE_ALWAYS_INLINE void AddStored(const VCRSPlan *plan, const Places places, const Steps *steps, const PetscScalar *x, const PetscScalar ref[], PetscScalar sum[])
{
  switch (plan->values) {
  case VCRS_VALUES_DICT8:
    AddSteps(plan, VCRS_VALUES_DICT8, places, steps, x, ref, sum);
    break;
  case VCRS_VALUES_DICT16:
    AddSteps(plan, VCRS_VALUES_DICT16, places, steps, x, ref, sum);
    break;
  case VCRS_VALUES_LOG8:
    AddSteps(plan, VCRS_VALUES_LOG8, places, steps, x, ref, sum);
    break;
  case VCRS_VALUES_LOG16:
    AddSteps(plan, VCRS_VALUES_LOG16, places, steps, x, ref, sum);
    break;
  default:
    AddSteps(plan, VCRS_VALUES_FULL, places, steps, x, ref, sum);
    break;
  }
}

/* The same for decoded entries k of the lanes of quads q < nquads whose length is over k; the others get nothing, and no product is made for them */
static LITHE_ALWAYS_INLINE void AddSome(PetscInt k, int nquads, const MaskInt length[], const PetscScalar a[], const PetscInt place[], const PetscScalar *x, const PetscScalar ref[], PetscScalar sum[])
{
  const MaskInt n    = (MaskInt)k;
  const Mask    some = {n, n, n, n};

  for (int q = 0; q < nquads; q++) {
    const Mask in = ((const Mask *)length)[q] > some;
    const Quad aq = (Quad)(((const Mask *)a)[q] & in), rq = (Quad)(((const Mask *)ref)[q] & in);
    Quad       xq, t                                      = {0};

    GatherQuad(PLACES_DECODED, place, q, x, &xq);
    xq = (Quad)((Mask)xq & in) - rq;
    AddProducts(&aq, &xq, &((Quad *)sum)[q], &t);
    CloseSum(&((Quad *)sum)[q], &t);
  }
}
#endif

/* ------------------------------------------------------------------ slices */

static LITHE_ALWAYS_INLINE void BeginWindow(const VCRSPlan *plan, PetscInt w, Window *window)
{
  const PetscInt first = VCRS_WINDOW * w, n = PetscMin(VCRS_WINDOW, plan->m - first);

  window->first  = first;
  window->whole  = (PetscBool)(n == VCRS_WINDOW);
  window->normal = plan->exponent ? VCRSPowersOfTwo(n, plan->exponent + first, window->power) : PETSC_TRUE;
  for (PetscInt r = n; r < VCRS_WINDOW; r++) window->power[r] = 1; /* of lanes that pad */
  window->sigma = NULL;
  if (!plan->difference) return;
  if (plan->sigmakind == VCRS_SIGMA_FULL) {
    window->sigma = plan->sigma + first;

    /* Lanes read it in their own order, so no processor sees where the next window's begins */
    for (PetscInt r = VCRS_WINDOW; r < 2 * VCRS_WINDOW; r += CACHE_LINE / (PetscInt)sizeof(PetscScalar)) LITHE_PREFETCH(window->sigma + r);
  } else if (VCRSGetSigma(plan, first, n, window->room)) window->sigma = window->room;
}

static LITHE_ALWAYS_INLINE void BeginSlice(const VCRSPlan *plan, PetscInt s, const Window *window, Slice *slice)
{
  const uint8_t *length  = plan->rowlength + VCRS_SLICE * s;
  uint8_t        longest = 0, shortest = UINT8_MAX;

  for (PetscInt l = 0; l < VCRS_SLICE; l++) {
    longest  = PetscMax(longest, length[l]);
    shortest = PetscMin(shortest, length[l]);
  }
  slice->number   = s;
  slice->length   = length;
  slice->longest  = longest;
  slice->shortest = shortest;
  VCRSLaneRows(plan, s, slice->row);
  if (!plan->exponent) return;
  for (PetscInt l = 0; l < VCRS_SLICE; l++) {
    const PetscReal power = window->power[slice->row[l] - window->first];

    for (PetscInt c = 0; c < VCRS_COMPONENTS; c++) slice->scale[VCRS_COMPONENTS * l + c] = power;
  }
}

/* Zeros for the lanes of a slice; said so that no compiler calls memset() or takes a string instruction for it */
static LITHE_ALWAYS_INLINE void ClearScalars(PetscScalar a[])
{
#if defined(SLICE_VECTORS)
  LITHE_UNROLL
  for (int q = 0; q < NQUADS; q++) ((Quad *)a)[q] = (Quad){0};
#else
  for (PetscInt l = 0; l < VCRS_SLICE; l++) a[l] = 0;
#endif
}

/* The references of the lanes and what their sums begin with; place[] has room for a slice */
static LITHE_ALWAYS_INLINE void BeginSums(const VCRSPlan *plan, const Window *window, const Slice *slice, const PetscScalar *x, PetscInt place[], PetscScalar ref[], PetscScalar sum[])
{
  const PetscInt *row = slice->row, first = window->first;

  if (!plan->difference || !slice->longest) {
    ClearScalars(ref);
    ClearScalars(sum);
    return;
  }
  VCRSDecodePlaces(plan, slice->number, 0, 1, place);
  if (slice->shortest) {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) ref[l] = x[place[l]];
  } else {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) ref[l] = slice->length[l] ? x[place[l]] : 0;
  }
  if (!window->sigma) ClearScalars(sum);
  else if (slice->shortest) {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) sum[l] = VCRSAddProduct(0, window->sigma[row[l] - first], ref[l], 0);
  } else {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) sum[l] = slice->length[l] ? VCRSAddProduct(0, window->sigma[row[l] - first], ref[l], 0) : 0;
  }
}

static LITHE_ALWAYS_INLINE PetscInt64 EntryPosition(const VCRSPlan *plan, const Slice *slice, PetscInt k)
{
  return plan->sliceptr[slice->number] + VCRS_SLICE * (k - (plan->difference ? 1 : 0));
}

/* Where the entries k of a slice are stored */
static LITHE_ALWAYS_INLINE const char *StoredEntries(const VCRSPlan *plan, const Slice *slice, PetscInt k)
{
  return (const char *)plan->value + (size_t)EntryPosition(plan, slice, k) * VCRSValueBytes(plan->values);
}

/* Entries k .. k+n-1 of a slice, decoded; the codes of tables where they stand, if tables is true */
static LITHE_ALWAYS_INLINE const void *Entries(const VCRSPlan *plan, PetscBool normal, const Slice *slice, PetscInt k, PetscInt n, PetscBool tables, PetscScalar buffer[])
{
  const VCRSValues values = plan->values;

  if (tables && (values == VCRS_VALUES_DICT8 || values == VCRS_VALUES_DICT16 || values == VCRS_VALUES_LOG8 || values == VCRS_VALUES_LOG16)) return StoredEntries(plan, slice, k);
  return VCRSDecode(plan, EntryPosition(plan, slice, k), VCRS_SLICE * n, slice->row, slice->scale, normal, buffer);
}

#if defined(SLICE_VECTORS)
/* One column of x: adds the entries from k on that all lanes have, if there is a loop for how their places are stored. Returns the next k */
static LITHE_ALWAYS_INLINE PetscInt AddCommon(const VCRSPlan *plan, PetscBool normal, const Slice *slice, PetscInt k, const PetscScalar *x, PetscScalar buffer[], const PetscScalar ref[], PetscScalar sum[])
{
  const PetscInt   s = slice->number, width = plan->grouped ? (PetscInt)sizeof(uint16_t) : plan->slicewidth[s];
  const PetscInt64 column = VCRSColumnBase(plan, s);
  const char      *place  = (const char *)plan->coloffset + (plan->grouped ? VCRS_SLICE * width * column : plan->sliceoffset[s]);
  const PetscInt  *base   = plan->grouped ? NULL : plan->colbase + column;
  Steps            steps  = {.aheadwidth = VCRS_SLICE * VCRSValueBytes(plan->values)};

  if (width > (PetscInt)sizeof(uint16_t)) return k;
  for (; k < slice->shortest; k += steps.n) {
    steps.n     = PetscMin(VCRS_BATCH, slice->shortest - k);
    steps.value = Entries(plan, normal, slice, k, steps.n, PETSC_TRUE, buffer);
    steps.place = place + VCRS_SLICE * width * k;
    steps.base  = PetscSafePointerPlusOffset(base, k);
    if (plan->values != VCRS_VALUES_FULL) steps.ahead = StoredEntries(plan, slice, k + SLICE_AHEAD);
    if (width == 1) AddStored(plan, PLACES_8, &steps, x, ref, sum);
    else AddStored(plan, PLACES_16, &steps, x, ref, sum);
  }
  return k;
}

/* Whether a lane of a quad has an entry k */
static LITHE_ALWAYS_INLINE PetscBool Reaches(const uint8_t length[], PetscInt k)
{
  PetscBool some = PETSC_FALSE;

  for (PetscInt l = 0; l < LANES; l++) some = (PetscBool)(some || length[l] > k);
  return some;
}
#endif

/* Adds a decoded batch of entries k .. k+n-1 for one column of x */
static LITHE_ALWAYS_INLINE void AddDecoded(const VCRSPlan *plan, const Slice *slice, PetscInt k, PetscInt n, const PetscScalar a[], PetscInt place[], const PetscScalar *x, const PetscScalar ref[], PetscScalar sum[])
{
  const PetscInt common = PetscMax(0, PetscMin(n, slice->shortest - k));

#if defined(SLICE_VECTORS)
  const Steps steps  = {.n = common, .value = a, .place = place};
  int         nquads = NQUADS;
  MaskInt     length[VCRS_COMPONENTS * VCRS_SLICE];

  if (common) AddSteps(plan, VCRS_VALUES_FULL, PLACES_DECODED, &steps, x, ref, sum);
  if (common == n) return;
  for (PetscInt l = 0; l < VCRS_COMPONENTS * VCRS_SLICE; l++) length[l] = slice->length[l / VCRS_COMPONENTS];
  for (PetscInt j = common; j < n; j++) {
    const uint8_t most = (uint8_t)(k + j);
    PetscInt     *pj   = place + VCRS_SLICE * j;

    while (!Reaches(slice->length + LANES * (nquads - 1), k + j)) nquads--;
    for (PetscInt l = 0; l < VCRS_SLICE; l++) pj[l] = slice->length[l] > most ? pj[l] : 0; /* entries there are, so x is not empty */
    AddSome(k + j, nquads, length, a + VCRS_SLICE * j, pj, x, ref, sum);
  }
#else
  (void)plan;
  for (PetscInt j = 0; j < n; j++) {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) {
      const PetscInt p = VCRS_SLICE * j + l;

      if (j < common || k + j < slice->length[l]) sum[l] = VCRSAddProduct(sum[l], a[p], x[place[p]], ref[l]);
    }
  }
#endif
}

/* y = add + sum for the rows of a slice */
static LITHE_ALWAYS_INLINE void EndSums(const VCRSPlan *plan, PetscBool whole, const Slice *slice, const PetscScalar sum[], const PetscScalar *add, PetscScalar *y)
{
  const PetscInt *row = slice->row;

  if (whole && !add) {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) y[row[l]] = sum[l];
  } else {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) {
      if (row[l] < plan->m) y[row[l]] = (add ? add[row[l]] : 0) + sum[l];
    }
  }
}

static LITHE_TARGET_CLONES_NARROW void MultSlices(const VCRSPlan *plan, const VCRSOperands *v, PetscScalar *xwindow, size_t ldxwindow)
{
  const PetscScalar *xs    = xwindow ? xwindow : v->x;
  const size_t       ldx   = xwindow ? ldxwindow : v->ldx;
  const PetscInt     first = plan->difference ? 1 : 0;
  PetscScalar        buffer[VCRS_BATCH * VCRS_SLICE], sum[SLICE_COLUMNS][VCRS_SLICE], ref[SLICE_COLUMNS][VCRS_SLICE];
  PetscInt           place[VCRS_BATCH * VCRS_SLICE];
  Window             window;
  Slice              slice;

  for (PetscInt s = 0; s < plan->nslices; s++) {
    if (s % VCRS_WINDOW_SLICES == 0) {
      BeginWindow(plan, s / VCRS_WINDOW_SLICES, &window);
      if (xwindow) VCRSGatherWindow(plan, s / VCRS_WINDOW_SLICES, v->nrhs, v->x, v->ldx, xwindow, ldxwindow);
    }
    BeginSlice(plan, s, &window, &slice);
    for (PetscInt c0 = 0; c0 < v->nrhs; c0 += SLICE_COLUMNS) {
      const PetscInt     nc = PetscMin(SLICE_COLUMNS, v->nrhs - c0);
      const PetscScalar *x  = xs + c0 * ldx;
      PetscInt           k  = first;

      for (PetscInt c = 0; c < nc; c++) BeginSums(plan, &window, &slice, x + c * ldx, place, ref[c], sum[c]);
#if defined(SLICE_VECTORS)
      if (v->nrhs == 1) k = AddCommon(plan, window.normal, &slice, k, x, buffer, ref[0], sum[0]);
#endif
      for (PetscInt n; k < slice.longest; k += n) {
        const PetscScalar *a;

        n = PetscMin(VCRS_BATCH, slice.longest - k);
        a = (const PetscScalar *)Entries(plan, window.normal, &slice, k, n, PETSC_FALSE, buffer);
        VCRSDecodePlaces(plan, s, k, n, place);
        for (PetscInt c = 0; c < nc; c++) AddDecoded(plan, &slice, k, n, a, place, x + c * ldx, ref[c], sum[c]);
      }
      for (PetscInt c = 0; c < nc; c++) EndSums(plan, window.whole, &slice, sum[c], v->add ? v->add + (c0 + c) * v->ldadd : NULL, v->y + (c0 + c) * v->ldy);
    }
  }
}

/* y = A x (+ add) for the rows in slices of L3; xwindow: room for the x of a window where columns are grouped, ldxwindow numbers for each column of x */
void VCRSPlanMultSlices_Private(const VCRSPlan *plan, const VCRSOperands *v, PetscScalar *xwindow, size_t ldxwindow)
{
  MultSlices(plan, v, xwindow, ldxwindow);
}
