/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The view of a MATSBPSAT */

#include "sbpsatimpl.h"

/* Approximate number of entries of the same matrix in AIJ: interior stencil and closures */
static PetscLogDouble SBPEntries_Private(Mat A)
{
  Mat_SBPSAT  *ctx   = (Mat_SBPSAT *)A->data;
  const double width = (double)ctx->settings.order + 1;

  return width * width * (double)A->rmap->N;
}

PetscErrorCode MatView_SBPSAT(Mat A, PetscViewer viewer)
{
  Mat_SBPSAT       *ctx = (Mat_SBPSAT *)A->data;
  PetscBool         ascii;
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (ascii && (format == PETSC_VIEWER_DEFAULT || format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL)) {
    char           faces[64] = "";
    const char    *coefficients, *mu = "";
    DM             da;
    PetscInt       nodes[2];
    PetscLogDouble bytes[2], aij;
    PetscBool      any = PETSC_FALSE;

    PetscCall(MatGetDM(A, &da));
    if (!da) {
      PetscCall(PetscViewerASCIIPrintf(viewer, "no DMDA yet\n"));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(MatSBPSATBuild_Private(A));
    PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    for (int f = 0; f < SBP_FACES; f++) {
      if (!ctx->settings.dirichlet[f]) continue;
      if (any) PetscCall(PetscStrlcat(faces, ", ", sizeof(faces)));
      PetscCall(PetscStrlcat(faces, MatSBPSATFaces[f], sizeof(faces)));
      any = PETSC_TRUE;
    }
    PetscCall(PetscViewerASCIIPrintf(viewer, "order %" PetscInt_FMT ", %" PetscInt_FMT " x %" PetscInt_FMT " intervals, Dirichlet faces: %s\n",
                                     ctx->settings.order, nodes[0] - 1, nodes[1] - 1, any ? faces : "none"));
    if (ctx->settings.tensor[0]) coefficients = "given";
    else {
      coefficients = ctx->built.uniform ? "of the square [-1, 1]^2, the DMDA has no coordinates" : "from coordinates";
      mu           = ctx->settings.mu ? " and mu" : ", mu = 1";
    }
    PetscCall(PetscViewerASCIIPrintf(viewer, "coefficients: %s%s, %s\n", coefficients, mu,
                                     ctx->settings.metrics == MATSBPSAT_METRICS_FLY ? "computed in every product" : "stored"));
    if (ctx->change.scale != (PetscScalar)1) {
      if (ctx->change.real) PetscCall(PetscViewerASCIIPrintf(viewer, "times %g\n", (double)PetscRealPart(ctx->change.scale)));
      else
        PetscCall(PetscViewerASCIIPrintf(viewer, "times (%g, %g)\n", (double)PetscRealPart(ctx->change.scale), (double)PetscImaginaryPart(ctx->change.scale)));
    }
    if (ctx->change.diagonal) PetscCall(PetscViewerASCIIPrintf(viewer, "plus a diagonal\n"));
    if (ctx->change.left && ctx->change.right) PetscCall(PetscViewerASCIIPrintf(viewer, "scaled from the left and the right\n"));
    else if (ctx->change.left || ctx->change.right) PetscCall(PetscViewerASCIIPrintf(viewer, "scaled from the %s\n", ctx->change.left ? "left" : "right"));
    PetscCall(MatSBPSATGetBytes_Private(A, &bytes[0], &bytes[1]));
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
    aij = SBPEntries_Private(A) * (sizeof(PetscScalar) + sizeof(PetscInt)) + (double)A->rmap->N * sizeof(PetscInt);
    PetscCall(PetscViewerASCIIPrintf(viewer, "a product reads %.4g bytes beside vectors, %.3g of the %.4g of AIJ\n", bytes[0], bytes[0] / aij, aij));
    if (format == PETSC_VIEWER_ASCII_INFO_DETAIL) {
      const SBPGrid *g = &ctx->built.op[SBP_SCALAR][0].grid;

      PetscCall(PetscViewerASCIIPrintf(viewer, "all of it has %.4g bytes\n", bytes[1]));
      PetscCall(PetscViewerASCIIPushSynchronized(viewer));
      PetscCall(PetscViewerASCIISynchronizedPrintf(viewer,
                                                   "  [%d] nodes %" PetscInt_FMT " to %" PetscInt_FMT " x %" PetscInt_FMT " to %" PetscInt_FMT
                                                   ", ghosts as far as %d\n",
                                                   PetscGlobalRank, g->own.start[0], g->own.start[0] + g->own.count[0] - 1, g->own.start[1],
                                                   g->own.start[1] + g->own.count[1] - 1, g->reach));
      PetscCall(PetscViewerFlush(viewer));
      PetscCall(PetscViewerASCIIPopSynchronized(viewer));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Anything else shows entries */
  {
    Mat         B;
    const char *name;

    PetscCall(MatSBPSATCreateAIJ_Private(A, &B));
    PetscCall(PetscObjectGetName((PetscObject)A, &name));
    PetscCall(PetscObjectSetName((PetscObject)B, name));
    PetscCall(MatView(B, viewer));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetInfo_SBPSAT(Mat A, MatInfoType type, MatInfo *info)
{
  PetscLogDouble bytes[2];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  PetscCall(MatSBPSATBuild_Private(A));
  PetscCall(MatSBPSATGetBytes_Private(A, &bytes[0], &bytes[1]));
  if (type == MAT_GLOBAL_MAX) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)A)));
  if (type == MAT_GLOBAL_SUM) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  info->block_size = 1;
  info->memory     = bytes[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}
