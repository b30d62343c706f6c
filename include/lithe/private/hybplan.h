/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   How a block of a MATHYBMGPU is stored for products: plain data, the same struct on the host and on the device.

   Stored row k is row order[k] of the block (k itself without order). Its first entries are in the body, the rest of them in
   the tail, in the order of their columns:

     HYB   body: entry j of stored row k at place j stride + k, for j < width; a place without entry has column -1
     SELL  body: slices of 32 stored rows. Column j of a slice holds the j-th entry of those rows that have one, one after another, without padding;
           a slice's columns follow one another from sliceptr[] on
     CSR   body: stored row by stored row, from rowptr[] on
     tail  HYB: entries beyond the width; SELL, CSR: all of a row that is far longer than the others

   Columns are numbered in 4 bytes: a block has fewer than 2^31 of them.
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
  PetscInt64       nplaces;     /* of the body, with those without an entry */
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

/* A host CSR matrix, as MATSEQAIJ holds it */
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
