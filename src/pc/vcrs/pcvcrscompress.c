/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   What the application of a preconditioner reads, compressed.

   After the inner preconditioner has been set up, it is walked over: the preconditioner itself, and
   below it the solvers of levels, blocks, splits and so on. Of each place where an application reads
   a matrix a compressed copy is made. The exact matrices stay where they are, since the next set-up
   needs them (a Galerkin product, a Jacobi diagonal, a factorization), and so do all who ask the
   inner preconditioner for them. Only while it is applied does the copy stand in the place of the
   exact matrix: exchanging them costs a few pointers a level.

   While exchanged, nothing may be set up again, or it would be from the copies: each preconditioner
   inside is told to reuse what it has, and each solver that it has seen its matrix.
*/

#include "pcvcrsimpl.h"
#include <petsc/private/pcmgimpl.h>

static PetscErrorCode PCVCRSWalk_Private(PC_VCRS *, PC, KSP, const char[]);

/* Types whose data is PC_MG */
static PetscErrorCode PCVCRSIsMultigrid_Private(PC pc, PetscBool *ismg)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectHasFunction((PetscObject)pc, "PCMGGetLevels_C", ismg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins a line of the view */
static PetscErrorCode PCVCRSAddLine_Private(PC_VCRS *v, const char where[], const char what[], PetscBool blocks, PetscInt *line)
{
  char text[256];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s%s", where, what));
  PetscCall(PetscRealloc((size_t)(v->nlines + 1) * sizeof(*v->line), &v->line));
  *line                 = v->nlines++;
  v->line[*line].blocks = blocks;
  v->line[*line].left   = NULL;
  PetscCall(PetscStrallocpy(text, &v->line[*line].what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The view tells what is not compressed; of the blocks of a process once */
static PetscErrorCode PCVCRSAddLeft_Private(PC_VCRS *v, const char where[], const char what[], const char left[])
{
  PetscInt line = v->blockline;

  PetscFunctionBegin;
  if (line < 0) PetscCall(PCVCRSAddLine_Private(v, where, what, PETSC_FALSE, &line));
  if (!v->line[line].left) PetscCall(PetscStrallocpy(left, &v->line[line].left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSCreateCopyWith_Private(const PCVCRSOptions *opt, MatVCRSLoss loss, Mat exact, Mat *compressed)
{
  MatNullSpace nullspace;
  PetscBool    isvcrs;
  Mat          B;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)exact, &isvcrs, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
  if (isvcrs) PetscCall(MatDuplicate(exact, MAT_COPY_VALUES, &B));
  else PetscCall(MatConvert(exact, MATVCRS, MAT_INITIAL_MATRIX, &B));

  /* The options of this preconditioner, whatever those of matrices say */
  PetscCall(MatVCRSSetLayout(B, MATVCRS_LAYOUT_AUTO));
  PetscCall(MatVCRSSetBits(B, opt->bits));
  PetscCall(MatVCRSSetBins(B, opt->bins));
  PetscCall(MatVCRSSetLambda(B, opt->lambda, opt->unit));
  PetscCall(MatVCRSSetPreserveRowSums(B, opt->rowsums));
  PetscCall(MatVCRSSetLoss(B, loss));
  PetscCall(MatVCRSSetAllowLossyOperator(B, PETSC_TRUE)); /* it is no operator of the program's */

  /* Solvers project on what is orthogonal to these */
  PetscCall(MatGetNullSpace(exact, &nullspace));
  if (nullspace) PetscCall(MatSetNullSpace(B, nullspace));
  PetscCall(MatGetTransposeNullSpace(exact, &nullspace));
  if (nullspace) PetscCall(MatSetTransposeNullSpace(B, nullspace));

  /* Relaxation and rows come from the compressed form only where there is nothing else */
  PetscCall(MatVCRSDropAIJ(B));
  *compressed = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The entries of an interpolation are often few different numbers, which are smaller as they are than
   with what a loss adds to keep the row sums. Interpolations are not square; they take the smaller one.
*/
static PetscErrorCode PCVCRSCreateCopy_Private(const PCVCRSOptions *opt, Mat exact, Mat *compressed)
{
  MatVCRSInfo lossy, lossless;
  PetscInt    m, n;
  Mat         B;

  PetscFunctionBegin;
  PetscCall(PCVCRSCreateCopyWith_Private(opt, opt->loss, exact, compressed));
  PetscCall(MatGetSize(exact, &m, &n));
  if (m == n || opt->loss == MATVCRS_LOSS_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCVCRSCreateCopyWith_Private(opt, MATVCRS_LOSS_NONE, exact, &B));
  PetscCall(MatVCRSGetInfo(*compressed, &lossy));
  PetscCall(MatVCRSGetInfo(B, &lossless));
  if (lossless.bytes <= lossy.bytes) {
    PetscCall(MatDestroy(compressed));
    *compressed = B;
  } else PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of the copy of a matrix, which is made if there is none of it as it is now; -1 of what cannot be compressed */
static PetscErrorCode PCVCRSAddCopy_Private(PC_VCRS *v, Mat exact, const char where[], const char what[], PetscInt *number)
{
  MatState    state;
  const char *type;
  PetscBool   isseq, ismpi, assembled;
  Mat         compressed = NULL;

  PetscFunctionBegin;
  *number = -1;
  if (!exact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAssembled(exact, &assembled));
  if (!assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetState(exact, &state));
  for (PetscInt k = 0; k < v->ncopies; k++) {
    if (v->copy[k].exact.id == state.id) {
      *number = k;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }

  /* AIJ and its relatives on other devices */
  PetscCall(MatGetType(exact, &type));
  PetscCall(PetscStrbeginswith(type, MATSEQAIJ, &isseq));
  PetscCall(PetscStrbeginswith(type, MATMPIAIJ, &ismpi));
  if (!isseq && !ismpi) {
    char left[128];

    PetscCall(PetscSNPrintf(left, sizeof(left), "matrix of type %s, left as it is", type));
    PetscCall(PCVCRSAddLeft_Private(v, where, what, left));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  for (PetscInt k = 0; k < v->nold && !compressed; k++) {
    PetscBool same;

    PetscCall(MatStateCompare(state, v->old[k].exact, &same));
    if (same) {
      compressed           = v->old[k].compressed;
      v->old[k].compressed = NULL;
    }
  }
  if (!compressed) PetscCall(PCVCRSCreateCopy_Private(&v->opt, exact, &compressed));

  PetscCall(PetscRealloc((size_t)(v->ncopies + 1) * sizeof(*v->copy), &v->copy));
  *number                     = v->ncopies++;
  v->copy[*number].exact      = state;
  v->copy[*number].compressed = compressed;
  v->copy[*number].line       = v->blockline;
  if (v->blockline < 0) PetscCall(PCVCRSAddLine_Private(v, where, what, PETSC_FALSE, &v->copy[*number].line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSWalkKSP_Private(PC_VCRS *v, KSP ksp, const char where[])
{
  PC pc;

  PetscFunctionBegin;
  if (!ksp) PetscFunctionReturn(PETSC_SUCCESS);
  /* Some are set up when they are first used; that must be before the exchange */
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCVCRSWalk_Private(v, pc, ksp, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks: processes may have different numbers of them, so that they share a line of the view */
static PetscErrorCode PCVCRSWalkBlocks_Private(PC_VCRS *v, PetscInt n, KSP ksp[], const char where[])
{
  const PetscInt outer = v->blockline;

  PetscFunctionBegin;
  if (outer < 0) PetscCall(PCVCRSAddLine_Private(v, where, "blocks", PETSC_TRUE, &v->blockline));
  for (PetscInt k = 0; k < n; k++) PetscCall(PCVCRSWalkKSP_Private(v, ksp[k], where));
  v->blockline = outer;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSWalkLevels_Private(PC_VCRS *v, PC pc, const char where[])
{
  PC_MG *mg = (PC_MG *)pc->data;
  char   below[128];

  PetscFunctionBegin;
  for (PetscInt i = mg->nlevels - 1; mg->levels && i >= 0; i--) {
    PC_MG_Levels *level = mg->levels[i];
    PCVCRSLevel   entry = {.pc = pc, .level = i, .copy = {-1, -1, -1}};

    PetscCall(PetscSNPrintf(below, sizeof(below), "%slevel %" PetscInt_FMT " ", where, i));
    if (i > 0) {
      /* A residual of the program's own may want a matrix of the program's own */
      if (level->residual == PCMGResidualDefault) PetscCall(PCVCRSAddCopy_Private(v, level->A, below, "operator", &entry.copy[PCVCRS_RESIDUAL]));
      PetscCall(PCVCRSAddCopy_Private(v, level->interpolate, below, "interpolation", &entry.copy[PCVCRS_INTERPOLATION]));
      PetscCall(PCVCRSAddCopy_Private(v, level->restrct, below, "restriction", &entry.copy[PCVCRS_RESTRICTION]));
      PetscCall(PetscRealloc((size_t)(v->nlevels + 1) * sizeof(*v->level), &v->level));
      v->level[v->nlevels++] = entry;
      PetscCall(PetscObjectReference((PetscObject)pc));
    }
    PetscCall(PCVCRSWalkKSP_Private(v, level->smoothd, below));
    if (level->smoothu != level->smoothd) PetscCall(PCVCRSWalkKSP_Private(v, level->smoothu, below));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSWalkSplits_Private(PC_VCRS *v, PC pc, const char where[])
{
  PCCompositeType type;
  PetscInt        n;
  KSP            *ksp;
  char            below[128];

  PetscFunctionBegin;
  PetscCall(PCFieldSplitGetType(pc, &type));
  if (type == PC_COMPOSITE_SCHUR) PetscCall(PCFieldSplitSchurGetSubKSP(pc, &n, &ksp));
  else PetscCall(PCFieldSplitGetSubKSP(pc, &n, &ksp));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(PetscSNPrintf(below, sizeof(below), "%ssplit %" PetscInt_FMT " ", where, k));
    PetscCall(PCVCRSWalkKSP_Private(v, ksp[k], below));
  }
  PetscCall(PetscFree(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   One preconditioner, and what is below it. A solver that iterates reads the operator of its
   preconditioner; of the preconditioners themselves SOR and the composites that are not additive
   read one; the others hold what they need, or are told by their type to have something below.
*/
static PetscErrorCode PCVCRSWalk_Private(PC_VCRS *v, PC pc, KSP ksp, const char where[])
{
  PCVCRSPlace place = {.pc = pc, .ksp = ksp, .mat = -1, .pmat = -1};
  PetscBool   once  = PETSC_FALSE, ismg, issor, iscomposite, isbjacobi, isasm, isgasm, isksp, isfieldsplit, issmall;
  PetscInt    n     = 0;
  KSP        *sub   = NULL;
  char        below[128];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < v->nplaces; k++) {
    if (v->place[k].pc == pc) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!pc->mat || !pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetUpOnBlocks(pc));

  PetscCall(PCVCRSIsMultigrid_Private(pc, &ismg));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSOR, &issor));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCCOMPOSITE, &iscomposite));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &isbjacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, &isasm));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGASM, &isgasm));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCKSP, &isksp));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCFIELDSPLIT, &isfieldsplit));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &issmall, PCNONE, PCJACOBI, PCPBJACOBI, PCVPBJACOBI, PCVCRS, ""));

  /* What is read here */
  if (ksp) PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &once, KSPPREONLY, KSPNONE, ""));
  if (ksp && !once) PetscCall(PCVCRSAddCopy_Private(v, pc->mat, where, "operator", &place.mat));
  if (issor) PetscCall(PCVCRSAddCopy_Private(v, pc->pmat, where, pc->pmat == pc->mat ? "operator" : "preconditioner's matrix", &place.pmat));
  if (iscomposite) {
    PCCompositeType type;

    PetscCall(PCCompositeGetType(pc, &type));
    if (type == PC_COMPOSITE_MULTIPLICATIVE || type == PC_COMPOSITE_SYMMETRIC_MULTIPLICATIVE) {
      if (pc->useAmat) PetscCall(PCVCRSAddCopy_Private(v, pc->mat, where, "operator", &place.mat));
      else PetscCall(PCVCRSAddCopy_Private(v, pc->pmat, where, "operator", &place.pmat));
    }
  }
  PetscCall(PetscRealloc((size_t)(v->nplaces + 1) * sizeof(*v->place), &v->place));
  v->place[v->nplaces++] = place;
  PetscCall(PetscObjectReference((PetscObject)pc));
  PetscCall(PetscObjectReference((PetscObject)ksp));

  /* What is below */
  if (ismg) PetscCall(PCVCRSWalkLevels_Private(v, pc, where));
  else if (iscomposite) {
    PetscCall(PCCompositeGetNumberPC(pc, &n));
    for (PetscInt k = 0; k < n; k++) {
      PC part;

      PetscCall(PCCompositeGetPC(pc, k, &part));
      PetscCall(PetscSNPrintf(below, sizeof(below), "%spart %" PetscInt_FMT " ", where, k));
      PetscCall(PCVCRSWalk_Private(v, part, NULL, below));
    }
  } else if (isksp) {
    PetscCall(PCKSPGetKSP(pc, &ksp));
    PetscCall(PetscSNPrintf(below, sizeof(below), "%sksp ", where));
    PetscCall(PCVCRSWalkKSP_Private(v, ksp, below));
  } else if (isfieldsplit) PetscCall(PCVCRSWalkSplits_Private(v, pc, where));
  else if (isbjacobi || isasm || isgasm) {
    if (isbjacobi) PetscCall(PCBJacobiGetSubKSP(pc, &n, NULL, &sub));
    else if (isasm) PetscCall(PCASMGetSubKSP(pc, &n, NULL, &sub));
    else PetscCall(PCGASMGetSubKSP(pc, &n, NULL, &sub));
    PetscCall(PCVCRSWalkBlocks_Private(v, n, sub, where));
  } else if (!issor && !issmall) {
    char left[128];

    PetscCall(PetscSNPrintf(left, sizeof(left), "%s, left as it is", ((PetscObject)pc)->type_name));
    PetscCall(PCVCRSAddLeft_Private(v, where, "preconditioner", left));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives back places and lines; copies too, but if they are to be taken over */
PetscErrorCode PCVCRSForget_Private(PC_VCRS *v, PetscBool copies)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < v->nplaces; k++) {
    PetscCall(PCDestroy(&v->place[k].pc));
    PetscCall(KSPDestroy(&v->place[k].ksp));
  }
  for (PetscInt k = 0; k < v->nlevels; k++) PetscCall(PCDestroy(&v->level[k].pc));
  for (PetscInt k = 0; k < v->nlines; k++) {
    PetscCall(PetscFree(v->line[k].what));
    PetscCall(PetscFree(v->line[k].left));
  }
  PetscCall(PetscFree(v->place));
  PetscCall(PetscFree(v->level));
  PetscCall(PetscFree(v->line));
  v->nplaces = v->nlevels = v->nlines = 0;
  if (copies) {
    for (PetscInt k = 0; k < v->ncopies; k++) PetscCall(MatDestroy(&v->copy[k].compressed));
    PetscCall(PetscFree(v->copy));
    v->ncopies = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSForgetOld_Private(PC_VCRS *v)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < v->nold; k++) PetscCall(MatDestroy(&v->old[k].compressed));
  PetscCall(PetscFree(v->old));
  v->nold = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSClear_Private(PC_VCRS *v)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSExchange_Private(v, PETSC_FALSE));
  PetscCall(PCVCRSForget_Private(v, PETSC_TRUE));
  PetscCall(PCVCRSForgetOld_Private(v));
  v->current = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the copies those of the inner preconditioner as it is now, which has been set up. Copies of what did not change stay */
PetscErrorCode PCVCRSCompress_Private(PC pc)
{
  PC_VCRS *v = (PC_VCRS *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCVCRSExchange_Private(v, PETSC_FALSE));
  PetscCall(PCVCRSForget_Private(v, PETSC_FALSE));
  PetscCall(PCVCRSForgetOld_Private(v)); /* of a time that ended with an error */
  v->old       = v->copy;
  v->nold      = v->ncopies;
  v->copy      = NULL;
  v->ncopies   = 0;
  v->blockline = -1;
  PetscCall(PCVCRSWalk_Private(v, v->inner, NULL, ""));
  PetscCall(PCVCRSForgetOld_Private(v));
  v->current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Puts a copy in the place of its exact matrix, or the exact matrix back. The reference that the place
   has to its matrix goes with the pointer, and somebody may have changed the place meanwhile.
*/
static PetscErrorCode PCVCRSExchangeOne_Private(PC_VCRS *v, Mat *where, PetscInt number, PetscBool in, Mat *exact, PetscBool *isin)
{
  PetscFunctionBegin;
  if (in && !*isin && number >= 0 && *where) {
    PetscObjectId id;

    PetscCall(PetscObjectGetId((PetscObject)*where, &id));
    if (id != v->copy[number].exact.id) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscObjectReference((PetscObject)v->copy[number].compressed));
    *exact = *where;
    *where = v->copy[number].compressed;
    *isin  = PETSC_TRUE;
  } else if (!in && *isin) {
    *isin = PETSC_FALSE;
    if (where && *where == v->copy[number].compressed) {
      PetscCall(PetscObjectDereference((PetscObject)*where));
      *where = *exact;
      *exact = NULL;
    } else PetscCall(MatDestroy(exact));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies in the places of the exact matrices, or back */
PetscErrorCode PCVCRSExchange_Private(PC_VCRS *v, PetscBool in)
{
  PetscFunctionBegin;
  if (v->exchanged == in) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < v->nplaces; k++) {
    PCVCRSPlace *p = &v->place[k];

    PetscCall(PCVCRSExchangeOne_Private(v, &p->pc->mat, p->mat, in, &p->matexact, &p->matin));
    PetscCall(PCVCRSExchangeOne_Private(v, &p->pc->pmat, p->pmat, in, &p->pmatexact, &p->pmatin));
    if (in) {
      p->reuse                   = p->pc->reusepreconditioner;
      p->pc->reusepreconditioner = PETSC_TRUE;
      if (p->ksp) {
        p->amatstate = p->ksp->amatstate;
        PetscCall(MatGetState(p->pc->mat, &p->ksp->amatstate));
      }
      p->frozen = PETSC_TRUE;
    } else if (p->frozen) {
      p->pc->reusepreconditioner = p->reuse;
      if (p->ksp) p->ksp->amatstate = p->amatstate;
      p->frozen = PETSC_FALSE;
    }
  }
  for (PetscInt k = 0; k < v->nlevels; k++) {
    PCVCRSLevel *l                            = &v->level[k];
    Mat         *where[PCVCRS_LEVEL_MATRICES] = {NULL, NULL, NULL};
    PetscBool    ismg;

    /* It may have another type, or other levels, since */
    PetscCall(PCVCRSIsMultigrid_Private(l->pc, &ismg));
    if (ismg) {
      PC_MG *mg = (PC_MG *)l->pc->data;

      if (mg->levels && l->level < mg->nlevels) {
        where[PCVCRS_RESIDUAL]      = &mg->levels[l->level]->A;
        where[PCVCRS_INTERPOLATION] = &mg->levels[l->level]->interpolate;
        where[PCVCRS_RESTRICTION]   = &mg->levels[l->level]->restrct;
      }
    }
    for (int m = 0; m < PCVCRS_LEVEL_MATRICES; m++) {
      if (where[m] || !in) PetscCall(PCVCRSExchangeOne_Private(v, where[m], l->copy[m], in, &l->exact[m], &l->in[m]));
    }
  }
  v->exchanged = in;
  PetscFunctionReturn(PETSC_SUCCESS);
}
