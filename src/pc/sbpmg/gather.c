/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Small levels of a PCSBPMG on several processes. A visit of a small level takes less time than its exchanges of
   ghosts. From the level `first` on, each process therefore has all nodes, and computes what a single process would
   compute. One exchange brings the right-hand side of that level from all processes. The correction needs no exchange:
   each process interpolates to its own nodes of the finer level.

   first = 0: the whole grid is small. Each process has the matrix of all nodes, gathers the input of an application,
   and takes its own nodes of the output.

   An exchange sends the own nodes of a process as one block, in large units: the fewer units, the faster is the
   set-up of the exchange.
*/

#include "sbpmgimpl.h"

#define SBPMG_UNIT               4096    /* bytes, a multiple of 16 */
#define SBPMG_GATHER_SIZE_HOST   4096    /* docs/guide/sbpmg.md */
#define SBPMG_GATHER_SIZE_DEVICE 8388608 /* a device does much in the time of an exchange */

PetscInt PCSBPMGGatherSize_Private(const PC_SBPMG *mg)
{
  if (mg->opt.gathersize != PETSC_DECIDE) return mg->opt.gathersize;
  return mg->device ? SBPMG_GATHER_SIZE_DEVICE : SBPMG_GATHER_SIZE_HOST;
}

/* Levels are whole from `first` on; parts: the distribution of its nodes, or NULL on one process */
PetscErrorCode PCSBPMGGatherFrom_Private(PC_SBPMG *mg, PetscInt first, const SBPParts *parts)
{
  PetscFunctionBegin;
  PetscCall(SBPPartsDestroy(&mg->gather.parts));
  mg->gather.first = first;
  if (parts) PetscCall(SBPPartsCopy(parts, &mg->gather.parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt UnitsOf(const SBPBox *box, SBPPrecision precision)
{
  return (PetscInt)(((size_t)box->count[0] * (size_t)box->count[1] * SBPNumberBytes(precision) + SBPMG_UNIT - 1) / SBPMG_UNIT);
}

/* The room of an array of gather.part whose block is sent */
size_t PCSBPMGGatherBytes_Private(const PC_SBPMG *mg, SBPPrecision precision)
{
  return (size_t)UnitsOf(&mg->gather.part.own, precision) * SBPMG_UNIT;
}

/* The nodes of each process */
static PetscErrorCode SetBoxes_Private(SBPMGGather *g, PetscMPIInt *rank, PetscMPIInt *size)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(g->parts.comm, size));
  PetscCallMPI(MPI_Comm_rank(g->parts.comm, rank));
  PetscCall(PetscMalloc1(*size, &g->box));
  for (PetscMPIInt r = 0; r < *size; r++) g->box[r] = SBPPartsBox(&g->parts, r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exchange of the blocks of all other processes, in the order of the processes */
static PetscErrorCode CreateHalo_Private(PC pc, SBPPrecision precision, PetscMPIInt size)
{
  PC_SBPMG      *mg        = (PC_SBPMG *)pc->data;
  SBPMGGather   *g         = &mg->gather;
  LitheTransport transport = LITHE_TRANSPORT_MPI;
  PetscInt      *units;
  PetscSF        sf;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(size, &units));
  for (PetscMPIInt r = 0; r < size; r++) units[r] = UnitsOf(&g->box[r], precision);
  PetscCall(LitheHaloCreateBlocks(g->parts.comm, units, &sf));
  PetscCall(PetscFree(units));
  if (mg->device) PetscCall(MatSBPSATGetTransport(pc->pmat, &transport));
  PetscCall(LitheHaloCreate(sf, transport, mg->device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST, SBPMG_UNIT, &g->halo[precision]));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PCSBPMGAlloc_Private(mg, PCSBPMGGatherBytes_Private(mg, precision), &g->own[precision]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once the gathered level and its intervals are known. Collective */
PetscErrorCode PCSBPMGGatherCreate_Private(PC pc)
{
  PC_SBPMG    *mg = (PC_SBPMG *)pc->data;
  SBPMGGather *g  = &mg->gather;
  PetscMPIInt  rank, size;

  PetscFunctionBegin;
  if (!SBPPartsExist(&g->parts)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SetBoxes_Private(g, &rank, &size));
  g->part            = mg->level[g->first].grid;
  g->part.own        = g->box[rank];
  g->part.ghosted    = g->part.own;
  g->part.pitch      = g->part.own.count[0];
  g->part.ghostpitch = g->part.coefficientpitch = g->part.pitch;
  for (int p = 0; p < 2; p++) {
    if ((SBPPrecision)p == mg->exact || ((SBPPrecision)p == mg->precision && g->first > 0)) PetscCall(CreateHalo_Private(pc, (SBPPrecision)p, size));
  }
  if (g->first == 0 && mg->opt.cycle != PCSBPMG_CYCLE_FULL)
    PetscCall(LitheMemoryCalloc(mg->kernels->memory, (size_t)(g->part.n[0] + 1) * (size_t)(g->part.n[1] + 1) * SBPNumberBytes(mg->exact), &g->input));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGGatherFree_Private(PC_SBPMG *mg)
{
  SBPMGGather *g = &mg->gather;

  PetscFunctionBegin;
  for (int p = 0; p < 2; p++) {
    PetscCall(LitheHaloDestroy(&g->halo[p]));
    PetscCall(PCSBPMGFree_Private(mg, &g->own[p]));
  }
  if (g->input) PetscCall((*mg->kernels->memory->free)(&g->input));
  PetscCall(VecDestroy(&g->diagonal));
  PetscCall(PetscFree(g->box));
  PetscCall(SBPPartsDestroy(&g->parts));
  PetscCall(PetscMemzero(g, sizeof(*g)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ arrays */

/* The block of a process to its place among all nodes */
static PetscErrorCode Place_Private(const PC_SBPMG *mg, SBPPrecision precision, const SBPBox *box, const void *block, const SBPGrid *to, void *whole)
{
  SBPGrid from = mg->gather.part;

  PetscFunctionBegin;
  from.own   = *box;
  from.pitch = box->count[0];
  PetscCall((*mg->kernels->vector.copy)(&from, precision, 0, block, to, precision, 0,
                                        (char *)whole + ((size_t)box->start[1] * (size_t)to->pitch + (size_t)box->start[0]) * SBPNumberBytes(precision)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   All nodes from the nodes of all processes. own: an array of gather.part, of PCSBPMGGatherBytes_Private(). whole: of a
   grid of all nodes. Collective
*/
PetscErrorCode PCSBPMGGather_Private(PC_SBPMG *mg, SBPPrecision precision, const void *own, const SBPGrid *to, void *whole)
{
  const SBPMGGather *g = &mg->gather;
  const void        *block;
  PetscMPIInt        rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(g->parts.comm, &size));
  PetscCallMPI(MPI_Comm_rank(g->parts.comm, &rank));
  PetscCall(LitheHaloBegin(g->halo[precision], own));
  PetscCall(Place_Private(mg, precision, &g->box[rank], own, to, whole));
  PetscCall(LitheHaloEnd(g->halo[precision], &block));
  for (PetscMPIInt r = 0; r < size; r++) {
    if (r == rank) continue;
    PetscCall(Place_Private(mg, precision, &g->box[r], block, to, whole));
    block = (const char *)block + (size_t)UnitsOf(&g->box[r], precision) * SBPMG_UNIT;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The own nodes of an array with all nodes, as an array of a grid */
void PCSBPMGOwnPart(const PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, const void *whole, SBPGrid *part, const void **own)
{
  const SBPBox *box = &mg->gather.part.own;

  *part       = mg->gather.part;
  part->pitch = grid->pitch;
  *own        = (const char *)whole + ((size_t)box->start[1] * (size_t)grid->pitch + (size_t)box->start[0]) * SBPNumberBytes(precision);
}

/* The input of an application, a part of a vector of the grid plain, in the highest precision */
PetscErrorCode PCSBPMGGatherInput_Private(PC_SBPMG *mg, const SBPGrid *to, int part, const PetscScalar *x, void *whole)
{
  PetscFunctionBegin;
  PetscCall((*mg->kernels->vector.copy)(&mg->gather.part, SBP_SCALAR, part, x, &mg->gather.part, mg->exact, 0, mg->gather.own[mg->exact]));
  PetscCall(PCSBPMGGather_Private(mg, mg->exact, mg->gather.own[mg->exact], to, whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ vectors, for a set-up */

/* Numbers at the own nodes, at the place of the levels, to a vector with all nodes of this process alone */
PetscErrorCode PCSBPMGGatherNumbers_Private(PC_SBPMG *mg, const SBPSpaced *from, Vec v)
{
  SBPMGGather *g   = &mg->gather;
  SBPGrid      all = g->part;
  SBPSpaced    own, numbers, to;
  void        *whole;
  PetscScalar *a;

  PetscFunctionBegin;
  for (int d = 0; d < 2; d++) {
    all.own.start[d] = 0;
    all.own.count[d] = g->part.n[d] + 1;
  }
  all.pitch = all.own.count[0];
  PetscCall(LitheMemoryCalloc(mg->kernels->memory, (size_t)all.pitch * (size_t)all.own.count[1] * SBPNumberBytes(mg->exact), &whole));
  own     = SBPReals((const PetscReal *)g->own[mg->exact], g->part.pitch);
  numbers = SBPReals((const PetscReal *)whole, all.pitch);
  PetscCall((*mg->kernels->vector.strided)(g->part.own.count, PETSC_FALSE, from, &own));
  PetscCall(PCSBPMGGather_Private(mg, mg->exact, own.p, &all, whole));
  if (PetscDefined(USE_COMPLEX)) PetscCall(VecZeroEntries(v));
  if (mg->device) PetscCall(VecGetArrayAndMemType(v, &a, NULL));
  else PetscCall(VecGetArray(v, &a));
  to = SBPRealParts(a, all.pitch);
  PetscCall((*mg->kernels->vector.strided)(all.own.count, PETSC_FALSE, &numbers, &to));
  if (mg->device) PetscCall(VecRestoreArrayAndMemType(v, &a));
  else PetscCall(VecRestoreArray(v, &a));
  PetscCall((*mg->kernels->memory->free)(&whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for a vector of gather.parts; da: of all nodes, on this process alone */
PetscErrorCode PCSBPMGGatherVec_Private(PC pc, Vec own, DM da, Vec *whole)
{
  PC_SBPMG          *mg = (PC_SBPMG *)pc->data;
  VecType            type;
  SBPSpaced          from;
  PetscScalar       *copy;
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(pc->pmat, &type));
  PetscCall(DMSetVecType(da, type));
  PetscCall(DMCreateGlobalVector(da, whole));
  PetscCall(VecGetLocalSize(own, &n));
  /* set-up only: by way of the host, wherever the vector is */
  PetscCall((*mg->kernels->memory->alloc)((size_t)n * sizeof(PetscScalar), (void **)&copy));
  PetscCall(VecGetArrayRead(own, &a));
  PetscCall((*mg->kernels->memory->put)((size_t)n * sizeof(PetscScalar), a, copy));
  PetscCall(VecRestoreArrayRead(own, &a));
  from = SBPRealParts(copy, mg->gather.part.pitch);
  PetscCall(PCSBPMGGatherNumbers_Private(mg, &from, *whole));
  PetscCall((*mg->kernels->memory->free)((void **)&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All processes fail if one does: their numbers of a gathered level are equal, but a program of unequal processors may
   round differently */
PetscErrorCode PCSBPMGGatherFailure_Private(PC pc)
{
  PC_SBPMG   *mg     = (PC_SBPMG *)pc->data;
  PetscMPIInt failed = pc->failedreason ? 1 : 0;

  PetscFunctionBegin;
  if (!SBPPartsExist(&mg->gather.parts)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (failed && !pc->failedreason) PetscCall(PCSBPMGFail_Private(pc, "the set-up of another process has failed"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* first = 0: the diagonal that was added to the operator */
PetscErrorCode PCSBPMGGatherDiagonal_Private(PC pc)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;
  DM        da;

  PetscFunctionBegin;
  if (!mg->shift.diagonal) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSBPMGCreateWholeDM_Private(pc, &mg->gather.part, &da));
  PetscCall(PCSBPMGGatherVec_Private(pc, mg->shift.diagonal, da, &mg->gather.diagonal));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}
