/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Right-hand sides and norms of a MATSBPSAT */

#include "sbpsatimpl.h"

#define SBP_VALUE   PetscScalar
#define SBP_REAL    PetscReal
#define SBP_NAME(f) f##_Scalar
#include <lithe/private/sbp/node.h>

/*@
  MatSBPSATAddSource - Adds a source to a right-hand side of a `MATSBPSAT`

  Collective

  Input Parameters:
+ A - the matrix
. f - values of f at the nodes, where -div(mu grad u) = f
- b - the right-hand side, to which (H x H) J f is added

  Level: beginner

  Note:
  The sum is computed on the device if both vectors are on the device.

.seealso: `MATSBPSAT`, `MatSBPSATAddBoundary()`, `MatSBPSATNorm()`
@*/
PetscErrorCode MatSBPSATAddSource(Mat A, Vec f, Vec b)
{
  Mat_SBPSAT        *ctx;
  PetscBool          device;
  const PetscReal   *jacobian;
  const PetscScalar *from;
  PetscScalar       *to;
  void              *copy;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscValidHeaderSpecific(f, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(b, VEC_CLASSID, 3);
  PetscCall(LitheMatIsOnDevice(A, 2, (const Vec[]){f, b}, &device));
  PetscCall(MatSBPSATGetJacobian_Private(A, "A source", device, &jacobian));
  PetscCall(SBPVecGetRead_Private(f, device, &from, &copy));
  PetscCall(SBPVecGetArray_Private(b, device, &to));
  PetscCall((*SBPKernelsOf(device)->source)(&ctx->built.op[SBP_SCALAR][0].grid, jacobian, from, to));
  PetscCall(SBPVecRestoreArray_Private(b, device, &to));
  PetscCall(SBPVecRestoreRead_Private(f, device, &from, &copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (L^T H c Gamma - G^T) g in the owned nodes of a box of lines next to a face, without gaps; data in the range of
   ghosted */
static void SBPDirichlet(const SBPOperator *op, int face, const SBPBox *box, const PetscReal *normal, const PetscReal *mixed, const PetscScalar *data,
                         PetscScalar *b)
{
  const SBPGrid   *g = &op->grid;
  const SBPTable  *t = SBPTableOf(g->order);
  const int        d = face / 2, e = 1 - d, end = face % 2;
  const PetscReal *penalty    = (const PetscReal *)op->penalty[face];
  const PetscInt   strides[2] = {1, box->count[0]};

  for (PetscInt k = 0; k < box->count[e]; k++) {
    const PetscInt  at = box->start[e] + k, here = at - g->ghosted.start[e]; /* of the face's nodes; in the range of ghosted */
    const PetscReal weight = (PetscReal)SBPTableNorm(t, g->n[e], at) * g->h[e];

    for (PetscInt l = 0; l < box->count[d]; l++) {
      const PetscInt deep = end ? g->n[d] - (box->start[d] + l) : box->start[d] + l;
      PetscScalar   *to   = &b[k * strides[e] + l * strides[d]];

      *to = weight / g->h[d] * (PetscReal)t->normal[deep] * normal[here] * data[here];
      if (deep == 0) {
        const PetscScalar along = SBPNodeQTranspose_Scalar(t, g->n[e], at, &mixed[here], 1, &data[here], 1);

        *to += weight * penalty[here] * data[here] + (end ? -along : along);
      }
    }
  }
}

/* L^T H S_J g in the owned nodes of a face; data in the range of ghosted */
static void SBPNeumann(const SBPGrid *g, int face, const SBPBox *box, const PetscReal *stretching, const PetscScalar *data, PetscScalar *b)
{
  const SBPTable *t = SBPTableOf(g->order);
  const int       e = 1 - face / 2;

  for (PetscInt k = 0; k < box->count[0] * box->count[1]; k++) {
    const PetscInt at = box->start[e] + k;

    b[k] = (PetscReal)SBPTableNorm(t, g->n[e], at) * g->h[e] * stretching[k] * data[at - g->ghosted.start[e]];
  }
}

/*@
  MatSBPSATAddBoundary - Adds data of one face to a right-hand side of a `MATSBPSAT`

  Collective

  Input Parameters:
+ A    - the matrix
. face - the face
. g    - the data at the nodes of the face, in a global vector of the `DMDA`: u on a Dirichlet face, otherwise the
  traction mu du/dn per unit length in (x, y), with the outward normal n
- b    - the right-hand side, to which the contribution of the data is added

  Level: beginner

  Note:
  A face whose data is zero needs no call. A corner node has a value on either face. Use one vector per face if the two
  values differ.

  Values off the face are not read. If both vectors are on the device, only faces are copied to the host.

.seealso: `MATSBPSAT`, `MatSBPSATFace`, `MatSBPSATSetDirichlet()`, `MatSBPSATAddSource()`, `MatSBPSATGetTraction()`
@*/
PetscErrorCode MatSBPSATAddBoundary(Mat A, MatSBPSATFace face, Vec g, Vec b)
{
  Mat_SBPSAT      *ctx;
  const SBPGrid   *grid;
  const PetscReal *normal, *mixed, *stretching = NULL;
  PetscScalar     *data, *part;
  PetscBool        device;
  SBPBox           box;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscCall(MatSBPSATCheckFace_Private(A, face));
  PetscValidHeaderSpecific(g, VEC_CLASSID, 3);
  PetscValidHeaderSpecific(b, VEC_CLASSID, 4);
  PetscCall(MatSBPSATBuild_Private(A));
  PetscCall(LitheMatIsOnDevice(A, 2, (const Vec[]){g, b}, &device));
  grid = &ctx->built.op[SBP_SCALAR][0].grid;
  box  = SBPFaceBox(grid, (int)face, grid->dirichlet[face] ? SBPTableOf(grid->order)->normals : 1, PETSC_FALSE);
  PetscCall(MatSBPSATGetFace_Private(A, (int)face, &normal, &mixed));
  if (!grid->dirichlet[face]) PetscCall(MatSBPSATGetStretching_Private(A, (int)face, device, &stretching));
  PetscCall(PetscMalloc2(grid->ghosted.count[1 - (int)face / 2], &data, box.count[0] * box.count[1], &part));
  PetscCall(MatSBPSATGetGhostedLines_Private(A, (int)face, 1, g, device, data));
  if (normal) {
    if (grid->dirichlet[face]) SBPDirichlet(&ctx->built.op[SBP_SCALAR][0], (int)face, &box, normal, mixed, data, part);
    else SBPNeumann(grid, (int)face, &box, stretching, data, part);
  }
  PetscCall(SBPPutLines_Private(grid, &box, PETSC_TRUE, part, device, b));
  PetscCall(PetscFree2(data, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSBPSATNorm - Computes the norm of a grid function on the grid of a `MATSBPSAT`

  Collective

  Input Parameters:
+ A - the matrix
- e - values at the nodes

  Output Parameter:
. norm - the square root of the sum of (H x H) |e|^2: the integral over reference coordinates, by the quadrature rule of
    the operator

  Level: beginner

.seealso: `MATSBPSAT`, `MatSBPSATAddSource()`
@*/
PetscErrorCode MatSBPSATNorm(Mat A, Vec e, PetscReal *norm)
{
  Mat_SBPSAT        *ctx;
  const PetscScalar *from;
  PetscBool          device;
  void              *copy;
  double             sum;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscValidHeaderSpecific(e, VEC_CLASSID, 2);
  PetscAssertPointer(norm, 3);
  PetscCall(MatSBPSATBuild_Private(A));
  PetscCall(LitheMatIsOnDevice(A, 1, &e, &device));
  PetscCall(SBPVecGetRead_Private(e, device, &from, &copy));
  PetscCall((*SBPKernelsOf(device)->vector.square)(&ctx->built.op[SBP_SCALAR][0].grid, from, &sum));
  PetscCall(SBPVecRestoreRead_Private(e, device, &from, &copy));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  *norm = (PetscReal)sqrt(sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}
