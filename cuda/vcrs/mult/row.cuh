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
    const PetscInt64 nlane = 32 * static_cast<PetscInt64>(p.nslices), s = slot / 32;

    if (static_cast<PetscInt64>(slot) < nlane) {
      const PetscInt64 row = p.rowperm ? s / (VCRS_WINDOW / 32) * VCRS_WINDOW + p.rowperm[slot] : slot;

      if (row >= p.m) return c;
      c.row    = static_cast<PetscInt>(row);
      c.length = p.rowlength[slot];
      if (p.grouped) {
        const PetscInt64 w = s / (VCRS_WINDOW / 32);

        c.group  = p.group + p.groupptr[w];
        c.base   = VCRS_GROUP * p.groupfirst[w];
        c.packed = p.coloffset + (32 * VCRSColumnBase(&p, s) + slot % 32) * sizeof(uint16_t);
      } else {
        c.column = p.colbase + VCRSColumnBase(&p, s);
        c.width  = p.slicewidth[s];
        c.packed = p.coloffset + p.sliceoffset[s] + slot % 32 * c.width;
      }
      c.position = p.sliceptr[s] + slot % 32;
      c.step     = 32;
    } else if (static_cast<PetscInt64>(slot) - nlane < p.nlong) {
      const PetscInt q = static_cast<PetscInt>(slot - nlane);

      c.row      = p.longrow[q];
      c.length   = static_cast<PetscInt>(p.longptr[q + 1] - p.longptr[q]);
      c.column   = p.longcol + p.longptr[q];
      c.position = p.longvalue + p.longptr[q] + first;
      c.step     = 1;
    }
    return c;
  }

  if (slot >= static_cast<VCRSUnsigned>(p.m)) return c;
  c.row = static_cast<PetscInt>(slot);
  if (p.layout == MATVCRS_LAYOUT_LITERAL) {
    c.length = p.length[slot];
    c.base   = p.first[slot];
    c.column = p.literalidx + p.idxptr[slot];
    c.direct = reinterpret_cast<const Number *>(p.literaldata) + p.dataptr[slot];
  } else {
    const PetscInt id = ReadId(p.id, static_cast<int>(p.idbytes), slot), start = p.setptr[id];

    c.length = p.setptr[id + 1] - start;
    c.base   = c.row;
    c.column = p.setoffset + start;
    if (p.layout == MATVCRS_LAYOUT_L0) c.direct = reinterpret_cast<const Number *>(p.setvalue) + start;
    else {
      c.position = p.sliceptr[slot / 32] + slot % 32;
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
  return p.values == VCRS_VALUES_LOG8 ? p.logcoarse[c] : p.logcoarse[c >> 8] * p.logfine[c & 255u];
}

/* Value k >= first, without the row's power of two */
static __device__ Number Value(const VCRSPlan &p, const RowCursor &c, PetscInt k)
{
  if (c.direct) return Read(c.direct + k);
  const PetscInt64 at = c.position + c.step * static_cast<PetscInt64>(k - (p.difference ? 1 : 0)), component = VCRS_COMPONENTS * at;

  switch (p.values) {
  case VCRS_VALUES_SINGLE:
    return Pack(static_cast<const float *>(p.value) + component);
  case VCRS_VALUES_DICT8:
    return Read(reinterpret_cast<const Number *>(p.dict) + static_cast<const uint8_t *>(p.value)[at]);
  case VCRS_VALUES_DICT16:
    return Read(reinterpret_cast<const Number *>(p.dict) + static_cast<const uint16_t *>(p.value)[at]);
  case VCRS_VALUES_LOG8:
  case VCRS_VALUES_LOG16: {
    PetscReal v[2];

    for (int q = 0; q < VCRS_COMPONENTS; q++)
      v[q] = Logarithmic(p, p.values == VCRS_VALUES_LOG8 ? static_cast<const uint8_t *>(p.value)[component + q]
                                                         : static_cast<const uint16_t *>(p.value)[component + q]);
    return Pack(v);
  }
  case VCRS_VALUES_FIXED8:
    return Pack(static_cast<const int8_t *>(p.value) + component);
  case VCRS_VALUES_FIXED16:
    return Pack(static_cast<const int16_t *>(p.value) + component);
  default:
    return Read(static_cast<const Number *>(p.value) + at);
  }
}

static __device__ __forceinline__ bool IsScaled(const VCRSPlan &p)
{
  return p.values == VCRS_VALUES_FIXED8 || p.values == VCRS_VALUES_FIXED16;
}

static __device__ __forceinline__ Number RowSum(const VCRSPlan &p, PetscInt row)
{
  SigmaArguments s;

  s.kind  = p.sigmakind;
  s.sigma = reinterpret_cast<const Number *>(p.sigma);
  s.mask  = p.sigmamask;
  s.ptr   = p.sigmaptr;
  return ReadSigma(s, row);
}
