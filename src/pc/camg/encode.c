/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Levels in their final form.

   With S a diagonal of powers of two near the roots of the diagonal of A, a level is S^-1 A S^-1, and transfers are
   S P S_c^-1 and S_c^-1 R S: numbers are near 1 whatever the units, and scaling by powers of two changes no bit. Off-
   diagonal entries are rounded to codes. The diagonal is in single precision; it takes up the rounding errors of its
   row, so that row sums of A stay: near null vectors of one constant need that.
*/

#include "camgimpl.h"

#define ENCODE_CHANGE 0.25 /* of a diagonal entry by rounding errors; beyond this the row sum is not kept */

/* Per row a power of two near the root of the diagonal entry; of a row without one, of its largest entry */
PetscErrorCode PCCAMGScales_Private(const CAMGMatrix *A, double s[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < A->m; r++) {
    double d = 0, most = 0;
    int    exponent;

    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const double a = (double)PetscAbsScalar(A->a[k]);

      if (A->j[k] == r) d += a;
      most = PetscMax(most, a);
    }
    s[r] = 1;
    if (!(d > 0)) d = most;
    if (!(d > 0)) continue;
    (void)frexp(d, &exponent);
    s[r] = ldexp(1., exponent > 0 ? exponent / 2 : -((1 - exponent) / 2));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounded numbers by components: *q = the number of the code */
static inline void Put(CAMGOperator *op, int at, PetscScalar v, PetscScalar *q)
{
  const PetscReal part[2] = {PetscRealPart(v), PetscImaginaryPart(v)};
  const int       parts   = (int)(sizeof(PetscScalar) / sizeof(PetscReal));
  float           number[2] = {0, 0};

  for (int p = 0; p < parts; p++) {
    const int k = parts * at + p;

    if (op->bits == 8) number[p] = CAMGDecode8(((uint8_t *)op->code)[k] = CAMGEncode8((float)part[p]));
    else if (op->bits == 16) number[p] = CAMGDecode16(((uint16_t *)op->code)[k] = CAMGEncode16((float)part[p]));
    else number[p] = ((float *)op->code)[k] = (float)part[p];
  }
#if PetscDefined(USE_COMPLEX)
  *q = PetscCMPLX(number[0], number[1]);
#else
  *q = number[0];
#endif
}

static inline void PutFloat(void *a, PetscInt at, PetscScalar v)
{
  const int parts = (int)(sizeof(PetscScalar) / sizeof(PetscReal));

  ((float *)a)[parts * at] = (float)PetscRealPart(v);
  if (parts == 2) ((float *)a)[parts * at + 1] = (float)PetscImaginaryPart(v);
}

static inline PetscScalar GetFloat(const void *a, PetscInt at)
{
#if PetscDefined(USE_COMPLEX)
  return PetscCMPLX(((const float *)a)[2 * at], ((const float *)a)[2 * at + 1]);
#else
  return ((const float *)a)[at];
#endif
}

/* The least number of bits whose codes hold all entries */
static PetscInt Bits(const CAMGMatrix *A, const double s[], PetscInt bits)
{
  double most = 0;

  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      if (A->j[k] != r) most = PetscMax(most, (double)PetscAbsScalar(A->a[k]) / s[r] / s[A->j[k]]);
    }
  }
  if (bits == 8 && most > CAMG_MOST8) bits = 16;
  return bits == 16 && most > CAMG_MOST16 ? 32 : bits;
}

/* The scaled level, with its rows weighted by the scales of constants: the matrix for Lanczos' method */
typedef struct {
  const CAMGOperator *op;
  PetscReal          *root;
  PetscScalar        *work;
} Scaled;

static PetscErrorCode Apply_Private(void *ctx, const PetscScalar x[], PetscScalar y[])
{
  const Scaled       *t  = (const Scaled *)ctx;
  const CAMGOperator *op = t->op;
  const PetscScalar  *w  = t->work;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < op->n; r++) t->work[r] = t->root[r] * x[r];
  for (PetscInt r = 0; r < op->n; r++) {
    PetscScalar sum = GetFloat(op->d, r) * w[r];

#if PetscDefined(USE_COMPLEX)
  #define ENTRY(type, decode) PetscCMPLX(decode(((const type *)op->code)[2 * k]), decode(((const type *)op->code)[2 * k + 1]))
#else
  #define ENTRY(type, decode) decode(((const type *)op->code)[k])
#endif
    for (int k = op->i[r]; k < op->i[r + 1]; k++)
      sum += (op->bits == 8 ? ENTRY(uint8_t, CAMGDecode8) : (op->bits == 16 ? ENTRY(uint16_t, CAMGDecode16) : ENTRY(float, ))) * w[op->j[k]];
#undef ENTRY
    y[r] = t->root[r] * sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M of the smoother: sums of moduli, times the largest eigenvalue of M^-1 A. minv holds the sums */
static PetscErrorCode Bound_Private(CAMGOperator *op, PetscReal *factor)
{
  Scaled t = {.op = op};
  double bound;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(op->n, &t.root, op->n, &t.work));
  for (PetscInt r = 0; r < op->n; r++) t.root[r] = op->minv[r] > 0 ? 1 / PetscSqrtReal((PetscReal)op->minv[r]) : 0;
  PetscCall(PCCAMGBound_Private(op->n, Apply_Private, &t, &bound));
  for (PetscInt r = 0; r < op->n; r++) op->minv[r] = op->minv[r] > 0 ? (float)(1 / (bound * op->minv[r])) : 0;
  PetscCall(PetscFree2(t.root, t.work));
  *factor = (PetscReal)bound;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A level of exact entries A; sums: row sums are kept. Memory is that of the host */
PetscErrorCode PCCAMGEncode_Private(const CAMGMatrix *A, const double s[], PetscInt bits, PetscBool sums, CAMGOperator *op, PetscReal *bound)
{
  const size_t parts = sizeof(PetscScalar) / sizeof(PetscReal), nz = (size_t)A->nz;
  int          used  = 0;

  PetscFunctionBegin;
  PetscCheck(A->nz <= INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "A process has more than %d entries. Use more processes", INT_MAX);
  op->n    = (int)A->m;
  op->bits = (int)Bits(A, s, bits);
  PetscCall(PetscMalloc1(A->m + 1, &op->i));
  PetscCall(PetscMalloc1(nz, &op->j));
  PetscCall(PetscMalloc1(nz * parts * (size_t)op->bits / 8, (char **)&op->code));
  PetscCall(PetscMalloc1((size_t)A->m * parts * sizeof(float), (char **)&op->d));
  PetscCall(PetscMalloc1(A->m, &op->minv));
  op->i[0] = 0;
  for (PetscInt r = 0; r < A->m; r++) {
    PetscScalar d = 0, error = 0;
    double      size = 0;

    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const PetscInt    c = A->j[k];
      const PetscScalar v = A->a[k] / (PetscReal)s[r] / (PetscReal)s[c];
      PetscScalar       q;

      if (c == r) {
        d += v;
        continue;
      }
      op->j[used] = (int)c;
      Put(op, used, v, &q);
      error += (v - q) * (PetscReal)(s[c] / s[r]);
      if (q == (PetscScalar)0.) continue;
      size += (double)PetscAbsScalar(q) * s[c] / s[r];
      used++;
    }
    op->i[r + 1] = used;
    if (sums && PetscAbsScalar(error) <= (PetscReal)ENCODE_CHANGE * PetscAbsScalar(d)) d += error;
    PutFloat(op->d, r, d);
    op->minv[r] = (float)(size + (double)PetscAbsScalar(d));
  }
  op->nz = used;
  PetscCall(Bound_Private(op, bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGGetDense_Private(const CAMGMatrix *A, const double s[], PetscScalar *M)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) M[(size_t)r + (size_t)A->j[k] * (size_t)A->m] += A->a[k] / (PetscReal)s[r] / (PetscReal)s[A->j[k]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S P S_c^-1 */
PetscErrorCode PCCAMGEncodeTransfer_Private(const CAMGMatrix *P, const double rows[], const double columns[], PetscBool inverse, CAMGTransfer *t)
{
  const size_t parts = sizeof(PetscScalar) / sizeof(PetscReal), nz = (size_t)P->nz;

  PetscFunctionBegin;
  t->m = (int)P->m;
  t->n = (int)P->n;
  t->nz = (int)P->nz;
  PetscCall(PetscMalloc1(P->m + 1, &t->i));
  PetscCall(PetscMalloc1(nz, &t->j));
  PetscCall(PetscMalloc1(nz * parts * sizeof(float), (char **)&t->a));
  t->i[0] = 0;
  for (PetscInt r = 0; r < P->m; r++) {
    for (PetscInt k = P->i[r]; k < P->i[r + 1]; k++) {
      const double factor = inverse ? columns[P->j[k]] / rows[r] : rows[r] / columns[P->j[k]];

      t->j[k] = (int)P->j[k];
      PutFloat(t->a, k, P->a[k] * (PetscReal)factor);
    }
    t->i[r + 1] = (int)P->i[r + 1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
