/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The settings of MATSBPSAT: options database, setters, getters */

#include "sbpsatimpl.h"

/* ------------------------------------------------------------ all settings */

PetscErrorCode SBPSettingsDefault_Private(SBPSettings *s)
{
  PetscFunctionBegin;
  s->order   = 2;
  s->metrics = MATSBPSAT_METRICS_STORED;
  for (int f = 0; f < SBP_FACES; f++) s->dirichlet[f] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces a vector of the settings by another one, or by NULL */
PetscErrorCode SBPSettingsSetVec_Private(Vec from, Vec *to)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)from));
  PetscCall(VecDestroy(to));
  *to = from;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPSettingsCopy_Private(const SBPSettings *from, SBPSettings *to)
{
  PetscFunctionBegin;
  to->order     = from->order;
  to->metrics   = from->metrics;
  to->transport = from->transport;
  for (int f = 0; f < SBP_FACES; f++) to->dirichlet[f] = from->dirichlet[f];
  PetscCall(SBPSettingsSetVec_Private(from->mu, &to->mu));
  for (int k = 0; k < 3; k++) PetscCall(SBPSettingsSetVec_Private(from->tensor[k], &to->tensor[k]));
  PetscCall(SBPSettingsSetVec_Private(from->jacobian, &to->jacobian));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPSettingsClear_Private(SBPSettings *s)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&s->mu));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&s->tensor[k]));
  PetscCall(VecDestroy(&s->jacobian));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *const        MatSBPSATFaces[]        = {"left", "right", "bottom", "top", "MatSBPSATFace", "MATSBPSAT_", NULL};
const char *const        MatSBPSATMetricsTypes[] = {"stored", "fly", "MatSBPSATMetrics", "MATSBPSAT_METRICS_", NULL};
static const char *const MatSBPSATFaceLists[]    = {"left", "right", "bottom", "top", "none", "MatSBPSATFace", "MATSBPSAT_", NULL};

static PetscErrorCode MatSBPSATCheckOrder_Private(Mat A, PetscInt order)
{
  PetscFunctionBegin;
  PetscCheck(order == 2 || order == 4 || order == 6, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_sbpsat_order %" PetscInt_FMT ": use 2, 4 or 6", order);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a change of settings the operator is again the operator of the settings */
static PetscErrorCode MatSBPSATChanged_Private(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSBPSATForget_Private(A));
  PetscCall(MatSBPSATClearChange_Private(A));
  PetscCall(MatSBPSATSetFlags_Private(A));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetFromOptions_SBPSAT(Mat A, PetscOptionItems PetscOptionsObject)
{
  Mat_SBPSAT *ctx   = (Mat_SBPSAT *)A->data;
  PetscInt    order = ctx->settings.order, count = 5;
  PetscEnum   faces[5], metrics = (PetscEnum)ctx->settings.metrics, transport = (PetscEnum)ctx->settings.transport;
  PetscBool   setorder, setfaces, setmetrics, settransport;

  PetscFunctionBegin;
  /* -help prints the first face, even without the option */
  for (PetscInt k = SBP_FACES; k >= 0; k--) {
    if (k == SBP_FACES || ctx->settings.dirichlet[k]) faces[0] = (PetscEnum)k;
  }
  PetscOptionsHeadBegin(PetscOptionsObject, "SBP-SAT operator (sbpsat)");
  PetscCall(PetscOptionsInt("-mat_sbpsat_order", "Order of the interior stencils: 2, 4 or 6", "MatSBPSATSetOrder", order, &order, &setorder));
  PetscCall(PetscOptionsEnumArray("-mat_sbpsat_dirichlet", "Dirichlet faces", "MatSBPSATSetDirichlet", MatSBPSATFaceLists, faces, &count, &setfaces));
  PetscCall(
    PetscOptionsEnum("-mat_sbpsat_metrics", "Whether coefficients are stored", "MatSBPSATSetMetrics", MatSBPSATMetricsTypes, metrics, &metrics, &setmetrics));
  PetscCall(
    PetscOptionsEnum("-mat_sbpsat_transport", "How ghosts on a device travel between processes", NULL, LitheTransports, transport, &transport, &settransport));
  PetscOptionsHeadEnd();

  if (setorder) PetscCall(MatSBPSATSetOrder(A, order));
  if (setfaces) {
    PetscBool dirichlet[SBP_FACES] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};

    for (PetscInt k = 0; k < count; k++) {
      if ((int)faces[k] < SBP_FACES) dirichlet[(int)faces[k]] = PETSC_TRUE;
    }
    PetscCall(MatSBPSATSetDirichlet(A, dirichlet));
  }
  if (setmetrics) PetscCall(MatSBPSATSetMetrics(A, (MatSBPSATMetrics)metrics));
  if (settransport && (LitheTransport)transport != ctx->settings.transport) {
    ctx->settings.transport = (LitheTransport)transport;
    PetscCall(MatSBPSATChanged_Private(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSBPSATSetOrder - Sets the order of a `MATSBPSAT`

  Logically Collective

  Input Parameters:
+ A     - the matrix
- order - the order of the interior stencils: 2 (the default), 4 or 6

  Options Database Key:
. -mat_sbpsat_order <2,4,6> - the order

  Level: beginner

  Note:
  Next to the faces the order is half as large; solutions converge with order 2, 4 and at least 5. The least numbers
  of nodes per direction are 3, 12 and 18.

.seealso: `MATSBPSAT`, `MatSBPSATGetOrder()`
@*/
PetscErrorCode MatSBPSATSetOrder(Mat A, PetscInt order)
{
  Mat_SBPSAT *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscValidLogicalCollectiveInt(A, order, 2);
  PetscCall(MatSBPSATCheckOrder_Private(A, order));
  if (order == ctx->settings.order) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->settings.order = order;
  PetscCall(MatSBPSATChanged_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSBPSATGetOrder - Gets the order of a `MATSBPSAT`

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. order - the order of the interior stencils

  Level: beginner

.seealso: `MATSBPSAT`, `MatSBPSATSetOrder()`
@*/
PetscErrorCode MatSBPSATGetOrder(Mat A, PetscInt *order)
{
  Mat_SBPSAT *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscAssertPointer(order, 2);
  *order = ctx->settings.order;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSBPSATSetDirichlet - Sets the Dirichlet faces of a `MATSBPSAT`

  Logically Collective

  Input Parameters:
+ A         - the matrix
- dirichlet - for each `MatSBPSATFace`: `PETSC_TRUE` (the default) if u is given, `PETSC_FALSE` if the traction mu du/dn
    is given

  Options Database Key:
. -mat_sbpsat_dirichlet <left,right,bottom,top,none> - the Dirichlet faces, separated by commas

  Level: beginner

  Note:
  Without Dirichlet faces the operator is singular: the null space consists of constants, see `MatSetNullSpace()`.

.seealso: `MATSBPSAT`, `MatSBPSATFace`, `MatSBPSATGetDirichlet()`, `MatSBPSATAddBoundary()`
@*/
PetscErrorCode MatSBPSATSetDirichlet(Mat A, const PetscBool dirichlet[4])
{
  Mat_SBPSAT *ctx  = NULL;
  PetscBool   same = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscAssertPointer(dirichlet, 2);
  for (int f = 0; f < SBP_FACES; f++) {
    PetscValidLogicalCollectiveBool(A, dirichlet[f], 2);
    if (!dirichlet[f] != !ctx->settings.dirichlet[f]) same = PETSC_FALSE;
  }
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  for (int f = 0; f < SBP_FACES; f++) ctx->settings.dirichlet[f] = (PetscBool)(dirichlet[f] != PETSC_FALSE);
  PetscCall(MatSBPSATChanged_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSBPSATGetDirichlet - Gets the Dirichlet faces of a `MATSBPSAT`

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. dirichlet - for each `MatSBPSATFace`, whether u is given

  Level: beginner

.seealso: `MATSBPSAT`, `MatSBPSATSetDirichlet()`
@*/
PetscErrorCode MatSBPSATGetDirichlet(Mat A, PetscBool dirichlet[4])
{
  Mat_SBPSAT *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscAssertPointer(dirichlet, 2);
  for (int f = 0; f < SBP_FACES; f++) dirichlet[f] = ctx->settings.dirichlet[f];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSBPSATSetMetrics - Sets whether a `MATSBPSAT` stores its coefficients

  Logically Collective

  Input Parameters:
+ A       - the matrix
- metrics - `MATSBPSAT_METRICS_STORED`, the default, or `MATSBPSAT_METRICS_FLY`

  Options Database Key:
. -mat_sbpsat_metrics <stored,fly> - store coefficients or compute coefficients in every product

  Level: intermediate

  Note:
  With `MATSBPSAT_METRICS_FLY` a product on the host computes the coefficients of a few rows of nodes at a time. Input
  are copies of the coordinates and of the coefficient mu. Without mu, a product needs less memory and fewer reads.
  Products on a device, and a multigrid of type `PCSBPMG`, always store the coefficients.

.seealso: `MATSBPSAT`, `MatSBPSATMetrics`
@*/
PetscErrorCode MatSBPSATSetMetrics(Mat A, MatSBPSATMetrics metrics)
{
  Mat_SBPSAT *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscValidLogicalCollectiveEnum(A, metrics, 2);
  if (metrics == ctx->settings.metrics) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->settings.metrics = metrics;
  PetscCall(MatSBPSATChanged_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of the nodes, or NULL */
PetscErrorCode MatSBPSATCheckVec_Private(Mat A, Vec v, const char *name)
{
  PetscInt n;

  PetscFunctionBegin;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(v, &n));
  PetscCheck(n == A->rmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The vector %s has %" PetscInt_FMT " entries on this process, the grid %" PetscInt_FMT " nodes; make it with DMCreateGlobalVector()", name, n,
             A->rmap->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The requested transport of ghosts on a device */
PetscErrorCode MatSBPSATGetTransport(Mat A, LitheTransport *transport)
{
  Mat_SBPSAT *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscAssertPointer(transport, 2);
  *transport = ctx->settings.transport;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSBPSATSetCoefficient - Sets the coefficient mu of a `MATSBPSAT`

  Logically Collective

  Input Parameters:
+ A  - the matrix
- mu - positive values at the nodes, a global vector of the `DMDA`; or `NULL` for the constant 1

  Level: beginner

  Notes:
  The vector is kept by reference. After a change of its values, call the function again, or `MatAssemblyBegin()` and
  `MatAssemblyEnd()`.

  After `MatSBPSATSetTensor()` mu only serves the tractions of `MatSBPSATAddBoundary()` and `MatSBPSATGetTraction()`.

.seealso: `MATSBPSAT`, `MatSBPSATSetTensor()`
@*/
PetscErrorCode MatSBPSATSetCoefficient(Mat A, Vec mu)
{
  Mat_SBPSAT *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  if (mu) PetscValidHeaderSpecific(mu, VEC_CLASSID, 2);
  PetscCall(MatSBPSATCheckVec_Private(A, mu, "mu"));
  PetscCall(SBPSettingsSetVec_Private(mu, &ctx->settings.mu));
  PetscCall(MatSBPSATChanged_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSBPSATSetTensor - Sets the coefficients of a `MATSBPSAT` in reference coordinates, in place of coefficients from
  coordinates

  Logically Collective

  Input Parameters:
+ A        - the matrix
. rr       - c_rr = mu (x_s^2 + y_s^2)/J at the nodes, a global vector of the `DMDA`; or `NULL` to compute all
    components from coordinates again
. ss       - c_ss = mu (x_r^2 + y_r^2)/J
. rs       - c_rs = -mu (x_r x_s + y_r y_s)/J
- jacobian - J = x_r y_s - x_s y_r; or `NULL`, without `MatSBPSATAddSource()`, tractions in `MatSBPSATAddBoundary()`,
    and `MatSBPSATGetTraction()`

  Level: intermediate

  Notes:
  Use the tensor for metrics known exactly, and for materials with other tensors than mu times the identity. c_rr, c_ss
  and c_rr c_ss - c_rs^2 must be positive.

  The vectors are kept by reference, see `MatSBPSATSetCoefficient()`.

.seealso: `MATSBPSAT`, `MatSBPSATSetCoefficient()`
@*/
PetscErrorCode MatSBPSATSetTensor(Mat A, Vec rr, Vec ss, Vec rs, Vec jacobian)
{
  Mat_SBPSAT *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetContext_Private(A, &ctx));
  PetscCheck((rr && ss && rs) || (!rr && !ss && !rs), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "Give c_rr, c_ss and c_rs, or NULL for all of them");
  PetscCall(MatSBPSATCheckVec_Private(A, rr, "c_rr"));
  PetscCall(MatSBPSATCheckVec_Private(A, ss, "c_ss"));
  PetscCall(MatSBPSATCheckVec_Private(A, rs, "c_rs"));
  PetscCall(MatSBPSATCheckVec_Private(A, jacobian, "J"));
  PetscCall(SBPSettingsSetVec_Private(rr, &ctx->settings.tensor[0]));
  PetscCall(SBPSettingsSetVec_Private(ss, &ctx->settings.tensor[1]));
  PetscCall(SBPSettingsSetVec_Private(rs, &ctx->settings.tensor[2]));
  PetscCall(SBPSettingsSetVec_Private(rr ? jacobian : NULL, &ctx->settings.jacobian));
  PetscCall(MatSBPSATChanged_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
