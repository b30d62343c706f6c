/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The storage of a block of a MATHYBMGPU for products: plain data, the same struct on the host and on the device.

   Stored row k is row order[k] of the block (k itself without order). In the order of columns, the first entries of a
   row are in the body, and the remaining entries are in the tail:

     HYB   body: entry j of stored row k at place j stride + k, for j < width; a place without entry has column -1
     SELL  body: slices of 32 stored rows. Column j of a slice holds the j-th entries of all rows with at least j + 1
           entries,
           without padding; the columns of a slice are contiguous from sliceptr[] on
     CSR   body: stored row by stored row, from rowptr[] on
     tail  HYB: entries beyond the width; SELL, CSR: whole rows that are far longer than the average

   Column numbers have 4 bytes: a block has fewer than 2^31 columns.
*/

#include <lithemat.h>
#include <lithe/private/hostdevice.h>
#include <stdint.h>

#define HYB_SLICE 32
#define HYB_PIECE 256 /* entries of the tail that a warp adds up */

/*
   Entries row by row; rows with more than HYB_PIECE entries come first. A piece is whole rows, or, for the first
   nlongpieces, a part of a row. Sums of parts go to partial[], and row longrow[l] gets the sums of the pieces
   longptr[l] ... longptr[l + 1] - 1.
*/
typedef struct {
  PetscInt64   nz;
  PetscInt     npieces, nlongpieces, nlong;
  PetscInt64  *piece;   /* [npieces + 1] */
  PetscInt    *longptr; /* [nlong + 1] */
  int32_t     *longrow; /* [nlong] */
  int32_t     *row;     /* [nz] */
  int32_t     *col;     /* [nz] */
  PetscScalar *val;     /* [nz] */
  PetscScalar *partial; /* [nlongpieces] on the device */
} HybTail;

typedef struct {
  MatHYBMGPUFormat format;
  PetscInt         m, n;
  PetscInt64       nz;          /* entries */
  PetscInt64       nplaces;     /* places of the body, including empty places */
  PetscInt         longest;     /* entries of a row in the body, at most */
  PetscInt         width;       /* HYB */
  PetscInt64       stride;      /* HYB: m rounded up to slices */
  PetscInt         limit;       /* SELL, CSR: longer rows are in the tail */
  int              lengthbytes; /* SELL: 1 or 2 */
  int              ptrbytes;    /* CSR: 4 or 8 */
  int32_t         *order;       /* [m] or NULL */
  void            *length;      /* SELL: [slices * 32] entries in the body */
  PetscInt64      *sliceptr;    /* SELL: [slices] */
  void            *rowptr;      /* CSR: [m + 1] */
  int32_t         *col;         /* [nplaces] */
  PetscScalar     *val;         /* [nplaces] */
  HybTail          tail;
} HybPlan;

/* A host CSR matrix, as in MATSEQAIJ */
typedef struct {
  PetscInt           m, n;
  const PetscInt    *i, *j;
  const PetscScalar *a;
} HybCSR;

static inline LITHE_HD PetscInt HybSlices(PetscInt m)
{
  return (m + HYB_SLICE - 1) / HYB_SLICE;
}

static inline LITHE_HD int32_t HybRow(const int32_t *order, PetscInt k)
{
  return order ? order[k] : (int32_t)k;
}
