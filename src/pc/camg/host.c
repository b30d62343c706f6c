/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* CAMGHostKernels: the operations of an application on the host */

#include "camgimpl.h"

#define HOST_ROWS 256 /* of which products are kept in the cache */

/* CAMGDecode8() as a table */
#define E(c)   (((c) >> 3 & 15 ? (8 + ((c) & 7)) << (((c) >> 3 & 15) - ((c) & 120 ? 1 : 0)) : (c) & 7) * ((c) & 128 ? -0x1p-16f : 0x1p-16f))
#define E4(c)  E(c), E((c) + 1), E((c) + 2), E((c) + 3)
#define E16(c) E4(c), E4((c) + 4), E4((c) + 8), E4((c) + 12)
#define E64(c) E16(c), E16((c) + 16), E16((c) + 32), E16((c) + 48)
static const float decoded8[256] = {E64(0), E64(64), E64(128), E64(192)};

#define Decode8(code) decoded8[code]

#if PetscDefined(USE_COMPLEX)
  #include <complex.h>
  #define SINGLE float complex
  #define DOUBLE double complex
  #define CONJ(v) conj(v)
  #define ENTRY(a, k, decode) (decode((a)[2 * (k)]) + decode((a)[2 * (k) + 1]) * _Complex_I)
  #define DIAGONAL(op, r)     (((const float *)(op)->d)[2 * (r)] + ((const float *)(op)->d)[2 * (r) + 1] * _Complex_I)
#else
  #define SINGLE float
  #define DOUBLE double
  #define CONJ(v) (v)
  #define ENTRY(a, k, decode) decode((a)[k])
  #define DIAGONAL(op, r)     ((const float *)(op)->d)[r]
#endif

#define NUMBER SINGLE
#define REAL   float
#define FN(name) name##Single
#include "hostloops.h"
#undef NUMBER
#undef REAL
#undef FN
#define NUMBER DOUBLE
#define REAL   double
#define FN(name) name##Double
#include "hostloops.h"

static PetscErrorCode Enter_Private(PetscInt n, PetscBool single, const double outer[], const PetscScalar x[], void *b, double *scale)
{
  double most = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) {
    const double a = outer[r] * (double)PetscMax(PetscAbsReal(PetscRealPart(x[r])), PetscAbsReal(PetscImaginaryPart(x[r])));

    if (!(a <= most)) most = a; /* NaN stays, unless a number follows */
  }
  *scale = LitheMGScaleOf(most);
  if (single) EnterSingle(n, *scale, outer, x, (SINGLE *)b);
  else EnterDouble(n, *scale, outer, x, (DOUBLE *)b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Leave_Private(PetscInt n, PetscBool single, double factor, const double outer[], const double *scale, const void *x, PetscScalar y[])
{
  PetscFunctionBegin;
  if (single) LeaveSingle(n, factor / *scale, outer, (const SINGLE *)x, y);
  else LeaveDouble(n, factor / *scale, outer, (const DOUBLE *)x, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Step_Private(const CAMGOperator *op, double c1, double c2, const void *b, const void *x, const void *old, void *out)
{
  PetscFunctionBegin;
  if (op->single) StepSingle(op, (float)c1, (float)c2, (const SINGLE *)b, (const SINGLE *)x, (const SINGLE *)old, (SINGLE *)out);
  else StepDouble(op, c1, c2, (const DOUBLE *)b, (const DOUBLE *)x, (const DOUBLE *)old, (DOUBLE *)out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Residual_Private(const CAMGOperator *op, const void *b, const void *x, void *r)
{
  PetscFunctionBegin;
  if (op->single) ResidualSingle(op, (const SINGLE *)b, (const SINGLE *)x, (SINGLE *)r);
  else ResidualDouble(op, (const DOUBLE *)b, (const DOUBLE *)x, (DOUBLE *)r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transfer_Private(const CAMGTransfer *P, PetscBool add, const void *x, void *y)
{
  PetscFunctionBegin;
  if (P->single) TransferSingle(P, add, (const SINGLE *)x, (SINGLE *)y);
  else TransferDouble(P, add, (const DOUBLE *)x, (DOUBLE *)y);
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
  .memory         = &LitheHostMemory,
  .survey         = PCCAMGSurvey_Private,
  .issymmetric    = PCCAMGIsSymmetric_Private,
  .copy           = PCCAMGCopy_Private,
  .setouter       = PCCAMGSetOuter_Private,
  .divide         = PCCAMGDivide_Private,
  .multiply       = PCCAMGMultiply_Private,
  .products       = PCCAMGProducts_Private,
  .transpose      = PCCAMGTranspose_Private,
  .symmetricpart  = PCCAMGSymmetricPart_Private,
  .norms          = PCCAMGNorms_Private,
  .filter         = PCCAMGFilter_Private,
  .transposegraph = PCCAMGTransposeGraph_Private,
  .aggregate      = PCCAMGAggregate_Private,
  .pairs          = PCCAMGPairs_Private,
  .compose        = PCCAMGCompose_Private,
  .tentative      = PCCAMGTentative_Private,
  .damping        = PCCAMGDamping_Private,
  .smooth         = PCCAMGSmooth_Private,
  .scales         = PCCAMGScales_Private,
  .encode         = PCCAMGEncode_Private,
  .encodetransfer = PCCAMGEncodeTransfer_Private,
  .getdense       = PCCAMGGetDense_Private,
  .enter          = Enter_Private,
  .leave          = Leave_Private,
  .step           = Step_Private,
  .residual       = Residual_Private,
  .transfer       = Transfer_Private,
  .dense          = Dense_Private,
};
