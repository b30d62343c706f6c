/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Vectors of KSPMPCG for a LitheSingle: in single precision, but for what the solution gains */

#include "mpcgimpl.h"
#include <lithe/private/cuda/mpcg.h>

#define MPCG_PAD 64 /* zeros between vectors: levels may read numbers before and after them */

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
static const MPCGKernels DeviceKernels = {.dot       = LitheCUDAMPCGDot,
                                          .direction = LitheCUDAMPCGDirection,
                                          .update    = LitheCUDAMPCGUpdate,
                                          .take      = LitheCUDAMPCGTake,
                                          .finish    = LitheCUDAMPCGFinish,
                                          .part      = LitheCUDAMPCGPart,
                                          .enter     = LitheCUDAMPCGEnter,
                                          .leave     = LitheCUDAMPCGLeave,
                                          .bytes     = sizeof(MPCGDeviceScalars)};
#endif

PetscErrorCode MPCGSingleReset_Private(MPCGSingle *s)
{
  const LitheMemoryOps *memory = s->op.memory;

  PetscFunctionBegin;
  PetscCall(LitheMGForget(&s->record));
  if (s->memory) PetscCall((*memory->free)((void **)&s->memory));
  if (s->s) PetscCall((*memory->free)((void **)&s->s));
  s->length = 0;
  s->op     = (LitheSingle){.n = 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for the vectors of this preconditioner. Records stay while all arrays stay */
static PetscErrorCode Prepare_Private(KSP ksp, const LitheSingle *op)
{
  MPCGSingle  *s      = &((KSP_MPCG *)ksp->data)->single;
  const size_t stride = ((size_t)op->length + 63) / 64 * 64 + MPCG_PAD; /* a device reads four numbers at once */
  PetscMPIInt  size;

  PetscFunctionBegin;
  if (s->op.memory != op->memory || s->length != op->length) PetscCall(MPCGSingleReset_Private(s));
  if (s->op.number != op->number) PetscCall(LitheMGForget(&s->record));
  s->op      = *op;
  s->kernels = &MPCGHostKernels;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (op->device) s->kernels = &DeviceKernels;
#endif
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  s->alone = (PetscBool)(size == 1);
  if (!s->memory) {
    PetscCall(LitheMemoryCalloc(op->memory, (5 * stride + MPCG_PAD) * sizeof(float), (void **)&s->memory));
    PetscCall((*op->memory->alloc)(s->kernels->bytes, (void **)&s->s));
    s->length = op->length;
    s->r      = s->memory + MPCG_PAD;
    s->p      = s->r + stride;
    s->q      = s->p + stride;
    s->y      = (double *)(s->q + stride);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the preconditioner offers takes a part of its set-up */
PetscErrorCode MPCGSingleWish_Private(KSP ksp)
{
  const KSP_MPCG     *cg = (const KSP_MPCG *)ksp->data;
  LithePCGetSingleFn *get;
  PetscBool           offered;

  PetscFunctionBegin;
  if (!ksp->pc || cg->opt.storage == MPCG_STORAGE_DOUBLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp->pc, LITHE_SINGLE, &get));
  if (get) PetscCall((*get)(ksp->pc, NULL, &offered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the vectors of this solve can be in single precision */
PetscErrorCode MPCGSingleIsOffered_Private(KSP ksp, PetscBool *offered)
{
  LithePCGetSingleFn *get;
  LitheSingle         op;
  PetscBool           here = PETSC_TRUE;
  const PetscScalar  *r;
  PetscMemType        place;

  PetscFunctionBegin;
  *offered = PETSC_FALSE;
  if (ksp->pc->mat != ksp->pc->pmat || ksp->transpose_solve || ksp->pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp->pc, LITHE_SINGLE, &get));
  if (get) PetscCall((*get)(ksp->pc, &op, offered));
  else PetscCall(MPCGDiagonalGetSingle_Private(ksp, &op, offered));
  if (!*offered) PetscFunctionReturn(PETSC_SUCCESS);
  if (op.device) {
    PetscCall(VecGetArrayReadAndMemType(ksp->work[0], &r, &place));
    here = (PetscBool)!PetscMemTypeHost(place);
    PetscCall(VecRestoreArrayReadAndMemType(ksp->work[0], &r));
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &here, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)ksp)));
    if (!here) PetscCall(PetscInfo(ksp, "Vectors are on the host, and the preconditioner is on a device\n"));
  }
  *offered = here;
  if (here) PetscCall(Prepare_Private(ksp, &op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sum over all processes, of which `mine` has the part of this one; and the next one that comes with (r, r) */
static PetscErrorCode Share_Private(KSP ksp, MPCGSum which)
{
  MPCGSingle           *s      = &((KSP_MPCG *)ksp->data)->single;
  const LitheMemoryOps *memory = s->op.memory;
  const PetscMPIInt     n      = which == MPCG_RR && s->op.diagonal ? 2 : 1;
  double                sum[2];

  PetscFunctionBegin;
  if (s->alone) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*memory->get)((size_t)n * sizeof(*sum), &s->s->mine, sum));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sum, n, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)ksp)));
  PetscCall((*memory->put)((size_t)n * sizeof(*sum), sum, &s->s->mine));
  PetscCall((*s->kernels->finish)(which, s->s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MPCGSingleBegin_Private(KSP ksp, double factor, PetscBool first, MPCGScalars *seen)
{
  MPCGSingle           *s      = &((KSP_MPCG *)ksp->data)->single;
  const LitheMemoryOps *memory = s->op.memory;
  const PetscScalar    *r;
  const PetscInt        n       = s->op.n;
  const int             updated = 1;

  PetscFunctionBegin;
  if (!first) PetscCall((*memory->put)(sizeof(updated), &updated, &s->s->updated));
  else {
    PetscCall((*memory->clear)(s->kernels->bytes, s->s));
    PetscCall((*memory->clear)((size_t)s->length * sizeof(float), s->p));
    PetscCall((*memory->clear)((size_t)s->length * sizeof(double), s->y));
  }
  if (s->op.device) PetscCall(VecGetArrayReadAndMemType(ksp->work[0], &r, NULL));
  else PetscCall(VecGetArrayRead(ksp->work[0], &r));
  PetscCall((*s->op.enter)(s->op.ctx, factor, r, s->r));
  if (s->op.device) PetscCall(VecRestoreArrayReadAndMemType(ksp->work[0], &r));
  else PetscCall(VecRestoreArrayRead(ksp->work[0], &r));
  PetscCall((*s->kernels->update)(n, s->op.diagonal, NULL, NULL, NULL, s->r, s->alone, s->s));
  PetscCall(Share_Private(ksp, MPCG_RR));
  PetscCall((*memory->get)(sizeof(*seen), s->s, seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Iterate_Private(void *ctx)
{
  KSP                ksp  = (KSP)ctx;
  MPCGSingle        *s    = &((KSP_MPCG *)ksp->data)->single;
  const MPCGKernels *kern = s->kernels;
  const PetscInt     n    = s->op.n;
  const float       *z    = s->r;

  PetscFunctionBegin;
  if (s->op.apply) {
    PetscCall((*s->op.apply)(s->op.ctx, s->r, &z));
    PetscCall((*kern->dot)(MPCG_RZ, n, s->r, z, s->alone, s->s));
    PetscCall(Share_Private(ksp, MPCG_RZ));
  } else PetscCall((*kern->take)(s->op.diagonal, s->s));
  PetscCall((*kern->direction)(n, s->op.diagonal, z, s->p, s->s));
  PetscCall((*s->op.multiply)(s->op.ctx, s->p, s->q));
  PetscCall((*kern->dot)(MPCG_PQ, n, s->p, s->q, s->alone, s->s));
  PetscCall(Share_Private(ksp, MPCG_PQ));
  PetscCall((*kern->update)(n, s->op.diagonal, s->p, s->q, s->y, s->r, s->alone, s->s));
  PetscCall(Share_Private(ksp, MPCG_RR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MPCGSingleIterate_Private(KSP ksp, MPCGScalars *seen)
{
  KSP_MPCG   *cg = (KSP_MPCG *)ksp->data;
  MPCGSingle *s  = &cg->single;

  PetscFunctionBegin;
  PetscCall(LitheMGPlay(s->op.memory, &s->record, (PetscBool)(s->alone && s->op.records && cg->opt.graph), Iterate_Private, ksp));
  PetscCall((*s->op.memory->get)(sizeof(*seen), s->s, seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y has the digits of two numbers in single precision. q is free, but must be 0 where this process owns no number */
PetscErrorCode MPCGSingleLeave_Private(KSP ksp, double factor)
{
  MPCGSingle  *s    = &((KSP_MPCG *)ksp->data)->single;
  Vec          work = ksp->work[0]; /* the next residual overwrites it */
  PetscScalar *x;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall((*s->kernels->part)(s->op.n, s->y, s->q));
    if (s->op.device) PetscCall(VecGetArrayWriteAndMemType(work, &x, NULL));
    else PetscCall(VecGetArrayWrite(work, &x));
    PetscCall((*s->op.leave)(s->op.ctx, factor, s->q, x));
    if (s->op.device) PetscCall(VecRestoreArrayWriteAndMemType(work, &x));
    else PetscCall(VecRestoreArrayWrite(work, &x));
    PetscCall(VecAXPY(ksp->vec_sol, 1.0, work));
  }
  PetscCall((*s->op.memory->clear)((size_t)s->op.n * sizeof(double), s->y));
  PetscCall((*s->op.memory->clear)((size_t)s->length * sizeof(float), s->q));
  PetscFunctionReturn(PETSC_SUCCESS);
}
