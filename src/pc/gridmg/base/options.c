/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The options of PCGRIDMG: their defaults and limits, the options database, and five setters */

#include "base.h"

const char *const PCGridMGInterpolationTypes[] = {"auto", "aggregation", "zeeuw", "PCGridMGInterpolationType", "PCGRIDMG_INTERPOLATION_", NULL};
const char *const PCGridMGCycleTypes[]         = {"v", "w", "k", "PCGridMGCycleType", "PCGRIDMG_CYCLE_", NULL};
const char *const PCGridMGSmootherTypes[]      = {"auto", "jacobi", "redblack", "damped", "PCGridMGSmootherType", "PCGRIDMG_SMOOTHER_", NULL};
const char *const PCGridMGPrecisions[]         = {"single", "double", "auto", "PCGridMGPrecision", "PCGRIDMG_PRECISION_", NULL};

PetscErrorCode PCGridMGOptionsDefault_Private(PCGridMGOptions *opt)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(opt, sizeof(*opt)));
  opt->interpolation  = PCGRIDMG_INTERPOLATION_AUTO;
  opt->coarsen        = PCGRIDMG_COARSEN_AUTO;
  opt->cycle          = PCGRIDMG_CYCLE_W;
  opt->smoother       = PCGRIDMG_SMOOTHER_AUTO;
  opt->precision      = PCGRIDMG_PRECISION_AUTO;
  opt->overcorrection = PETSC_DECIDE;
  opt->levels         = PETSC_DECIDE;
  opt->coarsesize     = PETSC_DECIDE;
  opt->smooths[0] = opt->smooths[1] = 1;
  opt->bits                         = 8;
  opt->coarsebits                   = PETSC_DECIDE;
  opt->klevels                      = 3;
  opt->gathersize                   = PETSC_DECIDE;
  opt->overlap                      = PETSC_DECIDE;
  opt->redundant                    = PETSC_DECIDE;
  opt->transport                    = LITHE_TRANSPORT_AUTO;
  opt->graph                        = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckBits_Private(PC pc, const char name[], PetscInt bits)
{
  PetscFunctionBegin;
  PetscCheck(bits == 8 || bits == 16 || bits == 32, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "%s %" PetscInt_FMT ": use 8, 16 or 32", name,
             bits);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks and takes over new options; the next set-up rebuilds everything */
static PetscErrorCode PCGridMGSetOptions_Private(PC pc, const PCGridMGOptions *opt)
{
  PC_GridMG *mg   = (PC_GridMG *)pc->data;
  MPI_Comm   comm = PetscObjectComm((PetscObject)pc);
  PetscBool  same;

  PetscFunctionBegin;
  PetscCheck(opt->levels == PETSC_DECIDE || (opt->levels >= 1 && opt->levels <= GRIDMG_LEVELS_MAX), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_gridmg_levels %" PetscInt_FMT ": use a number from 1 to %d, or PETSC_DECIDE", opt->levels, GRIDMG_LEVELS_MAX);
  PetscCheck(opt->coarsesize == PETSC_DECIDE || (opt->coarsesize >= 1 && opt->coarsesize <= GRIDMG_DENSE_MAX), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_gridmg_coarse_size %" PetscInt_FMT ": use a number from 1 to %d, or PETSC_DECIDE", opt->coarsesize, GRIDMG_DENSE_MAX);
  PetscCheck(opt->overcorrection == (PetscReal)PETSC_DECIDE || (opt->overcorrection > 0 && opt->overcorrection < 2), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_gridmg_overcorrection %g: use a number between 0 and 2", (double)opt->overcorrection);
  for (int k = 0; k < 2; k++) {
    PetscCheck(opt->smooths[k] >= 0 && opt->smooths[k] <= GRIDMG_STEPS_MAX && opt->smooths[0] + opt->smooths[1] > 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_gridmg_smooths %" PetscInt_FMT ",%" PetscInt_FMT ": use numbers from 0 to %d, not both 0", opt->smooths[0], opt->smooths[1],
               GRIDMG_STEPS_MAX);
  }
  for (int d = 0; d < 3; d++) {
    PetscCheck(opt->grid[d] > 0 || (!opt->grid[0] && !opt->grid[1] && !opt->grid[2]), comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_gridmg_grid %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ": use positive numbers of cells", opt->grid[0], opt->grid[1],
               opt->grid[2]);
  }
  PetscCheck(opt->klevels >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_gridmg_k_levels %" PetscInt_FMT ": use a number of at least 0", opt->klevels);
  PetscCheck(opt->gathersize >= 0 || opt->gathersize == PETSC_DECIDE, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_gridmg_gather_size %" PetscInt_FMT ": use a number of at least 0", opt->gathersize);
  PetscCall(CheckBits_Private(pc, "-pc_gridmg_bits", opt->bits));
  if (opt->coarsebits != PETSC_DECIDE) PetscCall(CheckBits_Private(pc, "-pc_gridmg_coarse_bits", opt->coarsebits));
  PetscCall(PetscMemcmp(opt, &mg->opt, sizeof(*opt), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscTryTypeMethod(pc, reset);
  mg->opt         = *opt;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options of another preconditioner, for a given grid */
PetscErrorCode PCGridMGInherit_Private(PC pc, const PC_GridMG *of, const PetscInt grid[3])
{
  PCGridMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &of->opt, sizeof(opt)));
  for (int d = 0; d < 3; d++) opt.grid[d] = grid[d];
  if (PCGridMGWantsDouble(of)) opt.precision = PCGRIDMG_PRECISION_DOUBLE;
  PetscCall(PCGridMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inside PetscOptionsBegin/End of pc */
PetscErrorCode PCGridMGSetFromOptions_Private(PC pc, PetscOptionItems PetscOptionsObject)
{
  PCGridMGOptions opt;
  PetscInt        n = 2, grid[3] = {1, 1, 1};
  PetscBool       set, setcoarse, overlap, redundant;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_GridMG *)pc->data)->opt, sizeof(opt)));
  overlap   = (PetscBool)(opt.overlap == 1);
  redundant = (PetscBool)(opt.redundant == 1);
  PetscOptionsHeadBegin(PetscOptionsObject, "Multigrid for matrices on grids (gridmg)");
  PetscCall(PetscOptionsEnum("-pc_gridmg_interpolation", "Interpolation", "PCGridMGSetInterpolation", PCGridMGInterpolationTypes, (PetscEnum)opt.interpolation,
                             (PetscEnum *)&opt.interpolation, NULL));
  PetscCall(PetscOptionsEnum("-pc_gridmg_coarsen", "Directions of pairs", NULL, PCGridMGCoarsenTypes, (PetscEnum)opt.coarsen, (PetscEnum *)&opt.coarsen, NULL));
  PetscCall(PetscOptionsEnum("-pc_gridmg_cycle", "Order in which levels are visited", "PCGridMGSetCycle", PCGridMGCycleTypes, (PetscEnum)opt.cycle,
                             (PetscEnum *)&opt.cycle, NULL));
  PetscCall(PetscOptionsEnum("-pc_gridmg_smoother", "Smoother", NULL, PCGridMGSmootherTypes, (PetscEnum)opt.smoother, (PetscEnum *)&opt.smoother, NULL));
  PetscCall(PetscOptionsEnum("-pc_gridmg_precision", "Precision of vectors inside", "PCGridMGSetPrecision", PCGridMGPrecisions, (PetscEnum)opt.precision,
                             (PetscEnum *)&opt.precision, NULL));
  PetscCall(PetscOptionsReal("-pc_gridmg_overcorrection", "Factor of coarse corrections", NULL, opt.overcorrection, &opt.overcorrection, NULL));
  PetscCall(PetscOptionsInt("-pc_gridmg_levels", "Number of levels", NULL, opt.levels, &opt.levels, NULL));
  PetscCall(PetscOptionsInt("-pc_gridmg_coarse_size", "Unknowns up to which a level is the coarsest", NULL, opt.coarsesize, &opt.coarsesize, NULL));
  PetscCall(PetscOptionsInt("-pc_gridmg_k_levels", "Coarse levels with steps of conjugate gradients", NULL, opt.klevels, &opt.klevels, NULL));
  PetscCall(
    PetscOptionsInt("-pc_gridmg_gather_size", "Unknowns up to which each process has all of a coarse level", NULL, opt.gathersize, &opt.gathersize, NULL));
  PetscCall(PetscOptionsIntArray("-pc_gridmg_smooths", "Smoothing steps before and after the coarse correction", NULL, opt.smooths, &n, &set));
  if (set && n == 1) opt.smooths[1] = opt.smooths[0];
  PetscCall(PetscOptionsInt("-pc_gridmg_bits", "Bits of an entry on the finest level", "PCGridMGSetBits", opt.bits, &opt.bits, &set));
  PetscCall(PetscOptionsInt("-pc_gridmg_coarse_bits", "Bits of an entry on coarse levels", "PCGridMGSetBits", opt.coarsebits, &opt.coarsebits, &setcoarse));
  if (set && !setcoarse) opt.coarsebits = PETSC_DECIDE;
  PetscCall(PetscOptionsBool("-pc_gridmg_graph", "On a device: record an application and replay the record", NULL, opt.graph, &opt.graph, NULL));
  PetscCall(PetscOptionsBool("-pc_gridmg_overlap", "On several processes: boxes overlap by two layers of cells", NULL, overlap, &overlap, &set));
  if (set) opt.overlap = overlap ? 1 : 0;
  PetscCall(PetscOptionsBool("-pc_gridmg_redundant", "On several processes: each has all rows and levels", NULL, redundant, &redundant, &set));
  if (set) opt.redundant = redundant ? 1 : 0;
  PetscCall(PetscOptionsEnum("-pc_gridmg_transport", "On devices of several processes: how numbers travel between boxes", NULL, LitheTransports,
                             (PetscEnum)opt.transport, (PetscEnum *)&opt.transport, NULL));
  n = 3;
  PetscCall(PetscOptionsIntArray("-pc_gridmg_grid", "Cells along x, y and z", "PCGridMGSetGrid", grid, &n, &set));
  if (set) PetscCall(PetscArraycpy(opt.grid, grid, 3));
  PetscOptionsHeadEnd();
  PetscCall(PCGridMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGridMGSetInterpolation_GridMG(PC pc, PCGridMGInterpolationType type)
{
  PCGridMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_GridMG *)pc->data)->opt, sizeof(opt)));
  opt.interpolation = type;
  PetscCall(PCGridMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGridMGSetGrid_GridMG(PC pc, PetscInt nx, PetscInt ny, PetscInt nz)
{
  PCGridMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_GridMG *)pc->data)->opt, sizeof(opt)));
  opt.grid[0] = nx;
  opt.grid[1] = ny;
  opt.grid[2] = nz;
  PetscCall(PCGridMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGridMGSetCycle_GridMG(PC pc, PCGridMGCycleType type)
{
  PCGridMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_GridMG *)pc->data)->opt, sizeof(opt)));
  opt.cycle = type;
  PetscCall(PCGridMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGridMGSetBits_GridMG(PC pc, PetscInt finest, PetscInt coarse)
{
  PCGridMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_GridMG *)pc->data)->opt, sizeof(opt)));
  opt.bits       = finest;
  opt.coarsebits = coarse;
  PetscCall(PCGridMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGridMGSetPrecision_GridMG(PC pc, PCGridMGPrecision precision)
{
  PCGridMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_GridMG *)pc->data)->opt, sizeof(opt)));
  opt.precision = precision;
  PetscCall(PCGridMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGComposeOptions_Private(PC pc, PetscBool yes)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGridMGSetInterpolation_C", yes ? PCGridMGSetInterpolation_GridMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGridMGSetGrid_C", yes ? PCGridMGSetGrid_GridMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGridMGSetCycle_C", yes ? PCGridMGSetCycle_GridMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGridMGSetBits_C", yes ? PCGridMGSetBits_GridMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGridMGSetPrecision_C", yes ? PCGridMGSetPrecision_GridMG : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGridMGSetInterpolation - Sets the interpolation of a `PCGRIDMG`

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner, of type `PCGRIDMG`
- type - the interpolation, see `PCGridMGInterpolationType`

  Options Database Key:
. -pc_gridmg_interpolation <auto,aggregation,zeeuw> - the interpolation

  Level: intermediate

.seealso: `PCGRIDMG`
@*/
PetscErrorCode PCGridMGSetInterpolation(PC pc, PCGridMGInterpolationType type)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, type, 2);
  PetscTryMethod(pc, "PCGridMGSetInterpolation_C", (PC, PCGridMGInterpolationType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGridMGSetGrid - Sets the grid of the matrix of a `PCGRIDMG`

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, of type `PCGRIDMG`
. nx - number of cells along x, which have consecutive rows
. ny - number of lines of cells per plane
- nz - number of planes

  Options Database Key:
. -pc_gridmg_grid <nx,ny,nz> - the grid; omitted numbers are 1

  Level: intermediate

  Notes:
  A call is needed only if neither the preconditioner nor its matrix has a `DMDA`, and if the entries of the matrix do
  not reveal the grid. Zeros cancel a former call.

  The matrix may have more rows than the grid has cells: wells, or other unknowns coupled to several cells. All
  additional rows come after the cells, or all come before the cells.

.seealso: `PCGRIDMG`
@*/
PetscErrorCode PCGridMGSetGrid(PC pc, PetscInt nx, PetscInt ny, PetscInt nz)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, nx, 2);
  PetscValidLogicalCollectiveInt(pc, ny, 3);
  PetscValidLogicalCollectiveInt(pc, nz, 4);
  PetscTryMethod(pc, "PCGridMGSetGrid_C", (PC, PetscInt, PetscInt, PetscInt), (pc, nx, ny, nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGridMGSetCycle - Sets the type of cycle of a `PCGRIDMG`

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner, of type `PCGRIDMG`
- type - the cycle, see `PCGridMGCycleType`

  Options Database Keys:
+ -pc_gridmg_cycle <v,w,k> - the cycle
- -pc_gridmg_k_levels <3> - number of coarse levels on which a K cycle takes steps of conjugate gradients

  Level: intermediate

  Note:
  A K cycle is not linear. K cycles need a symmetric matrix, and `KSPFCG`, `KSPFGMRES` or `KSPGCR`.

.seealso: `PCGRIDMG`
@*/
PetscErrorCode PCGridMGSetCycle(PC pc, PCGridMGCycleType type)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, type, 2);
  PetscTryMethod(pc, "PCGridMGSetCycle_C", (PC, PCGridMGCycleType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGridMGSetBits - Sets the number of bits per entry of a `PCGRIDMG`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner, of type `PCGRIDMG`
. finest - bits on the finest level: 8, 16 or 32
- coarse - bits on coarse levels, or `PETSC_DECIDE`: as on the finest level, but at least 16 with de Zeeuw's
    interpolation

  Options Database Keys:
+ -pc_gridmg_bits <8,16,32>        - bits on the finest level, and on all levels without the second option
- -pc_gridmg_coarse_bits <8,16,32> - bits on coarse levels

  Level: intermediate

  Note:
  With aggregation, 8 and 16 bits are logarithmic codes with a table per level; 32 bits are single precision. A level
  takes 16 bits if 8 bits would change faces by more than 10 %. On the host, a level also takes 16 bits if faces are too
  small for single precision.

  With de Zeeuw's interpolation, 8 and 16 bits are fixed point with a power of two per row. 32 bits are numbers in the
  precision of the vectors, see `PCGridMGSetPrecision()`. A complex entry has two parts of the given number of bits.

.seealso: `PCGRIDMG`
@*/
PetscErrorCode PCGridMGSetBits(PC pc, PetscInt finest, PetscInt coarse)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, finest, 2);
  PetscValidLogicalCollectiveInt(pc, coarse, 3);
  PetscTryMethod(pc, "PCGridMGSetBits_C", (PC, PetscInt, PetscInt), (pc, finest, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGridMGSetPrecision - Sets the precision of the internal vectors of a `PCGRIDMG`

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner, of type `PCGRIDMG`
- precision - `PCGRIDMG_PRECISION_AUTO` (the default), `PCGRIDMG_PRECISION_SINGLE` or `PCGRIDMG_PRECISION_DOUBLE`

  Options Database Key:
. -pc_gridmg_precision <auto,single,double> - the precision

  Level: intermediate

  Note:
  Vectors in single precision make an application slightly nonlinear. `KSPCG`, `KSPFGMRES` and other flexible methods
  tolerate this. For other methods, such as `KSPGMRES` and `KSPBCGS`, the first solve after a set-up measures the effect
  on the residual and compares it with the tolerance. `auto` then sets up the levels anew in double precision if needed,
  and always for nonsymmetric matrices.

.seealso: `PCGRIDMG`
@*/
PetscErrorCode PCGridMGSetPrecision(PC pc, PCGridMGPrecision precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscTryMethod(pc, "PCGridMGSetPrecision_C", (PC, PCGridMGPrecision), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}
