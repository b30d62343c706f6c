/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the host products: stored entries and columns decoded in batches, runs of rows of one index set, and the
   inner product of a single row.

   Entries go through a small buffer of PetscScalar that stays in the first-level cache. Each container has one decoding
   loop, which vectorises, and kernels know one type only. Containers that hold PetscScalar already are read in place.

   Complex products are written by components: C's product looks after Inf and NaN, which keeps
   compilers from vectorising it.
*/

#include <lithe/private/vcrs/host.h>
#include <lithe/private/codec/logarithmic.h>
#include <lithe/private/lithecompiler.h>

#define VCRS_BATCH 16 /* entries per lane decoded at once */
#define CACHE_LINE 64

/* Four numbers in registers, assembled from single loads and taken apart again */
#if defined(__has_builtin) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ /* codes are taken from words */
  #if __has_builtin(__builtin_shufflevector) && (PetscDefined(USE_REAL_SINGLE) || (PetscDefined(USE_REAL_DOUBLE) && defined(__x86_64__)))
    #define VCRS_QUADS
    #define VCRS_QUAD 4
    #if VCRS_GROUP != VCRS_QUAD
      #error "VCRSGatherWindow() copies a group as a quad"
    #endif
typedef PetscReal VCRSQuad __attribute__((vector_size(VCRS_QUAD * sizeof(PetscReal)), aligned(sizeof(PetscReal)), may_alias));
    #if PetscDefined(USE_REAL_DOUBLE)
typedef int64_t VCRSMaskInt;
    #else
typedef int32_t VCRSMaskInt;
    #endif
  #endif
#endif

/* The operands: columns of x, add and y at distances ldx, ldadd and ldy */
typedef struct {
  PetscInt           nrhs;
  const PetscScalar *x, *add; /* add: NULL, or y itself, or separate from y */
  PetscScalar       *y;
  size_t             ldx, ldadd, ldy;
  PetscReal          sign; /* of the imaginary parts of the entries: -1 for the Hermitian transpose */
} VCRSOperands;

/* Rows first .. first+count-1 (of the matrix or of a slice) of one index set */
typedef struct {
  PetscInt first, count, set;
} VCRSRun;

/* Runs of rows with one index set: their number; in L0 the rows in short runs; in L1 and L2 the rows that are summed
   again, beside a slice with one set */
typedef struct {
  PetscInt64 n, nshort, nside;
} VCRSRunCounts;

/* sets.c */
PETSC_INTERN void          VCRSPlanMultSets_Private(const VCRSPlan *, const VCRSOperands *);
PETSC_INTERN VCRSRunCounts VCRSPlanCountRuns_Private(const VCRSPlan *);

/* plainrows.c */
PETSC_INTERN void VCRSPlanMultRows_Private(const VCRSPlan *, const VCRSOperands *);
PETSC_INTERN void VCRSPlanMultTransposeRows_Private(const VCRSPlan *, const VCRSOperands *);

/* slices.c */
PETSC_INTERN void      VCRSPlanMultSlices_Private(const VCRSPlan *, const VCRSOperands *, PetscScalar *, size_t);
PETSC_INTERN PetscBool VCRSPlanMultSetSlice_Private(const VCRSPlan *, const VCRSOperands *, PetscInt);

/* transpose.c */
PETSC_INTERN PetscErrorCode VCRSPlanMultTranspose_Private(const VCRSPlan *, const VCRSOperands *);

/* sum + a (x - ref) */
static LITHE_ALWAYS_INLINE PetscScalar VCRSAddProduct(PetscScalar sum, PetscScalar a, PetscScalar x, PetscScalar ref)
{
#if PetscDefined(USE_COMPLEX)
  const PetscReal ar = PetscRealPart(a), ai = PetscImaginaryPart(a);
  const PetscReal xr = PetscRealPart(x) - PetscRealPart(ref), xi = PetscImaginaryPart(x) - PetscImaginaryPart(ref);

  return PetscCMPLX(PetscRealPart(sum) + (ar * xr - ai * xi), PetscImaginaryPart(sum) + (ar * xi + ai * xr));
#else
  return sum + a * (x - ref);
#endif
}

/* sum_k a[k stride] (x[index[k indexstride]] - ref), in four independent partial sums */
static LITHE_ALWAYS_INLINE PetscScalar VCRSDot(PetscInt n, const PetscScalar a[], PetscInt stride, const PetscInt index[], PetscInt indexstride,
                                               const PetscScalar *x, PetscScalar ref)
{
  PetscScalar sum[4] = {0, 0, 0, 0};
  PetscInt    k      = 0;

  for (; k + 4 <= n; k += 4) {
    LITHE_UNROLL
    for (int u = 0; u < 4; u++) sum[u] = VCRSAddProduct(sum[u], a[(k + u) * stride], x[index[(k + u) * indexstride]], ref);
  }
  for (; k < n; k++) sum[0] = VCRSAddProduct(sum[0], a[k * stride], x[index[k * indexstride]], ref);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The initial values of count sums of one column: y = add, or 0 without add */
static LITHE_ALWAYS_INLINE void VCRSBegin(PetscInt count, const PetscScalar *add, PetscScalar *y)
{
  if (!add) memset(y, 0, (size_t)count * sizeof(*y));
  else if (add != y) memcpy(y, add, (size_t)count * sizeof(*y));
}

/* a with its imaginary part multiplied by sign */
static LITHE_ALWAYS_INLINE PetscScalar VCRSConjugateIf(PetscScalar a, PetscReal sign)
{
#if PetscDefined(USE_COMPLEX)
  return PetscCMPLX(PetscRealPart(a), sign * PetscImaginaryPart(a));
#else
  (void)sign;
  return a;
#endif
}

/* q 2^e, rounded once */
static inline PetscReal VCRSTimesPowerOfTwo(int q, int e)
{
#if PetscDefined(USE_REAL___FLOAT128)
  return scalbnq(q, e);
#else
  return (PetscReal)ldexp((double)q, e);
#endif
}

/* One stored entry; row names its exponent */
static inline PetscScalar VCRSDecodeEntry(const VCRSPlan *plan, PetscInt64 position, PetscInt row)
{
  const size_t p        = VCRS_COMPONENTS * (size_t)position;
  const int    exponent = plan->decoding.exponent ? plan->decoding.exponent[row] : 0;
  PetscReal    part[2]  = {0, 0};

  if (plan->values == VCRS_VALUES_FULL) return ((const PetscScalar *)plan->slices.value)[position];
  if (plan->values == VCRS_VALUES_DICT8) return plan->decoding.dict[((const uint8_t *)plan->slices.value)[position]];
  if (plan->values == VCRS_VALUES_DICT16) return plan->decoding.dict[((const uint16_t *)plan->slices.value)[position]];
  for (PetscInt c = 0; c < VCRS_COMPONENTS; c++) {
    switch (plan->values) {
    case VCRS_VALUES_SINGLE:
      part[c] = ((const float *)plan->slices.value)[p + c];
      break;
    case VCRS_VALUES_LOG8:
      part[c] = plan->decoding.coarse[((const uint8_t *)plan->slices.value)[p + c]];
      break;
    case VCRS_VALUES_LOG16: {
      const uint16_t code = ((const uint16_t *)plan->slices.value)[p + c];

      part[c] = plan->decoding.coarse[code >> 8] * plan->decoding.fine[code & 255];
    } break;
    case VCRS_VALUES_FIXED8:
      part[c] = VCRSTimesPowerOfTwo(((const int8_t *)plan->slices.value)[p + c], exponent);
      break;
    default:
      part[c] = VCRSTimesPowerOfTwo(((const int16_t *)plan->slices.value)[p + c], exponent);
      break;
    }
  }
#if PetscDefined(USE_COMPLEX)
  return PetscCMPLX(part[0], part[1]);
#else
  return part[0];
#endif
}

/* 2^e of n numbers e. PETSC_FALSE if one underflows, as it may in a row of denormal numbers */
static LITHE_ALWAYS_INLINE PetscBool VCRSPowersOfTwo(PetscInt n, const int16_t e[], PetscReal power[])
{
  PetscBool normal = PETSC_TRUE;

#if PetscDefined(USE_REAL_DOUBLE)
  int16_t lowest = 0, highest = 0;

  for (PetscInt l = 0; l < n; l++) {
    lowest  = PetscMin(lowest, e[l]);
    highest = PetscMax(highest, e[l]);
  }

  /* An IEEE double that is a power of two is its exponent, shifted */
  if (lowest >= -1022 && highest <= 1023) {
    for (PetscInt l = 0; l < n; l++) {
      const uint64_t bits = (uint64_t)((int64_t)e[l] + 1023) << 52;

      memcpy(&power[l], &bits, sizeof(double));
    }
    return normal;
  }
#endif
  for (PetscInt l = 0; l < n; l++) {
    power[l] = VCRSTimesPowerOfTwo(1, e[l]);
    if (power[l] == 0) normal = PETSC_FALSE;
  }
  return normal;
}

/* The powers of the exponents of 32 rows, once per component of an entry. PETSC_FALSE as above */
static LITHE_ALWAYS_INLINE PetscBool VCRSScaleExponents(const int16_t e[], PetscReal scale[])
{
  PetscReal       power[VCRS_SLICE];
  const PetscBool normal = VCRSPowersOfTwo(VCRS_SLICE, e, power);

  for (PetscInt l = 0; l < VCRS_SLICE; l++) {
    for (PetscInt c = 0; c < VCRS_COMPONENTS; c++) scale[VCRS_COMPONENTS * l + c] = power[l];
  }
  return normal;
}

/* The same for the given rows; rows outside the matrix are padding lanes */
static LITHE_ALWAYS_INLINE PetscBool VCRSScale(const VCRSPlan *plan, const PetscInt row[], PetscReal scale[])
{
  int16_t e[VCRS_SLICE];

  for (PetscInt l = 0; l < VCRS_SLICE; l++) e[l] = row[l] < plan->m ? plan->decoding.exponent[row[l]] : 0;
  return VCRSScaleExponents(e, scale);
}

/*
   Look-ups in tables, eight codes at a time. They are compiled for the base instruction set only: a look-up is a load,
   and wide vectors would have to be assembled from many loads.
*/
#define VCRS_LOOK_UP(name, Code, Entry, value)                                                                                                          \
  static LITHE_NO_INLINE void name(PetscInt n, const Code *restrict code, const Entry *restrict table, const Entry *restrict fine, Entry *restrict out) \
  {                                                                                                                                                     \
    PetscInt p = 0;                                                                                                                                     \
                                                                                                                                                        \
    for (; p + 8 <= n; p += 8) {                                                                                                                        \
      uint64_t word[sizeof(Code)];                                                                                                                      \
                                                                                                                                                        \
      memcpy(word, code + p, sizeof(word));                                                                                                             \
      LITHE_UNROLL                                                                                                                                      \
      for (int u = 0; u < 8; u++) {                                                                                                                     \
        const int      w = u * (int)sizeof(Code) / 8, bit = 8 * (u * (int)sizeof(Code) % 8);                                                            \
        const uint32_t c = (uint32_t)(Code)(word[w] >> bit);                                                                                            \
                                                                                                                                                        \
        out[p + u] = value;                                                                                                                             \
      }                                                                                                                                                 \
    }                                                                                                                                                   \
    for (; p < n; p++) {                                                                                                                                \
      const uint32_t c = code[p];                                                                                                                       \
                                                                                                                                                        \
      out[p] = value;                                                                                                                                   \
    }                                                                                                                                                   \
    (void)fine;                                                                                                                                         \
  }
VCRS_LOOK_UP(VCRSLookUpDict8, uint8_t, PetscScalar, table[c])
VCRS_LOOK_UP(VCRSLookUpDict16, uint16_t, PetscScalar, table[c])
VCRS_LOOK_UP(VCRSLookUpLog8, uint8_t, PetscReal, table[c])
VCRS_LOOK_UP(VCRSLookUpLog16, uint16_t, PetscReal, table[c >> 8] * fine[c & 255])
#undef VCRS_LOOK_UP

/*
   Equals VCRSLookUpLog16() bit for bit, if the lower halves of codes stand for a polynomial: one look-up in place of
   two
*/
static LITHE_NO_INLINE LITHE_TARGET_FMA void VCRSLookUpShortLog16(PetscInt n, const uint16_t *restrict code, const PetscReal *restrict table,
                                                                  const float *restrict power, PetscReal *restrict out)
{
  float fine[VCRS_SLICE];

  for (PetscInt p = 0; p < n; p += VCRS_SLICE) {
    const PetscInt count = PetscMin(VCRS_SLICE, n - p);

    for (PetscInt u = 0; u < count; u++) fine[u] = LitheLogFine(VCRS_LOG_POWERS, power, (float)(code[p + u] & 255));
    for (PetscInt u = 0; u < count; u++) out[p + u] = table[code[p + u] >> 8] * (PetscReal)fine[u];
  }
}

/*
   The entries at position .. position+count-1. Entry p belongs to row[p % 32], whose power of two is
   in scale[]; both are read for fixed-point entries only. Returns buffer, or where the entries stand.
*/
static LITHE_ALWAYS_INLINE const PetscScalar *VCRSDecode(const VCRSPlan *plan, PetscInt64 position, PetscInt count, const PetscInt row[],
                                                         const PetscReal scale[], PetscBool normal, PetscScalar buffer[])
{
  const PetscInt n = VCRS_COMPONENTS * count, width = VCRS_COMPONENTS * VCRS_SLICE;
  PetscReal     *out  = (PetscReal *)buffer;
  const char    *data = (const char *)plan->slices.value + (size_t)position * VCRSValueBytes(plan->values);

  switch (plan->values) {
  case VCRS_VALUES_SINGLE: {
    const float *v = (const float *)data;

    LITHE_INDEPENDENT
    for (PetscInt p = 0; p < n; p++) out[p] = v[p];
  } break;
  case VCRS_VALUES_DICT8:
    VCRSLookUpDict8(count, (const uint8_t *)data, plan->decoding.dict, NULL, buffer);
    break;
  case VCRS_VALUES_DICT16:
    VCRSLookUpDict16(count, (const uint16_t *)data, plan->decoding.dict, NULL, buffer);
    break;
  case VCRS_VALUES_LOG8:
    VCRSLookUpLog8(n, (const uint8_t *)data, plan->decoding.coarse, NULL, out);
    break;
  case VCRS_VALUES_LOG16:
    if (plan->decoding.shortlog && LITHE_HAS_FMA()) VCRSLookUpShortLog16(n, (const uint16_t *)data, plan->decoding.coarse, plan->decoding.power, out);
    else VCRSLookUpLog16(n, (const uint16_t *)data, plan->decoding.coarse, plan->decoding.fine, out);
    break;
  case VCRS_VALUES_FIXED8:
  case VCRS_VALUES_FIXED16:
    if (!normal) {
      for (PetscInt p = 0; p < count; p++) {
        const PetscInt r = row[p % VCRS_SLICE];

        buffer[p] = r < plan->m ? VCRSDecodeEntry(plan, position + p, r) : 0;
      }
    } else {
      for (PetscInt p = 0; p < n; p += width) {
        const PetscInt w = PetscMin(width, n - p);

        if (plan->values == VCRS_VALUES_FIXED8) {
          const int8_t *q = (const int8_t *)data + p;

          LITHE_INDEPENDENT
          /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): exists if entries are fixed-point */
          for (PetscInt l = 0; l < w; l++) out[p + l] = q[l] * scale[l];
        } else {
          const int16_t *q = (const int16_t *)data + p;

          LITHE_INDEPENDENT
          /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): exists if entries are fixed-point */
          for (PetscInt l = 0; l < w; l++) out[p + l] = q[l] * scale[l];
        }
      }
    }
    break;
  default:
    return (const PetscScalar *)data;
  }
  return buffer;
}

/* Columns of entries k .. k+nk-1 of the 32 lanes of slice s of L3; padding gets arbitrary columns */
static LITHE_ALWAYS_INLINE void VCRSDecodeColumns(const VCRSPlan *plan, PetscInt s, PetscInt k, PetscInt nk, PetscInt col[])
{
  PetscInt        width;
  const PetscInt *base;
  const uint8_t  *data;

  if (plan->grouped) {
    const PetscInt  w = s / VCRS_WINDOW_SLICES, first = VCRS_GROUP * plan->groups.first[w];
    const uint16_t *number = (const uint16_t *)plan->columns.offset + VCRS_SLICE * (VCRSColumnBase(plan, s) + k),
                   *group  = plan->groups.group + plan->groups.ptr[w];

    LITHE_INDEPENDENT
    for (PetscInt l = 0; l < VCRS_SLICE * nk; l++) col[l] = first + VCRS_GROUP * group[number[l] / VCRS_GROUP] + number[l] % VCRS_GROUP;
    return;
  }

  width = plan->columns.width[s];
  base  = plan->columns.base + VCRSColumnBase(plan, s) + k;
  data  = plan->columns.offset + plan->columns.begin[s] + (size_t)(VCRS_SLICE * k) * (size_t)width;
#define VCRS_ADD_BASES(Offset)                                                     \
  for (PetscInt j = 0; j < nk; j++) {                                              \
    const Offset  *offset = (const Offset *)data + VCRS_SLICE * j;                 \
    PetscInt      *to     = col + VCRS_SLICE * j;                                  \
    const PetscInt first  = base[j];                                               \
                                                                                   \
    LITHE_INDEPENDENT                                                              \
    for (PetscInt l = 0; l < VCRS_SLICE; l++) to[l] = first + (PetscInt)offset[l]; \
  }
  switch (width) {
  case 1:
    VCRS_ADD_BASES(uint8_t)
    break;
  case 2:
    VCRS_ADD_BASES(uint16_t)
    break;
  case 4:
    VCRS_ADD_BASES(uint32_t)
    break;
  default:
    VCRS_ADD_BASES(uint64_t)
    break;
  }
#undef VCRS_ADD_BASES
}

/* The same as the data of VCRSGatherWindow(), if columns are grouped */
static LITHE_ALWAYS_INLINE void VCRSDecodePlaces(const VCRSPlan *plan, PetscInt s, PetscInt k, PetscInt nk, PetscInt place[])
{
  if (plan->grouped) {
    const uint16_t *number = (const uint16_t *)plan->columns.offset + VCRS_SLICE * (VCRSColumnBase(plan, s) + k);

    LITHE_INDEPENDENT
    for (PetscInt l = 0; l < VCRS_SLICE * nk; l++) place[l] = number[l];
  } else VCRSDecodeColumns(plan, s, k, nk, place);
}

/* Grouped columns: the x of window w, nrhs columns of x, in the order of the window's groups; the stand-in's x is
   zero */
static LITHE_ALWAYS_INLINE void VCRSGatherWindow(const VCRSPlan *plan, PetscInt w, PetscInt nrhs, const PetscScalar *x, size_t ldx, PetscScalar *to,
                                                 size_t ldto)
{
  const uint16_t *group = plan->groups.group + plan->groups.ptr[w];
  const PetscInt  n     = plan->groups.ptr[w + 1] - plan->groups.ptr[w];

  for (PetscInt c = 0; c < nrhs; c++) {
    const PetscScalar *from = x + (size_t)c * ldx + VCRS_GROUP * (size_t)plan->groups.first[w];
    const PetscInt     left = plan->n - VCRS_GROUP * plan->groups.first[w];

    /* groups ascend: only the last group may reach beyond x */
    for (PetscInt p = 0; p < VCRS_GROUP; p++) to[p] = 0;
#if defined(VCRS_QUADS) && !PetscDefined(USE_COMPLEX)
    /* not memcpy(), which becomes two moves */
    for (PetscInt k = 1; k < n - 1; k++) *(VCRSQuad *)(to + VCRS_GROUP * k) = *(const VCRSQuad *)(from + VCRS_GROUP * (PetscInt)group[k]);
#else
    for (PetscInt k = 1; k < n - 1; k++) memcpy(to + VCRS_GROUP * k, from + VCRS_GROUP * (PetscInt)group[k], VCRS_GROUP * sizeof(*to));
#endif
    for (PetscInt p = 0; p < VCRS_GROUP && n > 1; p++) {
      const PetscInt column = VCRS_GROUP * (PetscInt)group[n - 1] + p;

      to[VCRS_GROUP * (n - 1) + p] = column < left ? from[column] : 0;
    }
    to += ldto;
  }
}

/* The row of each lane of slice s of L3; padding lanes of the last slice get plan->m */
static LITHE_ALWAYS_INLINE void VCRSLaneRows(const VCRSPlan *plan, PetscInt s, PetscInt row[])
{
  const PetscInt first = VCRS_SLICE * s, window = first - first % VCRS_WINDOW;

  for (PetscInt l = 0; l < VCRS_SLICE; l++) row[l] = PetscMin(plan->m, plan->lanes.perm ? window + plan->lanes.perm[first + l] : first + l);
}

static LITHE_ALWAYS_INLINE PetscInt VCRSGetId(const VCRSPlan *plan, PetscInt row)
{
  if (plan->sets.idbytes == 1) return ((const uint8_t *)plan->sets.id)[row];
  if (plan->sets.idbytes == 2) return ((const uint16_t *)plan->sets.id)[row];
  return (PetscInt)((const uint32_t *)plan->sets.id)[row];
}

/* The first row in row .. end - 1 whose id differs from the id of row */
static LITHE_ALWAYS_INLINE PetscInt VCRSRunEnd(const VCRSPlan *plan, PetscInt row, PetscInt end)
{
  PetscInt r = row + 1;

  if (plan->sets.idbytes == 1) {
    const uint8_t *id   = (const uint8_t *)plan->sets.id;
    const uint64_t same = (uint64_t)id[row] * UINT64_C(0x0101010101010101);

    /* Eight ids at a time */
    for (; r + 8 <= end; r += 8) {
      uint64_t eight;

      memcpy(&eight, id + r, sizeof(eight));
      if (eight != same) break;
    }
    while (r < end && id[r] == id[row]) r++;
  } else if (plan->sets.idbytes == 2) {
    const uint16_t *id   = (const uint16_t *)plan->sets.id;
    const uint64_t  same = (uint64_t)id[row] * UINT64_C(0x0001000100010001);

    for (; r + 4 <= end; r += 4) {
      uint64_t four;

      memcpy(&four, id + r, sizeof(four));
      if (four != same) break;
    }
    while (r < end && id[r] == id[row]) r++;
  } else {
    const uint32_t *id = (const uint32_t *)plan->sets.id;

    while (r < end && id[r] == id[row]) r++;
  }
  return r;
}

/* The runs of rows row .. row + rows - 1, at most a slice, counted from row on; returns their number */
static LITHE_ALWAYS_INLINE PetscInt VCRSFindRuns(const VCRSPlan *plan, PetscInt row, PetscInt rows, VCRSRun run[])
{
  PetscInt n = 0;

  for (PetscInt l = 0, end; l < rows; l = end, n++) {
    end    = VCRSRunEnd(plan, row + l, row + rows) - row;
    run[n] = (VCRSRun){l, end - l, VCRSGetId(plan, row + l)};
  }
  return n;
}

/* sigma of rows row .. row+count-1 of the difference form; 0 for rows without sigma. PETSC_FALSE if no row has sigma */
static LITHE_ALWAYS_INLINE PetscBool VCRSGetSigma(const VCRSPlan *plan, PetscInt row, PetscInt count, PetscScalar sigma[])
{
  PetscBool any = PETSC_FALSE;

  switch (plan->sums.kind) {
  case VCRS_SIGMA_FULL:
    for (PetscInt l = 0; l < count; l++) sigma[l] = plan->sums.value[row + l];
    return PETSC_TRUE;
  case VCRS_SIGMA_SPARSE:
    memset(sigma, 0, (size_t)count * sizeof(*sigma));
    for (PetscInt l = 0, nbits; l < count; l += nbits) {
      const PetscInt word = (row + l) / 32, bit = (row + l) % 32;
      const uint32_t mask = plan->sums.mask[word];
      uint32_t       left;
      PetscInt       p;

      nbits = PetscMin(32 - bit, count - l);
      left  = mask >> bit << (32 - nbits) >> (32 - nbits);
      if (!left) continue;
      any = PETSC_TRUE;
      p   = plan->sums.ptr[word] + __builtin_popcount(mask & ((UINT32_C(1) << bit) - 1));
      for (; left; left &= left - 1) sigma[l + __builtin_ctz(left)] = plan->sums.value[p++];
    }
    return any;
  default:
    return PETSC_FALSE;
  }
}
