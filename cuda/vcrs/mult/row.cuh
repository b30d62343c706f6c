/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A row of any layout, entry by entry. The layout and the container are tested for each entry; all threads take the
   same branches.
*/

#include "../kernels.cuh"

/* A row of the matrix, at any place in the plan */
struct RowCursor {
  PetscInt        row, length; /* row -1: none */
  const PetscInt *column;      /* column k is base + column[k] */
  PetscInt        base;
  const uint8_t  *packed; /* if packed: column[k] plus the integer of `width` bytes at packed[32 k width] */
  int             width;
  const uint16_t *group;    /* if group: column k is base + the column for number packed[64 k] in these groups */
  const Number   *direct;   /* if direct: value k is direct[k] */
  PetscInt64      position; /* otherwise value k is at position + step (k - first) of value[] */
  int             step;
};

static __device__ RowCursor OpenRow(const VCRSPlan &p, VCRSUnsigned slot)
{
  RowCursor      c     = RowCursor{};
  const PetscInt first = p.difference ? 1 : 0;

  c.row = -1;
  if (p.layout == MATVCRS_LAYOUT_L3) {
    const PetscInt64 nlane = 32 * static_cast<PetscInt64>(p.slices.n), s = slot / 32;

    if (static_cast<PetscInt64>(slot) < nlane) {
      const PetscInt64 row = p.lanes.perm ? s / (VCRS_WINDOW / 32) * VCRS_WINDOW + p.lanes.perm[slot] : slot;

      if (row >= p.m) return c;
      c.row    = static_cast<PetscInt>(row);
      c.length = p.lanes.length[slot];
      if (p.grouped) {
        const PetscInt64 w = s / (VCRS_WINDOW / 32);

        c.group  = p.groups.group + p.groups.ptr[w];
        c.base   = VCRS_GROUP * p.groups.first[w];
        c.packed = p.columns.offset + (32 * VCRSColumnBase(&p, s) + slot % 32) * sizeof(uint16_t);
      } else {
        c.column = p.columns.base + VCRSColumnBase(&p, s);
        c.width  = p.columns.width[s];
        c.packed = p.columns.offset + p.columns.begin[s] + slot % 32 * c.width;
      }
      c.position = p.slices.ptr[s] + slot % 32;
      c.step     = 32;
    } else if (static_cast<PetscInt64>(slot) - nlane < p.longrows.n) {
      const PetscInt q = static_cast<PetscInt>(slot - nlane);

      c.row      = p.longrows.row[q];
      c.length   = static_cast<PetscInt>(p.longrows.ptr[q + 1] - p.longrows.ptr[q]);
      c.column   = p.longrows.col + p.longrows.ptr[q];
      c.position = p.longrows.value + p.longrows.ptr[q] + first;
      c.step     = 1;
    }
    return c;
  }

  if (slot >= static_cast<VCRSUnsigned>(p.m)) return c;
  c.row = static_cast<PetscInt>(slot);
  if (p.layout == MATVCRS_LAYOUT_LITERAL) {
    c.length = p.literal.length[slot];
    c.base   = p.literal.first[slot];
    c.column = p.literal.idx + p.literal.idxptr[slot];
    c.direct = reinterpret_cast<const Number *>(p.literal.data) + p.literal.dataptr[slot];
  } else {
    const PetscInt id = ReadId(p.sets.id, static_cast<int>(p.sets.idbytes), slot), start = p.sets.ptr[id];

    c.length = p.sets.ptr[id + 1] - start;
    c.base   = c.row;
    c.column = p.sets.offset + start;
    if (p.layout == MATVCRS_LAYOUT_L0) c.direct = reinterpret_cast<const Number *>(p.sets.value) + start;
    else {
      c.position = p.slices.ptr[slot / 32] + slot % 32;
      c.step     = 32;
    }
  }
  return c;
}

static __device__ __forceinline__ PetscInt Column(const RowCursor &c, PetscInt k)
{
  if (c.group) {
    const uint16_t number = reinterpret_cast<const uint16_t *>(c.packed)[32 * static_cast<PetscInt64>(k)];

    return c.base + VCRS_GROUP * static_cast<PetscInt>(c.group[number / VCRS_GROUP]) + number % VCRS_GROUP;
  }

  const PetscInt column = c.base + c.column[k];

  if (!c.packed) return column;
  const uint8_t *p = c.packed + 32 * static_cast<PetscInt64>(k) * c.width;

  if (c.width == 1) return column + *p;
  if (c.width == 2) return column + *reinterpret_cast<const uint16_t *>(p);
  if (sizeof(PetscInt) == 4 || c.width == 4) return column + static_cast<PetscInt>(*reinterpret_cast<const uint32_t *>(p));
  return column + static_cast<PetscInt>(*reinterpret_cast<const uint64_t *>(p));
}

/* A component of a coded entry */
template <class Code>
static __device__ __forceinline__ Number Pack(const Code *c)
{
#if defined(PETSC_USE_COMPLEX)
  return Number{static_cast<PetscReal>(c[0]), static_cast<PetscReal>(c[1])};
#else
  return static_cast<PetscReal>(c[0]);
#endif
}

static __device__ __forceinline__ PetscReal Logarithmic(const VCRSPlan &p, unsigned int c)
{
  return p.values == VCRS_VALUES_LOG8 ? p.decoding.coarse[c] : p.decoding.coarse[c >> 8] * p.decoding.fine[c & 255u];
}

/* Value k >= first, without the row's power of two */
static __device__ Number Value(const VCRSPlan &p, const RowCursor &c, PetscInt k)
{
  if (c.direct) return Read(c.direct + k);
  const PetscInt64 at = c.position + c.step * static_cast<PetscInt64>(k - (p.difference ? 1 : 0)), component = VCRS_COMPONENTS * at;

  switch (p.values) {
  case VCRS_VALUES_SINGLE:
    return Pack(static_cast<const float *>(p.slices.value) + component);
  case VCRS_VALUES_DICT8:
    return Read(reinterpret_cast<const Number *>(p.decoding.dict) + static_cast<const uint8_t *>(p.slices.value)[at]);
  case VCRS_VALUES_DICT16:
    return Read(reinterpret_cast<const Number *>(p.decoding.dict) + static_cast<const uint16_t *>(p.slices.value)[at]);
  case VCRS_VALUES_LOG8:
  case VCRS_VALUES_LOG16: {
    PetscReal v[2];

    for (int q = 0; q < VCRS_COMPONENTS; q++)
      v[q] = Logarithmic(p, p.values == VCRS_VALUES_LOG8 ? static_cast<const uint8_t *>(p.slices.value)[component + q]
                                                         : static_cast<const uint16_t *>(p.slices.value)[component + q]);
    return Pack(v);
  }
  case VCRS_VALUES_FIXED8:
    return Pack(static_cast<const int8_t *>(p.slices.value) + component);
  case VCRS_VALUES_FIXED16:
    return Pack(static_cast<const int16_t *>(p.slices.value) + component);
  default:
    return Read(static_cast<const Number *>(p.slices.value) + at);
  }
}

static __device__ __forceinline__ bool IsScaled(const VCRSPlan &p)
{
  return p.values == VCRS_VALUES_FIXED8 || p.values == VCRS_VALUES_FIXED16;
}

static __device__ __forceinline__ Number RowSum(const VCRSPlan &p, PetscInt row)
{
  return ReadSigma(GetSigmaArguments(&p), row);
}
