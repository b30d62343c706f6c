/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The lossy half of a compression: every entry is replaced by a nearby value of which there are few.

   Each entry is rounded on its own, to a grid that does not depend on the order of the rows. Rows that
   come out equal are then found by exact comparison (vcrs/build/build.c). All grids but the logarithmic one
   have a power of two as their step, so 0, and on most grids 1 and -1, are hit exactly, and sums of
   rounded entries are exact as long as they fit the mantissa.

   What would harm a preconditioner is guarded: zeros stay zero, signs stay, the diagonal does not
   vanish, a symmetric matrix stays symmetric, and the row sums are kept by storing them in place of
   one entry of each row, its reference (vcrsplan.h: the difference form).
*/

#include "round.h"

/* Can a loss take n entries? Infinities have no neighbour to be rounded to */
PetscBool VCRSLossTakes(PetscInt n, const PetscScalar a[])
{
  const PetscReal *v = (const PetscReal *)a;

  for (PetscInt k = 0; k < n * VCRS_COMPONENTS; k++) {
    if (!(PetscAbsReal(v[k]) <= PETSC_MAX_REAL)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/*
   Finer options where the loss was too coarse for more than one row of 256, or a row could not be held: such a matrix has numbers of
   unlike size in a row, as those of unlike units, and a bound relative to the largest of them says nothing of the others. Entries
   have 16 bits first. Then each is rounded by itself, in single precision, and none takes the rounding of others. False where opt will do.
*/
PetscBool VCRSLossRefine(PetscInt64 rows, PetscInt64 coarse, PetscInt64 lost, VCRSOptions *opt)
{
  if (!opt->refine || VCRSLossIsNone(opt) || (!lost && 256 * coarse <= rows)) return PETSC_FALSE;
  if (!lost && opt->bits == 8 && (opt->loss == MATVCRS_LOSS_LOG || opt->loss == MATVCRS_LOSS_FIXED)) {
    opt->bits = 16;
    return PETSC_TRUE;
  }
  if (opt->loss == MATVCRS_LOSS_SINGLE && !opt->rowsums) return PETSC_FALSE;
  opt->loss    = MATVCRS_LOSS_SINGLE;
  opt->rowsums = PETSC_FALSE;
  if (opt->layout == MATVCRS_LAYOUT_L2) opt->layout = MATVCRS_LAYOUT_AUTO; /* it holds no floats */
  return PETSC_TRUE;
}

/* The error of a row with an entry that the loss cannot take */
PetscErrorCode VCRSLossRefuseRow(MPI_Comm comm, const VCRSOptions *opt, PetscInt row)
{
  PetscFunctionBegin;
  SETERRQ(comm, PETSC_ERR_FP, "Row %" PetscInt_FMT " has an entry that -mat_vcrs_loss %s cannot hold: it is infinite or not a number. Use -mat_vcrs_loss none for this matrix, or mend the row", row, MatVCRSLosses[opt->loss]);
}

/* Finds the reference of each row, and the largest component: of the whole row (largest[]) and without the reference (stored[]) */
static PetscErrorCode VCRSLossSurvey(VCRSBuild *b, const VCRSCSR *csr, VCRSSurvey *s, PetscReal largest[], PetscReal stored[])
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

/* The largest modulus of what lies from low to high; 0 where nothing does */
static double VCRSLargestModulus(PetscReal low, PetscReal high)
{
  return low <= high ? PetscMax(fabs((double)low), fabs((double)high)) : 0.;
}

/* Are all entries, and the numbers of steps that they come to, so far from the ends of the range that no rounding has to look at them? */
static PetscBool VCRSGridIsInRange(const VCRSGrid *g, const VCRSSurvey *s)
{
  const double largest = VCRSLargestModulus(s->min, s->max), smallest = largest > 0. ? (double)s->smallest : 1.;

  if (!(largest < LithePow2(900))) return PETSC_FALSE;
  switch (g->kind) {
  case VCRS_GRID_STEP:
    return g->exponent >= -1000 && g->exponent <= 900 && largest < LithePow2(g->exponent + 51) ? PETSC_TRUE : PETSC_FALSE;
  case VCRS_GRID_ROW:
    return g->exponent > -50 ? PETSC_TRUE : PETSC_FALSE;
  case VCRS_GRID_FIXED:
    return PETSC_TRUE;
  case VCRS_GRID_ENTRY:
    return g->exponent > -52 && g->exponent < 0 && smallest >= LithePow2(-900) ? PETSC_TRUE : PETSC_FALSE;
  case VCRS_GRID_SINGLE:
    return largest < .5 * (double)FLT_MAX && smallest >= (double)FLT_MIN ? PETSC_TRUE : PETSC_FALSE;
  default:
    return PETSC_FALSE;
  }
}

/* Are all entries normal numbers of single precision? */
static PetscBool VCRSSurveyIsSingle(const VCRSSurvey *s)
{
  const double largest = PetscMax(VCRSLargestModulus(s->min, s->max), VCRSLargestModulus(s->lowest, s->highest));

  return largest <= (double)FLT_MAX && (largest == 0. || (double)s->smallest >= (double)FLT_MIN) ? PETSC_TRUE : PETSC_FALSE;
}

/* The grid of the loss mode, but for what each row has of its own; log is for a logarithmic one */
PetscErrorCode VCRSGridSetUp(const VCRSOptions *opt, const VCRSSurvey *s, LitheLogScale **log, VCRSGrid *g)
{
  const double all = VCRSLargestModulus(s->lowest, s->highest), min = s->min <= s->max ? (double)s->min : 0., max = s->min <= s->max ? (double)s->max : 0.;
  const double largest = PetscMax(all, VCRSLargestModulus(s->min, s->max));
  double       range, lambda;

  PetscFunctionBegin;
  g->unit        = largest > 0. ? LithePow2(PetscMin(-LitheFloorLog2(largest), 1023)) : 1.;
  g->kind        = VCRS_GRID_EXACT;
  g->bits        = (int)opt->bits;
  g->exponent    = 0;
  g->symmetric   = opt->symmetric;
  g->hermitian   = opt->hermitian;
  g->offdiagonal = opt->offdiagonal;
  g->bound       = 0.;
  switch (opt->loss) {
  case MATVCRS_LOSS_BINS:
    /* halves, because max - min may overflow */
    range    = max / (2. * (double)opt->bins) - min / (2. * (double)opt->bins);
    g->bound = range;
    if (range > 0.) {
      g->kind     = VCRS_GRID_STEP;
      g->exponent = LitheClampExponent(LitheFloorLog2(range / VCRS_COMPONENT_FACTOR) + 1);
    }
    break;
  case MATVCRS_LOSS_CLASSES:
    lambda      = 2. * (double)opt->lambda / VCRS_COMPONENT_FACTOR;
    g->bound    = (double)opt->lambda;
    g->exponent = LitheFloorLog2(lambda);
    if (opt->unit == MATVCRS_UNIT_ABSOLUTE) {
      g->kind     = VCRS_GRID_STEP;
      g->exponent = LitheClampExponent(g->exponent);
    } else if (opt->unit == MATVCRS_UNIT_ENTRY) {
      /* components are relative to themselves, so the modulus needs no factor; a step beyond the entry itself would lose it */
      g->kind     = VCRS_GRID_ENTRY;
      g->exponent = PetscMin(LitheFloorLog2(2. * (double)opt->lambda), 0);
    } else g->kind = VCRS_GRID_ROW;
    break;
  case MATVCRS_LOSS_LOG:
    g->kind = VCRS_GRID_LOG;
    PetscCall(PetscNew(log));
    LitheLogScaleSetUp(*log, g->bits, all > 0. ? (double)s->smallest : 0., all, all > 0. && s->highest > 0., all > 0. && s->lowest < 0.);
    g->bound = LitheLogScaleBound(*log);
    break;
  case MATVCRS_LOSS_FIXED:
    g->kind = VCRS_GRID_FIXED;
    break;
  default: /* MATVCRS_LOSS_SINGLE; entries that are out of its range stay as they are, and with them all others */
    if (VCRSSurveyIsSingle(s)) {
      g->kind  = VCRS_GRID_SINGLE;
      g->bound = .5 * (double)FLT_EPSILON;
    }
  }
  g->inrange = VCRSGridIsInRange(g, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VCRSLossReport(const VCRSGrid *g, const VCRSLossTotals *totals, VCRSReport *report)
{
  report->maxabserror = (PetscReal)totals->maxabs;
  report->maxrowerror = (PetscReal)totals->maxrow;
  report->bound       = (PetscReal)totals->bound;
  report->froberror   = (PetscReal)(sqrt(totals->error2) / g->unit);
  report->frobnorm    = (PetscReal)(sqrt(totals->norm2) / g->unit);
  report->rowsumerror = (PetscReal)totals->sumerror;
  report->guardrows   = totals->guarded;
  report->coarserows  = totals->coarse;
  report->lostrows    = totals->lost;
}

/* Has each entry that is stored a code, on a logarithmic scale or as a number of steps of its row? */
static PetscBool VCRSGridHasCodes(const VCRSGrid *g, const VCRSSurvey *s)
{
  const double largest = VCRSLargestModulus(s->lowest, s->highest);

  switch (g->kind) {
  case VCRS_GRID_LOG:
  case VCRS_GRID_FIXED:
    return PETSC_TRUE;
  case VCRS_GRID_STEP:
    return largest <= (double)INT16_MAX * LithePow2(g->exponent) ? PETSC_TRUE : PETSC_FALSE;
  case VCRS_GRID_ROW:
    /* less than 2^(1 - exponent) steps; but entries of a symmetric matrix have the steps of other rows, too */
    return !g->symmetric && g->exponent >= -13 ? PETSC_TRUE : PETSC_FALSE;
  default:
    return PETSC_FALSE;
  }
}

/* Is each entry that is stored a number of single precision? */
static PetscBool VCRSGridIsSingle(const VCRSGrid *g, const VCRSSurvey *s)
{
  const double largest = VCRSLargestModulus(s->lowest, s->highest), smallest = largest > 0. ? (double)s->smallest : 1.;

  if (sizeof(PetscReal) <= sizeof(float)) return PETSC_FALSE;
  switch (g->kind) {
  case VCRS_GRID_SINGLE:
    return PETSC_TRUE;
  case VCRS_GRID_STEP:
    return g->exponent >= -149 && g->exponent <= 100 && largest <= LithePow2(g->exponent + 24) ? PETSC_TRUE : PETSC_FALSE;
  case VCRS_GRID_ENTRY:
    return g->exponent >= -23 && smallest >= LithePow2(-126) && largest < LithePow2(126) ? PETSC_TRUE : PETSC_FALSE;
  default:
    return PETSC_FALSE;
  }
}

/* Rounds all entries into code, single or owna (and ownj), in the order of storage, and compares them with the original */
static PetscErrorCode VCRSLossRound(VCRSBuild *b, const VCRSCSR *csr, const PetscScalar extra[], const VCRSGrid *g, VCRSReport *report)
{
  VCRSLossTotals totals = {0};

  PetscFunctionBegin;
  totals.bound = g->bound;
  for (PetscInt row = 0; row < csr->m; row++) VCRSRoundRow(b, csr, extra, g, row, b->owna ? b->owna + csr->i[row] : b->room[0], &totals);
  VCRSLossReport(g, &totals, report);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options with which nothing is changed */
PetscBool VCRSLossIsNone(const VCRSOptions *opt)
{
  return opt->loss == MATVCRS_LOSS_NONE || (opt->loss == MATVCRS_LOSS_CLASSES && opt->lambda == 0.) || (opt->loss == MATVCRS_LOSS_SINGLE && sizeof(PetscReal) <= sizeof(float)) ? PETSC_TRUE : PETSC_FALSE;
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

/* Fills the first part of a VCRSBuild: the matrix as the layouts are to store it */
PetscErrorCode VCRSLossApply(VCRSBuild *b, const VCRSCSR *csr, const PetscScalar extra[], VCRSReport *report)
{
  const VCRSOptions *opt     = b->opt;
  const PetscInt     nz      = csr->i[csr->m];
  const PetscBool    literal = opt->layout == MATVCRS_LAYOUT_LITERAL ? PETSC_TRUE : PETSC_FALSE;
  PetscReal         *largest = NULL, *stored = NULL;
  PetscInt           longest = 0;
  VCRSSurvey         survey;
  VCRSGrid           grid;
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

  /* literal stores all entries in column order, the reference with the value that the row sum implies */
  b->difference = opt->rowsums && !literal ? PETSC_TRUE : PETSC_FALSE;
  if (opt->rowsums) PetscCall(VCRSMallocLarge(csr->m, &b->ref));
  if (b->difference) {
    PetscCall(VCRSMallocLarge(csr->m, &b->sigma));
    PetscCall(VCRSMallocLarge(nz, &b->ownj));
  }
  PetscCall(VCRSMallocLarge(csr->m, &b->rowexp));
  PetscCall(PetscMemzero(&survey, sizeof(survey)));
  ierr = PetscMalloc2(csr->m, &largest, csr->m, &stored);
  if (!ierr) ierr = VCRSLossSurvey(b, csr, &survey, largest, stored);
  if (!ierr && opt->agreement) {
    survey       = opt->agreement->survey;
    b->columnexp = opt->agreement->columnexponent;
  }
  if (!ierr) ierr = VCRSGridSetUp(opt, &survey, &b->log, &grid);
  if (!ierr && (grid.kind == VCRS_GRID_ROW || grid.kind == VCRS_GRID_FIXED)) {
    for (PetscInt row = 0; row < csr->m; row++) b->rowexp[row] = (int16_t)VCRSGridRowExponent(&grid, largest[row], stored[row]);
  }
  PetscCall(PetscFree2(largest, stored));
  PetscCall(ierr);

  /* the shortest form that says all: pages that are touched for the first time are what a compression spends most on */
  if (!literal && VCRSGridHasCodes(&grid, &survey)) {
    PetscCall(VCRSMallocLarge((size_t)nz * VCRS_COMPONENTS, &b->code));
    for (PetscInt row = 0; row < csr->m && grid.kind == VCRS_GRID_STEP; row++) b->rowexp[row] = (int16_t)grid.exponent;
  } else if (!literal && VCRSGridIsSingle(&grid, &survey)) PetscCall(VCRSMallocLarge((size_t)nz * VCRS_COMPONENTS, &b->single));
  else PetscCall(VCRSMallocLarge(nz, &b->owna));
  if (!b->owna) {
    for (PetscInt row = 0; row < csr->m; row++) longest = PetscMax(longest, csr->i[row + 1] - csr->i[row]);
    for (int k = 0; k < 2; k++) PetscCall(PetscCalloc1(longest, &b->room[k]));
  }
  PetscCall(VCRSLossRound(b, csr, extra, &grid, report));
  b->j = b->ownj ? b->ownj : csr->j;
  b->a = b->owna;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What this block brings to an agreement: its survey, and the exponents of its rows, [m], where the loss has such */
PetscErrorCode VCRSLossPropose(const VCRSCSR *csr, const VCRSOptions *opt, VCRSSurvey *survey, PetscInt rowexponent[])
{
  LitheLogScale *log = NULL;
  VCRSBuild      b;
  VCRSGrid       grid;
  PetscReal     *largest, *stored;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&b, sizeof(b)));
  b.opt = opt;
  PetscCall(PetscMalloc2(csr->m, &largest, csr->m, &stored));
  PetscCall(VCRSLossSurvey(&b, csr, survey, largest, stored));
  PetscCall(VCRSGridSetUp(opt, survey, &log, &grid));
  for (PetscInt row = 0; row < csr->m; row++) rowexponent[row] = grid.kind == VCRS_GRID_ROW || grid.kind == VCRS_GRID_FIXED ? VCRSGridRowExponent(&grid, largest[row], stored[row]) : 0;
  PetscCall(PetscFree2(largest, stored));
  PetscCall(PetscFree(log));
  PetscFunctionReturn(PETSC_SUCCESS);
}
