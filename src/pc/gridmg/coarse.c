/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The coarsest level of a PCGRIDMG: the inverse of its exact matrix. Of symmetric ones it is S L^T L S with the inverse L of a Cholesky factor and a
   diagonal S of powers of two: rounding makes an inverse indefinite where condition numbers are large, and a product of two factors never.

   Parts of the graph without row sums have the constants e in their kernel. There the inverse is that of A + s e e^T, which is the same for
   right sides whose sum is 0.
*/

#include "gridmgimpl.h"
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

/* The first vertex of the part that a vertex is in, as far as that is known */
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

/* The number of parts without row sums, and what is added to the matrix of each */
static PetscErrorCode FindSingular_Private(const GridMGFaces *f, PetscInt n, const PetscScalar *M, PetscInt parts, const PetscInt part[], double add[],
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
    add[part[i]] += (double)PetscRealPart(AT(M, i, i));
  }
  for (PetscInt p = 0; p < parts; p++) {
    /* a part of one vertex has a positive diagonal: its row sum, or the 1 of an aggregate of nothing */
    if (sum[p] != 0 || count[p] == 1) add[p] = 0;
    else {
      add[p] /= (double)count[p] * (double)count[p];
      ++*singular;
    }
  }
  PetscCall(PetscFree2(sum, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inverse in place, or that of the lower Cholesky factor; info as LAPACK has it */
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

/* Rounded, row by row, to where the level is */
static PetscErrorCode PutNumbers_Private(PC_GridMG *mg, size_t n, const PetscScalar *from, size_t stride, size_t rows, void *to)
{
  const size_t bytes = GridMGNumberBytes(mg->precision);
  void        *numbers;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n * rows * bytes, (char **)&numbers));
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < n; j++) {
      const double v = (double)PetscRealPart(from[i + j * stride]);

      if (mg->precision == GRIDMG_SINGLE) ((float *)numbers)[i * n + j] = (float)v;
      else ((double *)numbers)[i * n + j] = v;
    }
  }
  PetscCall((*mg->kernels->put)(n * rows * bytes, numbers, to));
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix with what is added to it, times a diagonal on both sides; its diagonal, near 1 then, is made larger by shift */
static PetscErrorCode ScaledMatrix_Private(PC_GridMG *mg, const GridMGFaces *f, PetscInt n, double shift, PetscScalar *M, PetscScalar *S)
{
  PetscInt *part, *next, parts;
  double   *add;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(M, (size_t)n * (size_t)n));
  PetscCall(PetscMalloc3(n, &part, n, &next, n, &add));
  GetMatrix(f, n, M);
  parts = FindParts(f, n, part, next);
  PetscCall(FindSingular_Private(f, n, M, parts, part, add, &mg->singular));
  AddConstants(n, part, add, M);
  PetscCall(PetscFree3(part, next, add));
  for (PetscInt i = 0; i < n; i++) {
    int exponent;

    (void)frexp((double)PetscRealPart(AT(M, i, i)), &exponent);
    S[i] = (PetscReal)ldexp(1., -(exponent / 2));
  }
  for (PetscInt j = 0; j < n; j++) {
    for (PetscInt i = 0; i < n; i++) AT(M, i, j) *= S[i] * S[j];
    AT(M, j, j) += (PetscReal)shift;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of the level come to the host: memory is to be freed */
static PetscErrorCode GetFaces_Private(PC_GridMG *mg, GridMGFaces *f, double **memory)
{
  const size_t  numbers = PCGridMGFacesNumbers_Private(&f->grid, f->symmetric);
  const double *from    = f->sigma;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(numbers, memory));
  PetscCall((*mg->kernels->get)(numbers * sizeof(double), from, *memory));
  f->sigma = *memory;
  for (int d = 0; d < 3; d++) {
    if (!f->up[d]) continue;
    f->up[d]   = *memory + (f->up[d] - from);
    f->down[d] = *memory + (f->down[d] - from);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inverse to where the level is; failed: it has none, or, of a symmetric matrix, that is not definite */
static PetscErrorCode PutInverse_Private(PC_GridMG *mg, PetscInt n, PetscScalar *M, PetscBLASInt *failed)
{
  PetscFunctionBegin;
  if (mg->symmetric && mg->kernels->invert) {
    GridMGArenaMark mark = PCGridMGArenaGetMark_Private(mg);
    PetscBool not ;
    double *work;

    PetscCall(PCGridMGArenaTake_Private(mg, GridMGInvertNumbers(n) * sizeof(double), (void **)&work));
    PetscCall((*mg->kernels->invert)(n, M, mg->precision, work, mg->inverse, &not ));
    PCGridMGArenaGiveBack_Private(mg, &mark);
    *failed = not ;
  } else {
    PetscCall(Invert_Private(mg->symmetric, n, M, failed));
    if (!*failed) PetscCall(PutNumbers_Private(mg, (size_t)n, M, (size_t)n, (size_t)n, mg->inverse));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGCoarseSetUp_Private(PC pc)
{
  PC_GridMG     *mg    = (PC_GridMG *)pc->data;
  const PetscInt n     = mg->level[mg->n - 1].op.grid.cells + mg->level[mg->n - 1].op.grid.wells;
  double         shift = 0, *memory;
  PetscScalar   *M, *S;
  PetscBLASInt   info = 0;
  GridMGFaces    host = mg->level[mg->n - 1].faces;

  PetscFunctionBegin;
  PetscCall(PCGridMGBlockGet_Private(&mg->dense, (size_t)n * (size_t)n * sizeof(*M), (void **)&M));
  PetscCall(PetscMalloc1(n, &S));
  PetscCall(GetFaces_Private(mg, &host, &memory));
  /* An M-matrix is definite, but where numbers differ by more than those of this precision can tell */
  do {
    PetscCall(ScaledMatrix_Private(mg, &host, n, shift, M, S));
    PetscCall(PutInverse_Private(mg, n, M, &info));
    shift = shift > 0 ? 100 * shift : GRIDMG_SHIFT * (double)PETSC_MACHINE_EPSILON;
  } while (info && shift < 0.01);
  if (info) PetscCall(PCGridMGFail_Private(pc, "the coarsest level, with %" PetscInt_FMT " unknowns, is singular or not definite (LAPACK: %d)", n, (int)info));
  else PetscCall(PutNumbers_Private(mg, (size_t)n, S, 1, 1, mg->inversescale));
  PetscCall(PetscFree(memory));
  PetscCall(PetscFree(S));
  PetscFunctionReturn(PETSC_SUCCESS);
}
