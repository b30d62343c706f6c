/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The view of a MATBORN */

#include "bornimpl.h"

PetscErrorCode MatView_Born(Mat A, PetscViewer viewer)
{
  Mat_Born         *ctx = (Mat_Born *)A->data;
  const BornGrid   *g   = &ctx->grid;
  PetscBool         ascii;
  PetscViewerFormat format;
  PetscLogDouble    bytes;
  double            points;
  char              how[32]   = "";
  PetscInt          receivers = 0;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCheck(ascii && (format == PETSC_VIEWER_DEFAULT || format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL),
             PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "A matrix of type born has no entries to be shown: use -mat_view ::ascii_info, or MatComputeOperator() for a small one");
  for (PetscInt s = 0; s < ctx->nshots; s++) receivers += ctx->shots[s].nreceivers;
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%" PetscInt_FMT " shots with %" PetscInt_FMT " traces of %" PetscInt_FMT " samples, of %" PetscInt_FMT " steps of %g\n",
                                   ctx->nshots, receivers, ctx->samples, ctx->steps, (double)ctx->dt));
  PetscCall(PetscViewerASCIIPrintf(viewer, "order %" PetscInt_FMT ", columns: %s, sources and receivers between nodes: %s\n", ctx->order,
                                   MatBornParameters[ctx->parameter], MatBornInterpolations[ctx->interpolation]));
  if (!A->preallocated || !ctx->velocity || !ctx->wavelet) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBornBuild_Private(A));
  PetscCall(PetscViewerASCIIPrintf(viewer, "sponge of %" PetscInt_FMT " nodes with %.3g at the faces%s\n", g->width, (double)g->damping,
                                   g->surface ? ", a free surface" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "velocity %g to %g, at most %.3g node distances per step\n", (double)ctx->least, (double)ctx->most,
                                   (double)(ctx->most * ctx->dt / PetscMin(ctx->h[0], PetscMin(ctx->h[1], g->dim > 2 ? ctx->h[2] : ctx->h[1])))));
  PetscCall(MatBornGetBytes_Private(A, &bytes));
  PetscCall(MatBornGetPoints_Private(ctx, &points));
  if (points > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "%.3g nodes per shortest wave, %.3g steps per period\n", points, 1 / ctx->highest));
  PetscCall(PetscViewerASCIIPrintf(viewer, "fields: %s, velocity: %d bits, scattering and imaging every %" PetscInt_FMT " steps\n", MatBornFields[ctx->field],
                                   ctx->velocitybits == 16 ? 16 : (ctx->real == BORN_DOUBLE ? 64 : 32), ctx->interval));
  if (ctx->lowpass > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "low-pass of the traces: gain 1 up to a frequency of %g, 0 from %g on; %" PetscInt_FMT " steps on each side\n",
                                     (double)ctx->lowpass, 2 * (double)ctx->lowpass, ctx->filter.half));
  if (ctx->chosen == MATBORN_BACKGROUND_CHECKPOINT) PetscCall(PetscSNPrintf(how, sizeof(how), ", %" PetscInt_FMT " states", ctx->nsaved));
  if (ctx->chosen == MATBORN_BACKGROUND_KEEP) PetscCall(PetscSNPrintf(how, sizeof(how), ", %" PetscInt_FMT " bits", ctx->bits));
  PetscCall(PetscViewerASCIIPrintf(viewer, "background: %s%s%s%s; a product with the transpose needs %.4g bytes\n", MatBornBackgrounds[ctx->chosen], how,
                                   ctx->number == BORN_INT32 ? ", whole numbers" : "",
                                   ctx->wanted == MATBORN_BACKGROUND_AUTO ? ", the first one that there is memory for" : "", bytes));
  if (BornShots(&ctx->stack) > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "shots computed together: %" PetscInt_FMT " at most\n", BornShots(&ctx->stack)));
  if (!ctx->split->single)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " groups of %" PetscInt_FMT " processes at least share the shots\n", ctx->split->group.groups,
                                     ctx->farming.size));
  if (ctx->left || ctx->right || ctx->scale != (PetscScalar)1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "scaled by %g%s%s\n", (double)PetscRealPart(ctx->scale), ctx->left ? ", rows by a vector" : "",
                                     ctx->right ? ", columns by a vector" : ""));
  if (ctx->halos) {
    LitheTransport transport;
    const char    *reason;

    PetscCall(BornHalosGetTransport_Private(ctx, &transport, &reason));
    PetscCall(PetscViewerASCIIPrintf(viewer, "slabs exchange planes by %s%s%s%s\n", LitheTransports[transport], reason ? " (" : "", reason ? reason : "",
                                     reason ? ")" : ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetInfo_Born(Mat A, PETSC_UNUSED MatInfoType type, MatInfo *info)
{
  PetscLogDouble bytes;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  PetscCall(MatSetUp(A));
  PetscCall(MatBornBuild_Private(A));
  PetscCall(MatBornGetBytes_Private(A, &bytes));
  info->block_size = 1;
  info->memory     = bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}
