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
             "-mat_hybmgpu_width %" PetscInt_FMT ": use a number of at least 0, or PETSC_DECIDE for the one that -mat_hybmgpu_split chooses", opt->width);
  PetscCheck(opt->sigma >= 1 || opt->sigma == PETSC_DECIDE, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_hybmgpu_sigma %" PetscInt_FMT ": use a number of rows of at least 1 (1 sorts none), or PETSC_DECIDE", opt->sigma);
  PetscCheck(opt->format != MATHYBMGPU_FORMAT_VCRS || opt->reorder == MATHYBMGPU_REORDER_NONE, comm, PETSC_ERR_ARG_INCOMP,
             "-mat_hybmgpu_reorder %s with -mat_hybmgpu_format vcrs, which visits rows in its own order. Use -mat_hybmgpu_reorder none, or another format",
             MatHYBMGPUReorders[opt->reorder]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes new options over: data made with other options are made again at the next use */
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

/* The options of a matrix that a caller says is a MATHYBMGPU */
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
  MatHYBMGPUSetFormat - Sets how a `MATHYBMGPU` matrix is stored for products

  Logically Collective

  Input Parameters:
+ A - the matrix
- format - the format; `MATHYBMGPU_FORMAT_AUTO` is the default

  Options Database Key:
. -mat_hybmgpu_format <auto,hyb,sell,csr,vcrs> - the format

  Level: intermediate

  Notes:
  The format holds for the rows and columns of a process; entries in columns of other processes are kept row by row.
  With `MATHYBMGPU_FORMAT_AUTO` each process chooses for itself.

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
  MatHYBMGPUGetFormat - Gets how a `MATHYBMGPU` matrix is to be stored

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. format - the requested format; `MatHYBMGPUGetInfo()` tells the one in use

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
  MatHYBMGPUSetWidth - Sets how many entries of a row the format `MATHYBMGPU_FORMAT_HYB` puts into columns

  Logically Collective

  Input Parameters:
+ A - the matrix
- width - their number, or `PETSC_DECIDE`, the default

  Options Database Key:
. -mat_hybmgpu_width <n> - their number

  Level: intermediate

  Note:
  With `PETSC_DECIDE` it is chosen as `MatHYBMGPUSetSplit()` says.


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
  MatHYBMGPUGetWidth - Gets how many entries of a row the format `MATHYBMGPU_FORMAT_HYB` is to put into columns

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. width - the requested width; `MatHYBMGPUGetInfo()` tells the one in use

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
  MatHYBMGPUSetSplit - Sets how the width of the format `MATHYBMGPU_FORMAT_HYB` is chosen

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
  MatHYBMGPUGetSplit - Gets how the width of the format `MATHYBMGPU_FORMAT_HYB` is chosen

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
  MatHYBMGPUSetSigma - Sets in windows of how many rows the format `MATHYBMGPU_FORMAT_SELL` sorts them by length

  Logically Collective

  Input Parameters:
+ A - the matrix
- sigma - number of rows, 1 for no sorting, or `PETSC_DECIDE`, the default

  Options Database Key:
. -mat_hybmgpu_sigma <n> - number of rows

  Level: intermediate

  Note:
  With `PETSC_DECIDE` rows are sorted where threads would wait more than half of the time for the longest row of their slice.


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
  MatHYBMGPUGetSigma - Gets in windows of how many rows the format `MATHYBMGPU_FORMAT_SELL` is to sort them

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
  MatHYBMGPUSetReorder - Sets in which order a product visits the rows of a `MATHYBMGPU` matrix

  Logically Collective

  Input Parameters:
+ A - the matrix
- reorder - the order; `MATHYBMGPU_REORDER_NONE` is the default

  Options Database Key:
. -mat_hybmgpu_reorder <none,rcm> - the order

  Level: intermediate

  Note:
  Vectors keep their order. Only the order in which rows are visited changes, and thereby the contents of caches. To
  move rows between processes use `MatHYBMGPURepartition()`, which changes the order of the vectors.


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
  MatHYBMGPUGetReorder - Gets in which order a product visits the rows of a `MATHYBMGPU` matrix

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
  MatHYBMGPUSetTransport - Sets how ghost values travel between processes

  Logically Collective

  Input Parameters:
+ A - the matrix
- transport - the transport; `LITHE_TRANSPORT_AUTO` is the default

  Options Database Keys:
+ -mat_hybmgpu_transport <auto,ipc,nccl,mpi> - the transport
. -lithe_halo_timeout <60> - seconds after which `LITHE_TRANSPORT_IPC` gives a process up that sends nothing, of all matrices
- -lithe_halo_overlap <32768> - bytes to send from which on `LITHE_TRANSPORT_IPC` sends beside the product, of all matrices; -1: never

  Level: intermediate

  Note:
  A transport that cannot be used is an error, on all processes, at the next product; `LITHE_TRANSPORT_AUTO` takes the
  first possible transport. Transposed products use `LITHE_TRANSPORT_MPI` always.

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
  MatHYBMGPUGetTransport - Gets how entries of vectors are to get to other processes

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. transport - the requested transport; `MatHYBMGPUGetInfo()` tells the one in use

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
