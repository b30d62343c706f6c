/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCVCRS and the inner preconditioner do the same with all settings which a program makes on either.\n\n";

#include <tests/pcvcrs/settingstest.h>

/* Sums in another order */
#define TINY ((PetscReal)1e6 * PETSC_MACHINE_EPSILON)

static PetscInt compared = 0;

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

static PetscErrorCode End(PC pc[2], PetscOptions database[2], Mat *A, Mat *P, DM *da)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(PCDestroy(&pc[i]));
    PetscCall(PetscOptionsDestroy(&database[i]));
  }
  PetscCall(MatDestroy(A));
  PetscCall(MatDestroy(P));
  PetscCall(DMDestroy(da));
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
        PetscCall(End(pc, database, &A, &P, &da));
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
      PetscCall(End(pc, database, &A, &P, &da));
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
