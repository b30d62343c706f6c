/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The traction of a MATSBPSAT on a Dirichlet face */

#include "sbpsatimpl.h"

#define SBP_VALUE   PetscScalar
#define SBP_REAL    PetscReal
#define SBP_NAME(f) f##_Scalar
#include <lithe/private/sbp/node.h>

/*
   The flux (G u)/H - c Gamma (L u - g) over the stretching, at the owned nodes of a face. Input: u in the lines of the
   range of ghosted; g at the owned nodes, or NULL for 0
*/
static void SBPTraction(const SBPOperator *op, int face, const SBPBox *box, const PetscReal *normal, const PetscReal *mixed, const PetscReal *stretching,
                        const PetscScalar *lines, const PetscScalar *g, PetscScalar *traction)
{
  const SBPGrid   *grid = &op->grid;
  const SBPTable  *t    = SBPTableOf(grid->order);
  const int        d = face / 2, e = 1 - d, end = face % 2;
  const PetscReal *penalty    = (const PetscReal *)op->penalty[face];
  const PetscInt   strides[2] = {1, d ? grid->ghosted.count[0] : t->normals}, inward = end ? -strides[d] : strides[d];

  for (PetscInt k = 0; k < box->count[0] * box->count[1]; k++) {
    const PetscInt     at = box->start[e] + k, here = at - grid->ghosted.start[e];
    const PetscReal    weight = (PetscReal)SBPTableNorm(t, grid->n[e], at) * grid->h[e];
    const PetscScalar *u      = &lines[here * strides[e] + (end ? (t->normals - 1) * strides[d] : 0)];
    const PetscScalar  along  = mixed[here] * SBPNodeQ_Scalar(t, grid->n[e], at, u, strides[e]) / weight;
    PetscScalar        slope  = 0;

    for (int l = 0; l < t->normals; l++) slope += (PetscReal)t->normal[l] * u[l * inward];
    slope       = normal[here] / grid->h[d] * slope + (end ? -along : along); /* inward */
    traction[k] = -(slope + penalty[here] * (u[0] - (g ? g[k] : 0))) / stretching[k];
  }
}

/*@
  MatSBPSATGetTraction - Computes the traction on a Dirichlet face of a `MATSBPSAT`

  Collective

  Input Parameters:
+ A    - the matrix
. face - the face, a Dirichlet face
. u    - the displacement at the nodes, a global vector of the `DMDA`
- g    - the data at the nodes of the face, as for `MatSBPSATAddBoundary()`; or `NULL` for 0

  Output Parameter:
. t - a global vector of the `DMDA`. At the nodes of the face it receives the traction mu du/dn per unit length in (x,
      y), with the outward normal n; other values stay

  Level: beginner

  Notes:
  The traction is the flux of the scheme: the derivative of u by the boundary stencils of the matrix, minus the penalty
  times u - g. With the penalty, the flux of all faces balances the source to rounding, if u solves the linear system.
  The traction of a harmonic u is a symmetric function of g in the norm of the face.

  The units of the traction are those of mu times u over those of x and y. After `MatSBPSATSetTensor()` the function
  needs J, else it raises an error, and mu of `MatSBPSATSetCoefficient()` unless mu is 1.

  The traction is that of the operator of the settings: `MatScale()` and similar functions do not change the traction.
  A corner node has a value on either face. Use one vector per face if both values are needed. t may be u or g.

  On a face with prescribed traction the function raises an error: the traction is the data there.

  If all vectors are on the device, only lines next to the face are copied to the host.

.seealso: `MATSBPSAT`, `MatSBPSATFace`, `MatSBPSATAddBoundary()`, `MatSBPSATSetDirichlet()`, `MatSBPSATSetTensor()`
@*/
PetscErrorCode MatSBPSATGetTraction(Mat A, MatSBPSATFace face, Vec u, Vec g, Vec t)
{
  Mat_SBPSAT      *ctx;
  const SBPGrid   *grid;
  const PetscReal *normal, *mixed, *stretching;
  PetscScalar     *lines, *data, *traction;
  PetscBool        device;
  PetscInt         depth, n;
  SBPBox           box;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscCall(MatSBPSATCheckFace_Private(A, face));
  PetscValidHeaderSpecific(u, VEC_CLASSID, 3);
  if (g) PetscValidHeaderSpecific(g, VEC_CLASSID, 4);
  PetscValidHeaderSpecific(t, VEC_CLASSID, 5);
  PetscCall(MatSBPSATBuild_Private(A));
  PetscCall(MatSBPSATCheckVec_Private(A, u, "u"));
  PetscCall(MatSBPSATCheckVec_Private(A, g, "g"));
  PetscCall(MatSBPSATCheckVec_Private(A, t, "t"));
  grid = &ctx->built.op[SBP_SCALAR][0].grid;
  PetscCheck(grid->dirichlet[face], PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The face %s of the matrix is no Dirichlet face, and its traction is the data of MatSBPSATAddBoundary(); make it one with "
             "MatSBPSATSetDirichlet()",
             MatSBPSATFaces[face]);
  PetscCall(LitheMatIsOnDevice(A, g ? 3 : 2, (const Vec[]){u, t, g}, &device));
  depth = SBPTableOf(grid->order)->normals;
  box   = SBPFaceBox(grid, (int)face, 1, PETSC_FALSE);
  n     = box.count[0] * box.count[1];
  PetscCall(MatSBPSATGetFace_Private(A, (int)face, &normal, &mixed));
  PetscCall(MatSBPSATGetStretching_Private(A, (int)face, device, &stretching));
  PetscCall(PetscMalloc3(depth * grid->ghosted.count[1 - (int)face / 2], &lines, n, &data, n, &traction));
  PetscCall(MatSBPSATGetGhostedLines_Private(A, (int)face, depth, u, device, lines));
  if (g) PetscCall(SBPGetLines_Private(grid, &box, g, device, data));
  SBPTraction(&ctx->built.op[SBP_SCALAR][0], (int)face, &box, normal, mixed, stretching, lines, g ? data : NULL, traction);
  PetscCall(SBPPutLines_Private(grid, &box, PETSC_FALSE, traction, device, t));
  PetscCall(PetscFree3(lines, data, traction));
  PetscFunctionReturn(PETSC_SUCCESS);
}
