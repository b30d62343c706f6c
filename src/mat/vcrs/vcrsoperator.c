/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   What a matrix cannot see from its own operations, and a log handler can.

   PETSc tells its log handlers the objects of each event before the event's work begins, and an
   error that a handler returns ends the call that logged it. Two things are watched:

     - A solve, unless it is part of a preconditioner, must not have a lossy MATVCRS as its operator:
       a matrix in the preconditioner may be wrong by a few percent, the operator defines the problem.
     - A factorisation reads the AIJ arrays of the matrix without asking it: where they were given
       back they are taken again first.

   The handler is of this process only and is started when the first matrix becomes lossy or gives
   its arrays back, so that other programs have none. In a PETSc that was configured without logging,
   or where the events are switched off (-log_exclude ksp, PetscLogEventDeactivate()), it sees
   nothing: a lossy operator is then not refused. Factorisations are safe even there, at least the
   first of each matrix, because MatGetOrdering() takes the arrays again.
*/

#include "vcrsimpl.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/loghandlerimpl.h>

#define VCRS_LOGHANDLER "lithe_vcrs"

#if PetscDefined(USE_LOG)
static PetscBool       VCRSWatchStarted = PETSC_FALSE;
static PetscLogHandler VCRSWatch        = NULL;

/*
   Solves, and the set-up and application of preconditioners, that have begun and not ended: how deep
   they are, and the object of the outermost. Solves inside of another one's preconditioner, or of its
   set-up (GAMG estimates eigenvalues there), are not operators of the program's.
*/
typedef struct {
  PetscInt      depth;
  PetscObjectId outer;
} VCRSWatchData;

static PetscBool VCRSIsSolve(PetscLogEvent event)
{
  return (PetscBool)(event == KSP_Solve || event == KSP_SolveTranspose || event == KSP_MatSolve || event == KSP_MatSolveTranspose);
}

static PetscBool VCRSIsPreconditioner(PetscLogEvent event)
{
  return (PetscBool)(event == PC_SetUp || event == PC_SetUpOnBlocks || event == PC_Apply || event == PC_MatApply || event == PC_ApplySymmetricLeft || event == PC_ApplySymmetricRight);
}

static PetscBool VCRSIsFactorization(PetscLogEvent event)
{
  return (PetscBool)(event == MAT_LUFactor || event == MAT_LUFactorSymbolic || event == MAT_LUFactorNumeric || event == MAT_CholeskyFactor || event == MAT_CholeskyFactorSymbolic || event == MAT_CholeskyFactorNumeric || event == MAT_ILUFactor || event == MAT_ILUFactorSymbolic || event == MAT_ICCFactorSymbolic || event == MAT_QRFactor || event == MAT_QRFactorSymbolic || event == MAT_QRFactorNumeric);
}

/* Handlers before this one were told that the event begins, and must hear that it ended */
static PetscErrorCode VCRSWatchRevokeEvent(PetscLogHandler h, PetscLogEvent event, KSP ksp)
{
  PetscFunctionBegin;
  for (int k = 0; k < PETSC_LOG_HANDLER_MAX && PetscLogHandlers[k].handler != h; k++) {
    if (PetscLogHandlers[k].eventEnd) PetscCall((*PetscLogHandlers[k].eventEnd)(PetscLogHandlers[k].handler, event, (PetscObject)ksp, NULL, NULL, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSCheckOperator(PetscLogHandler h, PetscLogEvent event, KSP ksp)
{
  Mat         A;
  Mat_VCRS   *ctx;
  PetscInt    level;
  PetscBool   set;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(KSPGetNestLevel(ksp, &level));
  if (level > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperatorsSet(ksp, &set, NULL));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (!ctx || !ctx->lossy || ctx->allowlossy) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOptionsPrefix(A, &prefix));
  PetscCall(VCRSWatchRevokeEvent(h, event, ksp));
  SETERRQ(PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONGSTATE, "The operator of this solve is a lossy matrix of type %s (-%smat_vcrs_loss %s): the solution would be that of another system. Loss belongs in the preconditioner: use -%smat_vcrs_loss none with -pc_type vcrs, or give the lossy matrix to KSPSetOperators() as the second matrix only. -%smat_vcrs_allow_lossy_operator or MatVCRSSetAllowLossyOperator() solves with it all the same",
          ((PetscObject)A)->type_name, prefix ? prefix : "", MatVCRSLosses[ctx->opt.loss], prefix ? prefix : "", prefix ? prefix : "");
}

/* Is called for every event of the program: what does not concern it must cost a few comparisons */
static PetscErrorCode VCRSWatchEventBegin(PetscLogHandler h, PetscLogEvent event, PetscObject o1, PETSC_UNUSED PetscObject o2, PETSC_UNUSED PetscObject o3, PETSC_UNUSED PetscObject o4)
{
  VCRSWatchData *data = (VCRSWatchData *)h->data;

  PetscFunctionBegin;
  if (!o1) PetscFunctionReturn(PETSC_SUCCESS);
  if ((o1->classid == KSP_CLASSID && VCRSIsSolve(event)) || (o1->classid == PC_CLASSID && VCRSIsPreconditioner(event))) {
    /* What an error ended was never reported to have ended; when its object begins again, that is the outermost */
    if (data->outer == o1->id && (o1->classid == KSP_CLASSID || data->depth == 1)) data->depth = 0;
    if (!data->depth) {
      data->outer = o1->id;
      if (o1->classid == KSP_CLASSID) PetscCall(VCRSCheckOperator(h, event, (KSP)o1));
    }
    data->depth++;
  } else if (o1->classid == MAT_CLASSID && VCRSIsFactorization(event)) PetscCall(MatVCRSMaterializeOperand_Private((Mat)o1, "a factorization"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSWatchEventEnd(PetscLogHandler h, PetscLogEvent event, PetscObject o1, PETSC_UNUSED PetscObject o2, PETSC_UNUSED PetscObject o3, PETSC_UNUSED PetscObject o4)
{
  VCRSWatchData *data = (VCRSWatchData *)h->data;

  PetscFunctionBegin;
  if (!o1 || !((o1->classid == KSP_CLASSID && VCRSIsSolve(event)) || (o1->classid == PC_CLASSID && VCRSIsPreconditioner(event)))) PetscFunctionReturn(PETSC_SUCCESS);
  if (data->outer == o1->id && o1->classid == KSP_CLASSID) data->depth = 0;
  else if (data->depth) data->depth--;
  if (!data->depth) data->outer = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSWatchDestroy(PetscLogHandler h)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(h->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PetscLogHandlerCreate_VCRS(PetscLogHandler h)
{
  VCRSWatchData *data;

  PetscFunctionBegin;
  PetscCall(PetscNew(&data));
  h->data            = data;
  h->ops->eventbegin = VCRSWatchEventBegin;
  h->ops->eventend   = VCRSWatchEventEnd;
  h->ops->destroy    = VCRSWatchDestroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSWatchStop(void)
{
  PetscFunctionBegin;
  if (VCRSWatch) {
    PetscCall(PetscLogHandlerStop(VCRSWatch));
    PetscCall(PetscLogHandlerDestroy(&VCRSWatch));
  }
  VCRSWatchStarted = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* From now on. One process may be alone in this: the handler is its own */
PetscErrorCode MatVCRSOperatorGuardStart(void)
{
  PetscFunctionBegin;
#if PetscDefined(USE_LOG)
  PetscBool room = PETSC_FALSE;

  if (VCRSWatchStarted) PetscFunctionReturn(PETSC_SUCCESS);
  VCRSWatchStarted = PETSC_TRUE;

  /* The events that are watched are registered with their packages */
  PetscCall(KSPInitializePackage());
  for (int k = 0; k < PETSC_LOG_HANDLER_MAX; k++) {
    if (!PetscLogHandlers[k].handler) room = PETSC_TRUE;
  }
  if (room) {
    PetscCall(PetscLogHandlerRegister(VCRS_LOGHANDLER, PetscLogHandlerCreate_VCRS));
    PetscCall(PetscLogHandlerCreate(PETSC_COMM_SELF, &VCRSWatch));
    PetscCall(PetscLogHandlerSetType(VCRSWatch, VCRS_LOGHANDLER));
    PetscCall(PetscLogHandlerStart(VCRSWatch));
  } else PetscCall(PetscInfo(NULL, "PETSc has no room for another log handler: lossy operators are not refused\n"));
  PetscCall(PetscRegisterFinalize(VCRSWatchStop));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
