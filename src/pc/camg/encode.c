/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Levels in their final form.

   S is a diagonal of powers of two near the roots of the diagonal of A. A level is S^-1 A S^-1, and transfers are S P
   S_c^-1 and S_c^-1 R S. Numbers are then near 1 in any units. Scaling by powers of two changes no bit. Off-diagonal
   entries are rounded to codes. The diagonal is in single precision; it takes up the rounding errors of its row, so
   that row sums of A stay: near null vectors of one constant need that.
*/

#include "camgimpl.h"
#include <lithe/private/lithecompiler.h>

/* Per row a power of two near the root of the diagonal entry; of a row without one, of its largest entry */
PetscErrorCode PCCAMGScales_Private(const CAMGMatrix *A, double s[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < A->m * A->rb; r++) {
    const PetscInt v = r / A->rb, p = r % A->rb;
    double         d = 0, most = 0;
    int            exponent;

    for (PetscInt k = A->i[v]; k < A->i[v + 1]; k++) {
      const PetscScalar *a = A->a + (size_t)((k * A->rb + p) * A->cb);

      if (A->j[k] == v) d += (double)PetscAbsScalar(a[p]);
      for (PetscInt q = 0; q < A->cb; q++) most = PetscMax(most, (double)PetscAbsScalar(a[q]));
    }
    s[r] = 1;
    if (!(d > 0)) d = most;
    if (!(d > 0)) continue;
    (void)frexp(d, &exponent);
    s[r] = ldexp(1., exponent > 0 ? exponent / 2 : -((1 - exponent) / 2));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
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

/* Rounded numbers by components; the result is the number of the code */
static LITHE_ALWAYS_INLINE PetscScalar Put(int bits, void *code, PetscInt at, PetscScalar v)
{
  const PetscReal part[2]   = {PetscRealPart(v), PetscImaginaryPart(v)};
  const int       parts     = (int)(sizeof(PetscScalar) / sizeof(PetscReal));
  float           number[2] = {0, 0};

  for (int p = 0; p < parts; p++) {
    const PetscInt k = parts * at + p;

    if (bits == 8) number[p] = CAMGDecode8(((uint8_t *)code)[k] = CAMGEncode8((float)part[p]));
    else if (bits == 16) number[p] = CAMGDecode16(((uint16_t *)code)[k] = CAMGEncode16((float)part[p]));
    else number[p] = ((float *)code)[k] = (float)part[p];
  }
  return GetFloat(number, 0);
}

/* The least number of bits whose codes hold all entries */
static PetscInt Bits(const CAMGMatrix *A, const double inverse[], PetscInt bits)
{
  double most = 0;

  for (PetscInt v = 0; v < A->m; v++) {
    for (PetscInt k = A->i[v]; k < A->i[v + 1]; k++) {
      for (PetscInt p = 0; p < A->rb; p++) {
        for (PetscInt q = 0; q < A->cb; q++) {
          if (A->j[k] == v && p == q) continue;
          most = PetscMax(most, (double)PetscAbsScalar(A->a[(size_t)((k * A->rb + p) * A->cb + q)]) * inverse[v * A->rb + p] * inverse[A->j[k] * A->cb + q]);
        }
      }
    }
  }
  if (bits == 8 && most > CAMG_MOST8) bits = 16;
  return bits == 16 && most > CAMG_MOST16 ? 32 : bits;
}

/* The scaled level over the root of M, for Lanczos' method */
typedef struct {
  const CAMGOperator *op;
  const CAMGShare    *share;
  PetscReal          *root;
  PetscScalar        *work;
  const float        *entry; /* decoded */
} Scaled;

/* rb, cb: of blocks, known to the compiler for numbers */
static inline void Product(const Scaled *t, PetscInt rb, PetscInt cb, PetscScalar *restrict y)
{
  const CAMGOperator *op        = t->op;
  const PetscScalar *restrict w = t->work;
  const float *restrict entry   = t->entry;
  const int *restrict i = op->i, *restrict j = op->j;
  const PetscReal *restrict root = t->root;

  for (PetscInt v = 0; v < op->m; v++) {
    for (PetscInt p = 0; p < rb; p++) {
      const PetscInt r   = v * rb + p;
      PetscScalar    sum = GetFloat(op->d, r) * w[r];

      for (int k = i[v]; k < i[v + 1]; k++) {
        for (PetscInt q = 0; q < cb; q++) sum += GetFloat(entry, (k * rb + p) * cb + q) * w[j[k] * cb + q];
      }
      y[r] = root[r] * sum;
    }
  }
}

static PetscErrorCode Apply_Private(void *ctx, const PetscScalar x[], PetscScalar y[])
{
  const Scaled       *t  = (const Scaled *)ctx;
  const CAMGOperator *op = t->op;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < op->m * op->rb; r++) t->work[r] = t->root[r] * x[r];
  if (t->share->ctx) PetscCall((*t->share->get)(t->share->ctx, sizeof(PetscScalar), t->work));
  if (op->rb == 1 && op->cb == 1) Product(t, 1, 1, y);
  else Product(t, op->rb, op->cb, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M of the smoother: sums of moduli, times the largest eigenvalue of M^-1 A. minv holds the sums */
static PetscErrorCode Bound_Private(CAMGOperator *op, const CAMGShare *share, const float entry[], PetscReal *factor)
{
  const PetscInt n = op->m * op->rb;
  Scaled         t = {.op = op, .share = share, .entry = entry};
  double         bound;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &t.root, op->n * op->cb, &t.work));
  for (PetscInt r = 0; r < n; r++) t.root[r] = op->minv[r] > 0 ? 1 / PetscSqrtReal((PetscReal)op->minv[r]) : 0;
  PetscCall(PCCAMGBound_Private(n, share, Apply_Private, &t, &bound));
  for (PetscInt r = 0; r < n; r++) op->minv[r] = op->minv[r] > 0 ? (float)(1 / (bound * op->minv[r])) : 0;
  PetscCall(PetscFree2(t.root, t.work));
  *factor = (PetscReal)bound;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Private(const CAMGMatrix *A, PetscInt bits, CAMGOperator *op)
{
  const size_t parts = sizeof(PetscScalar) / sizeof(PetscReal), numbers = (size_t)A->nz * (size_t)(A->rb * A->cb) * parts;

  PetscFunctionBegin;
  PetscCheck((PetscInt64)A->nz * A->rb * A->cb <= INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "A process has more than %d entries. Use more processes", INT_MAX);
  op->m    = (int)A->m;
  op->n    = (int)A->n;
  op->nz   = (int)A->nz;
  op->rb   = (int)A->rb;
  op->cb   = (int)A->cb;
  op->bits = (int)bits;
  PetscCall(PetscMalloc1(A->m + 1, &op->i));
  PetscCall(LitheMallocLarge(A->nz, &op->j));
  PetscCall(LitheAllocateLarge(numbers * (size_t)bits / 8, &op->code));
  op->i[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the rows of a level are encoded with. d, error, size: room for a row of blocks */
typedef struct {
  const CAMGMatrix *A;
  const double     *s, *inverse; /* scales, and their inverse: powers of two, faster than a division, with the same bits */
  PetscBool         sums;        /* row sums are kept */
  PetscScalar      *d, *error;
  double           *size;
  float            *entry; /* decoded */
} Encoding;

/* Rows of blocks of rb x cb numbers with codes of some bits, all known to the compiler for numbers of 8 bits */
static LITHE_ALWAYS_INLINE void EncodeRows(const Encoding *e, PetscInt rb, PetscInt cb, int bits, CAMGOperator *op)
{
  const CAMGMatrix *A = e->A;
  const double     *s = e->s, *inverse = e->inverse;
  PetscScalar      *d = e->d, *error = e->error;
  double           *size = e->size;
  int               used = 0;

  for (PetscInt v = 0; v < A->m; v++) {
    for (PetscInt p = 0; p < rb; p++) d[p] = error[p] = size[p] = 0;
    for (PetscInt k = A->i[v]; k < A->i[v + 1]; k++) {
      const PetscInt c       = A->j[k];
      PetscScalar    rounded = 0;

      if (c == v && rb == 1) {
        d[0] += A->a[k] * (PetscReal)inverse[v] * (PetscReal)inverse[v];
        continue;
      }
      op->j[used] = (int)c;
      for (PetscInt p = 0; p < rb; p++) {
        for (PetscInt q = 0; q < cb; q++) {
          const PetscInt    at   = (used * rb + p) * cb + q;
          const double      left = inverse[v * rb + p], right = inverse[c * cb + q], ratio = s[c * cb + q] * left;
          const PetscScalar w = A->a[(size_t)((k * rb + p) * cb + q)] * (PetscReal)left * (PetscReal)right;

          rounded = Put(bits, op->code, at, c == v && p == q ? (PetscScalar)0. : w);
          PutFloat(e->entry, at, rounded);
          if (c == v && p == q) d[p] += w;
          else {
            error[p] += (w - rounded) * (PetscReal)ratio;
            size[p] += (double)PetscAbsScalar(rounded) * ratio;
          }
        }
      }
      if (rb > 1 || rounded != (PetscScalar)0.) used++;
    }
    op->i[v + 1] = used;
    for (PetscInt p = 0; p < rb; p++) {
      if (e->sums && PetscAbsScalar(error[p]) <= (PetscReal)CAMG_CHANGE * PetscAbsScalar(d[p])) d[p] += error[p];
      PutFloat(op->d, v * rb + p, d[p]);
      op->minv[v * rb + p] = (float)(size[p] + (double)PetscAbsScalar(d[p]));
    }
  }
  op->nz = used;
}

/*
   A level of exact entries A; sums: row sums are kept. s has the scales of ghosts, too. Processes may have different
   numbers of bits
*/
PetscErrorCode PCCAMGEncode_Private(const CAMGMatrix *A, const double s[], PetscInt bits, PetscBool sums, const CAMGShare *share, CAMGOperator *op,
                                    PetscReal *bound)
{
  const PetscInt rb = A->rb, cb = A->cb;
  const size_t   parts = sizeof(PetscScalar) / sizeof(PetscReal), n = (size_t)A->m * (size_t)rb;
  Encoding       e = {.A = A, .s = s, .sums = sums};
  double        *inverse;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(A->n * cb, &inverse));
  for (PetscInt c = 0; c < A->n * cb; c++) inverse[c] = 1 / s[c];
  e.inverse = inverse;
  PetscCall(Create_Private(A, Bits(A, inverse, bits), op));
  PetscCall(PetscMalloc1(n * parts * sizeof(float), (char **)&op->d));
  PetscCall(PetscMalloc1(n, &op->minv));
  PetscCall(LitheMallocLarge((size_t)A->nz * (size_t)(rb * cb) * parts, &e.entry));
  PetscCall(PetscMalloc3(rb, &e.d, rb, &e.error, rb, &e.size));
  if (rb == 1 && cb == 1 && op->bits == 8) EncodeRows(&e, 1, 1, 8, op);
  else EncodeRows(&e, rb, cb, op->bits, op);
  PetscCall(Bound_Private(op, share, e.entry, bound));
  PetscCall(PetscFree(e.entry));
  PetscCall(PetscFree3(e.d, e.error, e.size));
  PetscCall(PetscFree(inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scaled matrix, by columns */
PetscErrorCode PCCAMGGetDense_Private(const CAMGMatrix *A, const double s[], PetscScalar *M)
{
  const PetscInt rb = A->rb, cb = A->cb;

  PetscFunctionBegin;
  for (PetscInt v = 0; v < A->m; v++) {
    for (PetscInt k = A->i[v]; k < A->i[v + 1]; k++) {
      for (PetscInt p = 0; p < rb; p++) {
        for (PetscInt q = 0; q < cb; q++) {
          const PetscInt r = v * rb + p, c = A->j[k] * cb + q;

          M[(size_t)r + (size_t)c * (size_t)(A->m * rb)] += A->a[(size_t)((k * rb + p) * cb + q)] / (PetscReal)s[r] / (PetscReal)s[c];
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S P S_c^-1; inverse: S_c^-1 R S */
PetscErrorCode PCCAMGEncodeTransfer_Private(const CAMGMatrix *P, const double rows[], const double columns[], PetscBool inverse, CAMGOperator *t)
{
  const PetscInt rb = P->rb, cb = P->cb;

  PetscFunctionBegin;
  PetscCall(Create_Private(P, 32, t));
  for (PetscInt v = 0; v < P->m; v++) {
    for (PetscInt k = P->i[v]; k < P->i[v + 1]; k++) {
      t->j[k] = (int)P->j[k];
      for (PetscInt p = 0; p < rb; p++) {
        for (PetscInt q = 0; q < cb; q++) {
          const double   sr = rows[v * rb + p], sc = columns[P->j[k] * cb + q];
          const PetscInt at = (k * rb + p) * cb + q;

          PutFloat(t->code, at, P->a[at] * (PetscReal)(inverse ? sc / sr : sr / sc));
        }
      }
    }
    t->i[v + 1] = (int)P->i[v + 1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a number loses as a float. For pairs of numbers GCC 12 takes the conversions of v - (double)(float)v for none */
static double Lost(double v)
{
  volatile float kept = (float)v;

  return v - (double)kept;
}

/*
   The finest level for products of a KSP is encoded as a transfer. Rounding of entries changes row sums by a part of
   the diagonal. The image of a smooth vector is much smaller than the diagonal, and could be lost. d: sums of the
   errors by rows
*/
PetscErrorCode PCCAMGRounding_Private(const CAMGMatrix *A, const double s[], void *d)
{
  const PetscInt rb = A->rb, cb = A->cb, parts = (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal));

  PetscFunctionBegin;
  for (PetscInt r = 0; r < A->m * rb; r++) {
    const PetscInt v        = r / rb;
    double         error[2] = {0, 0};

    for (PetscInt k = A->i[v]; k < A->i[v + 1]; k++) {
      for (PetscInt q = 0; q < cb; q++) {
        const double      sc = s[A->j[k] * cb + q];
        const PetscScalar a  = A->a[(size_t)((k * rb + r % rb) * cb + q)];
        const double      re = (double)PetscRealPart(a) / s[r] / sc, im = (double)PetscImaginaryPart(a) / s[r] / sc;

        error[0] += Lost(re) * (sc / s[r]);
        error[1] += Lost(im) * (sc / s[r]);
      }
    }
    for (PetscInt p = 0; p < parts; p++) ((float *)d)[parts * r + p] = (float)error[p];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
