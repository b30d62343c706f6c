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
#else
  #define SINGLE      float
  #define DOUBLE      double
  #define CONJ(v)     (v)
  #define PARTS       1
  #define ENTRY(a, k) (a)[k]
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
    },
};
