/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* 27-point stencils: common code of the kernel (stencil27.cu) and of the list of rows (rowlist.cu) */

#include "../kernels.cuh"

/* Kinds of slices. WHOLE: rows with all points of a plane; ENDS: also rows at ends of lines; LOW: only rows in the
   first line of a plane; HIGH: only rows in the last line */
enum SliceKind {
  SLICE_WHOLE,
  SLICE_ENDS,
  SLICE_LOW,
  SLICE_HIGH
};

/* The kind of the slice with first row `row` */
[[maybe_unused]] static __host__ __device__ __forceinline__ SliceKind GetSliceKind(VCRSUnsigned line, VCRSUnsigned stride, VCRSUnsigned row)
{
  const VCRSUnsigned at = row % stride, column = row % line;

  if (at + 32 <= line) return SLICE_LOW;
  if (at >= stride - line) return SLICE_HIGH;
  return column == 0 || column + 32 >= line ? SLICE_ENDS : SLICE_WHOLE;
}
