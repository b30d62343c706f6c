/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The lossy part of a compression on the device. Rows are rounded by the host's functions, with a separate rounding of
   each operation. Only moduli of complex numbers above 1e140 or below 1e-140 may differ in the last bit, if hypot()
   computes them. Sums over the whole matrix (the Frobenius norms of the report) have a different order.
*/

#include "build.cuh"

#define SUM_BLOCKS 1024

static __global__ void __launch_bounds__(VCRS_BLOCK) SurveyRows(VCRSBuild b, VCRSCSR csr, PetscReal *largest, PetscReal *stored, VCRSSurvey *part, int *refused)
{
  __shared__ VCRSSurvey shared[VCRS_BLOCK];
  VCRSSurvey            survey;

  VCRSSurveyStart(&survey);
  VCRS_FOR_ALL(PetscInt, row, csr.m)
  {
    const PetscInt     p = csr.i[row], len = csr.i[row + 1] - p;
    const PetscScalar *a   = csr.a + p;
    const PetscInt     ref = b.ref ? VCRSFindReference(row, len, csr.j + p, a) : -1;

    if (b.ref) b.ref[row] = ref;
    if (!VCRSSurveyRow(&survey, len, ref, a, &largest[row], &stored[row])) *refused = 1;
  }
  BlockJoin(shared, &survey, [](VCRSSurvey *s, const VCRSSurvey *t) { VCRSSurveyJoin(s, t); });
  if (!threadIdx.x) part[blockIdx.x] = survey;
}

static __global__ void SetRowExponents(VCRSStep step, PetscInt m, const PetscReal *largest, const PetscReal *stored, int16_t *rowexp)
{
  VCRS_FOR_ALL(PetscInt, row, m)
  rowexp[row] = (int16_t)VCRSStepRowExponent(&step, largest[row], stored[row]);
}

static __global__ void __launch_bounds__(VCRS_BLOCK) RoundRows(VCRSBuild b, VCRSCSR csr, VCRSStep step, VCRSLossTotals *part)
{
  __shared__ VCRSLossTotals shared[VCRS_BLOCK];
  VCRSLossTotals            totals = {0., 0., 0., 0., 0., 0., 0, 0, 0};

  totals.bound = step.bound;
  VCRS_FOR_ALL(PetscInt, row, csr.m)
  VCRSRoundRow(&b, &csr, b.extra, &step, row, b.owna + csr.i[row], &totals);
  BlockJoin(shared, &totals, [](VCRSLossTotals *s, const VCRSLossTotals *t) { VCRSLossTotalsJoin(s, t); });
  if (!threadIdx.x) part[blockIdx.x] = totals;
}

static __global__ void __launch_bounds__(VCRS_BLOCK) SumSquares(PetscInt64 n, const PetscReal *v, double *part)
{
  __shared__ double shared[VCRS_BLOCK];
  double            sum = 0.;

  VCRS_FOR_ALL(PetscInt64, k, n)
  sum += (double)v[k] * (double)v[k];
  BlockJoin(shared, &sum, [](double *s, const double *t) { *s += *t; });
  if (!threadIdx.x) part[blockIdx.x] = sum;
}

static PetscErrorCode DeviceNorm(DeviceBuild *d, VCRSReport *report)
{
  double *part, host[SUM_BLOCKS], sum = 0.;

  PetscFunctionBegin;
  PetscCall(DeviceAllocate(&d->memory, SUM_BLOCKS, &part));
  SumSquares<<<SUM_BLOCKS, VCRS_BLOCK, 0, d->stream>>>(d->nz * VCRS_COMPONENTS, reinterpret_cast<const PetscReal *>(d->b.csr.a), part);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceGet(d, part, SUM_BLOCKS, host));
  for (int k = 0; k < SUM_BLOCKS; k++) sum += host[k];
  PetscCall(DeviceFree(&d->memory, &part));
  report->frobnorm = (PetscReal)sqrt(sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the reference of each row, and the largest component of its entries and of its stored entries. survey: the
   largest components of all rows. Synchronises */
static PetscErrorCode DeviceSurvey(DeviceBuild *d, PetscReal *largest, PetscReal *stored, VCRSSurvey *survey, PetscBool *taken)
{
  const int   blocks = LaunchBlocks(d->b.csr.m);
  VCRSSurvey *part, *parts;
  int        *dflag, flag;

  PetscFunctionBegin;
  PetscCall(DeviceAllocate(&d->memory, blocks, &part));
  PetscCall(DeviceAllocateZero(d, 1, &dflag));
  SurveyRows<<<blocks, VCRS_BLOCK, 0, d->stream>>>(d->b, d->b.csr, largest, stored, part, dflag);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceGet(d, dflag, 1, &flag));
  PetscCall(PetscMalloc1(blocks, &parts));
  PetscCall(DeviceGet(d, part, blocks, parts));
  VCRSSurveyStart(survey);
  for (int k = 0; k < blocks; k++) VCRSSurveyJoin(survey, &parts[k]);
  PetscCall(PetscFree(parts));
  PetscCall(DeviceFree(&d->memory, &part));
  PetscCall(DeviceFree(&d->memory, &dflag));
  *taken = flag ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As VCRSLossPropose(); rowexponent[m] is on the host */
PetscErrorCode DeviceLossPropose(DeviceBuild *d, VCRSSurvey *survey, PetscInt rowexponent[])
{
  const PetscInt m   = d->b.csr.m;
  LitheLogScale *log = NULL;
  PetscReal     *largest, *stored;
  int16_t       *exponent, *host;
  PetscBool      taken;
  VCRSStep       step;

  PetscFunctionBegin;
  PetscCall(DeviceAllocate(&d->memory, m, &largest));
  PetscCall(DeviceAllocate(&d->memory, m, &stored));
  PetscCall(DeviceSurvey(d, largest, stored, survey, &taken));
  PetscCheck(taken, PETSC_COMM_SELF, PETSC_ERR_FP,
             "A matrix on the device has an entry that -mat_vcrs_loss %s cannot hold: the entry is infinite or not a number", MatVCRSLosses[d->b.opt->loss]);
  PetscCall(VCRSStepSetUp(d->b.opt, survey, &log, &step));
  PetscCall(PetscFree(log));
  PetscCall(PetscArrayzero(rowexponent, m));
  if (!VCRSStepIsByRow(step.kind)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceAllocate(&d->memory, m, &exponent));
  SetRowExponents<<<LaunchBlocks(m), VCRS_BLOCK, 0, d->stream>>>(step, m, largest, stored, exponent);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(PetscMalloc1(m, &host));
  PetscCall(DeviceGet(d, exponent, m, host));
  for (PetscInt row = 0; row < m; row++) rowexponent[row] = host[row];
  PetscCall(PetscFree(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets data of other processes: the steps of an off-diagonal block of a symmetric matrix */
static PetscErrorCode DeviceAgree(DeviceBuild *d, const VCRSAgreement *agreement, VCRSSurvey *survey)
{
  int16_t *columnexp;

  PetscFunctionBegin;
  *survey = agreement->survey;
  PetscCall(DeviceAllocate(&d->memory, d->b.n, &columnexp));
  PetscCall(DevicePut(d, agreement->columnexponent, d->b.n, columnexp));
  d->b.rounded.columnexp = columnexp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As VCRSLossApply(). Sets tohost if an entry cannot be compressed: the host then names the entry */
PetscErrorCode DeviceLossApply(DeviceBuild *d, VCRSReport *report)
{
  VCRSBuild      *b      = &d->b;
  const PetscInt  m      = d->b.csr.m;
  const int       blocks = LaunchBlocks(m);
  PetscReal      *largest, *stored;
  VCRSSurvey      survey;
  VCRSLossTotals *dtotals, totals;
  VCRSStep        step;
  PetscBool       taken;
  VCRSLossTotals *parts;

  PetscFunctionBegin;
  b->i        = d->b.csr.i;
  b->j        = d->b.csr.j;
  b->a        = d->b.csr.a;
  b->lossless = VCRSLossIsNone(d->b.opt);
  if (b->lossless) {
    PetscCall(DeviceNorm(d, report));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* survey */
  b->difference = d->b.opt->rowsums;
  if (d->b.opt->rowsums) PetscCall(DeviceAllocate(&d->memory, m, &b->ref));
  PetscCall(DeviceAllocate(&d->memory, m, &largest));
  PetscCall(DeviceAllocate(&d->memory, m, &stored));
  PetscCall(DeviceSurvey(d, largest, stored, &survey, &taken));
  if (!taken) {
    d->b.tohost = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (d->b.opt->agreement) PetscCall(DeviceAgree(d, d->b.opt->agreement, &survey));

  /* steps */
  PetscCall(VCRSStepSetUp(d->b.opt, &survey, &d->log, &step));
  PetscCall(DeviceAllocate(&d->memory, m, &b->rounded.rowexp));
  if (VCRSStepIsByRow(step.kind)) {
    SetRowExponents<<<blocks, VCRS_BLOCK, 0, d->stream>>>(step, m, largest, stored, b->rounded.rowexp);
    PetscCallCUDA(cudaGetLastError());
  }
  if (step.kind == VCRS_STEP_LOG) {
    PetscCall(DeviceAllocate(&d->memory, 1, &b->rounded.log));
    PetscCall(DevicePut(d, d->log, 1, b->rounded.log));
    PetscCall(DeviceAllocateZero(d, (size_t)d->nz * VCRS_COMPONENTS, &b->rounded.code));
  }

  /* rounding */
  if (b->difference) {
    PetscCall(DeviceAllocate(&d->memory, m, &b->sigma));
    PetscCall(DeviceAllocate(&d->memory, d->nz, &b->ownj));
  }
  PetscCall(DeviceAllocate(&d->memory, d->nz, &b->owna));
  PetscCall(DeviceAllocate(&d->memory, blocks, &dtotals));
  RoundRows<<<blocks, VCRS_BLOCK, 0, d->stream>>>(*b, d->b.csr, step, dtotals);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(PetscMalloc1(blocks, &parts));
  PetscCall(DeviceGet(d, dtotals, blocks, parts));
  memset(&totals, 0, sizeof(totals));
  totals.bound = step.bound;
  for (int k = 0; k < blocks; k++) VCRSLossTotalsJoin(&totals, &parts[k]);
  VCRSLossReport(&step, &totals, report);
  PetscCall(PetscFree(parts));

  b->j = b->ownj ? b->ownj : d->b.csr.j;
  b->a = b->owna;
  PetscCall(DeviceFree(&d->memory, &dtotals));
  PetscCall(DeviceFree(&d->memory, &largest));
  PetscCall(DeviceFree(&d->memory, &stored));
  PetscFunctionReturn(PETSC_SUCCESS);
}
