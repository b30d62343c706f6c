/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Right-hand sides and norms of a MATSBPSAT */

#include "sbpsatimpl.h"

/* Gets the array of a right-hand side at its place; and restores it */
static PetscErrorCode SBPVecGetArray_Private(Vec v, PetscBool device, PetscScalar **a)
{
  PetscFunctionBegin;
  if (device) PetscCall(VecGetArrayAndMemType(v, a, NULL));
  else PetscCall(VecGetArray(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPVecRestoreArray_Private(Vec v, PetscBool device, PetscScalar **a)
{
  PetscFunctionBegin;
  if (device) PetscCall(VecRestoreArrayAndMemType(v, a));
  else PetscCall(VecRestoreArray(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  PetscCall(MatSBPSATGetJacobian_Private(A, device, &jacobian));
  PetscCheck(jacobian, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "A source needs J = x_r y_s - x_s y_r; give it to MatSBPSATSetTensor()");
  PetscCall(SBPVecGetRead_Private(f, device, &from, &copy));
  PetscCall(SBPVecGetArray_Private(b, device, &to));
  PetscCall((*SBPKernelsOf(device)->source)(&ctx->built.op[SBP_SCALAR][0].grid, jacobian, from, to));
  PetscCall(SBPVecRestoreArray_Private(b, device, &to));
  PetscCall(SBPVecRestoreRead_Private(f, device, &from, &copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The nodes of a face and of lines behind it: owned nodes, or ghosted nodes, along the whole face. Empty if a process
   has no such node
*/
static SBPBox SBPFaceBox(const SBPGrid *g, int face, PetscInt depth, PetscBool ghosts)
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

/* c_rr or c_ss, and c_rs at the nodes of a face, in the range of ghosted; NULL if ghosted does not touch the face */
static PetscErrorCode MatSBPSATGetFace_Private(Mat A, int face, PetscReal **normal, PetscReal **mixed)
{
  const SBPGrid *g   = &((Mat_SBPSAT *)A->data)->built.op[SBP_SCALAR][0].grid;
  const SBPBox   box = SBPFaceBox(g, face, 1, PETSC_TRUE);

  PetscFunctionBegin;
  *normal = *mixed = NULL;
  if (!box.count[face / 2]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(g->ghosted.count[1 - face / 2], normal, g->ghosted.count[1 - face / 2], mixed));
  PetscCall(MatSBPSATGetLines_Private(A, face / 2, &box, *normal));
  PetscCall(MatSBPSATGetLines_Private(A, 2, &box, *mixed));
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

/* Values of a vector at the nodes of a face, of the range of ghosted, on the host. Neighbor-wise Collective */
static PetscErrorCode MatSBPSATGetData_Private(Mat A, int face, Vec v, PetscBool device, PetscScalar *data)
{
  Mat_SBPSAT        *ctx = (Mat_SBPSAT *)A->data;
  const SBPGrid     *g   = &ctx->built.op[SBP_SCALAR][0].grid;
  const SBPBox       box = SBPFaceBox(g, face, 1, PETSC_TRUE);
  const PetscScalar *a, *ghosted;
  void              *copy, *ghosts;
  PetscInt           count[2];

  PetscFunctionBegin;
  PetscCall(SBPVecGetRead_Private(v, device, &a, &copy));
  ghosted = a;
  if (ctx->built.halo) {
    PetscCall(MatSBPSATGetGhosts_Private(A, device, &ghosts));
    PetscCall(SBPGridGhosts_Private(ctx->built.halo, g, SBP_SCALAR, device, a, ghosts));
    ghosted = (const PetscScalar *)ghosts;
  }
  {
    const SBPSpaced from = SBPPart(&g->ghosted, &box, ghosted, count);

    PetscCall(SBPGetNumbers_Private(device, count, &from, (PetscReal *)data));
  }
  PetscCall(SBPVecRestoreRead_Private(v, device, &a, &copy));
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
        PetscScalar along = 0;
        int         low, high;

        /* Q^T c_rs g along the face */
        SBPTableRangeQ(t, g->n[e], at, &low, &high);
        for (int q = low; q <= high; q++) along -= (PetscReal)SBPTableQ(t, g->n[e], at, q) * mixed[here + q] * data[here + q];
        if (at == 0) along -= mixed[here] * data[here];
        if (at == g->n[e]) along += mixed[here] * data[here];
        *to += weight * penalty[here] * data[here] + (end ? -along : along);
      }
    }
  }
}

/* L^T H S_J g in the owned nodes of a face: c_nn = mu S_J^2/J gives the stretching S_J of the face */
static PetscErrorCode MatSBPSATTraction_Private(Mat A, int face, const SBPBox *box, const PetscReal *normal, const PetscScalar *data, PetscBool device,
                                                const PetscReal *jacobian, PetscScalar *b)
{
  Mat_SBPSAT     *ctx = (Mat_SBPSAT *)A->data;
  const SBPGrid  *g   = &ctx->built.op[SBP_SCALAR][0].grid;
  const SBPTable *t   = SBPTableOf(g->order);
  const int       e   = 1 - face / 2;
  const PetscInt  n   = box->count[0] * box->count[1];
  PetscReal      *J;
  PetscScalar    *mu = NULL;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &J));
  {
    const SBPSpaced from = SBPReals(jacobian + (PetscInt64)(box->start[1] - g->own.start[1]) * g->own.count[0] + box->start[0] - g->own.start[0],
                                    g->own.count[0]);

    PetscCall(SBPGetNumbers_Private(device, box->count, &from, J));
  }
  if (ctx->settings.mu) {
    const PetscScalar *a;
    void              *copy;
    PetscInt           count[2];
    SBPSpaced          from;

    PetscCall(PetscMalloc1(n, &mu));
    PetscCall(SBPVecGetRead_Private(ctx->settings.mu, device, &a, &copy));
    from = SBPPart(&g->own, box, a, count);
    PetscCall(SBPGetNumbers_Private(device, count, &from, (PetscReal *)mu));
    PetscCall(SBPVecRestoreRead_Private(ctx->settings.mu, device, &a, &copy));
  }
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt  at = box->start[e] + k, here = at - g->ghosted.start[e];
    const PetscReal weight = (PetscReal)SBPTableNorm(t, g->n[e], at) * g->h[e];

    b[k] = weight * PetscSqrtReal(normal[here] * J[k] / (mu ? PetscRealPart(mu[k]) : 1)) * data[here];
  }
  PetscCall(PetscFree(J));
  PetscCall(PetscFree(mu));
  PetscFunctionReturn(PETSC_SUCCESS);
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

.seealso: `MATSBPSAT`, `MatSBPSATFace`, `MatSBPSATSetDirichlet()`, `MatSBPSATAddSource()`
@*/
PetscErrorCode MatSBPSATAddBoundary(Mat A, MatSBPSATFace face, Vec g, Vec b)
{
  Mat_SBPSAT      *ctx;
  const SBPGrid   *grid;
  const PetscReal *jacobian = NULL;
  PetscReal       *normal, *mixed;
  PetscScalar     *data, *part, *to;
  PetscBool        device;
  PetscInt         count[2];
  SBPBox           box;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscValidLogicalCollectiveEnum(A, face, 2);
  PetscValidHeaderSpecific(g, VEC_CLASSID, 3);
  PetscValidHeaderSpecific(b, VEC_CLASSID, 4);
  PetscCheck((int)face >= 0 && (int)face < SBP_FACES, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no face %d; use MATSBPSAT_LEFT, RIGHT, BOTTOM or TOP", (int)face);
  PetscCall(MatSBPSATBuild_Private(A));
  PetscCall(LitheMatIsOnDevice(A, 2, (const Vec[]){g, b}, &device));
  grid = &ctx->built.op[SBP_SCALAR][0].grid;
  if (!grid->dirichlet[face]) {
    PetscCall(MatSBPSATGetJacobian_Private(A, device, &jacobian));
    PetscCheck(jacobian, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "A traction needs J = x_r y_s - x_s y_r; give it to MatSBPSATSetTensor()");
  }

  box = SBPFaceBox(grid, (int)face, grid->dirichlet[face] ? SBPTableOf(grid->order)->normals : 1, PETSC_FALSE);
  PetscCall(PetscMalloc2(grid->ghosted.count[1 - (int)face / 2], &data, box.count[0] * box.count[1], &part));
  PetscCall(MatSBPSATGetData_Private(A, (int)face, g, device, data));
  PetscCall(MatSBPSATGetFace_Private(A, (int)face, &normal, &mixed));
  PetscCall(SBPVecGetArray_Private(b, device, &to));
  if (normal) {
    SBPSpaced into;

    if (grid->dirichlet[face]) SBPDirichlet(&ctx->built.op[SBP_SCALAR][0], (int)face, &box, normal, mixed, data, part);
    else PetscCall(MatSBPSATTraction_Private(A, (int)face, &box, normal, data, device, jacobian, part));
    into = SBPPart(&grid->own, &box, to, count);
    PetscCall(SBPAddNumbers_Private(device, count, (const PetscReal *)part, &into));
  }
  PetscCall(SBPVecRestoreArray_Private(b, device, &to));
  PetscCall(PetscFree2(normal, mixed));
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
