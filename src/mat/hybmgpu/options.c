/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The options of MATHYBMGPU: their defaults and limits, the options database, setters and getters */

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
  PetscCall(PetscOptionsInt("-mat_hybmgpu_width", "Entries per row in the columns of the format hyb", "MatHYBMGPUSetWidth", opt.width, &opt.width, NULL));
  PetscCall(PetscOptionsEnum("-mat_hybmgpu_split", "How the width is chosen", "MatHYBMGPUSetSplit", MatHYBMGPUSplits, (PetscEnum)opt.split,
                             (PetscEnum *)&opt.split, NULL));
  PetscCall(PetscOptionsInt("-mat_hybmgpu_sigma", "Rows per window in which the format sell sorts rows", "MatHYBMGPUSetSigma", opt.sigma, &opt.sigma, NULL));
  PetscCall(PetscOptionsEnum("-mat_hybmgpu_reorder", "In which order rows are visited", "MatHYBMGPUSetReorder", MatHYBMGPUReorders, (PetscEnum)opt.reorder,
                             (PetscEnum *)&opt.reorder, NULL));
  PetscCall(PetscOptionsEnum("-mat_hybmgpu_transport", "How ghost values travel between processes", "MatHYBMGPUSetTransport", LitheTransports,
                             (PetscEnum)opt.transport, (PetscEnum *)&opt.transport, NULL));
  PetscOptionsHeadEnd();
  PetscCall(MatHYBMGPUSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options of a matrix; an error if the matrix is no MATHYBMGPU */
static PetscErrorCode MatHYBMGPUGetOptions_Private(Mat A, HybOptions *opt)
{
  Mat_HYBMGPU *ctx;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCheck(ctx, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "The matrix has type %s, not hybmgpu; use MatSetType(A, MATHYBMGPU) or MatConvert()",
             ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "none yet");
  PetscCall(PetscMemcpy(opt, &ctx->opt, sizeof(*opt)));
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


.seealso: `MATHYBMGPU`, `MatHYBMGPUGetFormat()`, `MatHYBMGPUFormat`, `MatHYBMGPUSetWidth()`, `MatHYBMGPUSetSigma()`
@*/
PetscErrorCode MatHYBMGPUSetFormat(Mat A, MatHYBMGPUFormat format)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  PetscValidLogicalCollectiveEnum(A, format, 2);
  opt.format = format;
  PetscCall(MatHYBMGPUSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUGetFormat - Gets the requested format of a `MATHYBMGPU` matrix

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. format - the requested format; `MatHYBMGPUGetInfo()` returns the format in use

  Level: intermediate

.seealso: `MATHYBMGPU`, `MatHYBMGPUSetFormat()`, `MatHYBMGPUGetInfo()`
@*/
PetscErrorCode MatHYBMGPUGetFormat(Mat A, MatHYBMGPUFormat *format)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscAssertPointer(format, 2);
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  *format = opt.format;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUSetWidth - Sets the number of entries per row that the format `MATHYBMGPU_FORMAT_HYB` puts into columns

  Logically Collective

  Input Parameters:
+ A - the matrix
- width - the number of entries, or `PETSC_DECIDE`, the default

  Options Database Key:
. -mat_hybmgpu_width <n> - the number of entries

  Level: intermediate

  Note:
  With `PETSC_DECIDE` the rule of `MatHYBMGPUSetSplit()` chooses the width.


.seealso: `MATHYBMGPU`, `MatHYBMGPUGetWidth()`, `MatHYBMGPUSetSplit()`
@*/
PetscErrorCode MatHYBMGPUSetWidth(Mat A, PetscInt width)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  PetscValidLogicalCollectiveInt(A, width, 2);
  opt.width = width;
  PetscCall(MatHYBMGPUSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUGetWidth - Gets the requested number of entries per row in columns of the format `MATHYBMGPU_FORMAT_HYB`

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. width - the requested width; `MatHYBMGPUGetInfo()` returns the width in use

  Level: intermediate

.seealso: `MATHYBMGPU`, `MatHYBMGPUSetWidth()`, `MatHYBMGPUGetInfo()`
@*/
PetscErrorCode MatHYBMGPUGetWidth(Mat A, PetscInt *width)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscAssertPointer(width, 2);
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  *width = opt.width;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUSetSplit - Sets the rule for the width of the format `MATHYBMGPU_FORMAT_HYB`

  Logically Collective

  Input Parameters:
+ A - the matrix
- split - the rule; `MATHYBMGPU_SPLIT_BYTES` is the default

  Options Database Key:
. -mat_hybmgpu_split <bytes,cusp> - the rule

  Level: intermediate


.seealso: `MATHYBMGPU`, `MatHYBMGPUGetSplit()`, `MatHYBMGPUSplit`, `MatHYBMGPUSetWidth()`
@*/
PetscErrorCode MatHYBMGPUSetSplit(Mat A, MatHYBMGPUSplit split)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  PetscValidLogicalCollectiveEnum(A, split, 2);
  opt.split = split;
  PetscCall(MatHYBMGPUSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUGetSplit - Gets the rule for the width of the format `MATHYBMGPU_FORMAT_HYB`

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. split - the requested rule

  Level: intermediate

.seealso: `MATHYBMGPU`, `MatHYBMGPUSetSplit()`
@*/
PetscErrorCode MatHYBMGPUGetSplit(Mat A, MatHYBMGPUSplit *split)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscAssertPointer(split, 2);
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  *split = opt.split;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUSetSigma - Sets the window in which the format `MATHYBMGPU_FORMAT_SELL` sorts rows by length

  Logically Collective

  Input Parameters:
+ A - the matrix
- sigma - number of rows, 1 for no sorting, or `PETSC_DECIDE`, the default

  Options Database Key:
. -mat_hybmgpu_sigma <n> - number of rows

  Level: intermediate

  Note:
  With `PETSC_DECIDE` rows are sorted if threads would wait more than half of the time for the longest row of their
  slice.


.seealso: `MATHYBMGPU`, `MatHYBMGPUGetSigma()`, `MatHYBMGPUSetFormat()`
@*/
PetscErrorCode MatHYBMGPUSetSigma(Mat A, PetscInt sigma)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  PetscValidLogicalCollectiveInt(A, sigma, 2);
  opt.sigma = sigma;
  PetscCall(MatHYBMGPUSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUGetSigma - Gets the window in which the format `MATHYBMGPU_FORMAT_SELL` sorts rows by length

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. sigma - the requested window

  Level: intermediate

.seealso: `MATHYBMGPU`, `MatHYBMGPUSetSigma()`
@*/
PetscErrorCode MatHYBMGPUGetSigma(Mat A, PetscInt *sigma)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscAssertPointer(sigma, 2);
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  *sigma = opt.sigma;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUSetReorder - Sets the order in which products visit the rows of a `MATHYBMGPU` matrix

  Logically Collective

  Input Parameters:
+ A - the matrix
- reorder - the order; `MATHYBMGPU_REORDER_NONE` is the default

  Options Database Key:
. -mat_hybmgpu_reorder <none,rcm> - the order

  Level: intermediate

  Note:
  Vectors keep their order. Only the order of rows in a product changes, and thereby the contents of caches. To move
  rows between processes use `MatHYBMGPURepartition()`, which changes the order of vectors.


.seealso: `MATHYBMGPU`, `MatHYBMGPUGetReorder()`, `MatHYBMGPUReorder`, `MatHYBMGPURepartition()`
@*/
PetscErrorCode MatHYBMGPUSetReorder(Mat A, MatHYBMGPUReorder reorder)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  PetscValidLogicalCollectiveEnum(A, reorder, 2);
  opt.reorder = reorder;
  PetscCall(MatHYBMGPUSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUGetReorder - Gets the order in which products visit the rows of a `MATHYBMGPU` matrix

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. reorder - the requested order

  Level: intermediate

.seealso: `MATHYBMGPU`, `MatHYBMGPUSetReorder()`
@*/
PetscErrorCode MatHYBMGPUGetReorder(Mat A, MatHYBMGPUReorder *reorder)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscAssertPointer(reorder, 2);
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  *reorder = opt.reorder;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUSetTransport - Sets the transport of ghost values in products with a `MATHYBMGPU` matrix

  Logically Collective

  Input Parameters:
+ A - the matrix
- transport - the transport; `LITHE_TRANSPORT_AUTO` is the default

  Options Database Keys:
+ -mat_hybmgpu_transport <auto,ipc,nccl,mpi> - the transport
. -lithe_halo_timeout <60> - all matrices: seconds that `LITHE_TRANSPORT_IPC` waits for a silent process
- -lithe_halo_overlap <32768> - all matrices: least bytes that `LITHE_TRANSPORT_IPC` sends beside the product; -1: never

  Level: intermediate

  Note:
  If a transport is not possible, the next product raises an error on all processes. `LITHE_TRANSPORT_AUTO` takes the
  first possible transport. Transposed products always use `LITHE_TRANSPORT_MPI`.

.seealso: `MATHYBMGPU`, `MatHYBMGPUGetTransport()`, `LitheTransport`
@*/
PetscErrorCode MatHYBMGPUSetTransport(Mat A, LitheTransport transport)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  PetscValidLogicalCollectiveEnum(A, transport, 2);
  opt.transport = transport;
  PetscCall(MatHYBMGPUSetOptions_Private(A, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUGetTransport - Gets the requested transport of ghost values in products with a `MATHYBMGPU` matrix

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. transport - the requested transport; `MatHYBMGPUGetInfo()` returns the transport in use

  Level: intermediate

.seealso: `MATHYBMGPU`, `MatHYBMGPUSetTransport()`, `MatHYBMGPUGetInfo()`
@*/
PetscErrorCode MatHYBMGPUGetTransport(Mat A, LitheTransport *transport)
{
  HybOptions opt;

  PetscFunctionBegin;
  PetscAssertPointer(transport, 2);
  PetscCall(MatHYBMGPUGetOptions_Private(A, &opt));
  *transport = opt.transport;
  PetscFunctionReturn(PETSC_SUCCESS);
}
