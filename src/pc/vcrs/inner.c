/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The inner preconditioner, which gets the settings of its PCVCRS.

   A program written for -pc_type fieldsplit may run with -pc_type vcrs -vcrs_pc_type fieldsplit. The program then gives
   its fields to the outer preconditioner. Three kinds of settings are passed on. Members of the PC itself (DM,
   PCSetUseAmat(), ...) are copied when the inner preconditioner is next needed. Functions that PETSc looks up by name
   have a counterpart each. The options prefix is the third. Settings that a program makes on the inner preconditioner
   have precedence.
*/

#include "pcvcrsimpl.h"

/* The prefix of the inner preconditioner, and the prefix of the copies below; both follow the outer prefix */
static PetscErrorCode PCVCRSFollowPrefix_Private(PC pc)
{
  PC_VCRS    *v = (PC_VCRS *)pc->data;
  const char *outer, *inner;
  PetscBool   same;
  char        text[512];

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &outer));
  PetscCall(PCGetOptionsPrefix(v->inner.pc, &inner));
  PetscCall(PetscStrcmp(inner, v->inner.prefix, &same)); /* otherwise the program gave the prefix */
  PetscCall(PetscSNPrintf(text, sizeof(text), "%svcrs_", outer ? outer : ""));
  if (same) {
    PetscCall(PetscStrcmp(text, v->inner.prefix, &same));
    if (!same) {
      PetscCall(PetscFree(v->inner.prefix));
      PetscCall(PetscStrallocpy(text, &v->inner.prefix));
      PetscCall(PCSetOptionsPrefix(v->inner.pc, text));
    }
  }
  PetscCall(PCGetOptionsPrefix(v->inner.pc, &inner));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%scopy_", inner ? inner : ""));
  PetscCall(PetscStrcmp(text, v->inner.copyprefix, &same));
  if (!same) {
    PetscCall(PetscFree(v->inner.copyprefix));
    PetscCall(PetscStrallocpy(text, &v->inner.copyprefix));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Passes on new settings of the outer preconditioner, unless the inner one has changed them */
static PetscErrorCode PCVCRSFollow_Private(PC pc)
{
  PC_VCRS *v     = (PC_VCRS *)pc->data;
  PC       inner = v->inner.pc;

  PetscFunctionBegin;
  PetscCall(PCVCRSFollowPrefix_Private(pc));
  if (pc->dm != v->inner.dm) {
    if (!inner->dm || inner->dm == v->inner.dm) PetscCall(PCSetDM(inner, pc->dm));
    v->inner.dm = pc->dm;
  }
  if (pc->useAmat != v->inner.useamat) PetscCall(PCSetUseAmat(inner, pc->useAmat));
  if (pc->modifysubmatrices != v->inner.modifysubmatrices || pc->modifysubmatricesP != v->inner.modifysubmatricesctx)
    PetscCall(PCSetModifySubMatrices(inner, pc->modifysubmatrices, pc->modifysubmatricesP));
  if (pc->ctx != v->inner.ctx && (!inner->ctx || inner->ctx == v->inner.ctx)) PetscCall(PCSetApplicationContext(inner, pc->ctx));
  v->inner.useamat              = pc->useAmat;
  v->inner.modifysubmatrices    = pc->modifysubmatrices;
  v->inner.modifysubmatricesctx = pc->modifysubmatricesP;
  v->inner.ctx                  = pc->ctx;
  PetscCall(PCSetKSPNestLevel(inner, pc->kspnestlevel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSInnerDestroy_Private(PCVCRSInner *inner)
{
  PetscFunctionBegin;
  PetscCall(PCDestroy(&inner->pc));
  PetscCall(PetscFree(inner->prefix));
  PetscCall(PetscFree(inner->copyprefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inner preconditioner, created on demand */
PetscErrorCode PCVCRSGetInner_Private(PC pc, PC *inner)
{
  PC_VCRS *v = (PC_VCRS *)pc->data;

  PetscFunctionBegin;
  if (!v->inner.pc) {
    PetscCall(PCCreate(PetscObjectComm((PetscObject)pc), &v->inner.pc));
    PetscCall(PetscObjectIncrementTabLevel((PetscObject)v->inner.pc, (PetscObject)pc, 1));
  }
  PetscCall(PCVCRSFollow_Private(pc));
  *inner = v->inner.pc;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For the program, which may set the inner type and options, and may call PCSetUp() of the inner preconditioner */
PetscErrorCode PCVCRSGetPC_VCRS(PC pc, PC *inner)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSGetInner_Private(pc, inner));
  if (pc->pmat && ((*inner)->pmat != pc->pmat || (*inner)->mat != pc->mat) && !(*inner)->setupcalled) PetscCall(PCSetOperators(*inner, pc->mat, pc->pmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Functions found by name ---- */

#define PCVCRS_SETTER(F, types, parameters, names) \
  static PetscErrorCode F##_VCRS parameters        \
  {                                                \
    PC inner = NULL;                               \
                                                   \
    PetscFunctionBegin;                            \
    PetscCall(PCVCRSGetPC_VCRS(pc, &inner));       \
    PetscTryMethod(inner, #F "_C", types, names);  \
    PetscFunctionReturn(PETSC_SUCCESS);            \
  }
#define PCVCRS_GETTER(F, types, parameters, names) \
  static PetscErrorCode F##_VCRS parameters        \
  {                                                \
    PC inner = NULL;                               \
                                                   \
    PetscFunctionBegin;                            \
    PetscCall(PCVCRSGetPC_VCRS(pc, &inner));       \
    PetscUseMethod(inner, #F "_C", types, names);  \
    PetscFunctionReturn(PETSC_SUCCESS);            \
  }
#include "pcvcrsforwards.h"
#undef PCVCRS_SETTER
#undef PCVCRS_GETTER

/*
   The first setting of a program for a PCMG: the next setting would take the data of this preconditioner for data of
   PCMG
*/
static PetscErrorCode PCMGSetLevels_VCRS(PC pc, PETSC_UNUSED PetscInt levels, PETSC_UNUSED MPI_Comm *comms)
{
  PC        inner = NULL;
  PetscBool ismg;

  PetscFunctionBegin;
  PetscCall(PCVCRSGetPC_VCRS(pc, &inner));
  PetscCall(PCVCRSIsMultigrid_Private(inner, &ismg));
  PetscCheck(!ismg, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "PCMGSetLevels() with a PC of type vcrs: functions of PCMG need the multigrid preconditioner itself. Call them with the PC of PCVCRSGetPC()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSComposeForwards_Private(PC pc, PetscBool compose)
{
  PetscFunctionBegin;
#define PCVCRS_SETTER(F, types, parameters, names) PetscCall(PetscObjectComposeFunction((PetscObject)pc, #F "_C", compose ? F##_VCRS : NULL));
#define PCVCRS_GETTER(F, types, parameters, names) PCVCRS_SETTER(F, types, parameters, names)
#include "pcvcrsforwards.h"
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCMGSetLevels_C", compose ? PCMGSetLevels_VCRS : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
