/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Right sides and norms that belong to a MATSBPSAT */

#include "sbpsatimpl.h"

/* H x H at an owned node, counted from the first one */
static PetscReal SBPGridWeight(const SBPGrid *g, const SBPTable *t, PetscInt i, PetscInt j)
{
  return (PetscReal)(SBPTableNorm(t, g->n[0], g->own.start[0] + i) * SBPTableNorm(t, g->n[1], g->own.start[1] + j)) * g->h[0] * g->h[1];
}

/*@
  MatSBPSATAddSource - Adds a source to a right side of a `MATSBPSAT`

  Collective

  Input Parameters:
+ A - the matrix
. f - values of f at the nodes, where -div(mu grad u) = f
- b - the right side, to which (H x H) J f is added

  Level: beginner

.seealso: `MATSBPSAT`, `MatSBPSATAddBoundary()`, `MatSBPSATNorm()`
@*/
PetscErrorCode MatSBPSATAddSource(Mat A, Vec f, Vec b)
{
  Mat_SBPSAT        *ctx;
  const SBPGrid     *g;
  const SBPTable    *t;
  const PetscReal   *jacobian;
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscValidHeaderSpecific(f, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(b, VEC_CLASSID, 3);
  PetscCall(MatSBPSATGetJacobian_Private(A, &jacobian));
  PetscCheck(jacobian, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "A source needs J = x_r y_s - x_s y_r; give it to MatSBPSATSetTensor()");
  g = &ctx->op[SBP_SCALAR][0].grid;
  t = SBPTableOf(g->order);
  PetscCall(VecGetArrayRead(f, &from));
  PetscCall(VecGetArray(b, &to));
  for (PetscInt j = 0; j < g->own.count[1]; j++) {
    for (PetscInt i = 0; i < g->own.count[0]; i++) {
      const PetscInt k = j * g->pitch + i;

      to[k] += SBPGridWeight(g, t, i, j) * jacobian[k] * from[k];
    }
  }
  PetscCall(VecRestoreArray(b, &to));
  PetscCall(VecRestoreArrayRead(f, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* c_rr or c_ss, and c_rs at the nodes of a face, of the range of ghosted; c is NULL where ghosted does not touch it */
static PetscErrorCode MatSBPSATGetFace_Private(Mat A, int face, PetscReal **normal, PetscReal **mixed)
{
  Mat_SBPSAT        *ctx = (Mat_SBPSAT *)A->data;
  const SBPOperator *op  = &ctx->op[SBP_SCALAR][0];
  const SBPGrid     *g   = &op->grid;
  const int          d = face / 2, e = 1 - d;
  const PetscInt     at = face % 2 ? g->n[d] : 0;

  PetscFunctionBegin;
  *normal = *mixed = NULL;
  if (at < g->ghosted.start[d] || at >= g->ghosted.start[d] + g->ghosted.count[d]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(g->ghosted.count[e], normal, g->ghosted.count[e], mixed));
  if (op->coefficient[0]) {
    for (PetscInt k = 0; k < g->ghosted.count[e]; k++) {
      const PetscInt64 where = d ? (PetscInt64)(at - g->ghosted.start[1]) * g->coefficientpitch + k
                                 : (PetscInt64)k * g->coefficientpitch + at - g->ghosted.start[0];

      (*normal)[k] = ((const PetscReal *)op->coefficient[d])[where];
      (*mixed)[k]  = ((const PetscReal *)op->coefficient[2])[where];
    }
  } else {
    SBPBox box;

    box.start[d] = at;
    box.count[d] = 1;
    box.start[e] = g->ghosted.start[e];
    box.count[e] = g->ghosted.count[e];
    PetscCall(SBPGeometryMetrics_Private(&ctx->geometry, &box, d ? 0 : 1, d ? NULL : *normal, d ? *normal : NULL, *mixed, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b += (L^T H c Gamma - G^T) g: data of the face in the range of ghosted */
static void SBPAddDirichlet(const SBPOperator *op, int face, const PetscReal *normal, const PetscReal *mixed, const PetscScalar *data, PetscScalar *b)
{
  const SBPGrid   *g = &op->grid;
  const SBPTable  *t = SBPTableOf(g->order);
  const int        d = face / 2, e = 1 - d, end = face % 2;
  const PetscReal *penalty    = (const PetscReal *)op->penalty[face];
  const PetscInt   strides[2] = {1, g->pitch};

  for (PetscInt k = 0; k < g->own.count[e]; k++) {
    const PetscInt  at = g->own.start[e] + k, here = at - g->ghosted.start[e]; /* of the face's nodes; in the range of ghosted */
    const PetscReal weight = (PetscReal)SBPTableNorm(t, g->n[e], at) * g->h[e];

    for (PetscInt deep = 0; deep < t->normals; deep++) {
      const PetscInt node = (end ? g->n[d] - deep : deep) - g->own.start[d];

      if (node < 0 || node >= g->own.count[d]) continue;
      b[k * strides[e] + node * strides[d]] += weight / g->h[d] * (PetscReal)t->normal[deep] * normal[here] * data[here];
      if (deep == 0) {
        PetscScalar along = 0;
        int         low, high;

        /* Q^T c_rs g along the face */
        SBPTableRangeQ(t, g->n[e], at, &low, &high);
        for (int l = low; l <= high; l++) along -= (PetscReal)SBPTableQ(t, g->n[e], at, l) * mixed[here + l] * data[here + l];
        if (at == 0) along -= mixed[here] * data[here];
        if (at == g->n[e]) along += mixed[here] * data[here];
        b[k * strides[e] + node * strides[d]] += weight * penalty[here] * data[here] + (end ? -along : along);
      }
    }
  }
}

/*@
  MatSBPSATAddBoundary - Adds data of one face to a right side of a `MATSBPSAT`

  Collective

  Input Parameters:
+ A    - the matrix
. face - the face
. g    - the data, a global vector of the `DMDA`, of which the values at the nodes of the face are read: u on a Dirichlet face, else the traction
         mu du/dn, per unit of length in (x, y) and n the outward normal
- b    - the right side, to which the data's part is added

  Level: beginner

  Note:
  A face whose data is zero needs no call. Faces meet in nodes: such a node has a value on either face, so use one vector a face
  if their data differ there.

.seealso: `MATSBPSAT`, `MatSBPSATFace`, `MatSBPSATSetDirichlet()`, `MatSBPSATAddSource()`
@*/
PetscErrorCode MatSBPSATAddBoundary(Mat A, MatSBPSATFace face, Vec g, Vec b)
{
  Mat_SBPSAT        *ctx;
  const SBPOperator *op;
  const SBPGrid     *grid;
  PetscReal         *normal, *mixed;
  const PetscScalar *from;
  PetscScalar       *to;
  int                d, e;
  PetscInt           at;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscValidLogicalCollectiveEnum(A, face, 2);
  PetscValidHeaderSpecific(g, VEC_CLASSID, 3);
  PetscValidHeaderSpecific(b, VEC_CLASSID, 4);
  PetscCheck((int)face >= 0 && (int)face < SBP_FACES, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no face %d; use MATSBPSAT_LEFT, RIGHT, BOTTOM or TOP", (int)face);
  PetscCall(MatSBPSATBuild_Private(A));
  op   = &ctx->op[SBP_SCALAR][0];
  grid = &op->grid;
  d    = (int)face / 2;
  e    = 1 - d;
  at   = face % 2 ? grid->n[d] : 0;

  if (grid->dirichlet[face]) {
    PetscScalar *ghosted = NULL, *data;

    /* Values of the face, with those of its ghosts */
    PetscCall(MatSBPSATGetFace_Private(A, (int)face, &normal, &mixed));
    PetscCall(PetscMalloc1(grid->ghosted.count[0] * grid->ghosted.count[1], &ghosted));
    PetscCall(VecGetArrayRead(g, &from));
    PetscCall(SBPHaloBegin(ctx->halo, SBP_SCALAR, PETSC_MEMTYPE_HOST, from, ghosted));
    PetscCall(SBPHaloEnd(ctx->halo, SBP_SCALAR, PETSC_MEMTYPE_HOST, from, ghosted));
    PetscCall(VecRestoreArrayRead(g, &from));
    PetscCall(VecGetArray(b, &to));
    if (normal) {
      PetscCall(PetscMalloc1(grid->ghosted.count[e], &data));
      for (PetscInt k = 0; k < grid->ghosted.count[e]; k++)
        data[k] = ghosted[d ? (PetscInt64)(at - grid->ghosted.start[1]) * grid->ghostpitch + k
                            : (PetscInt64)k * grid->ghostpitch + at - grid->ghosted.start[0]];
      SBPAddDirichlet(op, (int)face, normal, mixed, data, to);
      PetscCall(PetscFree(data));
    }
    PetscCall(VecRestoreArray(b, &to));
    PetscCall(PetscFree(ghosted));
    PetscCall(PetscFree2(normal, mixed));
  } else {
    const SBPTable    *t = SBPTableOf(grid->order);
    const PetscReal   *jacobian;
    const PetscScalar *mu = NULL;

    PetscCall(MatSBPSATGetJacobian_Private(A, &jacobian));
    PetscCheck(jacobian, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "A traction needs J = x_r y_s - x_s y_r; give it to MatSBPSATSetTensor()");
    PetscCall(MatSBPSATGetFace_Private(A, (int)face, &normal, &mixed));
    if (ctx->settings.mu) PetscCall(VecGetArrayRead(ctx->settings.mu, &mu));
    PetscCall(VecGetArrayRead(g, &from));
    PetscCall(VecGetArray(b, &to));
    if (at >= grid->own.start[d] && at < grid->own.start[d] + grid->own.count[d]) {
      for (PetscInt k = 0; k < grid->own.count[e]; k++) {
        const PetscInt  node   = d ? (at - grid->own.start[1]) * grid->pitch + k : k * grid->pitch + at - grid->own.start[0];
        const PetscReal weight = (PetscReal)SBPTableNorm(t, grid->n[e], grid->own.start[e] + k) * grid->h[e];
        /* How much the face is stretched: c_nn = mu S_J^2/J */
        const PetscReal stretch = PetscSqrtReal(normal[grid->own.start[e] + k - grid->ghosted.start[e]] * jacobian[node] / (mu ? PetscRealPart(mu[node]) : 1));

        to[node] += weight * stretch * from[node];
      }
    }
    PetscCall(VecRestoreArray(b, &to));
    PetscCall(VecRestoreArrayRead(g, &from));
    if (mu) PetscCall(VecRestoreArrayRead(ctx->settings.mu, &mu));
    PetscCall(PetscFree2(normal, mixed));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSBPSATNorm - Computes the norm of a grid function that belongs to a `MATSBPSAT`

  Collective

  Input Parameters:
+ A - the matrix
- e - values at the nodes

  Output Parameter:
. norm - the square root of the sum of (H x H) |e|^2: the integral over reference coordinates, by the quadrature rule of the operator

  Level: beginner

.seealso: `MATSBPSAT`, `MatSBPSATAddSource()`
@*/
PetscErrorCode MatSBPSATNorm(Mat A, Vec e, PetscReal *norm)
{
  Mat_SBPSAT        *ctx;
  const SBPGrid     *g;
  const SBPTable    *t;
  const PetscScalar *from;
  PetscReal          sum = 0;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscValidHeaderSpecific(e, VEC_CLASSID, 2);
  PetscAssertPointer(norm, 3);
  PetscCall(MatSBPSATBuild_Private(A));
  g = &ctx->op[SBP_SCALAR][0].grid;
  t = SBPTableOf(g->order);
  PetscCall(VecGetArrayRead(e, &from));
  for (PetscInt j = 0; j < g->own.count[1]; j++) {
    PetscReal row = 0;

    for (PetscInt i = 0; i < g->own.count[0]; i++) row += SBPGridWeight(g, t, i, j) * PetscRealPart(from[j * g->pitch + i] * PetscConj(from[j * g->pitch + i]));
    sum += row;
  }
  PetscCall(VecRestoreArrayRead(e, &from));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)A)));
  *norm = PetscSqrtReal(sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}
