/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* SBPDeviceKernels: operators, transfers and vectors of SBP-SAT multigrid on a device. The kernels are in cuda/sbp. */

#include <lithe/private/cuda/sbp.h>

const SBPKernels SBPDeviceKernels = {
  .memory            = &LitheCUDAMemory,
  .step              = LitheCUDASBPStep,
  .diagonal          = LitheCUDASBPDiagonal,
  .restrict_         = LitheCUDASBPRestrict,
  .prolong           = LitheCUDASBPProlong,
  .interpolate       = LitheCUDASBPInterpolate,
  .copy              = LitheCUDASBPCopy,
  .copyscaled        = LitheCUDASBPCopyScaled,
  .copylargest       = LitheCUDASBPCopyLargest,
  .rescale           = LitheCUDASBPRescale,
  .restrictlargest   = LitheCUDASBPRestrictLargest,
  .axpby             = LitheCUDASBPAXPBY,
  .multiply          = LitheCUDASBPMultiply,
  .update            = LitheCUDASBPUpdate,
  .roundedresidual   = LitheCUDASBPRoundedResidual,
  .smoothtwo         = LitheCUDASBPSmoothTwo,
  .residualrestrict  = LitheCUDASBPResidualRestrict,
  .prolongsmooth     = LitheCUDASBPProlongSmooth,
  .smoothtworestrict = LitheCUDASBPSmoothTwoRestrict,
  .prolongsmoothtwo  = LitheCUDASBPProlongSmoothTwo,
  .dense             = LitheCUDASBPDense,
  .reciprocal        = LitheCUDASBPReciprocal,
  .sum               = LitheCUDASBPSum,
  .combine           = LitheCUDASBPCombine,
  .noise             = LitheCUDASBPNoise,
  .galerkin          = LitheCUDASBPGalerkin,
  .mark              = LitheCUDASBPMark,
  .gather            = LitheCUDASBPGather,
  .metrics           = LitheCUDASBPMetrics,
  .check             = LitheCUDASBPCheck,
  .source            = LitheCUDASBPSource,
  .square            = LitheCUDASBPSquare,
  .strided           = LitheCUDASBPStrided,
};

/* For tests, which look this function up by name in the library */
PETSC_EXTERN const SBPKernels *SBPGetDeviceKernels(void);
const SBPKernels              *SBPGetDeviceKernels(void)
{
  return &SBPDeviceKernels;
}
