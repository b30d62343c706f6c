/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The lossy half of a compression: every entry is replaced by one of few nearby values.

   Each entry is rounded separately, to a number of steps that does not depend on the order of the rows. Equal rounded
   rows are then found by exact comparison (vcrs/build/build.c). All steps except logarithmic ones are powers of two. 0,
   and mostly 1 and -1, are therefore exact, and sums of rounded entries are exact while they fit the mantissa.

   Guards protect preconditioners: zeros stay zero, signs stay, the diagonal does not vanish, and a symmetric matrix
   stays symmetric. Row sums are kept: each row stores its sum in place of one entry, the reference (vcrs/plan.h: the
   difference form).
*/

#include <lithe/private/vcrs/round.h>

/* Whether a loss can hold n entries. Infinities have no nearby value */
PetscBool VCRSLossTakes(PetscInt n, const PetscScalar a[])
{
  const PetscReal *v = (const PetscReal *)a;

  for (PetscInt k = 0; k < n * VCRS_COMPONENTS; k++) {
    if (!(PetscAbsReal(v[k]) <= PETSC_MAX_REAL)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Raises the error of a row with an entry that the loss cannot take */
PetscErrorCode VCRSLossRefuseRow(MPI_Comm comm, const VCRSOptions *opt, PetscInt row)
{
  PetscFunctionBegin;
  SETERRQ(comm, PETSC_ERR_FP,
          "Row %" PetscInt_FMT " has an entry that -mat_vcrs_loss %s cannot hold: the entry is infinite or not a number. Use -mat_vcrs_loss none for this "
          "matrix, or correct the row",
          row, MatVCRSLosses[opt->loss]);
}

/*
   Finds the reference of each row, and the largest component: of the whole row (largest[]) and without the reference
   (stored[])
*/
static PetscErrorCode VCRSLossSurvey_Private(VCRSBuild *b, const VCRSCSR *csr, VCRSSurvey *s, PetscReal largest[], PetscReal stored[])
{
  VCRSSurvey survey;

  PetscFunctionBegin;
  VCRSSurveyStart(&survey);
  for (PetscInt row = 0; row < csr->m; row++) {
    const PetscInt     len = csr->i[row + 1] - csr->i[row], *cols = csr->j + csr->i[row];
    const PetscScalar *a   = csr->a + csr->i[row];
    const PetscInt     ref = b->ref ? VCRSFindReference(row, len, cols, a) : -1;

    if (b->ref) b->ref[row] = ref;
    if (!VCRSSurveyRow(&survey, len, ref, a, &largest[row], &stored[row])) PetscCall(VCRSLossRefuseRow(PETSC_COMM_SELF, b->opt, row));
  }
  *s = survey;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest modulus in the range from low to high; 0 for an empty range */
static double VCRSLargestModulus(PetscReal low, PetscReal high)
{
  return low <= high ? PetscMax(fabs((double)low), fabs((double)high)) : 0.;
}

/* Whether all entries, and their numbers of steps, are far enough from the ends of the range for unchecked rounding */
static PetscBool VCRSStepIsInRange(const VCRSStep *step, const VCRSSurvey *s)
{
  const double largest = VCRSLargestModulus(s->min, s->max), smallest = largest > 0. ? (double)s->smallest : 1.;

  if (!(largest < LithePow2(900))) return PETSC_FALSE;
  switch (step->kind) {
  case VCRS_STEP_MATRIX:
    return (PetscBool)(step->exponent >= -1000 && step->exponent <= 900 && largest < LithePow2(step->exponent + 51));
  case VCRS_STEP_ROW:
    return (PetscBool)(step->exponent > -50);
  case VCRS_STEP_FIXED:
    return PETSC_TRUE;
  case VCRS_STEP_ENTRY:
    return (PetscBool)(step->exponent > -52 && step->exponent < 0 && step->floor == LITHE_MIN_EXPONENT && smallest >= LithePow2(-900));
  case VCRS_STEP_SINGLE:
    return (PetscBool)(largest < .5 * (double)FLT_MAX && smallest >= (double)FLT_MIN);
  default:
    return PETSC_FALSE;
  }
}

/* Whether all entries are normal numbers of single precision */
static PetscBool VCRSSurveyIsSingle(const VCRSSurvey *s)
{
  const double largest = PetscMax(VCRSLargestModulus(s->min, s->max), VCRSLargestModulus(s->lowest, s->highest));

  return (PetscBool)(largest <= (double)FLT_MAX && (largest == 0. || (double)s->smallest >= (double)FLT_MIN));
}

/* ------------------------------------------------------------------ the table of losses */

/*
   Steps of a power of two: the range of all entries divided by the number of bins. Halves, because max - min may
   overflow
*/
static PetscErrorCode VCRSSetUpBins_Private(const VCRSOptions *opt, const VCRSSurvey *s, PETSC_UNUSED LitheLogScale **log, VCRSStep *step)
{
  const double min = s->min <= s->max ? (double)s->min : 0., max = s->min <= s->max ? (double)s->max : 0.;
  const double range = max / (2. * (double)opt->bins) - min / (2. * (double)opt->bins);

  PetscFunctionBegin;
  step->bound    = range;
  step->absolute = PETSC_TRUE;
  if (range > 0.) {
    step->kind     = VCRS_STEP_MATRIX;
    step->exponent = LitheClampExponent(LitheFloorLog2(range / VCRS_COMPONENT_FACTOR) + 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSSetUpClasses_Private(const VCRSOptions *opt, PETSC_UNUSED const VCRSSurvey *s, PETSC_UNUSED LitheLogScale **log, VCRSStep *step)
{
  const double lambda = 2. * (double)opt->lambda / VCRS_COMPONENT_FACTOR;

  PetscFunctionBegin;
  step->bound    = (double)opt->lambda;
  step->exponent = LitheFloorLog2(lambda);
  if (opt->unit == MATVCRS_UNIT_ABSOLUTE) {
    step->absolute = PETSC_TRUE;
    step->kind     = VCRS_STEP_MATRIX;
    step->exponent = LitheClampExponent(step->exponent);
  } else if (opt->unit == MATVCRS_UNIT_ENTRY) {
    /* components are relative to themselves, so the modulus needs no factor; a step larger than the entry would lose
       the entry */
    step->kind     = VCRS_STEP_ENTRY;
    step->exponent = PetscMin(LitheFloorLog2(2. * (double)opt->lambda), 0);
  } else step->kind = VCRS_STEP_ROW;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Entries in bins, and then in classes. All steps are powers of two, so the multiples of the coarser step are among
   those of the finer step: one rounding to the coarser step has both effects, with the larger one of both bounds
   instead of their sum
*/
static PetscErrorCode VCRSSetUpBinClasses_Private(const VCRSOptions *opt, const VCRSSurvey *s, LitheLogScale **log, VCRSStep *step)
{
  const double largest = PetscMax(VCRSLargestModulus(s->lowest, s->highest), VCRSLargestModulus(s->min, s->max));
  VCRSStep     bins    = *step;

  PetscFunctionBegin;
  PetscCall(VCRSSetUpBins_Private(opt, s, log, &bins));
  if (opt->lambda == 0.) {
    *step = bins;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VCRSSetUpClasses_Private(opt, s, log, step));
  if (!step->absolute) step->bound = PetscMin(step->bound * largest, (double)PETSC_MAX_REAL);
  step->bound    = PetscMax(step->bound, bins.bound);
  step->absolute = PETSC_TRUE;
  if (bins.kind == VCRS_STEP_EXACT) PetscFunctionReturn(PETSC_SUCCESS);
  if (step->kind == VCRS_STEP_MATRIX) step->exponent = PetscMax(step->exponent, bins.exponent);
  else step->floor = bins.exponent;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSSetUpLog_Private(PETSC_UNUSED const VCRSOptions *opt, const VCRSSurvey *s, LitheLogScale **log, VCRSStep *step)
{
  const double all = VCRSLargestModulus(s->lowest, s->highest);

  PetscFunctionBegin;
  step->kind = VCRS_STEP_LOG;
  PetscCall(PetscNew(log));
  LitheLogScaleSetUp(*log, step->bits, all > 0. ? (double)s->smallest : 0., all, all > 0. && s->highest > 0., all > 0. && s->lowest < 0.);
  step->bound = LitheLogScaleBound(*log);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSSetUpFixed_Private(PETSC_UNUSED const VCRSOptions *opt, PETSC_UNUSED const VCRSSurvey *s, PETSC_UNUSED LitheLogScale **log,
                                             VCRSStep *step)
{
  PetscFunctionBegin;
  step->kind = VCRS_STEP_FIXED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If an entry is out of range, all entries stay unchanged */
static PetscErrorCode VCRSSetUpSingle_Private(PETSC_UNUSED const VCRSOptions *opt, const VCRSSurvey *s, PETSC_UNUSED LitheLogScale **log, VCRSStep *step)
{
  PetscFunctionBegin;
  if (VCRSSurveyIsSingle(s)) {
    step->kind  = VCRS_STEP_SINGLE;
    step->bound = .5 * (double)FLT_EPSILON;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Per loss: the function that sets up the steps; NULL without a loss. Names: MatVCRSLosses[] */
typedef struct {
  PetscErrorCode (*setup)(const VCRSOptions *, const VCRSSurvey *, LitheLogScale **, VCRSStep *);
  PetscBool widths; /* do 8 and 16 bits exist? */
} VCRSLoss;

static const VCRSLoss VCRSLosses[] = {
  [MATVCRS_LOSS_NONE]       = {NULL, PETSC_FALSE},
  [MATVCRS_LOSS_BINS]       = {VCRSSetUpBins_Private, PETSC_FALSE},
  [MATVCRS_LOSS_CLASSES]    = {VCRSSetUpClasses_Private, PETSC_FALSE},
  [MATVCRS_LOSS_LOG]        = {VCRSSetUpLog_Private, PETSC_TRUE},
  [MATVCRS_LOSS_FIXED]      = {VCRSSetUpFixed_Private, PETSC_TRUE},
  [MATVCRS_LOSS_SINGLE]     = {VCRSSetUpSingle_Private, PETSC_FALSE},
  [MATVCRS_LOSS_BINCLASSES] = {VCRSSetUpBinClasses_Private, PETSC_FALSE},
};

PetscBool VCRSLossHasWidths(MatVCRSLoss loss)
{
  return VCRSLosses[loss].widths;
}

/* The steps of a loss, except steps of single rows; log: for a logarithmic scale */
PetscErrorCode VCRSStepSetUp(const VCRSOptions *opt, const VCRSSurvey *s, LitheLogScale **log, VCRSStep *step)
{
  const double largest = PetscMax(VCRSLargestModulus(s->lowest, s->highest), VCRSLargestModulus(s->min, s->max));

  PetscFunctionBegin;
  step->unit        = largest > 0. ? LithePow2(PetscMin(-LitheFloorLog2(largest), 1023)) : 1.;
  step->kind        = VCRS_STEP_EXACT;
  step->bits        = (int)opt->bits;
  step->exponent    = 0;
  step->floor       = LITHE_MIN_EXPONENT;
  step->symmetric   = opt->symmetric;
  step->hermitian   = opt->hermitian;
  step->offdiagonal = opt->offdiagonal;
  step->bound       = 0.;
  step->absolute    = PETSC_FALSE;
  if (VCRSLosses[opt->loss].setup) PetscCall((*VCRSLosses[opt->loss].setup)(opt, s, log, step));
  step->inrange = VCRSStepIsInRange(step, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Finer options if the loss was too coarse for more than one row of 256, or if a row could not be held. Such a row has
   numbers of very different size, as with different units, and a bound relative to the largest number does not bound
   the small ones. The first step is 16 bits. The second step rounds each entry separately, in single precision, without
   compensation by other entries. Returns false if opt suffices.
*/
PetscBool VCRSLossRefine(PetscInt64 rows, PetscInt64 coarse, PetscInt64 lost, VCRSOptions *opt)
{
  if (!opt->refine || VCRSLossIsNone(opt) || (!lost && 256 * coarse <= rows)) return PETSC_FALSE;
  if (!lost && opt->bits == 8 && VCRSLossHasWidths(opt->loss)) {
    opt->bits = 16;
    return PETSC_TRUE;
  }
  if (opt->loss == MATVCRS_LOSS_SINGLE && !opt->rowsums) return PETSC_FALSE;
  opt->loss    = MATVCRS_LOSS_SINGLE;
  opt->rowsums = PETSC_FALSE;
  if (opt->layout == MATVCRS_LAYOUT_L2) opt->layout = MATVCRS_LAYOUT_AUTO; /* L2 holds no floats */
  return PETSC_TRUE;
}

void VCRSLossReport(const VCRSStep *step, const VCRSLossTotals *totals, VCRSReport *report)
{
  report->maxabserror = (PetscReal)totals->maxabs;
  report->maxrowerror = (PetscReal)totals->maxrow;
  report->bound       = (PetscReal)totals->bound;
  report->froberror   = (PetscReal)(sqrt(totals->error2) / step->unit);
  report->frobnorm    = (PetscReal)(sqrt(totals->norm2) / step->unit);
  report->rowsumerror = (PetscReal)totals->sumerror;
  report->guardrows   = totals->guarded;
  report->coarserows  = totals->coarse;
  report->lostrows    = totals->lost;
}

/* Whether each stored entry has a code, on a logarithmic scale or as a number of steps of its row */
static PetscBool VCRSStepHasCodes(const VCRSStep *step, const VCRSSurvey *s)
{
  const double largest = VCRSLargestModulus(s->lowest, s->highest);

  switch (step->kind) {
  case VCRS_STEP_LOG:
  case VCRS_STEP_FIXED:
    return PETSC_TRUE;
  case VCRS_STEP_MATRIX:
    return (PetscBool)(largest <= (double)INT16_MAX * LithePow2(step->exponent));
  case VCRS_STEP_ROW:
    /* less than 2^(1 - exponent) steps; but entries of a symmetric matrix also have the steps of other rows */
    return (PetscBool)(!step->symmetric && step->exponent >= -13);
  default:
    return PETSC_FALSE;
  }
}

/* Whether each stored entry is a number of single precision */
static PetscBool VCRSStepIsSingle(const VCRSStep *step, const VCRSSurvey *s)
{
  const double largest = VCRSLargestModulus(s->lowest, s->highest), smallest = largest > 0. ? (double)s->smallest : 1.;

  if (sizeof(PetscReal) <= sizeof(float)) return PETSC_FALSE;
  switch (step->kind) {
  case VCRS_STEP_SINGLE:
    return PETSC_TRUE;
  case VCRS_STEP_MATRIX:
    return (PetscBool)(step->exponent >= -149 && step->exponent <= 100 && largest <= LithePow2(step->exponent + 24));
  case VCRS_STEP_ENTRY:
    return (PetscBool)(step->exponent >= -23 && smallest >= LithePow2(-126) && largest < LithePow2(126));
  default:
    return PETSC_FALSE;
  }
}

/*
   Rounds all entries into code, single or owna (and ownj), in the order of storage, and compares them with the original
*/
static PetscErrorCode VCRSLossRound_Private(VCRSBuild *b, const VCRSCSR *csr, const PetscScalar extra[], const VCRSStep *step, VCRSReport *report)
{
  VCRSLossTotals totals = {0};

  PetscFunctionBegin;
  totals.bound = step->bound;
  for (PetscInt row = 0; row < csr->m; row++) VCRSRoundRow(b, csr, extra, step, row, b->owna ? b->owna + csr->i[row] : b->rounded.room[0], &totals);
  VCRSLossReport(step, &totals, report);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options with which nothing is changed */
PetscBool VCRSLossIsNone(const VCRSOptions *opt)
{
  return (PetscBool)(opt->loss == MATVCRS_LOSS_NONE || (opt->loss == MATVCRS_LOSS_CLASSES && opt->lambda == 0.) ||
                     (opt->loss == MATVCRS_LOSS_SINGLE && sizeof(PetscReal) <= sizeof(float)));
}

/* The 2-norm of n numbers, also where squares are out of range */
static double VCRSNorm(PetscInt n, const PetscReal x[])
{
  double sum = 0., largest = 0.;

  for (PetscInt k = 0; k < n; k++) sum += (double)x[k] * (double)x[k];
  if (sum > 1e-280 && sum < 1e300) return sqrt(sum);
  sum = 0.;
  for (PetscInt k = 0; k < n; k++) largest = PetscMax(largest, fabs((double)x[k]));
  if (largest == 0. || !(largest <= PETSC_MAX_REAL)) return largest;
  for (PetscInt k = 0; k < n; k++) sum += ((double)x[k] / largest) * ((double)x[k] / largest);
  return sqrt(sum) * largest;
}

/* Fills the first part of a VCRSBuild: the matrix to be stored by the layouts */
PetscErrorCode VCRSLossApply(VCRSBuild *b, const VCRSCSR *csr, const PetscScalar extra[], VCRSReport *report)
{
  const VCRSOptions *opt     = b->opt;
  const PetscInt     nz      = csr->i[csr->m];
  const PetscBool    literal = (PetscBool)(opt->layout == MATVCRS_LAYOUT_LITERAL);
  PetscReal         *largest = NULL, *stored = NULL;
  PetscInt           longest = 0;
  VCRSSurvey         survey;
  VCRSStep           step;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  b->i        = csr->i;
  b->lossless = VCRSLossIsNone(opt);
  if (b->lossless) {
    report->frobnorm = (PetscReal)VCRSNorm(nz * VCRS_COMPONENTS, (const PetscReal *)csr->a);
    b->j             = csr->j;
    b->a             = csr->a;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* literal stores all entries in column order; the reference has the value implied by the row sum */
  b->difference = (PetscBool)(opt->rowsums && !literal);
  if (opt->rowsums) PetscCall(LitheMallocLarge(csr->m, &b->ref));
  if (b->difference) {
    PetscCall(LitheMallocLarge(csr->m, &b->sigma));
    PetscCall(LitheMallocLarge(nz, &b->ownj));
  }
  PetscCall(LitheMallocLarge(csr->m, &b->rounded.rowexp));
  PetscCall(PetscMemzero(&survey, sizeof(survey)));
  ierr = PetscMalloc2(csr->m, &largest, csr->m, &stored);
  if (!ierr) ierr = VCRSLossSurvey_Private(b, csr, &survey, largest, stored);
  if (!ierr && opt->agreement) {
    survey               = opt->agreement->survey;
    b->rounded.columnexp = opt->agreement->columnexponent;
  }
  if (!ierr) ierr = VCRSStepSetUp(opt, &survey, &b->rounded.log, &step);
  if (!ierr && (VCRSStepIsByRow(step.kind))) {
    for (PetscInt row = 0; row < csr->m; row++) b->rounded.rowexp[row] = (int16_t)VCRSStepRowExponent(&step, largest[row], stored[row]);
  }
  PetscCall(PetscFree2(largest, stored));
  PetscCall(ierr);

  /* the shortest complete form: page faults on new memory dominate the compression time */
  if (!literal && VCRSStepHasCodes(&step, &survey)) {
    PetscCall(LitheMallocLarge((size_t)nz * VCRS_COMPONENTS, &b->rounded.code));
    for (PetscInt row = 0; row < csr->m && step.kind == VCRS_STEP_MATRIX; row++) b->rounded.rowexp[row] = (int16_t)step.exponent;
  } else if (!literal && VCRSStepIsSingle(&step, &survey)) PetscCall(LitheMallocLarge((size_t)nz * VCRS_COMPONENTS, &b->rounded.single));
  else PetscCall(LitheMallocLarge(nz, &b->owna));
  if (!b->owna) {
    for (PetscInt row = 0; row < csr->m; row++) longest = PetscMax(longest, csr->i[row + 1] - csr->i[row]);
    for (int k = 0; k < 2; k++) PetscCall(PetscCalloc1(longest, &b->rounded.room[k]));
  }
  PetscCall(VCRSLossRound_Private(b, csr, extra, &step, report));
  b->j = b->ownj ? b->ownj : csr->j;
  b->a = b->owna;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The block's part of an agreement: its survey, and the exponents [m] of its rows, if the loss has row exponents */
PetscErrorCode VCRSLossPropose(const VCRSCSR *csr, const VCRSOptions *opt, VCRSSurvey *survey, PetscInt rowexponent[])
{
  LitheLogScale *log = NULL;
  VCRSBuild      b;
  VCRSStep       step;
  PetscReal     *largest, *stored;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&b, sizeof(b)));
  b.opt = opt;
  PetscCall(PetscMalloc2(csr->m, &largest, csr->m, &stored));
  PetscCall(VCRSLossSurvey_Private(&b, csr, survey, largest, stored));
  PetscCall(VCRSStepSetUp(opt, survey, &log, &step));
  for (PetscInt row = 0; row < csr->m; row++) rowexponent[row] = VCRSStepIsByRow(step.kind) ? VCRSStepRowExponent(&step, largest[row], stored[row]) : 0;
  PetscCall(PetscFree2(largest, stored));
  PetscCall(PetscFree(log));
  PetscFunctionReturn(PETSC_SUCCESS);
}
