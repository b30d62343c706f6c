/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The finest level of stencils. The entries of the matrix are multiplied by a power of two that brings the largest
   entry near 1.
*/

#include <lithe/private/gridmg/parts.h>
#include "../base/base.h"
#include "../boxes/boxes.h"
#include "stencil.h"
#include "gridmgparts.h"
#include "gridmgstencilhost.h"

#define GRIDMG_STIFF 1e-5 /* rows with smaller entries, relative to the largest, need double precision */

/* The parts of a matrix value in the levels */
static inline void GetParts(PetscScalar value, double part[2])
{
  part[0] = (double)PetscRealPart(value);
  part[1] = (double)PetscImaginaryPart(value);
}

/* ------------------------------------------------------------ entries */

/* Leaves out directions of one point; a single point keeps a direction, since devices have no stencils of one point */
static void SetPoints(const PetscInt n[3], GridMGPoints *points)
{
  *points = (GridMGPoints){.points = 1, .corners = 1, .n = {1, 1, 1}, .cells = n[0] * n[1] * n[2]};
  for (int d = 0; d < 3; d++) {
    if (n[d] < 2 && (d || points->cells > 1)) continue;
    points->n[points->dim++] = n[d];
    points->points *= 3;
    points->corners *= 2;
  }
  points->centre = points->points / 2;
}

/* Whether a_ij = a_ji for all neighbours after a point */
static PetscBool IsSymmetric(const GridMGPoints *g, const double *a)
{
  for (PetscInt i = 0; i < g->cells; i++) {
    PetscInt at[3];

    GridMGAt(g, i, at);
    for (int s = g->centre + 1; s < g->points; s++) {
      const double *one = a + (i * g->points + s) * GRIDMG_PARTS, *other;
      PetscInt      to[3];
      double        off = 0, size = 0;

      if (!GridMGNeighbour(g, at, s, to)) continue;
      other = a + (GridMGPointOf(g, to) * g->points + g->points - 1 - s) * GRIDMG_PARTS;
      for (int p = 0; p < GRIDMG_PARTS; p++) {
        off  = PetscMax(off, fabs(one[p] - other[p]));
        size = PetscMax(size, PetscMax(fabs(one[p]), fabs(other[p])));
      }
      if (off > GRIDMG_SAME * size) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/*
   Multiplies all entries by a factor, and sums up rows. A row sum at rounding level becomes 0. least: the minimum over
   nonempty rows of the largest entry. isreal: no entry has an imaginary part; waves have. negative: a row sum has the
   other sign than the diagonal entry
*/
static void ScaleRows(const GridMGPoints *g, double factor, double rounding, double *a, double *sigma, double *least, PetscBool *isreal, PetscBool *negative)
{
  double imaginary = 0;

  *least    = 1;
  *negative = PETSC_FALSE;
  for (PetscInt i = 0; i < g->cells; i++, a += g->points * GRIDMG_PARTS, sigma += GRIDMG_PARTS) {
    double all = 0, most[2] = {0, 0}, sum[2] = {0, 0};

    for (int s = 0; s < g->points; s++) {
      for (int p = 0; p < GRIDMG_PARTS; p++) {
        const double v = factor * a[s * GRIDMG_PARTS + p], modulus = fabs(v);

        a[s * GRIDMG_PARTS + p] = v;
        sum[p] += v;
        all += modulus;
        most[p] = PetscMax(most[p], modulus);
      }
    }
    for (int p = 0; p < GRIDMG_PARTS; p++) sigma[p] = fabs(sum[p]) <= rounding * all ? 0 : sum[p];
    if (sigma[0] * a[g->centre * GRIDMG_PARTS] < 0) *negative = PETSC_TRUE;
    imaginary = PetscMax(imaginary, most[1]);
    most[0]   = PetscMax(most[0], most[1]);
    if (most[0] > 0) *least = PetscMin(*least, most[0]);
  }
  *isreal = (PetscBool)(imaginary == 0);
}

static PetscErrorCode ReadHost_Private(PC pc, double rounding, PetscReal same, PetscBool *isreal, double *least)
{
  PC_GridMG            *mg = (PC_GridMG *)pc->data;
  GridMGStencilLevel   *l  = &mg->stencils.stencil[0];
  const GridMGStencils *f  = &l->full.f;
  const GridMGPoints   *g  = &f->grid;
  double               *a  = (double *)f->a, most, one;
  PetscBool             negative, mine[3], all[3]; /* real, symmetric, row sums not negative */

  PetscFunctionBegin;
  PetscCall(PCGridMGReadHost_Private(pc, l, g, a, &most));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PCGridMGFoundFactor_Private(mg, most, PETSC_FALSE);
  ScaleRows(g, mg->found.factor, rounding, a, (double *)f->sigma, &one, &mine[0], &negative);
  mine[1] = (PetscBool)(same < 0 || IsSymmetric(g, a));
  mine[2] = (PetscBool)!negative;
  PetscCallMPI(MPIU_Allreduce(mine, all, 3, MPI_C_BOOL, MPI_LAND, mg->domain.team.comm));
  PetscCallMPI(MPIU_Allreduce(&one, least, 1, MPI_DOUBLE, MPI_MIN, mg->domain.team.comm));
  *isreal = all[0];
  PCGridMGStencilExactRead_Private(l, 1, all[1]);
  PCGridMGFoundRowSums_Private(mg, (PetscBool)!all[2], PETSC_FALSE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on a device. The entries stay unscaled, and are multiplied when read */
static PetscErrorCode ReadDevice_Private(PC pc, double rounding, PetscReal same, PetscBool *isreal, double *least)
{
  PC_GridMG            *mg = (PC_GridMG *)pc->data;
  GridMGStencilLevel   *l  = &mg->stencils.stencil[0];
  const GridMGStencils *f  = &l->full.f;
  GridMGRead            found;
  double                most;

  PetscFunctionBegin;
  PetscCall((*mg->stencils.kernels->read)(&mg->source.rows, rounding, (double)same, f, &found));
  if (found.outside < f->grid.cells || found.nonumber < f->grid.cells) {
    /* the host finds which entry is wrong */
    double *a;

    if (mg->source.given.i) {
      PetscCheck(found.outside == PETSC_INT32_MAX, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
                 "PCGridMGSetRows(): row %d has a column that is none of 9 or 27 points on the grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT,
                 found.outside, f->grid.n[0], f->grid.n[1], f->grid.n[2]);
      PetscCall(PCGridMGFail_Private(pc, "row %d has an entry that is no number", found.nonumber));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(PCGridMGGetDense_Private(mg, (size_t)f->grid.cells * (size_t)f->grid.points * GRIDMG_PARTS * sizeof(double), (void **)&a));
    PetscCall(PCGridMGReadHost_Private(pc, l, &f->grid, a, &most));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PCGridMGFoundFactor_Private(mg, found.most, PETSC_FALSE);
  PCGridMGStencilExactRead_Private(l, mg->found.factor, (PetscBool)!found.asymmetric);
  *isreal = (PetscBool)!found.imaginary;
  *least  = mg->found.factor * found.least < 1 ? mg->found.factor * found.least : 1;
  PCGridMGFoundRowSums_Private(mg, found.negative, PETSC_FALSE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries between the boxes of processes: their places in the arrays of the finest level on a device, and values */
typedef struct {
  PetscInt  n, *at;
  double   *value;
  double    most;
  PetscBool wrong, isreal; /* wrong: an entry off the grid, or no number */
} Outside;

static PetscErrorCode TakeOutside_Private(const PC_GridMG *mg, PetscInt row, PetscInt column, PetscScalar value, Outside *out)
{
  const GridMGStencilLevel *l     = &mg->stencils.stencil[0];
  const GridMGPoints       *g     = &l->full.f.grid;
  const GridMGShare        *cells = &mg->domain.share[0];
  PetscInt                  whole[3], at[3], to[3], place = 0, stride = 1;
  double                    part[2];
  int                       s = g->centre, k = 0;

  PetscFunctionBegin;
  if (value == (PetscScalar)0.) PetscFunctionReturn(PETSC_SUCCESS);
  PCGridMGWholeSize(mg, cells, whole);
  (void)PCGridMGWhere_Private(mg, cells, row, at);
  (void)PCGridMGWhere_Private(mg, cells, column, to);
  GetParts(value, part);
  for (int d = 0; d < 3; d++) {
    if (whole[d] < 2) continue;
    if (PetscAbsInt(to[d] - at[d]) > 1) out->wrong = PETSC_TRUE;
    s += (int)PetscClipInterval(to[d] - at[d], -1, 1) * GridMGThree(k);
    place += stride * (at[d] - l->split.low[k]);
    stride *= g->n[k++];
  }
  for (int p = 0; p < GRIDMG_PARTS; p++) {
    if (PetscIsInfOrNanReal((PetscReal)part[p])) out->wrong = PETSC_TRUE;
    if (p && part[p] != 0) out->isreal = PETSC_FALSE;
    out->most                             = PetscMax(out->most, fabs(part[p]));
    out->value[out->n * GRIDMG_PARTS + p] = part[p];
  }
  out->at[out->n++] = s * g->cells + place;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the places of the entries in columns of other processes */
static PetscErrorCode ReadOutside_Private(const PC_GridMG *mg, Outside *out)
{
  const GridMGOutside *o = &mg->source.outside;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(o->n, &out->at, GRIDMG_PARTS * o->n, &out->value));
  for (PetscInt e = 0; e < o->n; e++) PetscCall(TakeOutside_Private(mg, mg->domain.team.begin + o->row[e], o->column[e], o->a[e], out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PutOutside_Private(PC_GridMG *mg, const Outside *out, void *a)
{
  const size_t value = GRIDMG_PARTS * sizeof(double), n = (size_t)out->n;
  char        *there;

  PetscFunctionBegin;
  PetscCall(PCGridMGGetWork_Private(mg, PETSC_FALSE, n * (value + sizeof(PetscInt)), (void **)&there));
  PetscCall((*mg->place.kernels->memory.put)(n * value, out->value, there));
  PetscCall((*mg->place.kernels->memory.put)(n * sizeof(PetscInt), out->at, there + n * value));
  PetscCall((*mg->place.kernels->vectors.place)(PCGridMGWordOf(value), out->n, (const PetscInt *)(there + n * value), there, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Own rows without the columns of other processes, as the stencils of the own box, then on the larger box */
static PetscErrorCode ReadInside_Private(PC_GridMG *mg, double rounding, GridMGRead *found)
{
  GridMGStencilLevel *l   = &mg->stencils.stencil[0];
  const GridMGPart    own = GridMGOwnBox(&l->split, mg->domain.team.rank), box = GridMGBoxOfLevel(l);
  const size_t        value = GRIDMG_PARTS * sizeof(double);
  GridMGBlock         block = {NULL, 0, NULL};
  GridMGPoints        grid  = l->full.f.grid;
  GridMGStencils      f;

  PetscFunctionBegin;
  grid.cells = GridMGCellsOf(&own);
  for (int d = 0; d < 3; d++) grid.n[d] = own.n[d];
  PetscCall(PCGridMGStencilsCreate_Private(mg, &block, &grid, PETSC_FALSE, &f));
  PetscCall((*mg->stencils.kernels->read)(&mg->source.rows, rounding, -1, &f, found));
  for (size_t s = 0; s < (size_t)grid.points; s++)
    PetscCall(PCGridMGCopyPart_Private(mg, value, &own, &own, (const char *)f.a + s * (size_t)grid.cells * value, &box,
                                       (char *)l->full.f.a + s * (size_t)l->full.f.grid.cells * value));
  PetscCall(PCGridMGBlockFree_Private(&block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several processes whose rows are on devices */
static PetscErrorCode ReadSharedDevice_Private(PC pc, double rounding, PetscReal same, PetscBool *isreal, double *least)
{
  PC_GridMG          *mg    = (PC_GridMG *)pc->data;
  GridMGStencilLevel *l     = &mg->stencils.stencil[0];
  const PetscInt      cells = GridMGOwnCells(&l->split);
  Outside             out   = {0, NULL, NULL, 0, PETSC_FALSE, PETSC_TRUE};
  GridMGRead          found;
  double              mine[6], all[6];

  PetscFunctionBegin;
  PetscCall(ReadInside_Private(mg, rounding, &found));
  PetscCall(ReadOutside_Private(mg, &out));
  mine[0] = PetscMax(found.most, out.most);
  mine[1] = found.imaginary || !out.isreal;
  mine[2] = found.outside < cells || found.nonumber < cells || out.wrong;
  PetscCallMPI(MPIU_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_MAX, mg->domain.team.comm));
  if (all[2] > 0) {
    /* the host finds which entry is wrong */
    const GridMGPoints *g = &l->full.f.grid;
    double             *a;

    PetscCall(PetscFree2(out.at, out.value));
    PetscCall(PCGridMGRowsMatrix_Private(pc));
    PetscCall(PCGridMGGetDense_Private(mg, (size_t)g->cells * (size_t)g->points * GRIDMG_PARTS * sizeof(double), (void **)&a));
    PetscCall(PCGridMGReadHost_Private(pc, l, g, a, &all[0]));
    PetscCheck(pc->failedreason, mg->domain.team.comm, PETSC_ERR_PLIB, "A device reads an entry that the host does not read");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PutOutside_Private(mg, &out, l->full.f.a));
  PetscCall(PetscFree2(out.at, out.value));
  PetscCall(PCGridMGExchangeEntries_Private(mg, l));
  PetscCall((*mg->stencils.kernels->read)(NULL, rounding, (double)same, &l->full.f, &found));
  mine[3] = found.least > 0 ? -found.least : -PETSC_MAX_REAL; /* or NaN: no nonempty row */
  mine[4] = found.asymmetric;
  mine[5] = found.negative;
  PetscCallMPI(MPIU_Allreduce(mine + 3, all + 3, 3, MPI_DOUBLE, MPI_MAX, mg->domain.team.comm));
  PCGridMGFoundFactor_Private(mg, all[0], PETSC_FALSE);
  PCGridMGStencilExactRead_Private(l, mg->found.factor, (PetscBool)(all[4] == 0));
  *isreal = (PetscBool)(all[1] == 0);
  *least  = PetscMin(1, mg->found.factor * -all[3]);
  PCGridMGFoundRowSums_Private(mg, all[5] > 0, PETSC_FALSE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Single precision would lose the weak entries around a stiff inclusion: its coarse rows are sums of large residuals */
static void SetPrecision(PC_GridMG *mg, double least)
{
  PCGridMGFoundPrecision_Private(mg, (PetscBool)(least < GRIDMG_STIFF));
}

PetscErrorCode PCGridMGReadStencils_Private(PC pc)
{
  PC_GridMG          *mg = (PC_GridMG *)pc->data;
  GridMGStencilLevel *l  = &mg->stencils.stencil[0];
  GridMGPoints        grid;
  double              least = 1, rounding;
  PetscBool           known, symmetric, isreal = PETSC_TRUE;
  PetscErrorCode (*read)(PC, double, PetscReal, PetscBool *isreal, double *least) = ReadHost_Private;

  PetscFunctionBegin;
  if (PCGridMGIsParallel(mg)) {
    PetscInt whole[3];

    PCGridMGWholeSize(mg, &mg->domain.share[0], whole);
    SetPoints(whole, &grid);
    PetscCall(PCGridMGStencilShareFirst_Private(mg, &grid));
  } else SetPoints(mg->domain.team.own.n, &grid);
  PetscCheck((PetscInt64)grid.cells * grid.points * GRIDMG_PARTS <= PETSC_INT_MAX, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_type gridmg: stencils of %" PetscInt_FMT
             " points do not fit into PetscInt. Use a PETSc with 64-bit indices, or more processes with bjacobi or asm",
             grid.cells);
  PetscCall(PCGridMGStencilExactCreate_Private(mg, l, PETSC_FALSE, &grid, PETSC_FALSE));
  PetscCall(PCGridMGGetRounding_Private(pc, &rounding));
  PetscCall(MatIsSymmetricKnown(mg->source.matrix, &known, &symmetric));
  if (mg->source.given.i) known = PETSC_FALSE; /* the symmetry flags belong to other rows */
  if (mg->place.device) read = PCGridMGIsParallel(mg) ? ReadSharedDevice_Private : ReadDevice_Private;
  PetscCall((*read)(pc, rounding, known && symmetric ? -1 : GRIDMG_SAME, &isreal, &least));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  if (mg->found.smoother == PCGRIDMG_SMOOTHER_AUTO) PCGridMGFoundSmoother_Private(mg, isreal ? PCGRIDMG_SMOOTHER_REDBLACK : PCGRIDMG_SMOOTHER_DAMPED);
  PCGridMGFoundSymmetry_Private(mg, l->full.f.symmetric);
  if (isreal) PCGridMGFoundSuspect_Private(mg, least);
  SetPrecision(mg, least);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level of a single process becomes that of diag(left) A diag(right), for real matrices */
PetscErrorCode PCGridMGScaleStencils_Private(PC pc)
{
  PC_GridMG            *mg     = (PC_GridMG *)pc->data;
  const GridMGStencils *f      = &mg->stencils.stencil[0].full.f;
  const PetscBool       device = (PetscBool)(mg->source.rows.a != NULL);
  const Vec             vec[2] = {mg->scaling.left, mg->scaling.right};
  const PetscScalar    *array[2];
  double                rounding, least;
  PetscBool             isreal, negative;
  GridMGRead            found;

  PetscFunctionBegin;
  PetscCall(PCGridMGGetRounding_Private(pc, &rounding));
  PetscCall(PCGridMGScalingGet_Private(device, 2, vec, array));
  PetscCall((*mg->stencils.kernels->scale)(f, array[0], array[1]));
  PetscCall(PCGridMGScalingRestore_Private(device, 2, vec, array));
  if (mg->place.device) {
    PetscCall((*mg->stencils.kernels->read)(NULL, rounding, -1, f, &found));
    least = mg->found.factor * found.least < 1 ? mg->found.factor * found.least : 1;
  } else ScaleRows(&f->grid, 1, rounding, (double *)f->a, (double *)f->sigma, &least, &isreal, &negative);
  SetPrecision(mg, least);
  PetscFunctionReturn(PETSC_SUCCESS);
}
