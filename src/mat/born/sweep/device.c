/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* BornDeviceKernels: the operations of MATBORN on a device. The kernels are in cuda/born */

#include <lithe/private/cuda/born.h>
#include <lithe/private/lithememory.h>

#if defined(LITHE_HAVE_CUDA)
const BornKernels BornDeviceKernels = {
  .name          = "CUDA",
  .device        = PETSC_TRUE,
  .create        = LitheCUDABornCreate,
  .destroy       = LitheCUDABornDestroy,
  .zero          = LitheDeviceClear,
  .copy          = LitheCUDABornCopy,
  .room          = LitheDeviceRoom,
  .borrow        = LitheCUDABornBorrow,
  .giveback      = LitheCUDABornGiveBack,
  .points        = LitheCUDABornPoints,
  .pointsdestroy = LitheCUDABornPointsDestroy,
  .largest       = LitheCUDABornLargest,
  .range         = LitheCUDABornRange,
  .step          = LitheCUDABornStep,
  .force         = LitheCUDABornForce,
  .extract       = LitheCUDABornExtract,
  .load          = LitheCUDABornLoad,
  .add           = LitheCUDABornAdd,
  .image         = LitheCUDABornImage,
  .round         = LitheCUDABornRound,
  .push          = LitheCUDABornPush,
  .ring          = LitheCUDABornRing,
  .randomise     = LitheCUDABornRandomise,
  .courant       = LitheCUDABornCourant,
  .quantise      = LitheCUDABornQuantise,
};
#endif
