/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The place of the levels of a PCGRIDMG: host or device, and whether the boxes of several processes overlap. All other
   files ask, or call these functions
*/

#include "base.h"

/*
   As far as options and boxes show: red-black smoothing once on each side, numbers in single precision, no wells, and
   cells on each process
*/
static PetscBool MayOverlap(const PC_GridMG *mg)
{
  const PCGridMGOptions *opt = &mg->opt;

  if (opt->overlap == 0 || (opt->overlap == PETSC_DECIDE && !mg->place.device)) return PETSC_FALSE;
  if (opt->smoother != PCGRIDMG_SMOOTHER_AUTO && opt->smoother != PCGRIDMG_SMOOTHER_REDBLACK) return PETSC_FALSE;
  if (opt->smooths[0] != 1 || opt->smooths[1] != 1) return PETSC_FALSE;
  return (PetscBool)(!PCGridMGWantsDouble(mg) && opt->bits < 32 && (opt->coarsebits == PETSC_DECIDE || opt->coarsebits < 32));
}

/* host: operations on memory of the host */
void PCGridMGPlaceStart_Private(PC_GridMG *mg, const GridMGKernels *host)
{
  mg->place.host = host;
}

/*
   The levels are on a device if the matrix has CUDA vectors and kernels exist: on several processes, kernels of boxes
   that overlap. Stencils of several processes are made on the host, and moved after the set-up
*/
PetscErrorCode PCGridMGFindPlace_Private(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  mg->place.kernels = mg->place.host;
  mg->place.cuda    = PETSC_FALSE;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  {
    VecType   type;
    PetscBool bound;

    PetscCall(MatGetVecType(pc->pmat, &type));
    PetscCall(MatBoundToCPU(pc->pmat, &bound));
    if (!bound) PetscCall(PetscStrcmpAny(type, &mg->place.cuda, VECCUDA, VECSEQCUDA, VECMPICUDA, ""));
  }
#endif
  mg->place.device  = mg->place.cuda;
  mg->place.refused = PETSC_FALSE;
  if (!mg->state.setups || pc->flag != SAME_NONZERO_PATTERN) mg->place.apart = PETSC_FALSE;
  mg->place.overlap = (PetscBool)(PCGridMGIsParallel(mg) && !mg->place.apart && mg->opt.interpolation != PCGRIDMG_INTERPOLATION_ZEEUW && MayOverlap(mg));
  if (PCGridMGIsParallel(mg) && !mg->place.overlap) mg->place.device = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Kernels for a set-up on the device, or on the host */
void PCGridMGPlaceKernels_Private(PC_GridMG *mg, PetscBool device)
{
  mg->place.kernels = mg->place.host;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (device) mg->place.kernels = &GridMGDeviceKernels;
#else
  (void)device;
#endif
}

/* Whether levels, and vectors of applications, are on the device */
void PCGridMGPlaceLevels_Private(PC_GridMG *mg, PetscBool device)
{
  mg->place.device = device;
}

/*
   The rows are read again: boxes may overlap once more. Without overlap, levels of a copy of the matrix are on the host
*/
void PCGridMGPlaceAgain_Private(PC_GridMG *mg)
{
  mg->place.refused = PETSC_FALSE;
  if (mg->place.overlap) return;
  PCGridMGPlaceKernels_Private(mg, PETSC_FALSE);
  mg->place.device = PETSC_FALSE;
}

/*
   Boxes cannot overlap, for this set-up and for later ones with the same pattern: all levels are on the host, or each
   process has all levels, where the vectors are
*/
void PCGridMGPlaceApart_Private(PC_GridMG *mg, PetscBool device)
{
  PCGridMGPlaceKernels_Private(mg, device);
  mg->place.device  = device;
  mg->place.overlap = PETSC_FALSE;
  mg->place.refused = PETSC_FALSE;
  mg->place.apart   = PETSC_TRUE;
}

/* The next set-up tries overlap again */
void PCGridMGPlaceTogether_Private(PC_GridMG *mg)
{
  mg->place.apart = PETSC_FALSE;
}

/* Boxes cannot overlap: the set-up will be repeated */
void PCGridMGRefuse_Private(PC_GridMG *mg)
{
  mg->place.refused = PETSC_TRUE;
}

/* If one process refuses overlap, all do; symmetric: whether the matrix is symmetric on all processes */
PetscErrorCode PCGridMGAgreeOnOverlap_Private(PC_GridMG *mg, PetscBool *symmetric)
{
  PetscMPIInt mine[2] = {mg->place.refused, !*symmetric}, all[2];

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, mg->domain.team.comm));
  mg->place.refused = (PetscBool)(all[0] != 0);
  *symmetric        = (PetscBool)(all[1] == 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels that were made on the host come to the device, with one copy of n bytes */
PetscErrorCode PCGridMGMove_Private(PC_GridMG *mg, size_t n, const void *host, char **there)
{
  PetscFunctionBegin;
  PCGridMGPlaceKernels_Private(mg, PETSC_TRUE);
  mg->place.device = PETSC_TRUE;
  PetscCall(PCGridMGReserve_Private(mg, &mg->place.moved, n, (void **)there));
  PetscCall((*mg->place.kernels->memory.put)(n, host, *there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGPlaceReset_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  mg->place.apart = PETSC_FALSE;
  PetscCall(PCGridMGBlockFree_Private(&mg->place.moved));
  PetscFunctionReturn(PETSC_SUCCESS);
}
