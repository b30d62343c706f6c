/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* SBPDeviceKernels: operators, transfers and vectors of SBP-SAT multigrid on a device. The kernels are in cuda/sbp. */

#include <lithe/private/cuda/sbp.h>

const SBPKernels SBPDeviceKernels = {
  .memory          = &LitheCUDAMemory,
  .vector          = {.copy        = LitheCUDASBPCopy,
                      .copyscaled  = LitheCUDASBPCopyScaled,
                      .copylargest = LitheCUDASBPCopyLargest,
                      .rescale     = LitheCUDASBPRescale,
                      .axpby       = LitheCUDASBPAXPBY,
                      .multiply    = LitheCUDASBPMultiply,
                      .reciprocal  = LitheCUDASBPReciprocal,
                      .noise       = LitheCUDASBPNoise,
                      .update      = LitheCUDASBPUpdate,
                      .sum         = LitheCUDASBPSum,
                      .combine     = LitheCUDASBPCombine,
                      .dense       = LitheCUDASBPDense,
                      .mark        = LitheCUDASBPMark,
                      .gather      = LitheCUDASBPGather,
                      .square      = LitheCUDASBPSquare,
                      .strided     = LitheCUDASBPStrided},
  .fused           = {.smoothtwo         = LitheCUDASBPSmoothTwo,
                      .residualrestrict  = LitheCUDASBPResidualRestrict,
                      .prolongsmooth     = LitheCUDASBPProlongSmooth,
                      .smoothtworestrict = LitheCUDASBPSmoothTwoRestrict,
                      .prolongsmoothtwo  = LitheCUDASBPProlongSmoothTwo,
                      .roundedresidual   = LitheCUDASBPRoundedResidual},
  .step            = LitheCUDASBPStep,
  .diagonal        = LitheCUDASBPDiagonal,
  .restrict_       = LitheCUDASBPRestrict,
  .restrictlargest = LitheCUDASBPRestrictLargest,
  .prolong         = LitheCUDASBPProlong,
  .interpolate     = LitheCUDASBPInterpolate,
  .galerkin        = LitheCUDASBPGalerkin,
  .metrics         = LitheCUDASBPMetrics,
  .check           = LitheCUDASBPCheck,
  .source          = LitheCUDASBPSource,
};

/* For tests, which look this function up by name in the library */
PETSC_EXTERN const SBPKernels *SBPGetDeviceKernels(void);
const SBPKernels              *SBPGetDeviceKernels(void)
{
  return &SBPDeviceKernels;
}
