/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Features of PETSc 3.26 missing in 3.24 or 3.25. All other sources are written for 3.26: no other file tests a
   version. Functions whose names begin with Lithe replace members of PETSc's structures that some versions lack.
*/

#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>
#include <petscblaslapack.h>

/* The orthogonalization of a KSP: 3.26 has a member in each KSP, earlier versions only in the GMRES family */
#if PETSC_VERSION_LT(3, 26, 0)
typedef KSPGMRESCGSRefinementType LitheRefinement;
  #define KSP_ORTHOGONALIZATION_CGS_REFINE_NEVER    KSP_GMRES_CGS_REFINE_NEVER
  #define KSP_ORTHOGONALIZATION_CGS_REFINE_IFNEEDED KSP_GMRES_CGS_REFINE_IFNEEDED
  #define KSP_ORTHOGONALIZATION_CGS_REFINE_ALWAYS   KSP_GMRES_CGS_REFINE_ALWAYS
#else
typedef KSPOrthogonalizationCGSRefinementType LitheRefinement;
#endif

typedef struct {
  PetscBool       modified; /* modified Gram-Schmidt, else classical Gram-Schmidt */
  PetscBool       foreign;  /* by a function of the program's own */
  LitheRefinement refine;   /* of classical Gram-Schmidt */
} LitheOrthogonalization;

#if PETSC_VERSION_LT(3, 25, 0)
typedef void  *PetscCtx;
typedef void **PetscCtxRt;
  #define KSPFlexibleModifyPCNoChange KSPFGMRESModifyPCNoChange
  #define KSPFlexibleModifyPCKSP      KSPFGMRESModifyPCKSP

  /* a KSP has one flag for all objects made by the DM */
  #define KSP_DMACTIVE_ALL                PETSC_TRUE
  #define KSPSetDMActive(ksp, what, flag) KSPSetDMActive(ksp, (PetscBool)((what) && (flag)))

  /* the destructor of a MatProduct's data gets the data, not a pointer to the member */
  #define LITHE_MATPRODUCT_DESTROY(function)         \
    static PetscErrorCode function##Data(void *data) \
    {                                                \
      PetscFunctionBegin;                            \
      PetscCall(function(&data));                    \
      PetscFunctionReturn(PETSC_SUCCESS);            \
    }
#else
  #define LITHE_MATPRODUCT_DESTROY(function)              \
    static PetscErrorCode function##Data(PetscCtxRt data) \
    {                                                     \
      PetscFunctionBegin;                                 \
      PetscCall(function(data));                          \
      PetscFunctionReturn(PETSC_SUCCESS);                 \
    }
#endif

#if PETSC_VERSION_LT(3, 26, 0)

/* ---- Vec ---- */

  #define VecPointwiseDivide LitheVecPointwiseDivide

/* 0/0 is 1, and not 0 */
static inline PetscErrorCode LitheVecPointwiseDivide(Vec w, Vec x, Vec y)
{
  const PetscScalar *a, *b;
  PetscScalar       *c;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(w, &n));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayRead(y, &b));
  PetscCall(VecGetArray(w, &c));
  for (PetscInt i = 0; i < n; i++) c[i] = b[i] != (PetscScalar)0.0 ? a[i] / b[i] : (PetscScalar)(a[i] == (PetscScalar)0.0);
  PetscCall(VecRestoreArray(w, &c));
  PetscCall(VecRestoreArrayRead(y, &b));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Mat ---- */

typedef struct {
  PetscObjectId    id;
  PetscObjectState state, nonzerostate;
} MatState;

/* PETSc has a MatGetState() of another meaning */
  #define MatGetState LitheMatGetState

static inline PetscErrorCode LitheMatGetState(Mat A, MatState *state)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &state->id));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state->state));
  PetscCall(MatGetNonzeroState(A, &state->nonzerostate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode MatStateCompare(MatState a, MatState b, PetscBool *same)
{
  PetscFunctionBegin;
  *same = (PetscBool)(a.id == b.id && a.state == b.state && a.nonzerostate == b.nonzerostate);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PETSc does not install the structure with the communication of a MATMPIAIJ: a second communication brings the same
   ghost entries
*/
typedef struct {
  VecScatter       scatter;
  PetscObjectId    block; /* of the matching off-diagonal block; a changed pattern makes another communication, on all processes */
  PetscObjectState nonzerostate;
} LitheMultSF;

static inline PetscErrorCode LitheMultSFDestroy(PetscCtxRt ctx)
{
  LitheMultSF *m = *(LitheMultSF **)ctx;

  PetscFunctionBegin;
  PetscCall(VecScatterDestroy(&m->scatter));
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode LitheMultSFMake(Mat A, Mat Ao, const PetscInt ghosts[], VecScatter *scatter)
{
  IS  from, to;
  Vec global, local;

  PetscFunctionBegin;
  /* -is_view prints an ISGENERAL, and no ISBLOCK */
  PetscCall(ISCreateBlock(PETSC_COMM_SELF, 1, Ao->cmap->n, ghosts, PETSC_COPY_VALUES, &from));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, Ao->cmap->n, 0, 1, &to));
  PetscCall(VecCreateMPIWithArray(PetscObjectComm((PetscObject)A), 1, A->cmap->n, A->cmap->N, NULL, &global));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, Ao->cmap->n, NULL, &local));
  PetscCall(VecScatterCreate(global, from, local, to, scatter));
  PetscCall(VecDestroy(&global));
  PetscCall(VecDestroy(&local));
  PetscCall(ISDestroy(&from));
  PetscCall(ISDestroy(&to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode MatGetMultPetscSF(Mat A, PetscSF *sf)
{
  PetscContainer   container;
  LitheMultSF     *m = NULL;
  Mat              Ao;
  const PetscInt  *ghosts;
  PetscObjectId    block;
  PetscObjectState nonzerostate;

  PetscFunctionBegin;
  *sf = NULL;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &Ao, &ghosts));
  PetscCall(PetscObjectGetId((PetscObject)Ao, &block));
  PetscCall(MatGetNonzeroState(A, &nonzerostate));
  PetscCall(PetscObjectQuery((PetscObject)A, "LitheMultSF", (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)&m));
  if (!m || m->block != block || m->nonzerostate != nonzerostate) {
    PetscCall(PetscNew(&m));
    PetscCall(LitheMultSFMake(A, Ao, ghosts, &m->scatter));
    m->block        = block;
    m->nonzerostate = nonzerostate;
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, m));
    PetscCall(PetscContainerSetCtxDestroy(container, LitheMultSFDestroy));
    PetscCall(PetscObjectCompose((PetscObject)A, "LitheMultSF", (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
  }
  *sf = m->scatter;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatGetOrdering() asks the type for nothing */
static inline PetscBool LitheMatHasGetOrdering(PETSC_UNUSED const struct _MatOps *ops)
{
  return PETSC_FALSE;
}

static inline void LitheMatSetGetOrdering(PETSC_UNUSED Mat A, PETSC_UNUSED PetscErrorCode (*ordering)(Mat, MatOrderingType, IS *, IS *))
{
}

/* ---- PC and KSP ---- */

  #define LithePCMatState(pc)   (pc)->matstate
  #define KSP_Orthogonalization KSP_GMRESOrthogonalization
PETSC_EXTERN PetscLogEvent KSP_GMRESOrthogonalization;

  /* the settings of KSPGMRESSetOrthogonalization() and KSPGMRESSetCGSRefinementType(), kept by the KSP when its type
     changes */
  #define KSPOrthogonalizationClassicalGramSchmidt KSPGMRESClassicalGramSchmidtOrthogonalization
  #define KSPOrthogonalizationModifiedGramSchmidt  KSPGMRESModifiedGramSchmidtOrthogonalization
  #define KSPOrthogonalizationSet(ksp, function)   KSPGMRESSetOrthogonalization(ksp, (LitheOrthogonalizationFn *)(function))
  #define KSPOrthogonalizationSetCGSRefinementType KSPGMRESSetCGSRefinementType
typedef PetscErrorCode LitheOrthogonalizationFn(KSP, PetscInt);

typedef struct {
  LitheOrthogonalizationFn *function;
  LitheRefinement           refine;
} LitheOrthogonalizationData;

static inline PetscErrorCode LitheOrthogonalizationGetData(KSP ksp, LitheOrthogonalizationData **data)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)ksp, "LitheOrthogonalization", (PetscObject *)&container));
  if (!container) {
    PetscCall(PetscNew(data));
    **data = (LitheOrthogonalizationData){KSPGMRESClassicalGramSchmidtOrthogonalization, KSP_GMRES_CGS_REFINE_NEVER};
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, *data));
    PetscCall(PetscContainerSetCtxDestroy(container, PetscCtxDestroyDefault));
    PetscCall(PetscObjectCompose((PetscObject)ksp, "LitheOrthogonalization", (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscContainerGetPointer(container, (void **)data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode LitheOrthogonalizationSet(KSP ksp, LitheOrthogonalizationFn *function)
{
  LitheOrthogonalizationData *data;

  PetscFunctionBegin;
  PetscCall(LitheOrthogonalizationGetData(ksp, &data));
  data->function = function;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode LitheOrthogonalizationGet(KSP ksp, LitheOrthogonalizationFn **function)
{
  LitheOrthogonalizationData *data;

  PetscFunctionBegin;
  PetscCall(LitheOrthogonalizationGetData(ksp, &data));
  *function = data->function;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode LitheOrthogonalizationSetRefinement(KSP ksp, LitheRefinement refine)
{
  LitheOrthogonalizationData *data;

  PetscFunctionBegin;
  PetscCall(LitheOrthogonalizationGetData(ksp, &data));
  data->refine = refine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode LitheOrthogonalizationGetRefinement(KSP ksp, LitheRefinement *refine)
{
  LitheOrthogonalizationData *data;

  PetscFunctionBegin;
  PetscCall(LitheOrthogonalizationGetData(ksp, &data));
  *refine = data->refine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode LitheKSPComposeOrthogonalization(KSP ksp, PetscBool on)
{
  PetscObject o = (PetscObject)ksp;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, "KSPGMRESSetOrthogonalization_C", on ? LitheOrthogonalizationSet : NULL));
  PetscCall(PetscObjectComposeFunction(o, "KSPGMRESGetOrthogonalization_C", on ? LitheOrthogonalizationGet : NULL));
  PetscCall(PetscObjectComposeFunction(o, "KSPGMRESSetCGSRefinementType_C", on ? LitheOrthogonalizationSetRefinement : NULL));
  PetscCall(PetscObjectComposeFunction(o, "KSPGMRESGetCGSRefinementType_C", on ? LitheOrthogonalizationGetRefinement : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options of KSPGMRES, and the options of 3.26 */
static inline PetscErrorCode LitheKSPOrthogonalizationSetFromOptions(KSP ksp, PetscOptionItems PetscOptionsObject)
{
  const char *const           names[] = {"cgs", "mgs"};
  LitheOrthogonalizationData *data;
  PetscInt                    which;
  PetscBool                   flg;

  PetscFunctionBegin;
  PetscCall(LitheOrthogonalizationGetData(ksp, &data));
  PetscCall(PetscOptionsBoolGroupBegin("-ksp_gmres_classicalgramschmidt", "Classical Gram-Schmidt", "KSPGMRESSetOrthogonalization", &flg));
  if (flg) data->function = KSPGMRESClassicalGramSchmidtOrthogonalization;
  PetscCall(PetscOptionsBoolGroupEnd("-ksp_gmres_modifiedgramschmidt", "Modified Gram-Schmidt", "KSPGMRESSetOrthogonalization", &flg));
  if (flg) data->function = KSPGMRESModifiedGramSchmidtOrthogonalization;
  PetscCall(PetscOptionsEList("-ksp_orthogonalization", "Orthogonalization method", "KSPGMRESSetOrthogonalization", names, 2, names[0], &which, &flg));
  if (flg) data->function = which ? KSPGMRESModifiedGramSchmidtOrthogonalization : KSPGMRESClassicalGramSchmidtOrthogonalization;
  PetscCall(PetscOptionsEnum("-ksp_gmres_cgs_refinement_type", "Refinement of classical Gram-Schmidt", "KSPGMRESSetCGSRefinementType",
                             KSPGMRESCGSRefinementTypes, (PetscEnum)data->refine, (PetscEnum *)&data->refine, NULL));
  PetscCall(PetscOptionsEnum("-ksp_orthogonalization_cgs_refinement_type", "Refinement of classical Gram-Schmidt", "KSPGMRESSetCGSRefinementType",
                             KSPGMRESCGSRefinementTypes, (PetscEnum)data->refine, (PetscEnum *)&data->refine, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode LitheKSPGetOrthogonalization(KSP ksp, LitheOrthogonalization *o)
{
  LitheOrthogonalizationData *data;

  PetscFunctionBegin;
  *o = (LitheOrthogonalization){PETSC_FALSE, PETSC_FALSE, KSP_GMRES_CGS_REFINE_NEVER};
  PetscCall(LitheOrthogonalizationGetData(ksp, &data));
  o->modified = (PetscBool)(data->function == KSPGMRESModifiedGramSchmidtOrthogonalization);
  o->foreign  = (PetscBool)(!o->modified && data->function != KSPGMRESClassicalGramSchmidtOrthogonalization);
  o->refine   = data->refine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a KSP does not compare its operator with the operator of its set-up */
static inline PetscErrorCode LitheKSPExchangeAmatState(PETSC_UNUSED KSP ksp, PETSC_UNUSED Mat A, MatState *was)
{
  PetscFunctionBegin;
  was->id = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline void LitheKSPRestoreAmatState(PETSC_UNUSED KSP ksp, PETSC_UNUSED MatState was)
{
}

/* a convergence test reads only a vector of right-hand sides, no matrix */
static inline Mat LitheKSPExchangeMatRhs(PETSC_UNUSED KSP ksp, PETSC_UNUSED Mat B)
{
  return NULL;
}

static inline PetscBool LitheKSPTransposeIsRequested(KSP ksp)
{
  return ksp->transpose_solve;
}

/* ---- LAPACK ---- */

  #define PetscCallLAPACKInfo(name, routine)                                                                        \
    do {                                                                                                            \
      PetscBLASInt info = -1000;                                                                                    \
                                                                                                                    \
      PetscCallBLAS(name, routine);                                                                                 \
      PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s() ended with info %" PetscBLASInt_FMT, name, info); \
    } while (0)

#else

  #define LithePCMatState(pc) (pc)->matstate.state

static inline PetscBool LitheMatHasGetOrdering(const struct _MatOps *ops)
{
  return (PetscBool)(ops->getordering != NULL);
}

static inline void LitheMatSetGetOrdering(Mat A, PetscErrorCode (*ordering)(Mat, MatOrderingType, IS *, IS *))
{
  A->ops->getordering = ordering;
}

/* PETSc reads the options and has the functions */
static inline PetscErrorCode LitheKSPComposeOrthogonalization(PETSC_UNUSED KSP ksp, PETSC_UNUSED PetscBool on)
{
  return PETSC_SUCCESS;
}

static inline PetscErrorCode LitheKSPOrthogonalizationSetFromOptions(PETSC_UNUSED KSP ksp, PETSC_UNUSED PetscOptionItems PetscOptionsObject)
{
  return PETSC_SUCCESS;
}

static inline PetscErrorCode LitheKSPGetOrthogonalization(KSP ksp, LitheOrthogonalization *o)
{
  PetscFunctionBegin;
  o->modified = (PetscBool)(ksp->orthog == KSPOrthogonalizationModifiedGramSchmidt);
  o->foreign  = (PetscBool)(!o->modified && ksp->orthog != KSPOrthogonalizationClassicalGramSchmidt);
  o->refine   = ksp->cgstype;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The KSP treats A as the operator of its set-up; was gets the previously known operator */
static inline PetscErrorCode LitheKSPExchangeAmatState(KSP ksp, Mat A, MatState *was)
{
  PetscFunctionBegin;
  *was = ksp->amatstate;
  PetscCall(MatGetState(A, &ksp->amatstate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline void LitheKSPRestoreAmatState(KSP ksp, MatState was)
{
  ksp->amatstate = was;
}

/* Sets the right-hand sides of KSPMatSolve() for convergence tests to B, and returns the previous ones */
static inline Mat LitheKSPExchangeMatRhs(KSP ksp, Mat B)
{
  Mat was = ksp->mat_rhs;

  ksp->mat_rhs = B;
  return was;
}

/* Whether a solve with the transpose was requested, explicitly or not */
static inline PetscBool LitheKSPTransposeIsRequested(KSP ksp)
{
  return ksp->transpose.solve_requested;
}

#endif
