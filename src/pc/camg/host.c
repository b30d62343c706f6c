/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* CAMGHostKernels: the operations of PCCAMG on the host */

#include "camgimpl.h"
#include <lithe/private/lithecompiler.h>

#define HOST_ROWS  64 /* nodes whose entries and products are kept in the cache */
#define HOST_BLOCK CAMG_BLOCK_MAX

#if PetscDefined(USE_COMPLEX)
  #include <complex.h>
  #define SINGLE      float complex
  #define DOUBLE      double complex
  #define CONJ(v)     conj(v)
  #define PARTS       2
  #define ENTRY(a, k) ((a)[2 * (k)] + (a)[2 * (k) + 1] * _Complex_I)
  #define WIDE(a, k)  ((double)(a)[2 * (k)] + (double)(a)[2 * (k) + 1] * _Complex_I)
#else
  #define SINGLE      float
  #define DOUBLE      double
  #define CONJ(v)     (v)
  #define PARTS       1
  #define ENTRY(a, k) (a)[k]
  #define WIDE(a, k)  ((double)(a)[k])
#endif

typedef struct {
  enum {
    HOST_STEP,
    HOST_RESIDUAL,
    HOST_SET,
    HOST_ADD
  } what;
  double      c1, c2;
  const void *b, *old;
  void       *out;
} HostResult;

#define NUMBER   SINGLE
#define REAL     float
#define FN(name) name##Single
#include "hostloops.h"
#undef NUMBER
#undef REAL
#undef FN
#define NUMBER   DOUBLE
#define REAL     double
#define FN(name) name##Double
#include "hostloops.h"

static PetscErrorCode Largest_Private(PetscInt n, const double outer[], const PetscScalar x[], double *largest)
{
  double most = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) {
    const double a = fabs(outer[r]) * (double)PetscMax(PetscAbsReal(PetscRealPart(x[r])), PetscAbsReal(PetscImaginaryPart(x[r])));

    if (!(a <= most)) most = a <= (double)PETSC_MAX_REAL ? a : INFINITY; /* NaN as infinity */
  }
  *largest = most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Enter_Private(PetscInt n, PetscBool single, const double outer[], const double *largest, const PetscScalar x[], void *b)
{
  const double scale = LitheMGScaleOf(*largest);

  PetscFunctionBegin;
  if (single) EnterSingle(n, scale, outer, x, (SINGLE *)b);
  else EnterDouble(n, scale, outer, x, (DOUBLE *)b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Leave_Private(PetscInt n, PetscBool single, double factor, const double outer[], const double *largest, const void *x, PetscScalar y[])
{
  const double scale = factor / LitheMGScaleOf(*largest);

  PetscFunctionBegin;
  if (single) LeaveSingle(n, scale, outer, (const SINGLE *)x, y);
  else LeaveDouble(n, scale, outer, (const DOUBLE *)x, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run_Private(const CAMGOperator *op, const void *x, const HostResult *to)
{
  PetscFunctionBegin;
  if (op->single) PetscCall(RunSingle(op, (const SINGLE *)x, to));
  else PetscCall(RunDouble(op, (const DOUBLE *)x, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Step_Private(const CAMGOperator *op, double c1, double c2, const void *b, const void *x, const void *old, void *out)
{
  const HostResult to = {.what = HOST_STEP, .c1 = c1, .c2 = c2, .b = b, .old = old, .out = out};

  PetscFunctionBegin;
  if (x) PetscCall(Run_Private(op, x, &to));
  else if (op->single) StartSingle(op, (float)c2, (const SINGLE *)b, (SINGLE *)out);
  else StartDouble(op, c2, (const DOUBLE *)b, (DOUBLE *)out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Residual_Private(const CAMGOperator *op, const void *b, const void *x, void *r)
{
  const HostResult to = {.what = HOST_RESIDUAL, .b = b, .out = r};

  PetscFunctionBegin;
  PetscCall(Run_Private(op, x, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transfer_Private(const CAMGOperator *P, PetscBool add, const void *x, void *y)
{
  const HostResult to = {.what = add ? HOST_ADD : HOST_SET, .out = y};

  PetscFunctionBegin;
  PetscCall(Run_Private(P, x, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Dense_Private(const LitheMGCoarsest *c, const void *b, void *x)
{
  PetscFunctionBegin;
  if (c->single) DenseSingle(c, (const SINGLE *)b, (SINGLE *)x);
  else DenseDouble(c, (const DOUBLE *)b, (DOUBLE *)x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of a KSP: entries and vectors in single precision, sums in double precision. A slice of 32 rows, or a row */
LITHE_TARGET_CLONES static void WideSlice(const CAMGOperator *op, int slice, const SINGLE *restrict x, DOUBLE *restrict y)
{
  DOUBLE sum[64] = {0};

  for (int step = op->i[slice]; step < op->i[slice + 1]; step++) {
    const size_t at = (size_t)step * 64;
    const float *a  = (const float *)op->code + at * PARTS;
    SINGLE       from[64];

    if (op->narrow) {
      const uint16_t *restrict c  = (const uint16_t *)op->j + at;
      const SINGLE *restrict near = x + op->base[step];

      for (int k = 0; k < 64; k++) from[k] = near[c[k]];
    } else {
      for (int k = 0; k < 64; k++) from[k] = x[op->j[at + (size_t)k]];
    }
    for (int k = 0; k < 64; k++) sum[k] += WIDE(a, k) * (DOUBLE)from[k];
  }
  for (int r = 0; r < 32; r++) y[r] = sum[2 * r] + sum[2 * r + 1];
}

LITHE_TARGET_CLONES_NARROW static DOUBLE WideRow(const CAMGOperator *op, int row, const SINGLE x[])
{
  const int    v = row / op->rb, p = row % op->rb, cb = op->cb;
  const float *a   = (const float *)op->code;
  DOUBLE       sum = 0;

  for (int k = op->i[v]; k < op->i[v + 1]; k++) {
    for (int q = 0; q < cb; q++) sum += WIDE(a, (size_t)(k * op->rb + p) * (size_t)cb + (size_t)q) * (DOUBLE)x[op->j[k] * cb + q];
  }
  return sum;
}

static PetscErrorCode Product_Private(const CAMGOperator *op, const void *x, void *y)
{
  const SINGLE *from = (const SINGLE *)x;
  SINGLE       *to   = (SINGLE *)y;
  const float  *d    = (const float *)op->d;
  const int     n    = op->m * op->rb;
  DOUBLE        sum[32];

  PetscFunctionBegin;
  for (int row = 0; row < n; row += 32) {
    const int rows = PetscMin(32, n - row);

    if (op->group) WideSlice(op, row / 32, from, sum);
    else {
      for (int r = 0; r < rows; r++) sum[r] = WideRow(op, row + r, from);
    }
    for (int r = 0; r < rows && d; r++) sum[r] += WIDE(d, row + r) * (DOUBLE)from[row + r];
    for (int r = 0; r < rows; r++) to[row + r] = (SINGLE)sum[r];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const CAMGKernels CAMGHostKernels = {
  .memory = &LitheHostMemory,
  .matrix =
    {
      .survey    = PCCAMGSurvey_Private,
      .forms     = PCCAMGForms_Private,
      .copy      = PCCAMGCopy_Private,
      .setouter  = PCCAMGSetOuter_Private,
      .divide    = PCCAMGDivide_Private,
      .setcolumn = PCCAMGSetColumn_Private,
      .multiply  = PCCAMGMultiply_Private,
      .transpose = PCCAMGTranspose_Private,
      .mean      = PCCAMGMean_Private,
      .norms     = PCCAMGNorms_Private,
      .extract   = PCCAMGExtract_Private,
      .join      = PCCAMGJoin_Private,
      .mark      = PCCAMGMark_Private,
      .renumber  = PCCAMGRenumber_Private,
      .turn      = PCCAMGTurn_Private,
    },
  .coarsen =
    {
      .roots     = PCCAMGRoots_Private,
      .filter    = PCCAMGFilter_Private,
      .conjugate = PCCAMGConjugate_Private,
      .aggregate = PCCAMGAggregate_Private,
      .pairs     = PCCAMGPairs_Private,
      .compose   = PCCAMGCompose_Private,
      .tentative = PCCAMGTentative_Private,
      .damping   = PCCAMGDamping_Private,
      .smooth    = PCCAMGSmooth_Private,
      .moduli    = PCCAMGModuli_Private,
      .findnull  = PCCAMGFindNull_Private,
      .clearnull = PCCAMGClearNull_Private,
    },
  .level =
    {
      .scales         = PCCAMGScales_Private,
      .encode         = PCCAMGEncode_Private,
      .encodetransfer = PCCAMGEncodeTransfer_Private,
      .getdense       = PCCAMGGetDense_Private,
      .largest        = Largest_Private,
      .enter          = Enter_Private,
      .leave          = Leave_Private,
      .step           = Step_Private,
      .residual       = Residual_Private,
      .transfer       = Transfer_Private,
      .dense          = Dense_Private,
      .rounding       = PCCAMGRounding_Private,
      .product        = Product_Private,
    },
};
