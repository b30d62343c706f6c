/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The coarsest level of a PCGRIDMG: the inverse of the exact matrix. For a symmetric matrix the inverse is S L^T L S: L
   is the inverse of a Cholesky factor, and S a diagonal of powers of two. Rounding can make a stored inverse indefinite
   if the condition number is large. A product of two factors stays definite.

   A part of the graph without row sums has the constants e in the kernel of the matrix. The inverse is then the inverse
   of A + s e e^T, which gives the same solution for right-hand sides of sum 0.
*/

#include <lithe/private/gridmg/parts.h>
#include "aggregation.h"
#include "../base/base.h"
#include "../boxes/boxes.h"
#include <petscblaslapack.h>

#define GRIDMG_SHIFT 16 /* roundings */

#define AT(M, i, j) (M)[(size_t)(i) + (size_t)(j) * (size_t)n]

/* The matrix, by columns */
static void GetMatrix(const GridMGFaces *f, PetscInt n, PetscScalar *M)
{
  const GridMGGrid *grid = &f->grid;
  const double     *t    = (const double *)f->list.t;

  for (PetscInt i = 0; i < n; i++) AT(M, i, i) += (PetscReal)f->sigma[i];
  for (int d = 0; d < 3; d++) {
    const PetscInt stride = GridMGStride(grid, d);

    if (!f->up[d]) continue;
    for (PetscInt c = 0; c + stride < grid->cells; c++) {
      AT(M, c, c) += (PetscReal)f->up[d][c];
      AT(M, c, c + stride) -= (PetscReal)f->up[d][c];
      AT(M, c + stride, c + stride) += (PetscReal)f->down[d][c];
      AT(M, c + stride, c) -= (PetscReal)f->down[d][c];
    }
  }
  for (PetscInt r = 0; r < f->list.n; r++) {
    for (PetscInt e = f->list.i[r]; e < f->list.i[r + 1]; e++) {
      AT(M, f->list.row[r], f->list.row[r]) += (PetscReal)t[e];
      AT(M, f->list.row[r], f->list.j[e]) -= (PetscReal)t[e];
    }
  }
  for (PetscInt i = 0; i < n; i++) {
    if (!(PetscRealPart(AT(M, i, i)) > 0)) AT(M, i, i) = 1; /* an aggregate of nothing */
  }
}

/* The first vertex of the part of a vertex, as far as known */
static PetscInt FirstOf(PetscInt first[], PetscInt i)
{
  while (first[i] != i) i = first[i] = first[first[i]];
  return i;
}

static void Join(PetscInt first[], PetscInt i, PetscInt j)
{
  const PetscInt a = FirstOf(first, i), b = FirstOf(first, j);

  first[PetscMax(a, b)] = PetscMin(a, b);
}

/* Which part of the graph each vertex is in; the number of parts. first is work */
static PetscInt FindParts(const GridMGFaces *f, PetscInt n, PetscInt part[], PetscInt first[])
{
  const double *t     = (const double *)f->list.t;
  PetscInt      parts = 0;

  for (PetscInt i = 0; i < n; i++) first[i] = i;
  for (int d = 0; d < 3; d++) {
    const PetscInt stride = GridMGStride(&f->grid, d);

    for (PetscInt c = 0; c + stride < f->grid.cells && f->up[d]; c++) {
      if (f->up[d][c] != 0 || f->down[d][c] != 0) Join(first, c, c + stride);
    }
  }
  for (PetscInt r = 0; r < f->list.n; r++) {
    for (PetscInt e = f->list.i[r]; e < f->list.i[r + 1]; e++) {
      if (t[e] != 0) Join(first, f->list.row[r], f->list.j[e]);
    }
  }
  for (PetscInt i = 0; i < n; i++) part[i] = FirstOf(first, i) == i ? parts++ : part[first[i]];
  return parts;
}

/* s e e^T for each part p without row sums, with add[p] = s */
static void AddConstants(PetscInt n, const PetscInt part[], const double add[], PetscScalar *M)
{
  for (PetscInt j = 0; j < n; j++) {
    if (add[part[j]] == 0) continue;
    for (PetscInt i = 0; i < n; i++) {
      if (part[i] == part[j]) AT(M, i, j) += (PetscReal)add[part[j]];
    }
  }
}

/* The number of parts without row sums, and the constant added to the matrix of each part */
static PetscErrorCode FindSingular_Private(const GridMGFaces *f, PetscInt n, const double diagonal[], PetscInt parts, const PetscInt part[], double add[],
                                           PetscInt *singular)
{
  double   *sum;
  PetscInt *count;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(parts, &sum, parts, &count));
  PetscCall(PetscArrayzero(add, parts));
  *singular = 0;
  for (PetscInt i = 0; i < n; i++) {
    sum[part[i]] += f->sigma[i];
    count[part[i]]++;
    add[part[i]] += diagonal[i];
  }
  for (PetscInt p = 0; p < parts; p++) {
    /* a part of one vertex has a positive diagonal: a row sum, or the 1 of an empty aggregate */
    if (sum[p] != 0 || count[p] == 1) add[p] = 0;
    else {
      add[p] /= (double)count[p] * (double)count[p];
      ++*singular;
    }
  }
  PetscCall(PetscFree2(sum, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inverts the matrix, or the lower Cholesky factor, in place; info as LAPACK returns it */
static PetscErrorCode Invert_Private(PetscBool symmetric, PetscInt n, PetscScalar *M, PetscBLASInt *info)
{
  PetscBLASInt bn, *pivots, lwork;
  PetscScalar *work;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &bn));
  if (symmetric) {
    PetscCallBLAS("LAPACKpotrf", LAPACKpotrf_("L", &bn, M, &bn, info));
    if (*info) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCallBLAS("LAPACKtrtri", LAPACKtrtri_("L", "N", &bn, M, &bn, info));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  lwork = 16 * bn;
  PetscCall(PetscMalloc2(n, &pivots, lwork, &work));
  PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&bn, &bn, M, &bn, pivots, info));
  if (!*info) PetscCallBLAS("LAPACKgetri", LAPACKgetri_(&bn, M, &bn, pivots, work, &lwork, info));
  PetscCall(PetscFree2(pivots, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A power of two near the root of 1/v */
static inline double ScaleOf(double v)
{
  int exponent;

  (void)frexp(v, &exponent);
  return ldexp(1., -(exponent / 2));
}

/* The matrix with the added constants, times S on both sides. The diagonal is then near 1; shift is added to it */
static PetscErrorCode ScaledMatrix_Private(PC_GridMG *mg, const GridMGFaces *f, PetscInt n, double shift, PetscScalar *M, PetscScalar *S)
{
  PetscInt *part, *next, parts, singular;
  double   *add, *diagonal;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(M, (size_t)n * (size_t)n));
  PetscCall(PetscMalloc4(n, &part, n, &next, n, &add, n, &diagonal));
  GetMatrix(f, n, M);
  for (PetscInt i = 0; i < n; i++) diagonal[i] = (double)PetscRealPart(AT(M, i, i));
  parts = FindParts(f, n, part, next);
  PetscCall(FindSingular_Private(f, n, diagonal, parts, part, add, &singular));
  PCGridMGCoarsestSingular_Private(mg, singular);
  AddConstants(n, part, add, M);
  PetscCall(PetscFree4(part, next, add, diagonal));
  for (PetscInt i = 0; i < n; i++) S[i] = (PetscReal)ScaleOf((double)PetscRealPart(AT(M, i, i)));
  for (PetscInt j = 0; j < n; j++) {
    for (PetscInt i = 0; i < n; i++) AT(M, i, j) *= S[i] * S[j];
    AT(M, j, j) += (PetscReal)shift;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal, and the entries below the diagonal; faces and edges bound the number of entries */
static PetscInt GetEntries(const GridMGFaces *f, PetscInt n, double diagonal[], GridMGEdge entry[])
{
  const double *t       = (const double *)f->list.t;
  PetscInt      entries = 0;

  for (PetscInt i = 0; i < n; i++) diagonal[i] = f->sigma[i];
  for (int d = 0; d < 3; d++) {
    const PetscInt stride = GridMGStride(&f->grid, d);

    for (PetscInt c = 0; c + stride < f->grid.cells && f->up[d]; c++) {
      diagonal[c] += f->up[d][c];
      diagonal[c + stride] += f->up[d][c];
      if (f->up[d][c] != 0) entry[entries++] = (GridMGEdge){c + stride, c, -f->up[d][c]};
    }
  }
  for (PetscInt r = 0; r < f->list.n; r++) {
    for (PetscInt e = f->list.i[r]; e < f->list.i[r + 1]; e++) {
      diagonal[f->list.row[r]] += t[e];
      if (f->list.j[e] < f->list.row[r]) entry[entries++] = (GridMGEdge){f->list.row[r], f->list.j[e], -t[e]};
    }
  }
  for (PetscInt i = 0; i < n; i++) {
    if (!(diagonal[i] > 0)) diagonal[i] = 1; /* an aggregate of nothing */
  }
  return entries;
}

/* The inverse of a symmetric matrix by the kernels of the level, from the entries */
static PetscErrorCode InvertThere_Private(PC_GridMG *mg, const GridMGFaces *f, PetscInt n, double shift, PetscScalar *S, PetscBLASInt *failed)
{
  const PetscInt  most = 3 * f->grid.cells + f->list.i[f->list.n];
  GridMGArenaMark mark = PCGridMGArenaGetMark_Private(mg);
  GridMGCoarsest  c    = {.n = n};
  PetscInt       *part, *first, parts, singular;
  double         *add, *diagonal, *scale, *work;
  GridMGEdge     *entry;
  PetscBool not ;

  PetscFunctionBegin;
  PetscCall(PetscMalloc6(n, &part, n, &first, n, &add, n, &diagonal, n, &scale, most, &entry));
  c.entries = GetEntries(f, n, diagonal, entry);
  parts     = FindParts(f, n, part, first);
  PetscCall(FindSingular_Private(f, n, diagonal, parts, part, add, &singular));
  PCGridMGCoarsestSingular_Private(mg, singular);
  for (PetscInt i = 0; i < n; i++) {
    diagonal[i] += add[part[i]];
    scale[i]    = ScaleOf(diagonal[i]);
    S[i]        = (PetscReal)scale[i];
    diagonal[i] = diagonal[i] * scale[i] * scale[i] + shift;
  }
  for (PetscInt e = 0; e < c.entries; e++) entry[e].t *= scale[entry[e].i] * scale[entry[e].j];
  c.diagonal = diagonal;
  c.entry    = entry;
  c.singular = singular;
  c.part     = part;
  c.constant = add;
  c.scale    = scale;
  PetscCall(PCGridMGArenaTake_Private(mg, LitheMGInvertNumbers(n) * sizeof(double), (void **)&work));
  PetscCall((*mg->place.kernels->setup.invert)(&c, mg->found.precision, work, mg->coarsest.inverse, &not ));
  PCGridMGArenaGiveBack_Private(mg, &mark);
  PetscCall(PetscFree6(part, first, add, diagonal, scale, entry));
  *failed = not ;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of the level come to the host: memory is to be freed */
static PetscErrorCode GetFaces_Private(PC_GridMG *mg, GridMGFaces *f, double **memory)
{
  const size_t  numbers = PCGridMGFacesNumbers_Private(&f->grid, f->symmetric);
  const double *from    = f->sigma;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(numbers, memory));
  PetscCall((*mg->place.kernels->memory.get)(numbers * sizeof(double), from, *memory));
  f->sigma = *memory;
  for (int d = 0; d < 3; d++) {
    if (!f->up[d]) continue;
    f->up[d]   = *memory + (f->up[d] - from);
    f->down[d] = *memory + (f->down[d] - from);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inverse by LAPACK to where the level is */
static PetscErrorCode InvertHere_Private(PC_GridMG *mg, const GridMGFaces *f, PetscInt n, double shift, PetscScalar *S, PetscBLASInt *failed)
{
  PetscScalar *M;

  PetscFunctionBegin;
  PetscCall(PCGridMGGetDense_Private(mg, (size_t)n * (size_t)n * sizeof(*M), (void **)&M));
  PetscCall(ScaledMatrix_Private(mg, f, n, shift, M, S));
  PetscCall(Invert_Private(mg->found.symmetric, n, M, failed));
  if (!*failed) PetscCall(PCGridMGCoarsestPut_Private(mg, n, 1, M, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGCoarseSetUp_Private(PC pc)
{
  PC_GridMG     *mg    = (PC_GridMG *)pc->data;
  const PetscInt n     = mg->aggregation.level[mg->state.n - 1].op.grid.cells + mg->aggregation.level[mg->state.n - 1].op.grid.wells;
  double         shift = 0, *memory;
  PetscScalar   *S;
  PetscBLASInt   info = 0;
  GridMGFaces    host = mg->aggregation.level[mg->state.n - 1].exact.faces;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &S));
  PetscCall(GetFaces_Private(mg, &host, &memory));
  /* an M-matrix is definite, unless its entries differ by more than this precision resolves */
  do {
    if (mg->found.symmetric && mg->place.kernels->setup.invert) PetscCall(InvertThere_Private(mg, &host, n, shift, S, &info));
    else PetscCall(InvertHere_Private(mg, &host, n, shift, S, &info));
    shift = shift > 0 ? 100 * shift : GRIDMG_SHIFT * (double)PETSC_MACHINE_EPSILON;
  } while (info && shift < 0.01);
  if (info) PetscCall(PCGridMGFail_Private(pc, "the coarsest level, with %" PetscInt_FMT " unknowns, is singular or not definite (LAPACK: %d)", n, (int)info));
  else PetscCall(PCGridMGCoarsestPut_Private(mg, n, 1, NULL, S));
  PetscCall(PetscFree(memory));
  PetscCall(PetscFree(S));
  PetscFunctionReturn(PETSC_SUCCESS);
}
