/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* GridMGDeviceKernels: the operations of PCGRIDMG on a device. The kernels are in cuda/gridmg */

#include <lithe/private/lithecudagridmg.h>
#include <lithe/private/lithecudagridmgsetup.h>

const GridMGKernels GridMGDeviceKernels = {
  .alloc            = LitheCUDAGridMGAlloc,
  .reserve          = LitheCUDAGridMGReserve,
  .clear            = LitheDeviceClear,
  .copy             = LitheDeviceCopy,
  .free             = LitheCUDAGridMGFree,
  .put              = LitheDevicePut,
  .get              = LitheDeviceGet,
  .enter            = LitheCUDAGridMGEnter,
  .leave            = LitheCUDAGridMGLeave,
  .copybox          = LitheCUDAGridMGCopyBox,
  .addbox           = LitheCUDAGridMGAddBox,
  .words            = LitheCUDAGridMGWords,
  .place            = LitheCUDAGridMGPlace,
  .enterbox         = LitheCUDAGridMGEnterBox,
  .leavebox         = LitheCUDAGridMGLeaveBox,
  .scalesum         = LitheCUDAGridMGScaleSum,
  .start            = LitheCUDAGridMGStart,
  .colour           = LitheCUDAGridMGColour,
  .step             = LitheCUDAGridMGStep,
  .wells            = LitheCUDAGridMGWells,
  .residual         = LitheCUDAGridMGResidual,
  .restrict_        = LitheCUDAGridMGRestrict,
  .prolong          = LitheCUDAGridMGProlong,
  .residualrestrict = LitheCUDAGridMGResidualRestrict,
  .dots             = LitheCUDAGridMGDots,
  .kfirst           = LitheCUDAGridMGKFirst,
  .ksecond          = LitheCUDAGridMGKSecond,
  .dense            = LitheCUDAGridMGDense,
  .largest          = LitheCUDAGridMGLargest,
  .down             = LitheCUDAGridMGDown,
  .up               = LitheCUDAGridMGUp,
  .smallcreate      = LitheCUDAGridMGSmallCreate,
  .smallsolve       = LitheCUDAGridMGSmallSolve,
  .smallfree        = LitheCUDAGridMGSmallFree,
  .survey           = LitheCUDAGridMGSurvey,
  .coarsen          = LitheCUDAGridMGCoarsen,
  .aliveof          = LitheCUDAGridMGAliveOf,
  .add              = LitheCUDAGridMGAdd,
  .encode           = LitheCUDAGridMGEncode,
  .invert           = LitheCUDAGridMGInvert,
};
