/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* GridMGDeviceKernels: the operations of PCGRIDMG on a device. The kernels are in cuda/gridmg */

#include <lithe/private/cuda/gridmg.h>
#include <lithe/private/cuda/gridmgsetup.h>

const GridMGKernels GridMGDeviceKernels = {
  .memory  = {.alloc   = LitheCUDAGridMGAlloc,
              .reserve = LitheCUDAGridMGReserve,
              .clear   = LitheDeviceClear,
              .copy    = LitheDeviceCopy,
              .free    = LitheCUDAGridMGFree,
              .put     = LitheDevicePut,
              .get     = LitheDeviceGet},
  .vectors = {.enter       = LitheCUDAGridMGEnter,
              .enterscaled = LitheCUDAGridMGEnterScaled,
              .leave       = LitheCUDAGridMGLeave,
              .largest     = LitheCUDAGridMGLargest,
              .enterbox    = LitheCUDAGridMGEnterBox,
              .leavebox    = LitheCUDAGridMGLeaveBox,
              .copybox     = LitheCUDAGridMGCopyBox,
              .addbox      = LitheCUDAGridMGAddBox,
              .words       = LitheCUDAGridMGWords,
              .place       = LitheCUDAGridMGPlace,
              .scalesum    = LitheCUDAGridMGScaleSum},
  .cycle   = {.start            = LitheCUDAGridMGStart,
              .colour           = LitheCUDAGridMGColour,
              .wells            = LitheCUDAGridMGWells,
              .residual         = LitheCUDAGridMGResidual,
              .restrict_        = LitheCUDAGridMGRestrict,
              .prolong          = LitheCUDAGridMGProlong,
              .residualrestrict = LitheCUDAGridMGResidualRestrict,
              .dots             = LitheCUDAGridMGDots,
              .kfirst           = LitheCUDAGridMGKFirst,
              .ksecond          = LitheCUDAGridMGKSecond,
              .dense            = LitheCUDAGridMGDense,
              .down             = LitheCUDAGridMGDown,
              .up               = LitheCUDAGridMGUp,
              .smallcreate      = LitheCUDAGridMGSmallCreate,
              .smallsolve       = LitheCUDAGridMGSmallSolve,
              .smallfree        = LitheCUDAGridMGSmallFree},
  .setup   = {.survey  = LitheCUDAGridMGSurvey,
              .coarsen = LitheCUDAGridMGCoarsen,
              .aliveof = LitheCUDAGridMGAliveOf,
              .add     = LitheCUDAGridMGAdd,
              .encode  = LitheCUDAGridMGEncode,
              .invert  = LitheCUDAGridMGInvert},
};
