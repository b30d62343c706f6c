/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Lossy matrices in solves: permitted in preconditioners, refused as operators, and never a wrong result without an error.\n\n";

#include <lithe.h>
#include <lithe/private/petsccompat.h>
#include <lithemat.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <tests/vcrs/vcrstest.h>
#include <tests/refused.h>

#define LEAST 60

/* The expected result of a solve. A wrong solution without an error is always a failure */
typedef enum {
  SURE,    /* right */
  REFUSED, /* an error which names the option */
  EITHER
} Expected;

typedef struct {
  const char *options;
  Expected    second, both; /* second: the lossy matrix is only the preconditioner's matrix; both: the lossy matrix is the operator too */
  PetscBool   alone;        /* needs a single process */
} Case;

static const Case cases[] = {{"-ksp_type gmres -pc_type none", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type gmres -pc_type jacobi", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type fgmres -pc_type sor", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type bcgs -pc_type bjacobi", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type gmres -ksp_pc_side right -pc_type asm", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type gmres -pc_type ilu", SURE, REFUSED, PETSC_TRUE},
                             {"-ksp_type fgmres -pc_type gamg", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type fgmres -pc_type gamg -mg_levels_ksp_type richardson -mg_levels_pc_type sor", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type fgmres -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin both", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type fgmres -pc_type ksp -ksp_ksp_type gmres -ksp_pc_type jacobi -ksp_ksp_rtol 1e-3", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type fgmres -pc_type redundant -redundant_ksp_type gmres -redundant_pc_type jacobi", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type fgmres -pc_type bjacobi -sub_ksp_type gmres -sub_pc_type jacobi", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type fgmres -pc_type composite -pc_composite_pcs jacobi,sor -pc_composite_type multiplicative", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type gmres -pc_type vcrs -vcrs_pc_type sor", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type fgmres -pc_type vcrs -vcrs_pc_type gamg", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type cbfgmres -pc_type gamg", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type tfqmr -pc_type jacobi", SURE, REFUSED, PETSC_FALSE},
                             {"-ksp_type lsqr -pc_type none", SURE, REFUSED, PETSC_FALSE},
                             /* iterations of the preconditioner alone, which do not look at the first matrix */
                             {"-ksp_type richardson -pc_type sor -ksp_max_it 3000", EITHER, EITHER, PETSC_FALSE},
                             {"-ksp_type richardson -pc_type gamg -ksp_max_it 1000", EITHER, REFUSED, PETSC_FALSE},
                             /* the preconditioner is the solver: it may read the exact entries, or it multiplies */
                             {"-ksp_type preonly -pc_type lu", SURE, SURE, PETSC_TRUE},
                             {"-ksp_type preonly -pc_type redundant", SURE, SURE, PETSC_FALSE},
                             {"-ksp_type preonly -pc_type ksp -ksp_ksp_type gmres -ksp_pc_type jacobi -ksp_ksp_rtol 1e-9", EITHER, REFUSED, PETSC_FALSE},
                             {"-ksp_type preonly -pc_type redundant -redundant_ksp_type gmres -redundant_ksp_rtol 1e-9", EITHER, EITHER, PETSC_FALSE},
                             {"-ksp_type preonly -pc_type redistribute -redistribute_ksp_type gmres -redistribute_ksp_rtol 1e-9 -redistribute_pc_type jacobi",
                              EITHER, EITHER, PETSC_FALSE}};

/* Whether PETSc logs events of PC and KSP. With PC events, preconditioners are recognized. With KSP events, a solve is
   refused at its beginning */
static PetscBool pcevents = PETSC_TRUE, kspevents = PETSC_TRUE;

static PetscErrorCode CreateProblem(DM *da, Mat *B)
{
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 17, 15, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMSetMatType(*da, MATAIJ));
  PetscCall(DMCreateMatrix(*da, B));
  PetscCall(DMDAGetLocalInfo(*da, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      const PetscInt di[4] = {-1, 1, 0, 0}, dj[4] = {0, 0, -1, 1};
      MatStencil     row = {.i = i, .j = j}, col[5];
      PetscScalar    v[5], diagonal = 0.1;
      PetscInt       n = 0;

      for (int k = 0; k < 4; k++) {
        const PetscScalar a = 1.0 + 0.4 * TestRandom((uint64_t)i, (uint64_t)j, (uint64_t)k);

        diagonal += a;
        if (i + di[k] < 0 || i + di[k] >= info.mx || j + dj[k] < 0 || j + dj[k] >= info.my) continue;
        col[n] = (MatStencil){.i = i + di[k], .j = j + dj[k]};
        v[n++] = -a;
      }
      col[n] = row;
      v[n++] = diagonal;
      PetscCall(MatSetValuesStencil(*B, 1, &row, n, col, v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An explicit layout, because by default a matrix with few different rows is stored without loss */
static PetscErrorCode CreateLossy(Mat B, Mat *M)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, M));
  PetscCall(MatVCRSSetLayout(*M, MATVCRS_LAYOUT_L3));
  PetscCall(MatVCRSSetLoss(*M, MATVCRS_LOSS_LOG));
  PetscCall(MatVCRSSetBits(*M, 8));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual with the exact matrix, or the reason for none */
static PetscErrorCode Residual(Mat B, Vec b, Vec x, PetscReal *residual)
{
  Vec       r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatResidual(B, b, x, r));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the result, an error or a solution, with the expectation */
static PetscErrorCode Judge(Mat B, PetscErrorCode ierr, const TestError *error, Expected expected, Vec b, Vec x, const char where[])
{
  PetscReal residual = 0.0;
  char     *found;

  PetscFunctionBeginUser;
  count++;
  if (ierr) {
    PetscCall(PetscStrstr(error->text, "mat_vcrs_allow_lossy_operator", &found));
    if (WRONG(!found)) FAIL("%s: error %d, %s", where, (int)ierr, error->text);
    else if (WRONG(expected == SURE)) FAIL("%s is refused: %s", where, error->text);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Residual(B, b, x, &residual));
  if (WRONG(!(residual < 1e-6))) FAIL("%s: the residual is %g without a word", where, (double)residual);
  else if (WRONG(expected == REFUSED)) FAIL("%s is not refused", where);
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  SOLVE,
  TRANSPOSE,
  SEVERAL
} How;

static PetscErrorCode Solve_Private(KSP ksp, How how, Vec b, Vec x)
{
  PetscFunctionBeginUser;
  if (how == TRANSPOSE) PetscCall(KSPSolveTranspose(ksp, b, x));
  else if (how == SEVERAL) {
    const PetscScalar *pb;
    PetscScalar       *px;
    PetscInt           n, N;
    Mat                X, Y;
    PetscErrorCode     ierr;

    PetscCall(VecGetLocalSize(b, &n));
    PetscCall(VecGetSize(b, &N));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, N, 1, NULL, &X));
    PetscCall(MatDenseGetColumn(X, 0, &px));
    PetscCall(VecGetArrayRead(b, &pb));
    PetscCall(PetscArraycpy(px, pb, n));
    PetscCall(VecRestoreArrayRead(b, &pb));
    PetscCall(MatDenseRestoreColumn(X, &px));
    PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &Y));
    ierr = KSPMatSolve(ksp, X, Y);
    if (!ierr) PetscCall(MatGetColumnVector(Y, x, 0));
    PetscCall(MatDestroy(&X));
    PetscCall(MatDestroy(&Y));
    PetscFunctionReturn(ierr);
  } else PetscCall(KSPSolve(ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B: with the exact entries; everything is made anew, because an error leaves vectors locked */
static PetscErrorCode TestSolve(DM da, Mat B, Mat A, Mat P, const char options[], How how, Expected expected, const char where[])
{
  char           name[512];
  PetscOptions   database;
  KSP            ksp;
  Vec            b, x;
  Mat            T = B;
  PetscBool      nested;
  TestError      error;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %s%s", where, options, how == TRANSPOSE ? ", transposed" : how == SEVERAL ? ", several columns" : ""));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, options));
  PetscCall(PetscOptionsPush(database));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, P));
  if (da) {
    PetscCall(KSPSetDM(ksp, da));
    PetscCall(KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
  }
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_CURRENT, PETSC_CURRENT, 2000));
  PetscCall(PetscObjectTypeCompare((PetscObject)P, MATNEST, &nested));
  if (nested) {
    IS is[2];
    PC pc;

    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCFIELDSPLIT));
    PetscCall(MatNestGetISs(P, is, NULL));
    for (int k = 0; k < 2; k++) PetscCall(PCFieldSplitSetIS(pc, k ? "second" : "first", is[k]));
  }
  error.text[0] = 0;
  PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
  ierr = KSPSetFromOptions(ksp);
  if (!ierr) ierr = Solve_Private(ksp, how, b, x);
  PetscCall(PetscPopErrorHandler());
  if (how == TRANSPOSE) PetscCall(MatCreateTranspose(B, &T));
  PetscCall(Judge(T, ierr, &error, expected, b, x, name));
  if (how == TRANSPOSE) PetscCall(MatDestroy(&T));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCases(DM da, Mat B)
{
  Mat M;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    const Case    *c      = &cases[k];
    const Expected second = c->second == SURE && !pcevents ? EITHER : c->second;

    /* After an error, PETSc's multigrid leaves objects which cannot be destroyed, and MatSOR() leaves a vector */
    const PetscBool mg = (PetscBool)(strstr(c->options, "gamg") || strstr(c->options, "-pc_type mg") || strstr(c->options, "richardson -pc_type sor"));

    if ((c->alone && size > 1) || (mg && !pcevents)) continue;
    PetscCall(CreateLossy(B, &M));
    /* with preonly, some of these preconditioners solve with the second matrix */
    if (c->second != EITHER || !strstr(c->options, "preonly")) PetscCall(TestSolve(da, B, B, M, c->options, SOLVE, second, "as the second matrix"));
    if (kspevents || !mg) PetscCall(TestSolve(da, B, M, M, c->options, SOLVE, c->both, "as both matrices"));
    if ((kspevents || !mg) && c->both == REFUSED && !strstr(c->options, "preonly"))
      PetscCall(TestSolve(da, B, M, B, c->options, SOLVE, strstr(c->options, "richardson") ? EITHER : REFUSED, "as the first matrix"));
    if (k == 1 || k == 9) {
      PetscCall(TestSolve(da, B, B, M, c->options, TRANSPOSE, second, "as the second matrix"));
      PetscCall(TestSolve(da, B, M, M, c->options, TRANSPOSE, REFUSED, "as both matrices"));
    }
    if (k == 1 || k == 3) PetscCall(TestSolve(da, B, B, M, c->options, SEVERAL, second, "as the second matrix"));
    PetscCall(MatVCRSSetAllowLossyOperator(M, PETSC_TRUE));
    if (c->both == REFUSED && !strstr(c->options, "richardson")) PetscCall(TestSolve(da, M, M, M, c->options, SOLVE, SURE, "allowed"));
    PetscCall(MatDestroy(&M));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Preconditioners and operators of the program's own ---- */

/* A solve with the lossy matrix, or a product and a scaling */
static PetscErrorCode ShellApply(PC pc, Vec x, Vec y)
{
  KSP inner;
  Mat M;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &inner));
  PetscCall(KSPGetOperators(inner, &M, NULL));
  PetscCall(MatMult(M, x, y));
  PetscCall(KSPSolve(inner, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellMult(Mat S, Vec x, Vec y)
{
  KSP inner;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &inner));
  PetscCall(KSPSolve(inner, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateInner(Mat M, KSP *inner)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, inner));
  PetscCall(KSPSetOptionsPrefix(*inner, "inner_"));
  PetscCall(KSPSetOperators(*inner, M, M));
  PetscCall(KSPSetType(*inner, KSPGMRES));
  PetscCall(KSPGetPC(*inner, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(*inner, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 2000));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestShells(Mat B)
{
  Mat            M, S;
  Vec            b, x;
  KSP            ksp, inner;
  PC             pc;
  PetscInt       m, N;
  TestError      error;
  PetscErrorCode ierr;
  const Expected right = pcevents ? SURE : EITHER;

  PetscFunctionBeginUser;
  for (int k = 0; k < 4; k++) {
    PetscCall(CreateLossy(B, &M));
    PetscCall(CreateInner(M, &inner));
    PetscCall(MatGetLocalSize(B, &m, NULL));
    PetscCall(MatGetSize(B, &N, NULL));
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, m, m, N, N, inner, &S));
    PetscCall(MatShellSetOperation(S, MATOP_MULT, (PetscErrorCodeFn *)ShellMult));
    PetscCall(MatCreateVecs(B, &x, &b));
    PetscCall(VecSet(b, 1.0));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetType(ksp, KSPFGMRES));
    PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
    PetscCall(KSPGetPC(ksp, &pc));
    error.text[0] = 0;
    PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
    if (k == 0) { /* the program's own preconditioner may use a lossy matrix freely */
      PetscCall(KSPSetOperators(ksp, B, B));
      PetscCall(PCSetType(pc, PCSHELL));
      PetscCall(PCShellSetApply(pc, ShellApply));
      PetscCall(PCShellSetContext(pc, inner));
      ierr = KSPSolve(ksp, b, x);
    } else if (k == 1) { /* an operator which solves with a lossy matrix may not */
      PetscCall(KSPSetOperators(ksp, S, S));
      PetscCall(PCSetType(pc, PCNONE));
      ierr = KSPSolve(ksp, b, x);
    } else if (k == 2) { /* nor may the program's own product with this operator */
      ierr = MatMult(S, b, x);
    } else { /* a preconditioner applied on its own */
      PetscCall(KSPGetPC(inner, &pc));
      PetscCall(PCSetType(pc, PCKSP));
      ierr = PCApply(pc, b, x);
    }
    PetscCall(PetscPopErrorHandler());
    if (k == 3 && !ierr) {
      PetscCall(VecScale(x, 0.0)); /* the result is no solution */
      count++;
      if (WRONG(!pcevents)) FAIL("a preconditioner that is applied by itself is not refused without log events");
    } else
      PetscCall(Judge(B, ierr, &error,
                      k == 0                                ? right
                      : k == 3 && (!pcevents || !kspevents) ? EITHER
                      : k == 3                              ? SURE
                                                            : REFUSED,
                      b, x,
                      k == 0   ? "PCSHELL"
                      : k == 1 ? "MATSHELL"
                      : k == 2 ? "MatMult() of a MATSHELL"
                               : "PCApply()"));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(KSPDestroy(&inner));
    PetscCall(MatDestroy(&S));
    PetscCall(MatDestroy(&M));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define FIELDS                                                                                                                       \
  " -pc_fieldsplit_type additive -fieldsplit_first_ksp_type gmres -fieldsplit_first_ksp_rtol 1e-9 -fieldsplit_first_pc_type jacobi " \
  "-fieldsplit_second_ksp_type gmres -fieldsplit_second_ksp_rtol 1e-9"

/* Operators composed of lossy matrices, in solves of the preconditioner alone */
static PetscErrorCode TestComposed(Mat B)
{
  static const char options[] = "-ksp_type preonly -pc_type ksp -ksp_ksp_type gmres -ksp_pc_type none -ksp_ksp_rtol 1e-9";
  Mat               M, T, E, N, block[4];

  PetscFunctionBeginUser;
  PetscCall(CreateLossy(B, &M));
  PetscCall(MatCreateTranspose(M, &T));
  PetscCall(MatCreateTranspose(B, &E));
  PetscCall(TestSolve(NULL, E, T, T, options, SOLVE, REFUSED, "virtually transposed"));
  PetscCall(TestSolve(NULL, E, E, E, options, SOLVE, SURE, "virtually transposed, exact"));
  PetscCall(MatDestroy(&T));
  PetscCall(MatDestroy(&E));

  block[0] = M;
  block[1] = block[2] = NULL;
  block[3]            = B;
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, block, &N));
  block[0] = B;
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, block, &E));
  PetscCall(TestSolve(NULL, E, N, N, "-ksp_type preonly -pc_type fieldsplit" FIELDS, SOLVE, REFUSED, "nested"));
  PetscCall(TestSolve(NULL, E, E, E, "-ksp_type preonly -pc_type fieldsplit" FIELDS, SOLVE, SURE, "nested, exact"));
  PetscCall(TestSolve(NULL, E, E, N, "-ksp_type fgmres -pc_type fieldsplit" FIELDS, SOLVE, pcevents ? SURE : EITHER, "nested, as the second matrix"));
  PetscCall(MatDestroy(&N));
  PetscCall(MatDestroy(&E));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FailingApply(PC pc, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_USER, "This preconditioner fails");
}

/* After this application no event says that the preconditioner has ended */
static PetscErrorCode SilencingApply(PC pc, Vec x, Vec y)
{
  PetscLogEvent event;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("PCApply", &event));
  PetscCall(PetscLogEventDeactivate(event));
  PetscCall(VecCopy(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product with new vectors, some calls deeper in the stack */
static PetscErrorCode MultDeep(Mat M, int depth)
{
  volatile char  room[512];
  Vec            x, y;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  room[depth] = (char)depth;
  (void)room[depth];
  if (depth) PetscFunctionReturn(MultDeep(M, depth - 1));
  PetscCall(MatCreateVecs(M, &x, &y));
  PetscCall(VecSet(x, 1.0));
  ierr = MatMult(M, x, y);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(ierr);
}

/* After an error in a preconditioner, the program is no longer inside of the preconditioner. A refused solver can be
   used once its operator is allowed */
static PetscErrorCode TestErrors(Mat B)
{
  Mat M;
  Vec b, x;
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreateLossy(B, &M));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetApply(pc, FailingApply));
  TEST_REFUSED("a preconditioner that fails", KSPSolve(ksp, b, x), "This preconditioner fails");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(VecSet(b, 1.0));
  TEST_REFUSED("a product after that", MatMult(M, b, x), "-mat_vcrs_allow_lossy_operator");
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  for (int k = 0; k < 2; k++) {
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, B, B));
    PetscCall(PCSetType(pc, PCSHELL));
    PetscCall(PCShellSetApply(pc, k ? SilencingApply : FailingApply));
    PetscCall(MatCreateVecs(B, &x, &b));
    PetscCall(VecSet(b, 1.0));
    if (k) PetscCall(PCApply(pc, b, x));
    else TEST_REFUSED("a preconditioner that fails, applied by itself", PCApply(pc, b, x), "This preconditioner fails");
    PetscCall(PCDestroy(&pc));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    for (int depth = 0; depth < 50; depth += 7) TEST_REFUSED("a product after that", MultDeep(M, depth), "-mat_vcrs_allow_lossy_operator");
  }
  if (pcevents) {
    PetscLogEvent event;

    PetscCall(PetscLogEventGetId("PCApply", &event));
    PetscCall(PetscLogEventActivate(event));
  }

  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, M, M));
  if (kspevents) TEST_REFUSED("a solver", KSPSolve(ksp, b, x), "-mat_vcrs_allow_lossy_operator");
  PetscCall(MatVCRSSetAllowLossyOperator(M, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));

  /* without exact entries the matrix is refused, even if no product is needed */
  PetscCall(MatVCRSDropAIJ(M));
  PetscCall(MatVCRSSetAllowLossyOperator(M, PETSC_FALSE));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, M, M));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCREDUNDANT));
  if (kspevents) TEST_REFUSED("a direct solve without exact entries", KSPSolve(ksp, b, x), "-mat_vcrs_allow_lossy_operator");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&M));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM  da;
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-pc_events", &pcevents, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-ksp_events", &kspevents, NULL));
  PetscCall(CreateProblem(&da, &B));
  PetscCall(TestCases(da, B));
  PetscCall(TestShells(B));
  PetscCall(TestComposed(B));
  PetscCall(TestErrors(B));
  if (WRONG(count < LEAST)) FAIL("only %" PetscInt_FMT " solves", count);
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&da));
  return TestReport("%" PetscInt_FMT " solves are right or refused\n", count);
}

/*TEST

  # -checkfunctionlist 0: as in vcrs/conversions
  test:
    requires: double
    args: -checkfunctionlist 0

  test:
    suffix: 2
    requires: double
    nsize: 2
    args: -checkfunctionlist 0

  # solves need not be told of
  test:
    suffix: ksp
    requires: double
    nsize: 2
    args: -checkfunctionlist 0 -ksp_events 0 -log_exclude ksp

  # where preconditioners are not told of, more is refused
  test:
    suffix: nolog
    requires: double
    nsize: 2
    args: -checkfunctionlist 0 -pc_events 0 -log_exclude pc

  test:
    suffix: nolog_2
    requires: double
    nsize: 2
    args: -checkfunctionlist 0 -pc_events 0 -ksp_events 0 -log_exclude ksp,pc,mat,vec

TEST*/
