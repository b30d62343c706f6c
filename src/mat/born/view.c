/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The view of a MATBORN */

#include "bornimpl.h"

PetscErrorCode MatView_Born(Mat A, PetscViewer viewer)
{
  Mat_Born         *ctx = (Mat_Born *)A->data;
  const BornGrid   *g   = &ctx->grids.one;
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
  for (PetscInt s = 0; s < ctx->survey.nshots; s++) receivers += ctx->survey.shots[s].nreceivers;
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%" PetscInt_FMT " shots with %" PetscInt_FMT " traces of %" PetscInt_FMT " samples, of %" PetscInt_FMT " steps of %g\n",
                                   ctx->survey.nshots, receivers, ctx->time.samples, ctx->time.steps, (double)ctx->time.dt));
  PetscCall(PetscViewerASCIIPrintf(viewer, "order %" PetscInt_FMT ", columns: %s, sources and receivers between nodes: %s\n", ctx->discretization.order,
                                   MatBornParameters[ctx->discretization.parameter], MatBornInterpolations[ctx->discretization.interpolation]));
  if (!A->preallocated || !ctx->survey.velocity || !ctx->survey.wavelet) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBornBuild_Private(A));
  PetscCall(PetscViewerASCIIPrintf(viewer, "sponge of %" PetscInt_FMT " nodes with %.3g at the faces%s\n", g->width, (double)g->damping,
                                   g->surface ? ", a free surface" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "velocity %g to %g, at most %.3g node distances per step\n", (double)ctx->model.least, (double)ctx->model.most,
                                   (double)(ctx->model.most * ctx->time.dt /
                                            PetscMin(ctx->grids.h[0], PetscMin(ctx->grids.h[1], g->dim > 2 ? ctx->grids.h[2] : ctx->grids.h[1])))));
  PetscCall(MatBornGetBytes_Private(A, &bytes));
  points = BornPointsPerWave_Private(&ctx->grids, &ctx->model, &ctx->time, &ctx->source);
  if (points > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "%.3g nodes per shortest wave, %.3g steps per period\n", points, 1 / ctx->source.highest));
  PetscCall(PetscViewerASCIIPrintf(viewer, "fields: %s, velocity: %d bits, scattering and imaging every %" PetscInt_FMT " steps\n",
                                   MatBornFields[ctx->tuning.field], ctx->tuning.velocitybits == 16 ? 16 : (ctx->grids.real == BORN_DOUBLE ? 64 : 32),
                                   ctx->tuning.interval));
  if (ctx->time.lowpass > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "low-pass of the traces: gain 1 up to a frequency of %g, 0 from %g on; %" PetscInt_FMT " steps on each side\n",
                                     (double)ctx->time.lowpass, 2 * (double)ctx->time.lowpass, ctx->run.filter.half));
  if (ctx->store.background->name == MATBORN_BACKGROUND_CHECKPOINT) PetscCall(PetscSNPrintf(how, sizeof(how), ", %" PetscInt_FMT " states", ctx->states.n));
  if (ctx->store.background->name == MATBORN_BACKGROUND_KEEP) PetscCall(PetscSNPrintf(how, sizeof(how), ", %" PetscInt_FMT " bits", ctx->tuning.bits));
  PetscCall(PetscViewerASCIIPrintf(viewer, "background: %s%s%s%s; a product with the transpose needs %.4g bytes\n",
                                   MatBornBackgrounds[ctx->store.background->name], how, ctx->store.number == BORN_INT32 ? ", whole numbers" : "",
                                   ctx->tuning.background == MATBORN_BACKGROUND_AUTO ? ", the first one that there is memory for" : "", bytes));
  if (BornShots(&ctx->grids.stack) > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "shots computed together: %" PetscInt_FMT " at most\n", BornShots(&ctx->grids.stack)));
  if (!ctx->parallel.split.single)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " groups of %" PetscInt_FMT " processes at least share the shots\n",
                                     ctx->parallel.split.group.groups, ctx->tuning.farming.size));
  if (ctx->scales.left || ctx->scales.right || ctx->scales.scale != (PetscScalar)1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "scaled by %g%s%s\n", (double)PetscRealPart(ctx->scales.scale), ctx->scales.left ? ", rows by a vector" : "",
                                     ctx->scales.right ? ", columns by a vector" : ""));
  if (ctx->parallel.halos) {
    LitheTransport transport;
    const char    *reason;

    PetscCall(BornHalosGetTransport_Private(ctx->parallel.halos, &transport, &reason));
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
