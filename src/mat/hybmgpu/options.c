/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The options of MATHYBMGPU: their defaults and limits, the options database, and the setter of the format */

#include "hybmgpuimpl.h"

const char *const MatHYBMGPUFormats[]  = {"auto", "hyb", "sell", "csr", "vcrs", "MatHYBMGPUFormat", "MATHYBMGPU_FORMAT_", NULL};
const char *const MatHYBMGPUSplits[]   = {"bytes", "cusp", "MatHYBMGPUSplit", "MATHYBMGPU_SPLIT_", NULL};
const char *const MatHYBMGPUReorders[] = {"none", "rcm", "MatHYBMGPUReorder", "MATHYBMGPU_REORDER_", NULL};

PetscErrorCode HybOptionsDefault(HybOptions *opt)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(opt, sizeof(*opt)));
  opt->format    = MATHYBMGPU_FORMAT_AUTO;
  opt->width     = PETSC_DECIDE;
  opt->split     = MATHYBMGPU_SPLIT_BYTES;
  opt->sigma     = PETSC_DECIDE;
  opt->reorder   = MATHYBMGPU_REORDER_NONE;
  opt->transport = LITHE_TRANSPORT_AUTO;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses impossible requests; called before anything is changed */
static PetscErrorCode HybOptionsCheck_Private(Mat A, const HybOptions *opt)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCheck(opt->width >= 0 || opt->width == PETSC_DECIDE, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_hybmgpu_width %" PetscInt_FMT ": use a number of at least 0, or PETSC_DECIDE for the choice by -mat_hybmgpu_split", opt->width);
  PetscCheck(opt->sigma >= 1 || opt->sigma == PETSC_DECIDE, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_hybmgpu_sigma %" PetscInt_FMT ": use a number of rows of at least 1 (1 sorts none), or PETSC_DECIDE", opt->sigma);
  PetscCheck(opt->format != MATHYBMGPU_FORMAT_VCRS || opt->reorder == MATHYBMGPU_REORDER_NONE, comm, PETSC_ERR_ARG_INCOMP,
             "-mat_hybmgpu_reorder %s with -mat_hybmgpu_format vcrs, which visits rows in its own order. Use -mat_hybmgpu_reorder none, or another format",
             MatHYBMGPUReorders[opt->reorder]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks and takes over new options; data made with other options is remade at the next use */
PetscErrorCode MatHYBMGPUSetOptions_Private(Mat A, const HybOptions *opt)
{
  Mat_HYBMGPU *ctx;
  PetscBool    same;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(HybOptionsCheck_Private(A, opt));
  PetscCall(PetscMemcmp(opt, &ctx->opt, sizeof(*opt), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHYBMGPUReset_Seq(ctx));
  PetscCall(MatHYBMGPUReset_MPI(ctx));
  PetscCall(PetscMemcpy(&ctx->opt, opt, sizeof(*opt)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inside PetscOptionsBegin/End of A */
PetscErrorCode MatHYBMGPUSetFromOptions_Private(Mat A, PetscOptionItems PetscOptionsObject)
{
  Mat_HYBMGPU *ctx;
  HybOptions   opt;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(PetscMemcpy(&opt, &ctx->opt, sizeof(opt)));
  PetscOptionsHeadBegin(PetscOptionsObject, "Sparse matrix for several GPUs (hybmgpu)");
  PetscCall(PetscOptionsEnum("-mat_hybmgpu_format", "How the matrix is stored", "MatHYBMGPUSetFormat", MatHYBMGPUFormats, (PetscEnum)opt.format,
                             (PetscEnum *)&opt.format, NULL));
  PetscCall(PetscOptionsInt("-mat_hybmgpu_width", "Entries per row in the columns of the format hyb", NULL, opt.width, &opt.width, NULL));
  PetscCall(PetscOptionsEnum("-mat_hybmgpu_split", "How the width is chosen", NULL, MatHYBMGPUSplits, (PetscEnum)opt.split, (PetscEnum *)&opt.split, NULL));
  PetscCall(PetscOptionsInt("-mat_hybmgpu_sigma", "Rows per window in which the format sell sorts rows", NULL, opt.sigma, &opt.sigma, NULL));
  PetscCall(PetscOptionsEnum("-mat_hybmgpu_reorder", "In which order rows are visited", NULL, MatHYBMGPUReorders, (PetscEnum)opt.reorder,
                             (PetscEnum *)&opt.reorder, NULL));
  PetscCall(PetscOptionsEnum("-mat_hybmgpu_transport", "How ghost values travel between processes", NULL, LitheTransports, (PetscEnum)opt.transport,
                             (PetscEnum *)&opt.transport, NULL));
  PetscOptionsHeadEnd();
  PetscCall(MatHYBMGPUSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUSetFormat - Sets the format of a `MATHYBMGPU` matrix in products

  Logically Collective

  Input Parameters:
+ A - the matrix
- format - the format; `MATHYBMGPU_FORMAT_AUTO` is the default

  Options Database Key:
. -mat_hybmgpu_format <auto,hyb,sell,csr,vcrs> - the format

  Level: intermediate

  Notes:
  The format applies to the rows and columns of a process; entries in columns of other processes are stored row by row.
  With `MATHYBMGPU_FORMAT_AUTO` each process chooses a format.

  `MATHYBMGPU_FORMAT_VCRS` reads the options of `MATVCRS`, with the prefix of the matrix; losses are refused.

  `MatHYBMGPUGetInfo()` returns the format in use.

.seealso: `MATHYBMGPU`, `MatHYBMGPUFormat`, `MatHYBMGPUGetInfo()`
@*/
PetscErrorCode MatHYBMGPUSetFormat(Mat A, MatHYBMGPUFormat format)
{
  Mat_HYBMGPU *ctx;
  HybOptions   opt;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCheck(ctx, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "The matrix has type %s, not hybmgpu; use MatSetType(A, MATHYBMGPU) or MatConvert()",
             ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "none yet");
  PetscValidLogicalCollectiveEnum(A, format, 2);
  PetscCall(PetscMemcpy(&opt, &ctx->opt, sizeof(opt)));
  opt.format = format;
  PetscCall(MatHYBMGPUSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}
