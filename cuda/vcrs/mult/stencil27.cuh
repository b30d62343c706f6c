/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* 27-point stencils: common code of the kernel (stencil27.cu) and the list of omitted rows (rowlist.cu) */

#include "../kernels.cuh"

/* Kinds of rows in slices. Rows with all points of a plane; also rows at ends of lines. Rows in the first line of a
   plane only; rows in the last line only */
enum SliceKind {
  SLICE_WHOLE,
  SLICE_ENDS,
  SLICE_LOW,
  SLICE_HIGH
};

/* The kind of the slice that begins with this row */
[[maybe_unused]] static __host__ __device__ __forceinline__ SliceKind GetSliceKind(VCRSUnsigned line, VCRSUnsigned stride, VCRSUnsigned row)
{
  const VCRSUnsigned at = row % stride, column = row % line;

  if (at + 32 <= line) return SLICE_LOW;
  if (at >= stride - line) return SLICE_HIGH;
  return column == 0 || column + 32 >= line ? SLICE_ENDS : SLICE_WHOLE;
}
