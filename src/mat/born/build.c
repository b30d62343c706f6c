/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The data that a MATBORN needs before its first use. Each step of the build fills one part of the context */

#include "bornimpl.h"
#include <lithe/private/sums.h>

/* Where fields are: where vectors of the matrix's type are */
static PetscErrorCode MatBornChooseKernels_Private(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  ctx->kernels = &BornHostKernels;
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool bound, device = PETSC_FALSE;
    VecType   type;

    PetscCall(MatGetVecType(A, &type));
    PetscCall(MatBoundToCPU(A, &bound));
    if (!bound) PetscCall(PetscStrcmpAny(type, &device, VECCUDA, VECSEQCUDA, VECMPICUDA, ""));
    if (device) ctx->kernels = &BornDeviceKernels;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the velocity is another one since the last build; all processes have the same answer */
static PetscErrorCode MatBornIsStale_Private(Mat A, PetscBool *stale)
{
  const Mat_Born  *ctx = (Mat_Born *)A->data;
  PetscObjectState state;

  PetscFunctionBegin;
  *stale = PETSC_TRUE;
  if (ctx->built) {
    PetscCall(PetscObjectStateGet((PetscObject)ctx->survey.velocity, &state));
    *stale = (PetscBool)(state != ctx->model.state);
  }
  /* a single process may have changed its part of the velocity */
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, stale, 1, MPI_C_BOOL, MPI_LOR, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the matrix up to date with its settings and the velocity */
PetscErrorCode MatBornBuild_Private(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;
  PetscBool stale;
  PetscInt  batch;
  double    spectrum = 0;
  BornParts parts;
  DM        da;
  MPI_Comm  comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatBornIsStale_Private(A, &stale));
  if (!stale) {
    PetscCall(MatBornBuildChain_Private(A)); /* scales may be new */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatBornForget_Private(A)); /* also the remains after an error */
  PetscCall(MatBornCheckSettings_Private(A));
  PetscCall(MatBornGetDM_Private(A, &da, NULL));
  if (!ctx->parallel.split.farm) PetscCall(BornSplitCreate_Private(da, &ctx->tuning.farming, &ctx->parallel.split));
  PetscCheck(ctx->survey.wavelet, comm, PETSC_ERR_ARG_WRONGSTATE, "The matrix has no wavelet; use MatBornSetWavelet()");
  PetscCall(MatBornChooseKernels_Private(A));
  parts = MatBornParts(ctx);
  PetscCall(MatBornBuildGrid_Private(A, &spectrum));
  PetscCall(BornHalosCreate_Private(&parts, &ctx->parallel.halos));
  PetscCall(BornRunCreate_Private(comm, &ctx->time, &ctx->run));
  PetscCall(BornChooseBackground_Private(&parts));
  PetscCall(BornChooseBatch_Private(&parts, &batch));
  BornGridsStack_Private(&ctx->grids, batch);
  PetscCall(BornStoreCreate_Private(&parts));
  PetscCall(MatBornBuildVelocity_Private(A, spectrum));
  PetscCall(BornSourceCreate_Private(comm, &parts, &ctx->time, &ctx->source));
  PetscCall(MatBornBuildChain_Private(A));
  PetscCall(BornPlacesCreate_Private(comm, &ctx->grids, &ctx->survey, ctx->discretization.interpolation, &ctx->places));
  ctx->built = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a product with the transpose, which needs most, with the vectors of scales, without other vectors and points */
PetscErrorCode MatBornGetBytes_Private(Mat A, PetscLogDouble *bytes)
{
  Mat_Born       *ctx   = (Mat_Born *)A->data;
  const BornParts parts = MatBornParts(ctx);

  PetscFunctionBegin;
  /* u, w, q, the image, V; vectors */
  *bytes = 6 * (PetscLogDouble)ctx->grids.stack.size * (PetscLogDouble)BornBytes(ctx->grids.real);
  *bytes += (PetscLogDouble)ctx->grids.one.size * (ctx->tuning.velocitybits == 16 ? 2 : (PetscLogDouble)BornBytes(ctx->grids.real));
  *bytes += ((ctx->scales.chain ? 2 : 0) + (ctx->scales.right ? 1 : 0)) * (PetscLogDouble)ctx->grids.one.nodes * (PetscLogDouble)sizeof(PetscReal);
  *bytes += (ctx->scales.left ? 2 : 0) * (PetscLogDouble)A->rmap->n * (PetscLogDouble)sizeof(PetscReal);
  /* the images of the shots that are computed together, and sums of all of them */
  *bytes += (PetscLogDouble)ctx->grids.stack.nodes * (PetscLogDouble)sizeof(PetscReal);
  *bytes += (PetscLogDouble)ctx->grids.one.nodes * (PetscLogDouble)(LITHE_SUMS_BINS * sizeof(PetscInt64));
  *bytes += (*ctx->store.background->bytes)(&parts) + BornTracesBytes_Private(&parts);
  PetscFunctionReturn(PETSC_SUCCESS);
}
