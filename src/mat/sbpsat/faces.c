/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The lines of nodes next to a face of a MATSBPSAT: numbers of the matrix and of vectors there, on the host */

#include "sbpsatimpl.h"

/* An error if there is no such face. Logically Collective */
PetscErrorCode MatSBPSATCheckFace_Private(Mat A, MatSBPSATFace face)
{
  PetscFunctionBegin;
  PetscValidLogicalCollectiveEnum(A, face, 2);
  PetscCheck((int)face >= 0 && (int)face < SBP_FACES, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no face %d; use MATSBPSAT_LEFT, RIGHT, BOTTOM or TOP", (int)face);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The nodes of a face and of lines behind it: owned nodes, or ghosted nodes, along the whole face. Empty if a process
   has no such node. A process with a node of the face has ghosts as deep as any boundary stencil reads
*/
SBPBox SBPFaceBox(const SBPGrid *g, int face, PetscInt depth, PetscBool ghosts)
{
  const int      d = face / 2, e = 1 - d, end = face % 2;
  const SBPBox  *all   = ghosts ? &g->ghosted : &g->own;
  const PetscInt first = end ? g->n[d] - depth + 1 : 0, last = first + depth; /* along the normal */
  SBPBox         box;

  box.start[e] = all->start[e];
  box.count[e] = all->count[e];
  box.start[d] = PetscMax(first, all->start[d]);
  box.count[d] = PetscMax(0, PetscMin(last, all->start[d] + all->count[d]) - box.start[d]);
  return box;
}

/* c_rr or c_ss, and c_rs at the nodes of a face, in the range of ghosted; NULL if ghosted does not touch the face. Not
   collective */
PetscErrorCode MatSBPSATGetFace_Private(Mat A, int face, const PetscReal **normal, const PetscReal **mixed)
{
  Mat_SBPSAT    *ctx = (Mat_SBPSAT *)A->data;
  const SBPGrid *g   = &ctx->built.op[SBP_SCALAR][0].grid;
  const SBPBox   box = SBPFaceBox(g, face, 1, PETSC_TRUE);
  SBPFace       *f   = &ctx->face[face];

  PetscFunctionBegin;
  if (box.count[face / 2] && !f->normal) {
    PetscCall(PetscMalloc2(g->ghosted.count[1 - face / 2], &f->normal, g->ghosted.count[1 - face / 2], &f->mixed));
    PetscCall(MatSBPSATGetLines_Private(A, face / 2, &box, f->normal));
    PetscCall(MatSBPSATGetLines_Private(A, 2, &box, f->mixed));
  }
  *normal = f->normal;
  *mixed  = f->mixed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A part of an array of PetscScalar on all nodes, as real numbers: a complex number is two real numbers along r */
static SBPSpaced SBPPart(const SBPBox *all, const SBPBox *box, const PetscScalar *a, PetscInt count[2])
{
  const PetscInt   reals = (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal));
  const PetscInt64 first = (PetscInt64)(box->start[1] - all->start[1]) * all->count[0] + box->start[0] - all->start[0];

  count[0] = box->count[0] * reals;
  count[1] = box->count[1];
  return SBPReals((const PetscReal *)(a + first), (PetscInt64)all->count[0] * reals);
}

/* Values of a vector at the nodes of a face and of lines behind it, in the range of ghosted, on the host. Neighbor-wise
   Collective */
PetscErrorCode MatSBPSATGetGhostedLines_Private(Mat A, int face, PetscInt depth, Vec v, PetscBool device, PetscScalar *lines)
{
  Mat_SBPSAT        *ctx = (Mat_SBPSAT *)A->data;
  const SBPGrid     *g   = &ctx->built.op[SBP_SCALAR][0].grid;
  const SBPBox       box = SBPFaceBox(g, face, depth, PETSC_TRUE);
  const PetscScalar *a, *ghosted;
  void              *copy, *ghosts;
  PetscInt           count[2];
  SBPSpaced          from;

  PetscFunctionBegin;
  PetscCall(SBPVecGetRead_Private(v, device, &a, &copy));
  ghosted = a;
  if (ctx->built.halo) {
    PetscCall(MatSBPSATGetGhosts_Private(A, device, &ghosts));
    PetscCall(SBPGridGhosts_Private(ctx->built.halo, g, SBP_SCALAR, device, a, ghosts));
    ghosted = (const PetscScalar *)ghosts;
  }
  from = SBPPart(&g->ghosted, &box, ghosted, count);
  PetscCall(SBPGetNumbers_Private(device, count, &from, (PetscReal *)lines));
  PetscCall(SBPVecRestoreRead_Private(v, device, &a, &copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of a vector at the owned nodes of a box. Not collective */
PetscErrorCode SBPGetLines_Private(const SBPGrid *g, const SBPBox *box, Vec v, PetscBool device, PetscScalar *lines)
{
  const PetscScalar *a;
  void              *copy;
  PetscInt           count[2];
  SBPSpaced          from;

  PetscFunctionBegin;
  PetscCall(SBPVecGetRead_Private(v, device, &a, &copy));
  from = SBPPart(&g->own, box, a, count);
  PetscCall(SBPGetNumbers_Private(device, count, &from, (PetscReal *)lines));
  PetscCall(SBPVecRestoreRead_Private(v, device, &a, &copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds numbers to, or puts numbers in the place of, the values of a vector at the owned nodes of a box */
PetscErrorCode SBPPutLines_Private(const SBPGrid *g, const SBPBox *box, PetscBool add, const PetscScalar *lines, PetscBool device, Vec v)
{
  PetscScalar *a;
  PetscInt     count[2];
  SBPSpaced    to;

  PetscFunctionBegin;
  PetscCall(SBPVecGetArray_Private(v, device, &a));
  to = SBPPart(&g->own, box, a, count);
  PetscCall(SBPPutNumbers_Private(device, count, add, (const PetscReal *)lines, &to));
  PetscCall(SBPVecRestoreArray_Private(v, device, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The stretching S_J at the owned nodes of a face, the length in (x, y) per unit of the reference coordinate along the
   face: c_nn = mu S_J^2/J. device: where to make J, and where mu is. Collective
*/
PetscErrorCode MatSBPSATGetStretching_Private(Mat A, int face, PetscBool device, const PetscReal **stretching)
{
  Mat_SBPSAT      *ctx   = (Mat_SBPSAT *)A->data;
  const SBPGrid   *g     = &ctx->built.op[SBP_SCALAR][0].grid;
  const SBPBox     box   = SBPFaceBox(g, face, 1, PETSC_FALSE);
  const PetscInt   n     = box.count[0] * box.count[1];
  const PetscInt   first = box.start[1 - face / 2] - g->ghosted.start[1 - face / 2];
  SBPFace         *f     = &ctx->face[face];
  PetscScalar     *mu    = NULL;
  const PetscReal *jacobian, *normal, *mixed;
  SBPSpaced        from;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetJacobian_Private(A, "A traction", device, &jacobian));
  if (n && !f->stretching) {
    PetscCall(MatSBPSATGetFace_Private(A, face, &normal, &mixed));
    PetscCall(PetscMalloc1(n, &f->stretching));
    from = SBPReals(jacobian + (PetscInt64)(box.start[1] - g->own.start[1]) * g->own.count[0] + box.start[0] - g->own.start[0], g->own.count[0]);
    PetscCall(SBPGetNumbers_Private(device, box.count, &from, f->stretching));
    if (ctx->settings.mu) {
      PetscCall(PetscMalloc1(n, &mu));
      PetscCall(SBPGetLines_Private(g, &box, ctx->settings.mu, device, mu));
    }
    /* c_nn/mu first: mu may be large, such as 3e10 Pa */
    for (PetscInt k = 0; k < n; k++) f->stretching[k] = PetscSqrtReal(normal[first + k] / (mu ? PetscRealPart(mu[k]) : 1) * f->stretching[k]);
    PetscCall(PetscFree(mu));
  }
  *stretching = f->stretching;
  PetscFunctionReturn(PETSC_SUCCESS);
}
