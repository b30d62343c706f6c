/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The finest level from the rows of a matrix on a device, see read.c */

#include "aggregation.h"
#include "reading.h"
#include "../base/base.h"
#include "../boxes/boxes.h"
#include <lithe/private/cuda/gridmgsetup.h>

#define GRIDMG_GUESS 64 /* powers of two */

static PetscErrorCode Scan_Private(PC_GridMG *mg, double scale)
{
  const GridMGFaces *f     = &mg->aggregation.level[0].exact.faces;
  const size_t       tiles = ((size_t)mg->domain.team.own.cells + GRIDMG_READ_ROWS - 1) / GRIDMG_READ_ROWS;

  PetscFunctionBegin;
  PetscCall(PCGridMGStartFaces_Private(mg));
  PetscCall(PCGridMGArenaTake_Private(mg, tiles * sizeof(*mg->aggregation.scan.others), (void **)&mg->aggregation.scan.others));
  PetscCall(LitheCUDAGridMGRead(&mg->source.rows, &mg->domain.team.rows, scale, f, mg->aggregation.scan.others, &mg->aggregation.scan.reading));
  mg->aggregation.scan.guess = scale;
  mg->aggregation.scan.done  = PETSC_TRUE;
  mg->aggregation.scan.first = mg->domain.team.rows.first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The faces of the finest level, and counts, once a set-up and grid */
PetscErrorCode PCGridMGScan_Private(PC pc)
{
  PC_GridMG        *mg   = (PC_GridMG *)pc->data;
  const GridMGGrid *grid = &mg->domain.team.own, *last = &mg->aggregation.level[0].exact.faces.grid;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    if (last->n[d] != grid->n[d]) mg->aggregation.scan.done = PETSC_FALSE;
  }
  if (!mg->aggregation.scan.done || mg->aggregation.scan.first != mg->domain.team.rows.first)
    PetscCall(Scan_Private(mg, mg->aggregation.scan.guess != 0 ? mg->aggregation.scan.guess : 1.));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The faces again, if the guess of the factor was wrong by many powers of two */
static PetscErrorCode ScanAgain_Private(PC_GridMG *mg)
{
  int exponents[2];

  PetscFunctionBegin;
  (void)frexp(mg->found.factor, &exponents[0]);
  (void)frexp(mg->aggregation.scan.guess, &exponents[1]);
  if (PetscAbsInt(exponents[0] - exponents[1]) > GRIDMG_GUESS) PetscCall(Scan_Private(mg, mg->found.factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of wells come to the host; sum: of each row */
static PetscErrorCode ReadWells_Private(PC pc, PetscInt begin, PetscInt end, GridMGRowCounts *reading, double sum[])
{
  PC_GridMG           *mg      = (PC_GridMG *)pc->data;
  const GridMGKernels *kernels = mg->place.kernels;
  const PetscInt       n       = end - begin;
  PetscInt            *i, *j, nz;
  PetscScalar         *a;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n + 1, &i));
  PetscCall((*kernels->memory.get)((size_t)(n + 1) * sizeof(*i), mg->source.rows.i + begin, i));
  nz = i[n] - i[0];
  PetscCall(PetscMalloc2(nz, &j, nz, &a));
  if (nz) {
    PetscCall((*kernels->memory.get)((size_t)nz * sizeof(*j), mg->source.rows.j + i[0], j));
    PetscCall((*kernels->memory.get)((size_t)nz * sizeof(*a), mg->source.rows.a + i[0], a));
  }
  for (PetscInt r = 0; r < n && !reading->bad; r++)
    PetscCall(PCGridMGReadRow_Private(pc, begin + r, i[r + 1] - i[r], j + i[r] - i[0], a + i[r] - i[0], reading, &sum[r]));
  PetscCall(PetscFree2(j, a));
  PetscCall(PetscFree(i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the first entry in rows of cells that is imaginary or not finite, row by row */
static PetscErrorCode CheckNumbers_Private(PC pc, GridMGRowCounts *reading)
{
  PC_GridMG           *mg = (PC_GridMG *)pc->data;
  const GridMGReading *r  = &mg->aggregation.scan.reading;
  PetscInt             n, row[2] = {-1, -1}, column[2]; /* imaginary, bad */

  PetscFunctionBegin;
  if (r->firstimaginary < 0 && r->firstbad < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
  if (r->firstimaginary >= 0) PetscCall(LitheCUDAGridMGFindEntry(&mg->source.rows, n, r->firstimaginary, &row[0], &column[0]));
  if (r->firstbad >= 0) PetscCall(LitheCUDAGridMGFindEntry(&mg->source.rows, n, r->firstbad, &row[1], &column[1]));
  PetscCheck(row[0] < 0 || (row[1] >= 0 && row[1] < row[0]), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, GRIDMG_NOT_REAL, row[0], column[0]);
  PetscCall(PCGridMGFail_Private(pc, GRIDMG_NO_NUMBER, row[1], column[1]));
  reading->bad = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the entries in rows of cells that are no faces */
static PetscErrorCode ReadOthers_Private(PC pc, GridMGRowCounts *reading)
{
  GridMGEdge          *edge;
  PC_GridMG           *mg = (PC_GridMG *)pc->data;
  const GridMGReading *r  = &mg->aggregation.scan.reading;

  PetscFunctionBegin;
  PetscCheck(r->others <= PETSC_INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_type gridmg: %" PetscInt64_FMT " entries are between cells that are no neighbours, too many", r->others);
  PetscCall(PCGridMGEdgesAppend_Private(&mg->aggregation.edges, (PetscInt)r->others, &edge));
  PetscCall(LitheCUDAGridMGGetOthers(&mg->source.rows, &mg->domain.team.rows, &mg->domain.team.own, mg->aggregation.scan.others, (PetscInt)r->others, edge));
  reading->faces = (PetscInt)r->faces;
  reading->negative += (PetscInt)r->negative;
  reading->most = PetscMax(reading->most, r->most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries are scaled, faces of the wrong sign become edges of the list */
static PetscErrorCode Settle_Private(PC pc, double scale, GridMGRowCounts *reading, PetscBool *symmetric)
{
  PC_GridMG         *mg   = (PC_GridMG *)pc->data;
  const GridMGFaces *f    = reading->f;
  const GridMGGrid  *grid = &f->grid;
  GridMGWrong        first, *wrong;

  PetscFunctionBegin;
  PetscCall(LitheCUDAGridMGSettle(f, scale, GRIDMG_SAME, symmetric, &reading->wrong, &first));
  PCGridMGEdgesScale_Private(&mg->aggregation.edges, mg->found.factor);
  if (!reading->wrong) PetscFunctionReturn(PETSC_SUCCESS);
  {
    const PetscInt c = (PetscInt)(first.at % grid->cells), to = c + GridMGStride(grid, (int)(first.at / grid->cells));

    reading->wrongrow    = GridMGRowOf(grid, &mg->domain.team.rows, first.up < 0 ? c : to);
    reading->wrongcolumn = GridMGRowOf(grid, &mg->domain.team.rows, first.up < 0 ? to : c);
  }
  PetscCall(PCGridMGCheckSigns_Private(pc, reading));
  PetscCall(PetscMalloc1(reading->wrong, &wrong));
  PetscCall(LitheCUDAGridMGGetWrong(f, reading->wrong, wrong));
  for (PetscInt k = 0; k < reading->wrong; k++) {
    const PetscInt c = (PetscInt)(wrong[k].at % grid->cells), to = c + GridMGStride(grid, (int)(wrong[k].at / grid->cells));

    if (wrong[k].up != 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->aggregation.edges, c, to, wrong[k].up));
    if (wrong[k].down != 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->aggregation.edges, to, c, wrong[k].down));
  }
  PetscCall(PetscFree(wrong));
  PetscCall(LitheCUDAGridMGSettle(f, 1., GRIDMG_SAME, symmetric, &reading->wrong, &first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries are scaled; boxes do not overlap where faces have the wrong sign */
static PetscErrorCode SettleFaces_Private(PC_GridMG *mg, double scale, GridMGRowCounts *reading, PetscBool *symmetric)
{
  GridMGWrong first;

  PetscFunctionBegin;
  PetscCall(LitheCUDAGridMGSettle(reading->f, scale, GRIDMG_SAME, symmetric, &reading->wrong, &first));
  if (reading->wrong) PCGridMGRefuse_Private(mg);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row sums and the survey */
PetscErrorCode PCGridMGFinishDevice_Private(PC pc, GridMGLevel *l)
{
  PC_GridMG         *mg = (PC_GridMG *)pc->data;
  const GridMGFaces *f  = &l->exact.faces;
  double             rounding;
  GridMGArenaMark    mark;
  GridMGSurvey       survey;
  GridMGCleaning     cleaning;

  PetscFunctionBegin;
  PetscCall(PCGridMGGetRounding_Private(pc, &rounding));
  mark = PCGridMGArenaGetMark_Private(mg);
  PetscCall(PCGridMGExactWork_Private(mg, l));
  PetscCall(LitheCUDAGridMGClean(f, rounding, l->exact.alive, &survey, &cleaning));
  PCGridMGExactSurveyed_Private(l, &survey);
  PCGridMGArenaGiveBack_Private(mg, &mark);
  PCGridMGFoundRowSums_Private(mg, cleaning.negative, mg->found.symmetric);
  if (cleaning.failed >= 0) {
    const PetscInt i = (PetscInt)cleaning.failed, r = PCGridMGListFind_Private(&f->grid, &f->list, i);
    double         sum = 0, sigma, high, low;

    for (PetscInt e = r >= 0 ? f->list.i[r] : 0; r >= 0 && e < f->list.i[r + 1]; e++) sum += ((const double *)f->list.t)[e];
    for (int d = 0; d < 3 && i < f->grid.cells; d++) {
      const PetscInt stride = GridMGStride(&f->grid, d);

      if (!f->up[d]) continue;
      low = 0;
      PetscCall((*mg->place.kernels->memory.get)(sizeof(double), f->up[d] + i, &high));
      if (i / stride % f->grid.n[d] > 0) PetscCall((*mg->place.kernels->memory.get)(sizeof(double), f->down[d] + i - stride, &low));
      sum += high + low;
    }
    PetscCall((*mg->place.kernels->memory.get)(sizeof(double), f->sigma + i, &sigma));
    PetscCall(PCGridMGFailRow_Private(pc, i, sigma + sum));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PCGridMGFoundSuspect_Private(mg, cleaning.least);
  PCGridMGSetPrecision_Private(mg, l->exact.survey.min, cleaning.least);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Reduces the counts over all processes: the factor, and whether all entries permit overlap. The host finds errors
   again
*/
static PetscErrorCode ReduceDevice_Private(PC_GridMG *mg, GridMGRowCounts *reading)
{
  const GridMGReading *r       = &mg->aggregation.scan.reading;
  double               mine    = r->most;
  PetscInt             minus   = (PetscInt)r->negative;
  PetscBool            nothing = PETSC_TRUE;

  PetscFunctionBegin;
  if (r->others || r->firstimaginary >= 0 || r->firstbad >= 0) PCGridMGRefuse_Private(mg);
  PetscCall(PCGridMGAgreeOnOverlap_Private(mg, &nothing));
  PetscCallMPI(MPIU_Allreduce(&mine, &reading->most, 1, MPI_DOUBLE, MPI_MAX, mg->domain.team.comm));
  PetscCallMPI(MPIU_Allreduce(&minus, &reading->negative, 1, MPIU_INT, MPI_SUM, mg->domain.team.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row sums and the survey of the finest level with layers of remote cells */
static PetscErrorCode CleanOverlap_Private(PC pc, GridMGLevel *l)
{
  PC_GridMG     *mg = (PC_GridMG *)pc->data;
  double         rounding, least;
  PetscInt       negative, all;
  PetscBool      nothing = PETSC_TRUE;
  GridMGSurvey   survey;
  GridMGCleaning cleaning;

  PetscFunctionBegin;
  PetscCall(PCGridMGGetRounding_Private(pc, &rounding));
  PetscCall(PCGridMGExactAlive_Private(mg, l));
  PetscCall(LitheCUDAGridMGClean(&l->exact.faces, rounding, l->exact.alive, &survey, &cleaning));
  PCGridMGExactSurveyed_Private(l, &survey);
  if (cleaning.failed >= 0) PCGridMGRefuse_Private(mg);
  PetscCall(PCGridMGAgreeOnOverlap_Private(mg, &nothing));
  if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGOverlapSurvey_Private(mg, l));
  negative = cleaning.negative;
  PetscCallMPI(MPIU_Allreduce(&negative, &all, 1, MPIU_INT, MPI_SUM, mg->domain.team.comm));
  PCGridMGFoundRowSums_Private(mg, all, mg->found.symmetric);
  PetscCallMPI(MPIU_Allreduce(&cleaning.least, &least, 1, MPI_DOUBLE, MPI_MIN, mg->domain.team.comm));
  PCGridMGFoundSuspect_Private(mg, least);
  PCGridMGSetPrecision_Private(mg, l->exact.least, least);
  if (mg->found.precision != GRIDMG_SINGLE) PCGridMGRefuse_Private(mg);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the own rows for overlapping boxes */
static PetscErrorCode ReadOverlap_Private(PC pc, GridMGRowCounts *reading)
{
  PC_GridMG   *mg = (PC_GridMG *)pc->data;
  GridMGLevel *l  = &mg->aggregation.level[0];
  PetscBool    symmetric;

  PetscFunctionBegin;
  PCGridMGEdgesClear_Private(&mg->aggregation.edges);
  symmetric = PETSC_TRUE;
  PetscCall(PCGridMGAgreeOnOverlap_Private(mg, &symmetric)); /* on boxes */
  if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGScan_Private(pc));
  PetscCall(PCGridMGCrossingRead_Private(pc));
  PetscCall(ReduceDevice_Private(mg, reading));
  if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  PCGridMGSetFactor_Private(mg, l->boxes->offset[mg->domain.team.size], reading);
  PetscCall(ScanAgain_Private(mg));
  PetscCall(SettleFaces_Private(mg, mg->found.factor / mg->aggregation.scan.guess, reading, &symmetric));
  mg->aggregation.scan.guess = mg->found.factor;
  PetscCall(PCGridMGCrossingScale_Private(mg, mg->found.factor));
  PetscCall(PCGridMGCrossingExchange_Private(mg, GRIDMG_SAME, &symmetric));
  PetscCall(PCGridMGAgreeOnOverlap_Private(mg, &symmetric));
  if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGSetSymmetry_Private(mg, l, symmetric));
  PetscCall(PCGridMGOverlapFinest_Private(mg, PETSC_TRUE));
  PetscCall(CleanOverlap_Private(pc, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadWhole_Private(PC pc, GridMGRowCounts *reading)
{
  PC_GridMG       *mg     = (PC_GridMG *)pc->data;
  GridMGLevel     *l      = &mg->aggregation.level[0];
  const GridMGGrid grid   = mg->domain.team.own;
  const PetscInt   before = mg->domain.team.rows.first, cells = grid.cells;
  double          *sum;
  PetscBool        symmetric;

  PetscFunctionBegin;
  PetscCall(PCGridMGScan_Private(pc));
  PCGridMGEdgesClear_Private(&mg->aggregation.edges);
  PetscCall(PetscCalloc1(grid.wells, &sum));
  PetscCall(ReadWells_Private(pc, 0, before, reading, sum));
  if (!reading->bad) PetscCall(CheckNumbers_Private(pc, reading));
  if (!reading->bad) PetscCall(ReadOthers_Private(pc, reading));
  if (!reading->bad) PetscCall(ReadWells_Private(pc, before + cells, cells + grid.wells, reading, sum + before));
  if (!reading->bad) {
    PCGridMGSetFactor_Private(mg, cells, reading);
    PetscCall(ScanAgain_Private(mg));
    for (PetscInt w = 0; w < grid.wells; w++) sum[w] *= mg->found.factor;
    if (grid.wells) PetscCall((*mg->place.kernels->memory.put)((size_t)grid.wells * sizeof(double), sum, l->exact.faces.sigma + cells));
    PetscCall(Settle_Private(pc, mg->found.factor / mg->aggregation.scan.guess, reading, &symmetric));
    mg->aggregation.scan.guess = mg->found.factor;
    PetscCall(PCGridMGExactSetList_Private(mg, l));
    PetscCall(PCGridMGSetSymmetry_Private(mg, l, (PetscBool)(symmetric && PCGridMGListIsSymmetric_Private(&grid, &l->exact.faces.list))));
    PetscCall(PCGridMGExactAlive_Private(mg, l));
    PetscCall(PCGridMGFinishDevice_Private(pc, l));
  }
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGReadDevice_Private(PC pc)
{
  PC_GridMG      *mg      = (PC_GridMG *)pc->data;
  GridMGRowCounts reading = {.f = &mg->aggregation.level[0].exact.faces};

  PetscFunctionBegin;
  PetscCall(mg->place.overlap ? ReadOverlap_Private(pc, &reading) : ReadWhole_Private(pc, &reading));
  PetscFunctionReturn(PETSC_SUCCESS);
}
