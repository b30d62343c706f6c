/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The boxes of processes, their exact entries and exchanges, and boxes that overlap */

#include <lithe/private/gridmg/parts.h>

/* Where a process stands among the boxes */
static inline void PCGridMGPlaceIn(const PetscInt parts[3], PetscInt rank, PetscInt place[3])
{
  const PetscInt line = rank / parts[0];

  place[0] = rank % parts[0];
  place[1] = line % parts[1];
  place[2] = line / parts[1];
}

/* The box of a process in a grid that start[] divides into parts[]: first cell and size. Returns its number of cells */
static inline PetscInt PCGridMGBoxIn(PetscInt *const start[3], const PetscInt parts[3], PetscInt rank, PetscInt first[3], PetscInt n[3])
{
  PetscInt place[3];

  PCGridMGPlaceIn(parts, rank, place);
  for (int d = 0; d < 3; d++) {
    first[d] = start[d][place[d]];
    n[d]     = start[d][place[d] + 1] - first[d];
  }
  return n[0] * n[1] * n[2];
}

/* The preconditioner with the levels: of one process, if each device has all rows */
static inline const PC_GridMG *PCGridMGLevelsOf(const PC_GridMG *mg)
{
  return mg->domain.redundant.pc ? (const PC_GridMG *)mg->domain.redundant.pc->data : mg;
}

/* Whether the options let each process have all rows, if levels cannot be shared: by default on devices */
static inline PetscBool PCGridMGWantsRedundant(const PC_GridMG *mg)
{
  if (mg->opt.redundant != PETSC_DECIDE) return (PetscBool)(mg->opt.redundant == 1);
  return (PetscBool)(mg->place.cuda && mg->opt.overlap != 0);
}

/* The same for a set-up that has not been refused yet */
static inline PetscBool PCGridMGMayBeRedundant(const PC_GridMG *mg)
{
  return (PetscBool)(PCGridMGIsParallel(mg) && !mg->place.apart && PCGridMGWantsRedundant(mg));
}

/* A number of 4, 8 or 16 bytes */
static inline GridMGWord PCGridMGWordOf(size_t bytes)
{
  if (bytes == 16) return GRIDMG_WORD_FOUR;
  return bytes == 8 ? GRIDMG_WORD_TWO : GRIDMG_WORD_WHOLE;
}

/* A box of n cells, from first[] of one array of cells to first[] of another one */
static inline GridMGBox PCGridMGBoxOf(const PetscInt n[3], const PetscInt from[3], const PetscInt fromfirst[3], const PetscInt to[3], const PetscInt tofirst[3])
{
  const PetscInt *size[2] = {from, to}, *first[2] = {fromfirst, tofirst};
  GridMGBox       box;

  for (int d = 0; d < 3; d++) box.n[d] = n[d];
  for (int k = 0; k < 2; k++) {
    box.begin[k]     = first[k][0] + size[k][0] * (first[k][1] + size[k][1] * first[k][2]);
    box.stride[k][0] = size[k][0];
    box.stride[k][1] = size[k][0] * size[k][1];
  }
  return box;
}

/* The size of the whole grid of a shared level */
static inline void PCGridMGWholeSize(const PC_GridMG *mg, const GridMGShare *s, PetscInt n[3])
{
  for (int d = 0; d < 3; d++) n[d] = s->start[d][mg->domain.team.parts[d]];
}

/* crossing.c */
PETSC_INTERN PetscInt       PCGridMGPlane_Private(const GridMGGrid *, int d);
PETSC_INTERN PetscInt       PCGridMGPlaneCell_Private(const GridMGGrid *, int d, int side, PetscInt place, PetscInt at[3]);
PETSC_INTERN PetscErrorCode PCGridMGCrossingFree_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGCrossingFind_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGCrossingRead_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGCrossingFromList_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGCrossingScale_Private(PC_GridMG *, double factor);
PETSC_INTERN PetscErrorCode PCGridMGCrossingExchange_Private(PC_GridMG *, PetscReal same, PetscBool *symmetric);
/* exchange.c */
PETSC_INTERN PetscErrorCode PCGridMGSumsFree_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGExchangeCreate_Private(PC_GridMG *, PetscInt cells, PetscInt n, PetscInt *at, PetscSFNode *, GridMGExchange *);
PETSC_INTERN PetscErrorCode PCGridMGExchangeFree_Private(GridMGExchange *);
PETSC_INTERN PetscErrorCode PCGridMGCollect_Private(PC_GridMG *, GridMGExchange *, PetscInt *const start[3], const PetscInt parts[3], size_t bytes,
                                                    const PetscInt size[3], const PetscInt at[3], const void *x, void *whole);
PETSC_INTERN PetscErrorCode PCGridMGRemote_Private(PC_GridMG *, GridMGExchange *, GridMGWord, const void *words, void *x);
PETSC_INTERN PetscErrorCode PCGridMGSum_Private(PC_GridMG *, int n, double factor, double sums[]);
/* overlap.c */
PETSC_INTERN PetscErrorCode PCGridMGOverlapFinest_Private(PC_GridMG *, PetscBool sums);
PETSC_INTERN PetscErrorCode PCGridMGOverlapSurvey_Private(PC_GridMG *, GridMGLevel *);
PETSC_INTERN PetscErrorCode PCGridMGOverlapCoarsen_Private(PC_GridMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCGridMGOverlapGather_Private(PC_GridMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCGridMGOverlapCodes_Private(PC_GridMG *, GridMGLevel *);
PETSC_INTERN PetscErrorCode PCGridMGOverlapExchange_Private(PC_GridMG *, GridMGLevel *, void *x);
PETSC_INTERN PetscErrorCode PCGridMGOverlapToWhole_Private(PC_GridMG *, void *x);
PETSC_INTERN PetscErrorCode PCGridMGOverlapFromWhole_Private(PC_GridMG *, const void *x);
PETSC_INTERN PetscInt       PCGridMGOverlapShift_Private(const GridMGLevel *fine, const GridMGLevel *coarse);
PETSC_INTERN PetscErrorCode PCGridMGOverlapOwn_Private(PC_GridMG *, GridMGLevel *, const void *x, void *y);
PETSC_INTERN PetscErrorCode PCGridMGOverlapEnter_Private(PC_GridMG *, int part, const PetscScalar x[]);
PETSC_INTERN PetscErrorCode PCGridMGOverlapEnterScaled_Private(PC_GridMG *, int part, const PetscScalar x[], void *b);
PETSC_INTERN PetscErrorCode PCGridMGOverlapLeave_Private(PC_GridMG *, int part, const void *x, PetscScalar y[]);
/* redundant.c */
PETSC_INTERN PetscErrorCode PCGridMGRedundantRows_Private(PC, PetscBool *are);
PETSC_INTERN PetscErrorCode PCGridMGRedundantSetUp_Private(PC, PetscBool *done);
PETSC_INTERN PetscErrorCode PCGridMGRedundantApply_Private(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCGridMGRedundantFreeScratch_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGRedundantReset_Private(PC_GridMG *);
/* share.c */
PETSC_INTERN PetscInt       PCGridMGWhere_Private(const PC_GridMG *, const GridMGShare *, PetscInt number, PetscInt at[3]);
PETSC_INTERN PetscInt       PCGridMGBoxCells_Private(const PC_GridMG *, const GridMGShare *, PetscInt rank, PetscInt n[3]);
PETSC_INTERN PetscInt       PCGridMGParity_Private(const PC_GridMG *, const GridMGLevel *);
PETSC_INTERN PetscInt       PCGridMGVertexOfRow_Private(const PC_GridMG *, PetscInt row);
PETSC_INTERN PetscErrorCode PCGridMGShareSetGhosts_Private(PC_GridMG *, GridMGShare *, PetscInt n, const PetscInt number[]);
PETSC_INTERN PetscErrorCode PCGridMGShareCoarsen_Private(PC_GridMG *, PetscInt level, const int by[3]);
PETSC_INTERN PetscErrorCode PCGridMGShareFree_Private(PC_GridMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCGridMGExchange_Private(PC_GridMG *, GridMGLevel *, void *x);
/* border.c */
PETSC_INTERN PetscErrorCode PCGridMGBorderFill_Private(PC_GridMG *, GridMGLevel *);
PETSC_INTERN PetscErrorCode PCGridMGBorderIsSymmetric_Private(PC_GridMG *, GridMGLevel *, PetscReal same, PetscBool *symmetric);
/* boxes.c */
PETSC_INTERN PetscErrorCode PCGridMGTeamStart_Private(PC);
PETSC_INTERN void           PCGridMGTeamSetGrid_Private(PC_GridMG *, const GridMGGrid *, PetscInt first);
PETSC_INTERN PetscErrorCode PCGridMGTeamReset_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGFindBoxes_Private(PC, DM, const GridMGGrid *, PetscBool periodic, GridMGOdd *);
/* gather.c */
PETSC_INTERN void           PCGridMGWholeSet_Private(PC_GridMG *, PetscInt level, const GridMGGrid *box);
PETSC_INTERN void           PCGridMGWholeTake_Private(PC_GridMG *, GridMGPool *);
PETSC_INTERN PetscErrorCode PCGridMGWholeCounts_Private(PC_GridMG *, const PetscInt offset[], PetscInt times);
PETSC_INTERN PetscErrorCode PCGridMGWholeReset_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGGatherLevel_Private(PC_GridMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCGridMGGather_Private(PC_GridMG *, void *all);
PETSC_INTERN void           PCGridMGScatter_Private(PC_GridMG *, const void *all);
/* exact.c */
PETSC_INTERN size_t         PCGridMGFacesNumbers_Private(const GridMGGrid *, PetscBool symmetric);
PETSC_INTERN PetscErrorCode PCGridMGFacesCreate_Private(PC_GridMG *, const GridMGGrid *, PetscBool symmetric, GridMGFaces *);
PETSC_INTERN PetscErrorCode PCGridMGExactCreate_Private(PC_GridMG *, GridMGLevel *, const GridMGGrid *, PetscBool symmetric, const GridMGOwn *);
PETSC_INTERN PetscErrorCode PCGridMGExactSetSymmetry_Private(PC_GridMG *, GridMGLevel *, PetscBool symmetric);
PETSC_INTERN PetscErrorCode PCGridMGExactSetList_Private(PC_GridMG *, GridMGLevel *);
PETSC_INTERN PetscErrorCode PCGridMGExactAlive_Private(PC_GridMG *, GridMGLevel *);
PETSC_INTERN PetscErrorCode PCGridMGExactWork_Private(PC_GridMG *, GridMGLevel *);
PETSC_INTERN PetscErrorCode PCGridMGExactFree_Private(GridMGLevel *);
PETSC_INTERN void           PCGridMGExactSurveyed_Private(GridMGLevel *, const GridMGSurvey *);
PETSC_INTERN void           PCGridMGExactUseAlive_Private(GridMGLevel *, PetscBool next);
PETSC_INTERN PetscErrorCode PCGridMGSurvey_Private(PC_GridMG *, GridMGLevel *);
/* edges.c */
PETSC_INTERN void           PCGridMGEdgesClear_Private(GridMGEdges *);
PETSC_INTERN void           PCGridMGEdgesScale_Private(GridMGEdges *, double factor);
PETSC_INTERN PetscErrorCode PCGridMGEdgesAppend_Private(GridMGEdges *, PetscInt n, GridMGEdge **more);
PETSC_INTERN PetscErrorCode PCGridMGEdgesFree_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGEdgesReserve_Private(GridMGEdges *, PetscInt max);
PETSC_INTERN PetscErrorCode PCGridMGEdgeAdd_Private(GridMGEdges *, PetscInt i, PetscInt j, double t);
PETSC_INTERN PetscErrorCode PCGridMGEdgesToList_Private(const GridMGGrid *, GridMGEdges *, GridMGBlock[2], GridMGList *);
PETSC_INTERN PetscInt       PCGridMGListFind_Private(const GridMGGrid *, const GridMGList *, PetscInt vertex);
PETSC_INTERN PetscErrorCode PCGridMGEdgesToFaces_Private(PC_GridMG *, const GridMGFaces *);
PETSC_INTERN PetscErrorCode PCGridMGCoarsenEdges_Private(PC_GridMG *, const GridMGFaces *, const int by[3], const GridMGShare *, const GridMGFaces *coarse);

/*
   The direction of the face between cell at[] and the cell `difference` further, or -1 if the cells are no neighbours
*/
static inline int PCGridMGFaceOf_Private(const GridMGGrid *grid, const PetscInt at[3], PetscInt difference)
{
  for (int d = 0; d < 3; d++) {
    const PetscInt stride = GridMGStride(grid, d);

    if (grid->n[d] < 2) continue;
    if ((difference == stride && at[d] < grid->n[d] - 1) || (difference == -stride && at[d] > 0)) return d;
  }
  return -1;
}
