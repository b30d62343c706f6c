/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Grids of MATSBPSAT with their ghosts, and the vectors and coordinates on them, on the host or on a device */

#include "sbpsatimpl.h"

/*
   The nodes of da with ghosts in a box up to width, for any ghosts of da. parts: of all processes; none on one
*/
PetscErrorCode SBPGridCreate_Private(DM da, int order, PetscInt width, SBPParts *parts, SBPGrid *g)
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)da);
  const PetscInt *ranges[2];
  PetscInt        nodes[2], processes[2];

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, &processes[0], &processes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(da, &ranges[0], &ranges[1], NULL));
  for (int d = 0; d < 2; d++) {
    for (PetscInt k = 0; k < processes[d] && processes[d] > 1; k++) {
      PetscCheck(ranges[d][k] >= width, comm, PETSC_ERR_ARG_SIZ,
                 "A process has %" PetscInt_FMT " of the %" PetscInt_FMT " nodes along %s, order %d needs at least %" PetscInt_FMT
                 " on each of the %" PetscInt_FMT " processes; use fewer processes, -da_processors_%s, or in a multigrid fewer levels",
                 ranges[d][k], nodes[d], d ? "y" : "x", order, width, processes[d], d ? "y" : "x");
    }
  }
  PetscCall(PetscMemzero(g, sizeof(*g)));
  g->order = order;
  g->reach = (int)width;
  for (int d = 0; d < 2; d++) {
    g->n[d] = nodes[d] - 1;
    g->h[d] = (PetscReal)2.0 / (nodes[d] - 1);
  }
  PetscCall(SBPPartsCreate(da, parts));
  if (SBPPartsExist(parts)) PetscCall(SBPPartsGetBoxes(parts, width, &g->own, &g->ghosted));
  else {
    for (int d = 0; d < 2; d++) g->own.count[d] = g->ghosted.count[d] = nodes[d];
  }
  g->pitch            = g->own.count[0];
  g->ghostpitch       = g->ghosted.count[0];
  g->coefficientpitch = g->ghosted.count[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Fills a ghosted array from an owned array, both without gaps and at the same place. On one process, perhaps without a
   halo, both arrays are the same. Neighbor-wise Collective
*/
PetscErrorCode SBPGridGhosts_Private(SBPHalo halo, const SBPGrid *g, SBPPrecision precision, PetscBool device, const void *owned, void *ghosted)
{
  const PetscMemType memory = device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  if (halo) {
    PetscCall(SBPHaloBegin(halo, precision, memory, -1, owned, ghosted));
    PetscCall(SBPHaloEnd(halo, precision, memory, owned, ghosted));
  } else if (owned != ghosted) {
    PetscCheck(!device, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The arrays of one process are the same");
    PetscCall(PetscMemcpy(ghosted, owned, (size_t)g->own.count[0] * (size_t)g->own.count[1] * SBPNumberBytes(precision)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Numbers bs apart of the owned nodes, in the place of a, to the nodes of ghosted, rows pitch apart. Neighbor-wise
   Collective
*/
static PetscErrorCode SBPGridSpread_Private(SBPHalo halo, const SBPGrid *g, const PetscScalar *a, PetscInt bs, PetscBool device, PetscInt pitch, PetscReal *to)
{
  const SBPKernels *kernels = SBPKernelsOf(device);
  const size_t      nodes = (size_t)g->own.count[0] * (size_t)g->own.count[1], all = (size_t)g->ghosted.count[0] * (size_t)g->ghosted.count[1];
  void             *owned = NULL, *ghosted = NULL;
  SBPSpaced         from, into;

  PetscFunctionBegin;
  from = SBPRealParts(a, (PetscInt64)g->own.count[0] * bs);
  from.step *= bs;
  into = SBPReals(to, pitch);
  if (halo) {
    PetscCall((*kernels->memory->alloc)(nodes * sizeof(PetscReal), &owned));
    PetscCall((*kernels->memory->alloc)(all * sizeof(PetscReal), &ghosted));
    into = SBPReals((const PetscReal *)owned, g->own.count[0]);
  }
  PetscCall((*kernels->vector.strided)(g->own.count, PETSC_FALSE, &from, &into));
  if (halo) {
    PetscCall(SBPGridGhosts_Private(halo, g, SBP_REAL_PRECISION, device, owned, ghosted));
    from = SBPReals((const PetscReal *)ghosted, g->ghosted.count[0]);
    into = SBPReals(to, pitch);
    PetscCall((*kernels->vector.strided)(g->ghosted.count, PETSC_FALSE, &from, &into));
    PetscCall((*kernels->memory->free)(&owned));
    PetscCall((*kernels->memory->free)(&ghosted));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of a vector of the nodes */
PetscErrorCode SBPGridScatter_Private(SBPHalo halo, const SBPGrid *g, Vec v, PetscBool device, PetscInt pitch, PetscReal *to)
{
  const PetscScalar *a;
  void              *copy;

  PetscFunctionBegin;
  PetscCall(SBPVecGetRead_Private(v, device, &a, &copy));
  PetscCall(SBPGridSpread_Private(halo, g, a, 1, device, pitch, to));
  PetscCall(SBPVecRestoreRead_Private(v, device, &a, &copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Coordinates and coefficient of the matrix for metrics: at the ghosted nodes if ghosts is true, else at the owned
   nodes. Collective
*/
PetscErrorCode SBPGeometryCreate_Private(Mat A, PetscBool ghosts, PetscBool device, SBPGeometry *geometry)
{
  Mat_SBPSAT        *ctx     = (Mat_SBPSAT *)A->data;
  const SBPKernels  *kernels = SBPKernelsOf(device);
  const SBPTable    *t       = SBPTableOf((int)ctx->settings.order);
  const SBPGrid     *g       = &geometry->grid;
  DM                 da;
  Vec                coordinates;
  SBPParts           parts;
  SBPHalo            halo = NULL;
  PetscInt           bs;
  size_t             bytes;
  const PetscScalar *a;
  void              *copy;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(geometry, sizeof(*geometry)));
  PetscCall(MatGetDM(A, &da));
  PetscCall(SBPGridCreate_Private(da, t->order, SBPTableReach(t) + (ghosts ? PetscMax(t->half, t->norms - 1) : 0), &parts, &geometry->grid));
  if (SBPPartsExist(&parts)) PetscCall(SBPHaloCreate(&parts, g, device ? ctx->settings.transport : LITHE_TRANSPORT_AUTO, &halo));
  bytes = (size_t)g->ghosted.count[0] * (size_t)g->ghosted.count[1] * sizeof(PetscReal);
  PetscCall(DMGetCoordinates(da, &coordinates));
  if (coordinates) {
    PetscCall(VecGetBlockSize(coordinates, &bs));
    PetscCheck(bs == 2, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
               "The DMDA has coordinates in %" PetscInt_FMT " dimensions; a matrix of type sbpsat needs x and y", bs);
    PetscCall((*kernels->memory->alloc)(bytes, (void **)&geometry->x));
    PetscCall((*kernels->memory->alloc)(bytes, (void **)&geometry->y));
    PetscCall(SBPVecGetRead_Private(coordinates, device, &a, &copy));
    PetscCall(SBPGridSpread_Private(halo, g, a, 2, device, g->ghostpitch, geometry->x));
    PetscCall(SBPGridSpread_Private(halo, g, a + 1, 2, device, g->ghostpitch, geometry->y));
    PetscCall(SBPVecRestoreRead_Private(coordinates, device, &a, &copy));
  }
  if (ctx->settings.mu) {
    PetscCall((*kernels->memory->alloc)(bytes, (void **)&geometry->mu));
    PetscCall(SBPGridScatter_Private(halo, g, ctx->settings.mu, device, g->ghostpitch, geometry->mu));
  }
  PetscCall(SBPHaloDestroy(&halo));
  PetscCall(SBPPartsDestroy(&parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host; to has nothing yet */
PetscErrorCode SBPGeometryCopy_Private(const SBPGeometry *from, SBPGeometry *to)
{
  const size_t nodes = (size_t)from->grid.ghosted.count[0] * (size_t)from->grid.ghosted.count[1];

  PetscFunctionBegin;
  to->grid = from->grid;
  PetscCall(SBPCopyReals_Private(PETSC_FALSE, nodes, from->x, (void **)&to->x));
  PetscCall(SBPCopyReals_Private(PETSC_FALSE, nodes, from->y, (void **)&to->y));
  PetscCall(SBPCopyReals_Private(PETSC_FALSE, nodes, from->mu, (void **)&to->mu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPGeometryDestroy_Private(PetscBool device, SBPGeometry *geometry)
{
  const SBPKernels *kernels = SBPKernelsOf(device);

  PetscFunctionBegin;
  if (geometry->x) PetscCall((*kernels->memory->free)((void **)&geometry->x));
  if (geometry->y) PetscCall((*kernels->memory->free)((void **)&geometry->y));
  if (geometry->mu) PetscCall((*kernels->memory->free)((void **)&geometry->mu));
  PetscFunctionReturn(PETSC_SUCCESS);
}
