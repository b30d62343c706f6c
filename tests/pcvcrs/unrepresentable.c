/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCVCRS for matrices with numbers which no loss can represent: solves end as with the inner preconditioner "
                     "alone, and TS cuts the step.\n\n";

#include <lithe/private/petsccompat.h>
#include <tests/pcvcrs/fieldstest.h>
#include <petscts.h>

/* The bad number in a matrix */
typedef enum {
  BAD_NAN,
  BAD_INF,
  BAD_SUM,    /* a row whose sum overflows */
  BAD_SINGLE, /* beyond single precision */
  BADS
} Bad;
static const char *const BadNames[BADS] = {"NaN", "infinity", "overflowing sum", "beyond single precision"};

static const char *const inner[] = {
  "-@pc_type sor",
  "-@pc_type jacobi",
  "-@pc_type ilu",
  "-@pc_type icc",
  "-@pc_type lu",
  "-@pc_type bjacobi -@sub_pc_type ilu",
  "-@pc_type bjacobi -@sub_ksp_type richardson -@sub_ksp_max_it 3 -@sub_pc_type sor",
  "-@pc_type asm -@sub_pc_type icc",
  "-@pc_type asm -@sub_pc_type sor",
  "-@pc_type redundant",
  "-@pc_type composite -@pc_composite_type multiplicative -@pc_composite_pcs sor,jacobi",
  "-@pc_type ksp -@ksp_ksp_max_it 4 -@ksp_ksp_type gmres -@ksp_pc_type sor",
  "-@pc_type fieldsplit -@fieldsplit_ksp_type preonly -@fieldsplit_pc_type sor",
  "-@pc_type fieldsplit -@fieldsplit_ksp_type gmres -@fieldsplit_ksp_max_it 4 -@fieldsplit_pc_type bjacobi",
  "-@pc_type mg -@pc_mg_levels 2 -@pc_mg_galerkin both -@mg_levels_ksp_type richardson -@mg_levels_pc_type sor -@mg_coarse_pc_type redundant",
  "-@pc_type mg -@pc_mg_levels 2 -@pc_mg_galerkin both -@mg_levels_pc_type jacobi -@mg_coarse_pc_type redundant",
  "-@pc_type gamg -@mg_levels_ksp_type richardson -@mg_levels_pc_type sor",
};

static const char *const losses[] =
  {"log", "fixed", "bins", "classes", "single", "none", "log -@pc_vcrs_drop_exact", "log -@pc_vcrs_preserve_row_sums 0", "none -@pc_vcrs_precision single"};

/* Whether a preconditioner for a single process can be tried */
static PetscBool Fits(const char options[])
{
  PetscMPIInt size;

  if (MPI_Comm_size(PETSC_COMM_WORLD, &size)) return PETSC_FALSE;
  return (PetscBool)(size == 1 || !(strstr(options, "-@pc_type ilu") || strstr(options, "-@pc_type icc") || strstr(options, "-@pc_type lu")));
}

/* Pushes options in a separate database; inside: NULL without PCVCRS */
static PetscErrorCode PushLoss(const char options[], const char loss[], PetscOptions *database)
{
  char vcrs[256];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(vcrs, sizeof(vcrs), "-@pc_type vcrs -@pc_vcrs_loss %s", loss ? loss : ""));
  PetscCall(loss ? PushOptions(vcrs, options, database) : PushOptions(options, NULL, database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscReal shift;
  PetscBool bad; /* on one process */
  Bad       kind;
} Values;

static PetscScalar Entry(const void *ctx, const DMDALocalInfo *info, PetscInt i, PetscInt j, PetscInt c, int k)
{
  const Values   *p   = (const Values *)ctx;
  const PetscBool bad = (PetscBool)(p->bad && i == info->mx - 2 && j == info->my - 2 && !c);

  if (bad && k == FIELDS_ROW) return p->kind == BAD_NAN ? NAN : (p->kind == BAD_INF ? INFINITY : (p->kind == BAD_SINGLE ? (PetscReal)1e39 : PETSC_MAX_REAL));
  if (bad && k == 0 && p->kind == BAD_SUM) return PETSC_MAX_REAL;
  if (k == FIELDS_OTHER) return c ? 0.1 : -0.2;
  if (k == FIELDS_ROW) return (PetscScalar)(4.6 + p->shift);
  return (PetscScalar)(k == 0 ? -1.3 : -1.0 - 0.01 * (double)((i + j) % 5));
}

/* -c u'' and an exchange between the two fields, on a grid; not symmetric */
static PetscErrorCode FillMatrix(DM da, PetscReal shift, PetscBool bad, Bad kind, Mat A)
{
  const Values p = {shift, bad, kind};

  PetscFunctionBeginUser;
  PetscCall(FillFields(da, Entry, &p, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the view says that the preconditioner cannot compress the numbers */
static PetscErrorCode IsTold(KSP ksp, PetscBool *told)
{
  FILE       *file = tmpfile();
  PetscViewer viewer;
  char        text[65536];
  size_t      length;

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No temporary file");
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(KSPView(ksp, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  length       = fread(text, 1, sizeof(text) - 1, file);
  text[length] = 0;
  *told        = (PetscBool)(strstr(text, "-t_pc_vcrs_loss") && strstr(text, "cannot take its numbers"));
  PetscCallMPI(MPI_Bcast(told, 1, MPI_C_BOOL, 0, PETSC_COMM_WORLD));
  (void)fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with a good matrix, a bad matrix, and a good matrix again: iterations and reasons; -its if not converged */
typedef struct {
  PetscInt           its[3];
  KSPConvergedReason reason[3];
  PetscBool          told; /* the view says that part of the preconditioner stays exact because of its numbers */
} Solves;

static PetscErrorCode Solve(DM da, const char options[], const char loss[], Bad kind, Solves *s)
{
  PetscOptions database;
  Mat          A;
  KSP          ksp;
  Vec          x, b;

  PetscFunctionBeginUser;
  PetscCall(PushLoss(options, loss, &database));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "t_"));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_CURRENT, PETSC_CURRENT, 100));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(b, 7));
  for (int k = 0; k < 3; k++) {
    PetscCall(FillMatrix(da, (PetscReal)(0.1 * k), (PetscBool)(k == 1), kind, A));
    PetscCall(KSPSetOperators(ksp, A, A));
    if (!k) PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &s->its[k]));
    PetscCall(KSPGetConvergedReason(ksp, &s->reason[k]));
    if (k == 1) PetscCall(IsTold(ksp, &s->told));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PopOptions(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with and without PCVCRS agree: both converge or both fail, for the same reason. A good matrix after a bad one
   gives the same solve as before */
static PetscErrorCode TestSolves(DM da, PetscBool verbose, PetscInt *count)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(inner); k++) {
    if (!Fits(inner[k])) continue;
    for (int bad = 0; bad < BADS; bad++) {
      Solves plain, s;

      if (size > 1 && bad != BAD_NAN && (k > 0 || bad != BAD_SUM)) continue;

      PetscCall(Solve(da, inner[k], NULL, (Bad)bad, &plain));
      for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(losses); l++) {
        /* all losses with two of the preconditioners */
        if (l > 0 && ((k > 0 && k != 14) || (size > 1 && l != 6))) continue;
        PetscCall(Solve(da, inner[k], losses[l], (Bad)bad, &s));
        if (verbose)
          PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s, loss %s: %s %s %s, plain %s %s %s\n", inner[k], BadNames[bad], losses[l],
                                KSPConvergedReasons[s.reason[0]], KSPConvergedReasons[s.reason[1]], KSPConvergedReasons[s.reason[2]],
                                KSPConvergedReasons[plain.reason[0]], KSPConvergedReasons[plain.reason[1]], KSPConvergedReasons[plain.reason[2]]));
        if (WRONG((k == 0 || k == 14) && bad <= BAD_INF && !(k && strstr(losses[l], "drop")) && s.told != (strcmp(losses[l], "none") != 0)))
          FAIL("%s, %s, loss %s: the view %s of numbers that cannot be taken", inner[k], BadNames[bad], losses[l], s.told ? "tells" : "does not tell");
        for (int i = 0; i < 3; i++) {
          /* If numbers are large and the plain method stagnates, the compressed method may converge */
          if (WRONG(plain.reason[i] > 0 ? s.reason[i] < 0 : (s.reason[i] > 0 && (i != 1 || bad <= BAD_INF))))
            FAIL("%s, %s, loss %s, solve %d: %s, without PCVCRS %s", inner[k], BadNames[bad], losses[l], i, KSPConvergedReasons[s.reason[i]],
                 KSPConvergedReasons[plain.reason[i]]);
          if (WRONG(plain.reason[i] > 0 && s.its[i] > plain.its[i] + 2 + plain.its[i] / 5))
            FAIL("%s, %s, loss %s, solve %d: %" PetscInt_FMT " iterations, without PCVCRS %" PetscInt_FMT, inner[k], BadNames[bad], losses[l], i, s.its[i],
                 plain.its[i]);
        }
        (*count)++;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A reaction and diffusion in time, whose Jacobian is no number once */
typedef struct {
  Mat      L;
  DM       da;
  PetscInt evaluations, bad;
} Reaction;

static PetscErrorCode IFunction(TS ts, PetscReal t, Vec u, Vec udot, Vec f, void *ctx)
{
  Reaction *r = (Reaction *)ctx;
  Vec       w;

  PetscFunctionBeginUser;
  (void)ts;
  (void)t;
  PetscCall(VecDuplicate(u, &w));
  PetscCall(MatMult(r->L, u, f));
  PetscCall(VecPointwiseMult(w, u, u));
  PetscCall(VecPointwiseMult(w, w, u));
  PetscCall(VecAXPY(f, 1.0, w));
  PetscCall(VecAXPY(f, 1.0, udot));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IJacobian(TS ts, PetscReal t, Vec u, Vec udot, PetscReal shift, Mat A, Mat P, void *ctx)
{
  Reaction *r = (Reaction *)ctx;
  Vec       d;

  PetscFunctionBeginUser;
  (void)ts;
  (void)t;
  (void)udot;
  PetscCall(FillMatrix(r->da, shift, (PetscBool)(++r->evaluations == r->bad), BAD_NAN, P));
  PetscCall(VecDuplicate(u, &d));
  PetscCall(VecPointwiseMult(d, u, u));
  PetscCall(VecScale(d, 3.0));
  PetscCall(MatDiagonalSet(P, d, ADD_VALUES));
  PetscCall(VecDestroy(&d));
  if (A != P) {
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt          steps, rejected, failures;
  TSConvergedReason reason;
  Vec               u;
} Run;

static PetscErrorCode Integrate(Reaction *r, const char options[], const char loss[], Run *run)
{
  PetscOptions database;
  SNES         snes;
  TS           ts;
  Mat          J;

  PetscFunctionBeginUser;
  PetscCall(PushLoss(options, loss, &database));
  r->evaluations = 0;
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetOptionsPrefix(ts, "t_"));
  PetscCall(TSSetDM(ts, r->da));
  PetscCall(TSSetType(ts, TSBEULER));
  PetscCall(TSSetIFunction(ts, NULL, IFunction, r));
  PetscCall(DMCreateMatrix(r->da, &J));
  PetscCall(TSSetIJacobian(ts, J, J, IJacobian, r));
  PetscCall(TSSetTimeStep(ts, 0.125));
  PetscCall(TSSetMaxTime(ts, 0.25));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetMaxSNESFailures(ts, 3));
  PetscCall(TSSetErrorIfStepFails(ts, PETSC_FALSE)); /* a PCKSP of PETSc's does not recover */
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(SNESSetTolerances(snes, 1e-10, 1e-9, PETSC_CURRENT, 20, PETSC_CURRENT));
  PetscCall(PetscOptionsSetValue(NULL, "-t_ksp_rtol", "1e-8"));
  PetscCall(PetscOptionsSetValue(NULL, "-t_ksp_type", "fgmres"));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(DMCreateGlobalVector(r->da, &run->u));
  PetscCall(TestFillVec(run->u, 3));
  PetscCall(TSSolve(ts, run->u));
  PetscCall(TSGetStepNumber(ts, &run->steps));
  PetscCall(TSGetStepRejections(ts, &run->rejected));
  PetscCall(TSGetSNESFailures(ts, &run->failures));
  PetscCall(TSGetConvergedReason(ts, &run->reason));
  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&J));
  PetscCall(PopOptions(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same steps with and without PCVCRS, one step cut */
static PetscErrorCode TestSteps(DM da, PetscBool verbose, PetscInt *count)
{
  Reaction r = {.da = da, .bad = 3};

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, &r.L));
  PetscCall(FillMatrix(da, 0.0, PETSC_FALSE, BAD_NAN, r.L));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(inner); k++) {
    if (!Fits(inner[k])) continue;
    for (int drop = 0; drop < 2; drop++) {
      PetscReal difference, norm;
      Run       plain, run;

      /* preconditioners which free exact matrices */
      if (drop && !(strstr(inner[k], "mg") || strstr(inner[k], "ilu"))) continue;
      PetscCall(Integrate(&r, inner[k], NULL, &plain));
      PetscCall(Integrate(&r, inner[k], drop ? "log -@pc_vcrs_drop_exact" : "log", &run));
      PetscCall(VecNorm(plain.u, NORM_2, &norm));
      PetscCall(VecAXPY(run.u, -1.0, plain.u));
      PetscCall(VecNorm(run.u, NORM_2, &difference));
      if (verbose)
        PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                              "%s: %s, %" PetscInt_FMT " steps, %" PetscInt_FMT " rejected; without PCVCRS %s, %" PetscInt_FMT " steps, %" PetscInt_FMT
                              " rejected; difference %g\n",
                              inner[k], TSConvergedReasons[run.reason], run.steps, run.rejected, TSConvergedReasons[plain.reason], plain.steps, plain.rejected,
                              (double)(difference / norm)));
      if (WRONG(plain.rejected + plain.failures < 1)) FAIL("%s: no step was cut", inner[k]);
      if (WRONG(run.reason != plain.reason || run.steps != plain.steps || run.rejected != plain.rejected))
        FAIL("%s: %s, %" PetscInt_FMT " steps, %" PetscInt_FMT " rejected; without PCVCRS %s, %" PetscInt_FMT " steps, %" PetscInt_FMT " rejected", inner[k],
             TSConvergedReasons[run.reason], run.steps, run.rejected, TSConvergedReasons[plain.reason], plain.steps, plain.rejected);
      if (WRONG(!(difference <= 1e-5 * norm) && plain.reason > 0)) FAIL("%s: the results are %g apart", inner[k], (double)(difference / norm));
      (*count)++;
      PetscCall(VecDestroy(&plain.u));
      PetscCall(VecDestroy(&run.u));
    }
  }
  PetscCall(MatDestroy(&r.L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        da;
  PetscInt  count[2] = {0, 0};
  PetscBool verbose  = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-verbose", &verbose, NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 5, 9, PETSC_DECIDE, PETSC_DECIDE, 2, 1, NULL, NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(TestSolves(da, verbose, &count[0]));
  PetscCall(TestSteps(da, verbose, &count[1]));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFPTrapPop());
  if (WRONG(count[0] < 15 || count[1] < 15)) FAIL("%" PetscInt_FMT " solves and %" PetscInt_FMT " runs were compared", count[0], count[1]);
  return TestEnd(130, "solves and runs end as without PCVCRS\n");
}

/*TEST

  test:
    nsize: {{1 2}}

TEST*/
