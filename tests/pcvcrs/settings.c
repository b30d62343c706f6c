/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCVCRS and the inner preconditioner do the same with all settings which a program makes on either.\n\n";

#include <tests/pcvcrs/fieldstest.h>

/* Sums in another order */
#define TINY ((PetscReal)1e6 * PETSC_MACHINE_EPSILON)

static PetscInt compared = 0;

static PetscScalar Entry(const void *ctx, PETSC_UNUSED const DMDALocalInfo *info, PetscInt i, PetscInt j, PETSC_UNUSED PetscInt c, int k)
{
  const PetscInt round = *(const PetscInt *)ctx;

  if (k == FIELDS_OTHER) return -0.2;
  if (k == FIELDS_ROW) return (PetscScalar)(4.3 + 0.7 * (double)round + 0.1 * (double)((i + 2 * j) % 3));
  return (PetscScalar)(-1.0 - 0.3 * (double)round * (k < 2));
}

/* Two coupled Laplacians on a square, two unknowns per point; round: selects other values */
static PetscErrorCode FillGrid(DM da, PetscInt round, Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(FillFields(da, Entry, &round, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fields of unlike sizes: the first third of each process's unknowns, and the rest */
static PetscErrorCode CreateFields(Mat A, IS is[2])
{
  PetscInt start, end, third;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  third = (end - start) / 3;
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, third, start, 1, &is[0]));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, end - start - third, start + third, 1, &is[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- What is told. To the plain preconditioner, to the inner or to the outer one ---- */

typedef enum {
  PLAIN,
  INSIDE,
  OUTSIDE
} Listener;

static PetscErrorCode TellFields(PC pc, PETSC_UNUSED DM da, Mat A)
{
  IS is[2];

  PetscFunctionBeginUser;
  PetscCall(CreateFields(A, is));
  PetscCall(PCFieldSplitSetIS(pc, "a", is[0]));
  PetscCall(PCFieldSplitSetIS(pc, "b", is[1]));
  for (int k = 0; k < 2; k++) PetscCall(ISDestroy(&is[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A nested matrix defines fields and blocks; the program sets a preconditioner for the Schur complement */
static PetscErrorCode TellSchur(PC pc, PETSC_UNUSED DM da, Mat A)
{
  IS  is[2];
  Mat S;

  PetscFunctionBeginUser;
  PetscCall(CreateFields(A, is));
  PetscCall(PCFieldSplitSetType(pc, PC_COMPOSITE_SCHUR));
  PetscCall(TellFields(pc, da, A));
  PetscCall(MatCreateSubMatrix(A, is[1], is[1], MAT_INITIAL_MATRIX, &S));
  PetscCall(MatShift(S, 1.0));
  PetscCall(PCFieldSplitSetSchurPre(pc, PC_FIELDSPLIT_SCHUR_PRE_USER, S));
  PetscCall(MatDestroy(&S));
  for (int k = 0; k < 2; k++) PetscCall(ISDestroy(&is[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TellNest(PC pc, PETSC_UNUSED DM da, Mat A)
{
  IS is[2];

  PetscFunctionBeginUser;
  PetscCall(MatNestGetISs(A, is, NULL));
  PetscCall(PCFieldSplitSetIS(pc, "a", is[0]));
  PetscCall(PCFieldSplitSetIS(pc, "b", is[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Three subdomains per process; the second subdomain overlaps with both others */
static PetscErrorCode TellSubdomains(PC pc, PETSC_UNUSED DM da, Mat A)
{
  PetscInt start, end, n;
  IS       is[3];

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  n = (end - start) / 4;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, start, 1, &is[0]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 2 * n, start + n / 2, 1, &is[1]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, end - start - 2 * n, start + 2 * n, 1, &is[2]));
  PetscCall(PCASMSetLocalSubdomains(pc, 3, is, NULL));
  PetscCall(PCASMSetOverlap(pc, 0));
  PetscCall(PCASMSetType(pc, PC_ASM_BASIC));
  for (int k = 0; k < 3; k++) PetscCall(ISDestroy(&is[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TellBlocks(PC pc, PETSC_UNUSED DM da, Mat A)
{
  PetscInt lens[3], n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  lens[0] = 4;
  lens[1] = n / 4 * 2;
  lens[2] = n - 4 - n / 4 * 2;
  PetscCall(PCBJacobiSetLocalBlocks(pc, 3, lens));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Subproblems are changed before factorization */
static PetscErrorCode Modify(PETSC_UNUSED PC pc, PetscInt n, PETSC_UNUSED const IS row[], PETSC_UNUSED const IS col[], Mat submat[], void *ctx)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < n; k++) PetscCall(MatShift(submat[k], *(PetscScalar *)ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TellModify(PC pc, PETSC_UNUSED DM da, PETSC_UNUSED Mat A)
{
  static PetscScalar shift = 2.5;

  PetscFunctionBeginUser;
  PetscCall(PCSetModifySubMatrices(pc, Modify, &shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TellCoordinates(PC pc, DM da, PETSC_UNUSED Mat A)
{
  DMDALocalInfo info;
  PetscReal    *x;
  PetscInt      n = 0;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(PetscMalloc1(2 * info.xm * info.ym, &x));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      x[n++] = (PetscReal)i;
      x[n++] = (PetscReal)0.5 * (PetscReal)j;
    }
  }
  PetscCall(PCSetCoordinates(pc, 2, n / 2, x));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TellDM(PC pc, DM da, PETSC_UNUSED Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PCSetDM(pc, da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An interpolation which no grid makes */
static PetscErrorCode CreateInterpolation(DM da, Mat *P)
{
  DM coarse;

  PetscFunctionBeginUser;
  PetscCall(DMCoarsen(da, PETSC_COMM_WORLD, &coarse));
  PetscCall(DMCreateInterpolation(coarse, da, P, NULL));
  PetscCall(MatConvert(*P, MATAIJ, MAT_INPLACE_MATRIX, P));
  PetscCall(MatScale(*P, 0.75));
  PetscCall(DMDestroy(&coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TellInterpolation(PC pc, DM da, PETSC_UNUSED Mat A)
{
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(CreateInterpolation(da, &P));
  PetscCall(PCMGSetLevels(pc, 2, NULL));
  PetscCall(PCMGSetInterpolation(pc, 1, P));
  PetscCall(PCSetDM(pc, da));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TellParts(PC pc, PETSC_UNUSED DM da, PETSC_UNUSED Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PCCompositeSetType(pc, PC_COMPOSITE_MULTIPLICATIVE));
  PetscCall(PCCompositeAddPCType(pc, PCSOR));
  PetscCall(PCCompositeAddPCType(pc, PCJACOBI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TellSOR(PC pc, PETSC_UNUSED DM da, PETSC_UNUSED Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PCSORSetOmega(pc, 1.4));
  PetscCall(PCSORSetIterations(pc, 1, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TellUseAmat(PC pc, PETSC_UNUSED DM da, PETSC_UNUSED Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PCSetUseAmat(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char *options;
  PetscErrorCode (*tell)(PC, DM, Mat);
  PetscBool nest;   /* of a nested matrix */
  PetscBool inside; /* to the inner preconditioner alone */
} Case;

static const Case cases[] = {
  {"-@pc_type fieldsplit -@fieldsplit_pc_type sor -@fieldsplit_ksp_type preonly", TellFields, PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type fieldsplit -@pc_fieldsplit_type additive -@fieldsplit_pc_type bjacobi -@fieldsplit_ksp_type preonly", TellFields, PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type fieldsplit -@fieldsplit_pc_type gamg -@fieldsplit_ksp_type preonly -@fieldsplit_mg_levels_ksp_type richardson -@fieldsplit_mg_levels_pc_type "
   "jacobi",
   TellFields, PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type fieldsplit -@fieldsplit_a_ksp_type preonly -@fieldsplit_a_pc_type sor -@fieldsplit_b_ksp_type preonly -@fieldsplit_b_pc_type bjacobi "
   "-@pc_fieldsplit_schur_fact_type lower",
   TellSchur, PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type fieldsplit -@fieldsplit_pc_type bjacobi -@fieldsplit_ksp_type preonly", TellNest, PETSC_TRUE, PETSC_FALSE},
  {"-@pc_type fieldsplit -@fieldsplit_pc_type sor -@fieldsplit_ksp_type richardson -@fieldsplit_ksp_max_it 2", TellNest, PETSC_TRUE, PETSC_FALSE},
  {"-@pc_type asm -@sub_pc_type ilu", TellSubdomains, PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type asm -@sub_pc_type lu", TellModify, PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type bjacobi -@sub_pc_type ilu", TellBlocks, PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type bjacobi -@sub_pc_type lu -@sub_ksp_type richardson -@sub_ksp_max_it 2", TellUseAmat, PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type ksp -@ksp_ksp_type richardson -@ksp_ksp_max_it 3 -@ksp_pc_type jacobi", TellUseAmat, PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type gamg -@mg_levels_ksp_type richardson -@mg_levels_pc_type jacobi -@pc_gamg_coarse_eq_limit 10", TellCoordinates, PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type mg -@pc_mg_levels 2 -@pc_mg_galerkin both -@mg_levels_ksp_type richardson -@mg_levels_pc_type jacobi -@mg_coarse_pc_type redundant", TellDM,
   PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type mg -@pc_mg_galerkin both -@mg_levels_ksp_type richardson -@mg_levels_pc_type jacobi -@mg_coarse_pc_type redundant", TellInterpolation,
   PETSC_FALSE, PETSC_TRUE},
  {"-@pc_type composite", TellParts, PETSC_FALSE, PETSC_FALSE},
  {"-@pc_type sor", TellSOR, PETSC_FALSE, PETSC_FALSE},
};

/* A preconditioner whose type is set, ready to receive the calls of the case */
static PetscErrorCode Begin(const Case *c, Listener to, PetscBool drop, DM da, Mat A, Mat P, PetscOptions database, PC *pc)
{
  PC inner;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsPush(database));
  if (to != PLAIN) PetscCall(SetOptions(drop ? "-@pc_type vcrs -@pc_vcrs_loss none -@pc_vcrs_drop_exact" : "-@pc_type vcrs -@pc_vcrs_loss none", "t_"));
  PetscCall(SetOptions(c->options, to == PLAIN ? "t_" : "t_vcrs_"));
  /* Where exact matrices have been given back, PCGAMG begins from nothing */
  if (to == PLAIN && drop) PetscCall(SetOptions("-@pc_gamg_reuse_interpolation 0 -@fieldsplit_pc_gamg_reuse_interpolation 0", "t_"));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOptionsPrefix(*pc, "t_"));
  PetscCall(PCSetOperators(*pc, A, P));
  PetscCall(PCSetFromOptions(*pc));
  inner = *pc;
  if (to == INSIDE) PetscCall(PCVCRSGetPC(*pc, &inner));
  PetscCall((*c->tell)(inner, da, P));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCSetUpOnBlocks(*pc));
  PetscCall(PetscOptionsPop());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both preconditioners do the same; twice, since the second application meets the state left by the first */
static PetscErrorCode Compare(PC plain, PC pc, Mat A, const char what[], const char when[], Listener to, PetscBool drop)
{
  PetscReal difference, norm;
  Vec       x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(TestFillVec(x, 5));
  for (int k = 0; k < 2; k++) {
    PetscCall(Difference(plain, pc, APPLY, x, &difference));
    if (WRONG(!(difference <= TINY)))
      FAIL("%s, told %s, %s%s: the results are %g apart", what, to == INSIDE ? "inside" : "outside", when, drop ? ", exact matrices given back" : "",
           (double)difference);
    compared++;
  }
  PetscCall(PCApply(pc, x, y));
  PetscCall(VecNorm(y, NORM_2, &norm));
  if (WRONG(!(norm > 0.0))) FAIL("%s, %s: the result is nothing", what, when);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator, or with nest the blocks; preconditioners use a separate matrix */
static PetscErrorCode CreateMatrices(DM da, PetscBool nest, Mat *A, Mat *P)
{
  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, P));
  PetscCall(FillGrid(da, 0, *P));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(FillGrid(da, 1, *A));
  if (nest) {
    Mat block[4];
    IS  is[2];

    PetscCall(CreateFields(*P, is));
    for (int k = 0; k < 4; k++) PetscCall(MatCreateSubMatrix(*P, is[k / 2], is[k % 2], MAT_INITIAL_MATRIX, &block[k]));
    PetscCall(MatDestroy(P));
    PetscCall(MatDestroy(A));
    PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, block, P));
    PetscCall(PetscObjectReference((PetscObject)*P));
    *A = *P;
    for (int k = 0; k < 4; k++) PetscCall(MatDestroy(&block[k]));
    for (int k = 0; k < 2; k++) PetscCall(ISDestroy(&is[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other values in the same matrices */
static PetscErrorCode Change(DM da, PetscBool nest, PetscInt round, Mat A, Mat P)
{
  PetscFunctionBeginUser;
  if (nest) {
    PetscCall(MatScale(P, 1.5));
    PetscCall(MatShift(P, 0.5));
  } else {
    PetscCall(FillGrid(da, round, P));
    PetscCall(FillGrid(da, round + 1, A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings before the set-up; then values change twice; then both are reset and set again, with matrices of another
   size */
static PetscErrorCode TestTold(void)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    const Case *c = &cases[k];

    for (int drop = 0; drop < 2; drop++) {
      for (int to = INSIDE; to <= (c->inside ? INSIDE : OUTSIDE); to++) {
        PetscOptions database[2];
        PC           pc[2], inner;
        Mat          A, P;
        DM           da;

        PetscCall(CreateGrid2(9, &da));
        PetscCall(CreateMatrices(da, c->nest, &A, &P));
        for (int i = 0; i < 2; i++) {
          PetscCall(PetscOptionsCreate(&database[i]));
          PetscCall(Begin(c, i ? (Listener)to : PLAIN, (PetscBool)drop, da, A, P, database[i], &pc[i]));
        }
        PetscCall(Compare(pc[0], pc[1], P, c->options, "at first", (Listener)to, (PetscBool)drop));
        for (PetscInt round = 1; round < 3; round++) {
          PetscCall(Change(da, c->nest, round, A, P));
          for (int i = 0; i < 2; i++) {
            PetscCall(PetscOptionsPush(database[i]));
            PetscCall(PCSetOperators(pc[i], A, P));
            PetscCall(PCSetUp(pc[i]));
            PetscCall(PCSetUpOnBlocks(pc[i]));
            PetscCall(PetscOptionsPop());
          }
          PetscCall(Compare(pc[0], pc[1], P, c->options, "with other values", (Listener)to, (PetscBool)drop));
        }
        PetscCall(MatDestroy(&A));
        PetscCall(MatDestroy(&P));
        PetscCall(DMDestroy(&da));

        PetscCall(CreateGrid2(13, &da));
        PetscCall(CreateMatrices(da, c->nest, &A, &P));
        for (int i = 0; i < 2; i++) {
          PetscCall(PetscOptionsPush(database[i]));
          PetscCall(PCReset(pc[i]));
          PetscCall(PCSetOperators(pc[i], A, P));
          inner = pc[i];
          if (i && to == INSIDE) PetscCall(PCVCRSGetPC(pc[i], &inner));
          /* after a reset these still know their parts, field names and levels */
          if (c->tell != TellParts && c->tell != TellFields && c->tell != TellSchur && c->tell != TellNest) PetscCall((*c->tell)(inner, da, P));
          if (c->tell != TellFields && c->tell != TellSchur && c->tell != TellNest) {
            PetscCall(PCSetUp(pc[i]));
            PetscCall(PCSetUpOnBlocks(pc[i]));
          }
          PetscCall(PetscOptionsPop());
        }
        if (c->tell != TellFields && c->tell != TellSchur && c->tell != TellNest)
          PetscCall(Compare(pc[0], pc[1], P, c->options, "after a reset", (Listener)to, (PetscBool)drop));
        for (int i = 0; i < 2; i++) {
          PetscCall(PCDestroy(&pc[i]));
          PetscCall(PetscOptionsDestroy(&database[i]));
        }
        PetscCall(MatDestroy(&A));
        PetscCall(MatDestroy(&P));
        PetscCall(DMDestroy(&da));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After the set-up, solvers of blocks get another type, and interpolations other values. The next solve must follow,
   from copies */
static PetscErrorCode TestLater(void)
{
  static const Case c[] = {
    {"-@pc_type bjacobi -@sub_pc_type ilu", TellBlocks, PETSC_FALSE, PETSC_FALSE},
    {"-@pc_type asm -@sub_pc_type sor", TellSubdomains, PETSC_FALSE, PETSC_FALSE},
    {"-@pc_type mg -@pc_mg_levels 2 -@pc_mg_galerkin both -@mg_levels_ksp_type richardson -@mg_levels_pc_type jacobi -@mg_coarse_pc_type redundant", TellDM,
     PETSC_FALSE, PETSC_TRUE},
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(c); k++) {
    /* On several processes PETSc's own products fail if an interpolation was replaced */
    if (c[k].tell == TellDM && size > 1) continue;
    for (int drop = 0; drop < 2; drop++) {
      PetscOptions database[2];
      PCVCRSInfo   info[2];
      PC           pc[2], inner;
      Mat          A, P, R;
      DM           da;

      PetscCall(CreateGrid2(9, &da));
      PetscCall(CreateMatrices(da, PETSC_FALSE, &A, &P));
      for (int i = 0; i < 2; i++) {
        PetscCall(PetscOptionsCreate(&database[i]));
        PetscCall(Begin(&c[k], i ? INSIDE : PLAIN, (PetscBool)drop, da, P, P, database[i], &pc[i]));
      }
      PetscCall(PCVCRSGetInfo(pc[1], &info[0]));
      for (int i = 0; i < 2; i++) {
        inner = pc[i];
        if (i) PetscCall(PCVCRSGetPC(pc[i], &inner));
        if (c[k].tell == TellDM) {
          PetscCall(CreateInterpolation(da, &R));
          PetscCall(PCMGSetInterpolation(inner, 1, R));
          PetscCall(PCMGSetRestriction(inner, 1, R));
          PetscCall(MatDestroy(&R));
        } else {
          KSP     *ksp;
          PC       sub;
          PetscInt n;

          if (c[k].tell == TellBlocks) PetscCall(PCBJacobiGetSubKSP(i ? pc[i] : inner, &n, NULL, &ksp));
          else PetscCall(PCASMGetSubKSP(i ? pc[i] : inner, &n, NULL, &ksp));
          for (PetscInt b = 0; b < n; b++) {
            PetscCall(KSPGetPC(ksp[b], &sub));
            PetscCall(PCSetType(sub, PCCHOLESKY));
          }
        }
      }
      if (c[k].tell != TellDM) PetscCall(Compare(pc[0], pc[1], P, c[k].options, "with solvers of another type", INSIDE, (PetscBool)drop));
      for (int i = 0; i < 2; i++) PetscCall(PCSetUpOnBlocks(pc[i]));
      if (c[k].tell != TellDM) {
        PetscCall(Compare(pc[0], pc[1], P, c[k].options, "with solvers of another type, set up", INSIDE, (PetscBool)drop));
        PetscCall(PCVCRSGetInfo(pc[1], &info[1]));
        if (WRONG(info[1].factors < 1 || (c[k].tell == TellSubdomains && info[0].factors)))
          FAIL("%s: %d compressed factors, then %d", c[k].options, (int)info[0].factors, (int)info[1].factors);
      }
      PetscCall(Change(da, PETSC_FALSE, 1, A, P));
      for (int i = 0; i < 2; i++) {
        PetscCall(PetscOptionsPush(database[i]));
        PetscCall(PCSetUp(pc[i]));
        PetscCall(PCSetUpOnBlocks(pc[i]));
        PetscCall(PetscOptionsPop());
      }
      PetscCall(Compare(pc[0], pc[1], P, c[k].options, "told later, with other values", INSIDE, (PetscBool)drop));
      for (int i = 0; i < 2; i++) {
        PetscCall(PCDestroy(&pc[i]));
        PetscCall(PetscOptionsDestroy(&database[i]));
      }
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&P));
      PetscCall(DMDestroy(&da));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestTold());
  PetscCall(TestLater());
  if (WRONG(compared < 232)) FAIL("%" PetscInt_FMT " results were compared", compared);
  return TestEnd(540, "the same as without PCVCRS\n");
}

/*TEST

  test:
    nsize: {{1 2}}

TEST*/
