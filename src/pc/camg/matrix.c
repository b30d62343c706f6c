/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Matrices during the set-up, on the host: products, transposes, means. A product keeps a row of counters per
   column of the result (F. Gustavson, Two fast algorithms for sparse matrices, ACM TOMS 4, 1978)
*/

#include "camgimpl.h"
#include <lithe/private/lithecompiler.h>

PetscErrorCode PCCAMGMatrixCreate_Private(PetscInt m, PetscInt n, PetscInt nz, PetscInt rb, PetscInt cb, CAMGMatrix *A)
{
  PetscFunctionBegin;
  *A = (CAMGMatrix){.m = m, .n = n, .nz = nz, .rb = rb, .cb = cb};
  PetscCall(LitheMallocLarge(m + 1, &A->i));
  PetscCall(LitheMallocLarge(nz, &A->j));
  PetscCall(LitheMallocLarge((size_t)nz * (size_t)(rb * cb), &A->a));
  A->i[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of a matrix in host memory or in that of a device */
PetscErrorCode PCCAMGMatrixRelease_Private(const LitheMemoryOps *memory, CAMGMatrix *A)
{
  PetscFunctionBegin;
  if (A->i) PetscCall((*memory->free)((void **)&A->i));
  if (A->j) PetscCall((*memory->free)((void **)&A->j));
  if (A->a) PetscCall((*memory->free)((void **)&A->a));
  A->i = A->j = NULL;
  A->a        = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGMatrixFree_Private(CAMGMatrix *A)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(A->i));
  PetscCall(PetscFree(A->j));
  PetscCall(PetscFree(A->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscScalar *Block(const CAMGMatrix *A, PetscInt k)
{
  return A->a + (size_t)k * (size_t)(A->rb * A->cb);
}

/* B = A^H, with ascending columns */
PetscErrorCode PCCAMGTranspose_Private(const CAMGMatrix *A, CAMGMatrix *B)
{
  PetscInt *next;

  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixCreate_Private(A->n, A->m, A->nz, A->cb, A->rb, B));
  PetscCall(PetscArrayzero(B->i, A->n + 1));
  for (PetscInt k = 0; k < A->nz; k++) B->i[A->j[k] + 1]++;
  for (PetscInt r = 0; r < A->n; r++) B->i[r + 1] += B->i[r];
  PetscCall(PetscMalloc1(A->n, &next));
  PetscCall(PetscArraycpy(next, B->i, A->n));
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const PetscInt     p    = next[A->j[k]]++;
      const PetscScalar *from = Block(A, k);
      PetscScalar       *to   = Block(B, p);

      B->j[p] = r;
      for (PetscInt a = 0; a < A->rb; a++) {
        for (PetscInt b = 0; b < A->cb; b++) to[b * A->rb + a] = PetscConj(from[a * A->cb + b]);
      }
    }
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ product */

/* Ascending columns of a row: by a bit per column, all 0 before and after, unless that means many words per column */
static PetscErrorCode SortColumns_Private(PetscInt n, PetscInt j[], uint64_t bit[])
{
  PetscInt low = j[0], high = j[0];

  PetscFunctionBegin;
  for (PetscInt p = 1; p < n; p++) {
    low  = PetscMin(low, j[p]);
    high = PetscMax(high, j[p]);
  }
  if (high / 64 - low / 64 > 8 * n) {
    PetscCall(PetscSortInt(n, j));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt p = 0; p < n; p++) bit[j[p] / 64] |= (uint64_t)1 << j[p] % 64;
  n = 0;
  for (PetscInt w = low / 64; w <= high / 64; w++) {
    for (; bit[w]; bit[w] &= bit[w] - 1) j[n++] = 64 * w + (PetscInt)__builtin_ctzll(bit[w]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of a row by ascending columns. at: per column its place, counted from begin; work: room for the row */
static PetscErrorCode SortRow_Private(PetscInt n, PetscInt size, PetscInt begin, const PetscInt at[], PetscInt j[], PetscScalar a[], uint64_t bit[],
                                      PetscScalar work[])
{
  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SortColumns_Private(n, j, bit));
  PetscCall(PetscArraycpy(work, a, n * size));
  for (PetscInt p = 0; p < n; p++) {
    const PetscScalar *from = work + (at[j[p]] - begin) * size;

    for (PetscInt e = 0; e < size; e++) a[p * size + e] = from[e];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for more blocks */
static PetscErrorCode Grow_Private(CAMGMatrix *C, PetscInt used, PetscInt needed, PetscInt *room)
{
  const PetscInt size = C->rb * C->cb;
  PetscInt      *j;
  PetscScalar   *a;

  PetscFunctionBegin;
  if (used + needed <= *room) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(used <= PETSC_INT_MAX / 2 - needed, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A coarse matrix has more entries than PetscInt counts. Configure PETSc --with-64-bit-indices");
  *room = PetscMax(used + needed, used + used / 2);
  PetscCall(LitheMallocLarge(*room, &j));
  PetscCall(LitheMallocLarge((size_t)*room * (size_t)size, &a));
  PetscCall(PetscArraycpy(j, C->j, used));
  PetscCall(PetscArraycpy(a, C->a, (size_t)used * (size_t)size));
  PetscCall(PetscFree(C->j));
  PetscCall(PetscFree(C->a));
  C->j = j;
  C->a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* c += a b for blocks; n: of columns, known to the compiler */
static inline void AddColumns(PetscInt rb, PetscInt kb, PetscInt n, const PetscScalar *restrict a, const PetscScalar *restrict b, PetscScalar *restrict c)
{
  for (PetscInt r = 0; r < rb; r++) {
    for (PetscInt k = 0; k < kb; k++) {
      for (PetscInt q = 0; q < n; q++) c[r * n + q] += a[r * kb + k] * b[k * n + q];
    }
  }
}

static void AddProduct(PetscInt rb, PetscInt kb, PetscInt cb, const PetscScalar a[], const PetscScalar b[], PetscScalar c[])
{
  if (cb == 3) AddColumns(rb, kb, 3, a, b, c);
  else if (cb == 6) AddColumns(rb, kb, 6, a, b, c);
  else AddColumns(rb, kb, cb, a, b, c);
}

/* The largest number of blocks of a row of A B, and of all rows, before equal columns are added */
static void Most(const CAMGMatrix *A, const CAMGMatrix *B, PetscInt *row, PetscInt64 *all)
{
  *row = 0;
  *all = 0;
  for (PetscInt r = 0; r < A->m; r++) {
    PetscInt64 most = 0;

    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) most += B->i[A->j[k] + 1] - B->i[A->j[k]];
    *row = (PetscInt)PetscMax(*row, PetscMin(most, B->n));
    *all += most;
  }
}

/*
   A row of numbers of A B. Its entries go to j and a, unsorted; the result is their number. at [columns] has the places
   of columns, counted from begin. A column that the row does not have yet has a place before begin
*/
static LITHE_NO_INLINE PetscInt MultiplyRow(const CAMGMatrix *A, const CAMGMatrix *B, PetscInt r, PetscInt begin, PetscInt at[], PetscInt *restrict j,
                                            PetscScalar *restrict a)
{
  const PetscInt *restrict bi = B->i, *restrict bj = B->j;
  const PetscScalar *restrict ba = B->a;
  PetscInt n                     = 0;

  for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
    const PetscScalar factor = A->a[k];
    const PetscInt    end    = bi[A->j[k] + 1];

    for (PetscInt q = bi[A->j[k]]; q < end; q++) {
      const PetscInt    c = bj[q], p = at[c] - begin;
      const PetscScalar v = factor * ba[q];

      if (p >= 0) a[p] += v;
      else {
        at[c]  = begin + n;
        j[n]   = c;
        a[n++] = v;
      }
    }
  }
  return n;
}

/* C = A B */
PetscErrorCode PCCAMGMultiply_Private(const CAMGMatrix *A, const CAMGMatrix *B, CAMGMatrix *C)
{
  const PetscInt size = A->rb * B->cb;
  PetscInt      *at, longest, room, used = 0;
  PetscInt64     all;
  PetscScalar   *work;
  uint64_t      *bit;

  PetscFunctionBegin;
  Most(A, B, &longest, &all);
  room = (PetscInt)PetscMin(all, 2 * (PetscInt64)A->nz + A->m);
  PetscCall(PCCAMGMatrixCreate_Private(A->m, B->n, room, A->rb, B->cb, C));
  PetscCall(PetscMalloc2(B->n, &at, (size_t)longest * (size_t)size, &work));
  PetscCall(PetscCalloc1(B->n / 64 + 1, &bit));
  for (PetscInt c = 0; c < B->n; c++) at[c] = -1;
  for (PetscInt r = 0; r < A->m; r++) {
    const PetscInt begin = used;

    PetscCall(Grow_Private(C, used, longest, &room));
    if (size == 1 && A->cb == 1) used += MultiplyRow(A, B, r, begin, at, C->j + begin, C->a + begin);
    else {
      for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
        for (PetscInt q = B->i[A->j[k]]; q < B->i[A->j[k] + 1]; q++) {
          const PetscInt c = B->j[q];

          if (at[c] < begin) {
            at[c]      = used;
            C->j[used] = c;
            PetscCall(PetscArrayzero(Block(C, used), size));
            used++;
          }
          AddProduct(A->rb, A->cb, B->cb, Block(A, k), Block(B, q), Block(C, at[c]));
        }
      }
    }
    PetscCall(SortRow_Private(used - begin, size, begin, at, C->j + begin, Block(C, begin), bit, work));
    C->i[r + 1] = used;
  }
  C->nz = used;
  PetscCall(PetscFree2(at, work));
  PetscCall(PetscFree(bit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S = (A + H) / 2 */
PetscErrorCode PCCAMGMean_Private(const CAMGMatrix *A, const CAMGMatrix *H, CAMGMatrix *S)
{
  const PetscInt size = A->rb * A->cb;
  PetscInt       used = 0;

  PetscFunctionBegin;
  PetscCheck(A->nz <= PETSC_INT_MAX - H->nz, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A symmetric part may have more entries than PetscInt counts. Configure PETSC --with-64-bit-indices");
  PetscCall(PCCAMGMatrixCreate_Private(A->m, H->n, A->nz + H->nz, A->rb, A->cb, S));
  for (PetscInt r = 0; r < A->m; r++) {
    PetscInt p = A->i[r], q = H->i[r];

    while (p < A->i[r + 1] || q < H->i[r + 1]) {
      const PetscInt ca = p < A->i[r + 1] ? A->j[p] : PETSC_INT_MAX, ch = q < H->i[r + 1] ? H->j[q] : PETSC_INT_MAX;
      PetscScalar   *to = Block(S, used);

      for (PetscInt e = 0; e < size; e++) {
        PetscScalar v = 0;

        if (ca <= ch) v += Block(A, p)[e];
        if (ch <= ca) v += Block(H, q)[e];
        to[e] = v * (PetscReal)0.5;
      }
      p += ca <= ch;
      q += ch <= ca;
      S->j[used++] = PetscMin(ca, ch);
    }
    S->i[r + 1] = used;
  }
  S->nz = used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ null vectors */

static PetscScalar *Diagonal(const CAMGMatrix *A, PetscInt v, PetscInt p)
{
  for (PetscInt k = A->i[v]; k < A->i[v + 1]; k++) {
    if (A->j[k] == v) return Block(A, k) + p * A->cb + p;
  }
  return NULL;
}

PetscErrorCode PCCAMGModuli_Private(const CAMGMatrix *A, PetscReal d[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < A->m * A->rb; r++) {
    const PetscScalar *a = Diagonal(A, r / A->rb, r % A->rb);

    d[r] = a ? PetscAbsScalar(*a) : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGFindNull_Private(const CAMGMatrix *R, const PetscReal d[], const CAMGMatrix *C, unsigned char null[], PetscBool *any)
{
  PetscFunctionBegin;
  *any = PETSC_FALSE;
  for (PetscInt r = 0; r < C->m * C->rb; r++) {
    const PetscInt     v = r / C->rb, p = r % C->rb;
    const PetscScalar *c   = Diagonal(C, v, p);
    PetscReal          sum = 0;

    for (PetscInt k = R->i[v]; k < R->i[v + 1]; k++) {
      for (PetscInt q = 0; q < R->cb; q++) {
        const PetscScalar w = Block(R, k)[p * R->cb + q];

        sum += PetscRealPart(w * PetscConj(w)) * d[R->j[k] * R->cb + q];
      }
    }
    null[r] = c && PetscAbsScalar(*c) <= (PetscReal)CAMG_ROUNDING * PETSC_MACHINE_EPSILON * sum;
    if (null[r]) *any = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGClearNull_Private(const unsigned char null[], CAMGMatrix *C)
{
  PetscFunctionBegin;
  for (PetscInt v = 0; v < C->m; v++) {
    for (PetscInt k = C->i[v]; k < C->i[v + 1]; k++) {
      for (PetscInt p = 0; p < C->rb; p++) {
        for (PetscInt q = 0; q < C->cb; q++) {
          if (null[v * C->rb + p] || null[C->j[k] * C->cb + q]) Block(C, k)[p * C->cb + q] = 0;
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ rows of the user */

PetscErrorCode PCCAMGSurvey_Private(const CAMGMatrix *A, double largest[2], PetscInt *sign, PetscBool *finite)
{
  PetscFunctionBegin;
  largest[0] = largest[1] = 0;
  *sign                   = 0;
  *finite                 = PETSC_TRUE;
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const double a = (double)PetscAbsScalar(A->a[k]);

      if (!(a <= (double)PETSC_MAX_REAL)) *finite = PETSC_FALSE;
      largest[1] = PetscMax(largest[1], a);
      if (A->j[k] != r) continue;
      largest[0] = PetscMax(largest[0], a);
      *sign += (PetscRealPart(A->a[k]) > 0) - (PetscRealPart(A->a[k]) < 0);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Rows block * r and on, of entries in their order, as a row of blocks; at: per block column the place of its block, or
   -1
*/
static void CopyRow(const CAMGMatrix *A, double factor, PetscInt block, PetscInt r, PetscInt at[], PetscInt *used, CAMGMatrix *B)
{
  const PetscInt begin = *used;

  for (PetscInt k = A->i[block * r]; k < A->i[block * (r + 1)]; k++) {
    const PetscInt c = A->j[k] / block;

    if (at[c] < begin) {
      at[c]           = *used;
      B->j[(*used)++] = c;
    }
  }
  (void)PetscSortInt(*used - begin, B->j + begin);
  for (PetscInt q = begin; q < *used; q++) {
    at[B->j[q]] = q;
    for (PetscInt e = 0; e < block * block; e++) Block(B, q)[e] = 0;
  }
  for (PetscInt p = 0; p < block; p++) {
    for (PetscInt k = A->i[block * r + p]; k < A->i[block * r + p + 1]; k++)
      Block(B, at[A->j[k] / block])[p * block + A->j[k] % block] += A->a[k] * (PetscReal)factor;
  }
}

/* left, right NULL: ones, as they are for blocks */
PetscErrorCode PCCAMGCopy_Private(const CAMGMatrix *A, double factor, const double left[], const double right[], PetscInt block, CAMGMatrix *B)
{
  PetscInt *at, used = 0;

  PetscFunctionBegin;
  if (block == 1) {
    PetscCall(PCCAMGMatrixCreate_Private(A->m, A->n, A->nz, 1, 1, B));
    PetscCall(PetscArraycpy(B->i, A->i, A->m + 1));
    PetscCall(PetscArraycpy(B->j, A->j, A->nz));
    for (PetscInt r = 0; r < A->m; r++) {
      for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++)
        B->a[k] = A->a[k] * (PetscReal)factor * (PetscReal)(left ? left[r] : 1) * (PetscReal)(right ? right[A->j[k]] : 1);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* how many blocks: most rows of a block have the same columns */
  PetscCall(PetscMalloc1(A->n / block, &at));
  for (PetscInt c = 0; c < A->n / block; c++) at[c] = -1;
  for (PetscInt r = 0; r < A->m / block; r++) {
    for (PetscInt k = A->i[block * r]; k < A->i[block * (r + 1)]; k++) {
      used += at[A->j[k] / block] != r;
      at[A->j[k] / block] = r;
    }
  }
  PetscCall(PCCAMGMatrixCreate_Private(A->m / block, A->n / block, used, block, block, B));
  for (PetscInt c = 0; c < A->n / block; c++) at[c] = -1;
  used = 0;
  for (PetscInt r = 0; r < B->m; r++) {
    CopyRow(A, factor, block, r, at, &used, B);
    B->i[r + 1] = used;
  }
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGSetOuter_Private(PetscInt n, const PetscScalar x[], double outer[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) outer[r] = x ? (double)PetscRealPart(x[r]) : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGSetColumn_Private(PetscInt n, PetscInt columns, PetscInt c, const PetscScalar x[], PetscInt period, PetscScalar T[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) T[r * columns + c] = x ? x[r] : (PetscScalar)(r % period == c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGDivide_Private(PetscInt n, const double s[], double outer[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) outer[r] /= s[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* See CAMGIsHermitian() */
PetscErrorCode PCCAMGForms_Private(const CAMGMatrix *A, const PetscReal root[], PetscInt first, const PetscInt id[], double sum[CAMG_FORMS])
{
  PetscFunctionBegin;
  for (int k = 0; k < CAMG_FORMS; k++) sum[k] = 0;
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const PetscInt  c = A->j[k], p = first + r, q = c < A->m ? first + c : id[c - A->m];
      const PetscReal left = root[r] > 0 ? 1 / root[r] : 0, right = root[c] > 0 ? 1 / root[c] : 0;
      const double    re = (double)(PetscRealPart(A->a[k]) * left * right), im = (double)(PetscImaginaryPart(A->a[k]) * left * right);
      const double    f = (double)(CAMGPair(p, 0) * CAMGPair(q, 1)), b = (double)(CAMGPair(p, 1) * CAMGPair(q, 0));

      sum[0] += re * f;
      sum[1] += im * f;
      sum[2] += re * b;
      sum[3] += im * b;
      sum[4] += re * re + im * im;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
