/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Permitted products of a lossy MATVCRS.

   A matrix in a preconditioner may be wrong by a few percent; the operator of a solve, of an eigenvalue problem or of
   a program's own loop defines the problem. A product does not know its caller. A matrix with a changed entry
   therefore multiplies

     - if the loss is allowed (MatVCRSSetAllowLossyOperator());
     - inside a preconditioner (PC), unless the preconditioner belongs to a solve whose operator has lost entries as
       well: such a solve may consist of the preconditioner alone (KSPPREONLY).

   Every other product is an error. PETSc's log events show that a preconditioner begins: log handlers get the objects
   of each event before the work of the event. A function of this file then replaces the operation of the
   preconditioner, and calls the original function. A preconditioner is at work while the original function runs, with
   or without an error. Without log events (-log_exclude, a PETSc without logging, no room for another handler) a
   product is refused. The handler is local to a process. The handler starts when the first matrix becomes lossy or
   drops its arrays; programs without such matrices have no handler.

   The handler has two more uses. An error of the handler ends the call that logged the event:

     - A solve with a lossy operator is refused at its start, before vectors are locked for a product. A solve by a
       preconditioner alone is refused only if the operator has dropped the exact entries.
     - A factorisation reads the AIJ arrays of the matrix directly. Dropped arrays are restored first. Without log
       events the first factorisation of each matrix is safe, because MatGetOrdering() restores the arrays.
*/

#include "vcrsimpl.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/loghandlerimpl.h>

#define VCRS_LOGHANDLER "lithe_vcrs"

/* ---- Which matrices have lost something ---- */

/* Whether compression has changed an entry of A, and products of A are restricted. Collective */
static PetscErrorCode MatVCRSHasLost_Private(Mat A, Mat_VCRS *ctx, PetscBool *lost)
{
  PetscBool isseq;

  PetscFunctionBegin;
  *lost = PETSC_FALSE;
  if (!ctx->settings.lossy || ctx->settings.allowlossy) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJVCRS, &isseq));
  if (isseq) PetscCall(MatVCRSCompress(A));
  else PetscCall(MatVCRSCompress_MPI(A));
  *lost = ctx->last.lost;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSRefuse_Private(Mat A, const Mat_VCRS *ctx, const char what[], const char why[])
{
  const PetscObject obj  = (PetscObject)A;
  const char       *pre  = obj->prefix ? obj->prefix : "";
  const char       *name = obj->name ? obj->name : "";

  PetscFunctionBegin;
  SETERRQ(PetscObjectComm(obj), PETSC_ERR_ARG_WRONGSTATE,
          "%s with the lossy matrix %s%sof type %s is refused: -%smat_vcrs_loss %s changed its entries by up to %g (bound %g), so that the result would be "
          "that of another matrix. Loss belongs in the preconditioner: use -%smat_vcrs_loss none with -pc_type vcrs, or give the lossy matrix to "
          "KSPSetOperators() as the second matrix only. -%smat_vcrs_allow_lossy_operator or MatVCRSSetAllowLossyOperator() multiplies with it all the same%s",
          what, name, obj->name ? " " : "", obj->type_name, pre, MatVCRSLosses[ctx->settings.opt.loss], (double)ctx->last.report.maxabserror,
          (double)ctx->last.report.bound, pre, pre, why);
}

#if PetscDefined(USE_LOG)
/* Whether A, or a part of A, has a loss; gone: whether the exact entries are lost. Collective */
static PetscErrorCode VCRSOperatorHasLost_Private(Mat A, PetscBool gone, Mat *culprit)
{
  Mat_VCRS *ctx;
  PetscBool is[3], lost;

  PetscFunctionBegin;
  *culprit = NULL;
  if (!A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx) {
    if (gone && !ctx->last.gone) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatVCRSHasLost_Private(A, ctx, &lost));
    if (lost) *culprit = A;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATNEST, &is[0]));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATTRANSPOSEVIRTUAL, &is[1]));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATHERMITIANTRANSPOSEVIRTUAL, &is[2]));
  if (is[0]) {
    PetscInt m, n;
    Mat    **part;

    PetscCall(MatNestGetSubMats(A, &m, &n, &part));
    for (PetscInt i = 0; i < m && !*culprit; i++) {
      for (PetscInt j = 0; j < n && !*culprit; j++) PetscCall(VCRSOperatorHasLost_Private(part[i][j], gone, culprit));
    }
  } else if (is[1] || is[2]) {
    Mat inner;

    if (is[1]) PetscCall(MatTransposeGetMat(A, &inner));
    else PetscCall(MatHermitianTransposeGetMat(A, &inner));
    PetscCall(VCRSOperatorHasLost_Private(inner, gone, culprit));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The guard ---- */

static PetscBool       VCRSWatchStarted = PETSC_FALSE;
static PetscLogHandler VCRSWatch        = NULL;

/* An active solve outside of preconditioners */
typedef struct {
  PetscObjectId object;
  uintptr_t     frame; /* address of a stack variable at the start of the solve */
} VCRSSolve;

typedef struct {
  PetscInt   n, max;
  VCRSSolve *solve;         /* the outermost first */
  PetscBool  lossyoperator; /* the operator of the outermost preconditioner has lost entries: whatever is inside must not */
} VCRSWatchData;

/* Where the stack is now */
  #if defined(__GNUC__)
    #define VCRS_FRAME() ((uintptr_t)__builtin_frame_address(0))
  #else
    #define VCRS_FRAME() ((uintptr_t)&data)
  #endif

static PetscBool VCRSIsSolve(PetscLogEvent event)
{
  return (PetscBool)(event == KSP_Solve || event == KSP_SolveTranspose || event == KSP_MatSolve || event == KSP_MatSolveTranspose);
}

static PetscBool VCRSIsPreconditioner(PetscLogEvent event)
{
  return (PetscBool)(event == PC_SetUp || event == PC_SetUpOnBlocks || event == PC_Apply || event == PC_MatApply || event == PC_ApplySymmetricLeft ||
                     event == PC_ApplySymmetricRight);
}

static PetscBool VCRSIsFactorization(PetscLogEvent event)
{
  return (PetscBool)(event == MAT_LUFactor || event == MAT_LUFactorSymbolic || event == MAT_LUFactorNumeric || event == MAT_CholeskyFactor ||
                     event == MAT_CholeskyFactorSymbolic || event == MAT_CholeskyFactorNumeric || event == MAT_ILUFactor || event == MAT_ILUFactorSymbolic ||
                     event == MAT_ICCFactorSymbolic || event == MAT_QRFactor || event == MAT_QRFactorSymbolic || event == MAT_QRFactorNumeric);
}

/*
   An error can end a solve without a log event. Most such solves are found by the stack: functions deeper than the
   present place have returned. The remaining solves only mark more preconditioners as part of a solve.
*/
static inline void VCRSForgetReturned(VCRSWatchData *data, uintptr_t frame)
{
  while (data->n && data->solve[data->n - 1].frame < frame) data->n--;
}

/* ---- While an operation of a preconditioner runs ---- */

  #define VCRS_OPERATIONS "Lithe_VCRSOperations"

static PetscInt VCRSInside = 0; /* number of active preconditioners */

  /* name in struct _PCOps, event before the call, parameters, arguments */
  #define VCRS_OPERATIONS_OF_PC(X)                                                  \
    X(setup, PC_SetUp, (PC pc), (pc))                                               \
    X(setuponblocks, PC_SetUpOnBlocks, (PC pc), (pc))                               \
    X(apply, PC_Apply, (PC pc, Vec x, Vec y), (pc, x, y))                           \
    X(applytranspose, PC_Apply, (PC pc, Vec x, Vec y), (pc, x, y))                  \
    X(matapply, PC_MatApply, (PC pc, Mat X, Mat Y), (pc, X, Y))                     \
    X(matapplytranspose, PC_MatApply, (PC pc, Mat X, Mat Y), (pc, X, Y))            \
    X(applysymmetricleft, PC_ApplySymmetricLeft, (PC pc, Vec x, Vec y), (pc, x, y)) \
    X(applysymmetricright, PC_ApplySymmetricRight, (PC pc, Vec x, Vec y), (pc, x, y))

static PetscErrorCode VCRSRestoreOperations_Private(PC);

  #define VCRS_RUN(name, event, parameters, arguments) \
    static PetscErrorCode VCRSRun_##name parameters    \
    {                                                  \
      PetscErrorCode ierr;                             \
                                                       \
      PetscFunctionBegin;                              \
      PetscCall(VCRSRestoreOperations_Private(pc));    \
      VCRSInside++;                                    \
      ierr = (*pc->ops->name)arguments;                \
      VCRSInside--;                                    \
      PetscCall(ierr);                                 \
      PetscFunctionReturn(PETSC_SUCCESS);              \
    }
VCRS_OPERATIONS_OF_PC(VCRS_RUN)

/* Restores the preconditioner's own operations */
static PetscErrorCode VCRSRestoreOperations_Private(PC pc)
{
  struct _PCOps *own;

  PetscFunctionBegin;
  PetscCall(PetscObjectContainerQuery((PetscObject)pc, VCRS_OPERATIONS, &own));
  #define VCRS_RESTORE(name, event, parameters, arguments) \
    if (pc->ops->name == VCRSRun_##name) pc->ops->name = own->name;
  VCRS_OPERATIONS_OF_PC(VCRS_RESTORE)
  #undef VCRS_RESTORE
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSDestroyOperations_Private(PetscCtxRt ops)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(*(struct _PCOps **)ops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the operations that follow an event */
static PetscErrorCode VCRSReplaceOperations_Private(PC pc, PetscLogEvent e)
{
  struct _PCOps *own = NULL;
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectContainerQuery((PetscObject)pc, VCRS_OPERATIONS, &own));
  if (!own) {
    PetscCall(PetscNew(&own));
    /* an object of this process: other processes of pc may be without the handler */
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, own));
    PetscCall(PetscContainerSetCtxDestroy(container, VCRSDestroyOperations_Private));
    PetscCall(PetscObjectCompose((PetscObject)pc, VCRS_OPERATIONS, (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
  }
  #define VCRS_REPLACE(name, event, parameters, arguments)                \
    if (e == event && pc->ops->name && pc->ops->name != VCRSRun_##name) { \
      own->name     = pc->ops->name;                                      \
      pc->ops->name = VCRSRun_##name;                                     \
    }
  VCRS_OPERATIONS_OF_PC(VCRS_REPLACE)
  #undef VCRS_REPLACE
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The handler ---- */

/* earlier handlers have seen the begin of the event, and must see the end */
static PetscErrorCode VCRSWatchRevokeEvent_Private(PetscLogHandler h, PetscLogEvent event, PetscObject o)
{
  PetscFunctionBegin;
  for (int k = 0; k < PETSC_LOG_HANDLER_MAX && PetscLogHandlers[k].handler != h; k++) {
    if (PetscLogHandlers[k].eventEnd) PetscCall((*PetscLogHandlers[k].eventEnd)(PetscLogHandlers[k].handler, event, o, NULL, NULL, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve or a preconditioner that is inside of no preconditioner */
static PetscErrorCode VCRSOutermostBegins_Private(VCRSWatchData *data, PetscObject o, PetscBool ispc)
{
  Mat       A = NULL, culprit = NULL;
  PetscBool set, watched, direct;
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  if (ispc) {
    /* A preconditioner applied alone is no part of a solve, if events of solves are logged */
    watched = PetscLogStateEventCurrentlyActive(petsc_log_state, KSP_Solve) ? PETSC_TRUE : PETSC_FALSE;
    if (data->n || !watched) PetscCall(VCRSOperatorHasLost_Private(((PC)o)->mat, PETSC_FALSE, &culprit));
    data->lossyoperator = culprit ? PETSC_TRUE : PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPGetOperatorsSet((KSP)o, &set, NULL));
  if (set) PetscCall(KSPGetOperators((KSP)o, &A, NULL));
  PetscCall(PetscObjectTypeCompareAny(o, &direct, KSPPREONLY, KSPNONE, ""));
  PetscCall(VCRSOperatorHasLost_Private(A, direct, &culprit));
  if (culprit) {
    PetscCall(MatVCRSGetContext(culprit, &ctx));
    PetscCall(MatVCRSRefuse_Private(culprit, ctx, "A solve", ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called for every event of a program: an unwatched event must cost only a few comparisons */
static PetscErrorCode VCRSWatchEventBegin_Private(PetscLogHandler h, PetscLogEvent event, PetscObject o1, PETSC_UNUSED PetscObject o2,
                                                  PETSC_UNUSED PetscObject o3, PETSC_UNUSED PetscObject o4)
{
  VCRSWatchData  *data = (VCRSWatchData *)h->data;
  PetscBool       ispc;
  PetscErrorCode  ierr;
  const uintptr_t frame = VCRS_FRAME();

  PetscFunctionBegin;
  VCRSForgetReturned(data, frame);
  if (!o1) PetscFunctionReturn(PETSC_SUCCESS);
  ispc = (PetscBool)(o1->classid == PC_CLASSID && VCRSIsPreconditioner(event));
  if (ispc || (o1->classid == KSP_CLASSID && VCRSIsSolve(event))) {
    if (VCRSInside) PetscFunctionReturn(PETSC_SUCCESS);
    ierr = VCRSOutermostBegins_Private(data, o1, ispc);
    if (ierr) PetscCall(VCRSWatchRevokeEvent_Private(h, event, o1));
    PetscCall(ierr);
    if (ispc) {
      PetscCall(VCRSReplaceOperations_Private((PC)o1, event));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (data->n == data->max) {
      data->max = 2 * data->max + 16;
      PetscCall(PetscRealloc((size_t)data->max * sizeof(*data->solve), &data->solve));
    }
    data->solve[data->n++] = (VCRSSolve){o1->id, frame};
  } else if (o1->classid == MAT_CLASSID && VCRSIsFactorization(event)) PetscCall(MatVCRSMaterializeOperand_Private((Mat)o1, "a factorization"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSWatchEventEnd_Private(PetscLogHandler h, PetscLogEvent event, PetscObject o1, PETSC_UNUSED PetscObject o2,
                                                PETSC_UNUSED PetscObject o3, PETSC_UNUSED PetscObject o4)
{
  VCRSWatchData *data = (VCRSWatchData *)h->data;

  PetscFunctionBegin;
  if (!data->n || VCRSInside || !o1 || o1->classid != KSP_CLASSID || !VCRSIsSolve(event)) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = data->n - 1; k >= 0; k--) {
    if (data->solve[k].object != o1->id) continue;
    data->n = k;
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSWatchDestroy_Private(PetscLogHandler h)
{
  VCRSWatchData *data = (VCRSWatchData *)h->data;

  PetscFunctionBegin;
  PetscCall(PetscFree(data->solve));
  PetscCall(PetscFree(h->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PetscLogHandlerCreate_VCRS(PetscLogHandler h)
{
  VCRSWatchData *data;

  PetscFunctionBegin;
  PetscCall(PetscNew(&data));
  h->data            = data;
  h->ops->eventbegin = VCRSWatchEventBegin_Private;
  h->ops->eventend   = VCRSWatchEventEnd_Private;
  h->ops->destroy    = VCRSWatchDestroy_Private;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSWatchStop_Private(void)
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

/* Starts the guard. The handler is local to a process: a single process may call this function */
PetscErrorCode MatVCRSOperatorGuardStart(void)
{
  PetscFunctionBegin;
#if PetscDefined(USE_LOG)
  PetscBool room = PETSC_FALSE;

  if (VCRSWatchStarted) PetscFunctionReturn(PETSC_SUCCESS);
  VCRSWatchStarted = PETSC_TRUE;

  /* the packages register the watched events */
  PetscCall(KSPInitializePackage());
  for (int k = 0; k < PETSC_LOG_HANDLER_MAX; k++) {
    if (!PetscLogHandlers[k].handler) room = PETSC_TRUE;
  }
  if (room) {
    PetscCall(PetscLogHandlerRegister(VCRS_LOGHANDLER, PetscLogHandlerCreate_VCRS));
    PetscCall(PetscLogHandlerCreate(PETSC_COMM_SELF, &VCRSWatch));
    PetscCall(PetscLogHandlerSetType(VCRSWatch, VCRS_LOGHANDLER));
    PetscCall(PetscLogHandlerStart(VCRSWatch));
  } else PetscCall(PetscInfo(NULL, "PETSc has no room for another log handler: preconditioners are not recognized, and lossy matrices are refused in them\n"));
  PetscCall(PetscRegisterFinalize(VCRSWatchStop_Private));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The rule ---- */

/* Called before a product of A, on all processes of A: an error unless A may multiply */
PetscErrorCode MatVCRSCheckProduct_Private(Mat A)
{
  Mat_VCRS   *ctx;
  PetscBool   lost;
  const char *why = ". (Preconditioners are not recognized here: PETSc logs no events of PC, because of -log_exclude, say)";

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSHasLost_Private(A, ctx, &lost));
  if (!lost) PetscFunctionReturn(PETSC_SUCCESS);
#if PetscDefined(USE_LOG)
  if (VCRSWatch) {
    VCRSWatchData *data = (VCRSWatchData *)VCRSWatch->data;

    if (VCRSInside) {
      if (!data->lossyoperator) PetscFunctionReturn(PETSC_SUCCESS);
      why = ". (It is for a preconditioner, but the operator of that one's solve is lossy as well)";
    } else if (PetscLogStateEventCurrentlyActive(petsc_log_state, PC_Apply) && PetscLogStateEventCurrentlyActive(petsc_log_state, PC_SetUp)) why = "";
  }
#endif
  PetscCall(MatVCRSRefuse_Private(A, ctx, "A product", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}
