/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATSBPSAT: type name, options, refused requests and view.\n\n";

#include <lithe.h>
#include <tutorials/common/sbpsatproblem.h>

static PetscErrorCode lasterror;
static char           lastmessage[1024];

/* Keeps the first message instead of printing it */
static PetscErrorCode TestHandler(PETSC_UNUSED MPI_Comm comm, PETSC_UNUSED int line, PETSC_UNUSED const char *fun, PETSC_UNUSED const char *file,
                                  PetscErrorCode n, PetscErrorType p, const char *mess, PETSC_UNUSED void *ctx)
{
  if (p == PETSC_ERROR_INITIAL) {
    lasterror = n;
    (void)PetscStrncpy(lastmessage, mess ? mess : "", sizeof(lastmessage));
  }
  return n;
}

static PetscErrorCode TestRefused(const char *what, PetscErrorCode ierr, PetscErrorCode expected)
{
  PetscFunctionBegin;
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, !ierr ? "not refused" : lasterror == expected ? lastmessage : "another error"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define Refused(what, call, expected)                    \
  do {                                                   \
    lasterror = PETSC_SUCCESS;                           \
    PetscCall(PetscPushErrorHandler(TestHandler, NULL)); \
    PetscCall(TestRefused(what, call, expected));        \
  } while (0)

static PetscErrorCode TestDM(PetscInt m, PetscInt n, PetscInt dof, DMBoundaryType boundary, PetscBool coordinates, DM *da)
{
  PetscFunctionBegin;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, boundary, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, m, n, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  if (coordinates) PetscCall(DMDASetUniformCoordinates(*da, 0, 2, 0, 3, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The steps of DMCreateMatrix(), which would leak the matrix after an error */
static PetscErrorCode TestSetUp(DM da, Mat A)
{
  PetscInt n;
  Vec      x;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalVector(da, &x));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(DMRestoreGlobalVector(da, &x));
  PetscCall(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(A, MATSBPSAT));
  PetscCall(MatSetDM(A, da));
  PetscCall(MatSetUp(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM          da, line;
  Mat         A, B;
  Vec         x, y, mu, wrong;
  PetscReal   norm;
  PetscScalar sum;
  MatInfo     info;
  PetscBool   none[4] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE}, known, flag;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());

  /* By name, with options of the command line; another type of the DMDA stays */
  PetscCall(TestDM(21, 17, 1, DM_BOUNDARY_NONE, PETSC_TRUE, &da));
  PetscCall(DMSetMatType(da, MATAIJ));
  PetscCall(MatCreateSBPSAT(da, &A));
  PetscCall(MatView(A, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(MatIsSymmetricKnown(A, &known, &flag));
  if (!known || !flag) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "not known to be symmetric\n"));
  PetscCall(MatIsSPDKnown(A, &known, &flag));
  if (!known || !flag) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "not known to be definite\n"));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  if (info.memory < 3.0 * 21 * 17 * sizeof(PetscReal)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%g bytes\n", info.memory));
  PetscCall(DMCreateMatrix(da, &B));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &flag, MATSEQAIJ, MATMPIAIJ, ""));
  if (!flag) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the type of the DMDA was changed\n"));
  PetscCall(MatDestroy(&B));

  /* The norm of 1 is the square root of the area of the reference square; vectors fit */
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatSBPSATNorm(A, x, &norm));
  if (PetscAbsReal(norm - 2) > 1e-4) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "norm of 1: %g\n", (double)norm));

  /* The integral of the source 1 is the area of the rectangle; the integral of the traction 1 is the circumference */
  PetscCall(VecSet(y, 0));
  PetscCall(MatSBPSATAddSource(A, x, y));
  PetscCall(VecSum(y, &sum));
  if (PetscAbsScalar(sum - 6) > 1e-3) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "area: %g\n", (double)PetscRealPart(sum)));
  PetscCall(MatSBPSATSetDirichlet(A, none));
  PetscCall(VecSet(y, 0));
  for (int f = 0; f < 4; f++) PetscCall(MatSBPSATAddBoundary(A, (MatSBPSATFace)f, x, y));
  PetscCall(VecSum(y, &sum));
  if (PetscAbsScalar(sum - 10) > 1e-3) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "circumference: %g\n", (double)PetscRealPart(sum)));

  /* Without a Dirichlet face constants are the null space */
  PetscCall(MatMult(A, x, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  if (norm > 1e-3) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "A 1 = %g\n", (double)norm));
  PetscCall(MatIsSPDKnown(A, &known, &flag));
  if (known && flag) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "singular, and known to be definite\n"));

  /* A copy has the settings, and new values are seen after an assembly */
  PetscCall(VecDuplicate(x, &mu));
  PetscCall(VecSet(mu, 2));
  PetscCall(MatSBPSATSetCoefficient(A, mu));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatGetDiagonal(A, x));
  PetscCall(MatGetDiagonal(B, y));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  if (norm != 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a copy is another matrix: %g\n", (double)norm));
  PetscCall(VecScale(mu, 3));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetDiagonal(B, y));
  PetscCall(VecAXPY(y, -3, x));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  if (norm > 1e-3) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a new coefficient is not seen: %g\n", (double)norm));
  PetscCall(MatDestroy(&B));

  /* Refused requests, which leave the matrix unchanged */
  Refused("order", MatSBPSATSetOrder(A, 3), PETSC_ERR_ARG_OUTOFRANGE);
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, 1000, &wrong));
  Refused("size", MatSBPSATSetCoefficient(A, wrong), PETSC_ERR_ARG_SIZ);
  PetscCall(VecDestroy(&wrong));
  Refused("tensor", MatSBPSATSetTensor(A, mu, NULL, NULL, NULL), PETSC_ERR_ARG_WRONG);
  PetscCall(VecScale(mu, -1));
  PetscCall(MatSBPSATSetCoefficient(A, mu));
  Refused("coefficient", MatMult(A, x, y), PETSC_ERR_ARG_OUTOFRANGE);
  PetscCall(MatSBPSATSetCoefficient(A, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecSet(mu, 1));
  PetscCall(MatSBPSATSetTensor(A, mu, mu, mu, NULL));
  Refused("not definite", MatMult(A, x, y), PETSC_ERR_ARG_OUTOFRANGE);
  PetscCall(VecSet(y, 0));
  PetscCall(MatSBPSATSetTensor(A, mu, mu, y, NULL));
  Refused("no J", MatSBPSATAddSource(A, x, mu), PETSC_ERR_ARG_WRONGSTATE);
  PetscCall(MatSBPSATSetMetrics(A, MATSBPSAT_METRICS_FLY));
  Refused("fly", MatGetDiagonal(A, x), PETSC_ERR_ARG_INCOMP);
  PetscCall(VecDestroy(&mu));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));

  /* Without coordinates the domain is the square [-1, 1]^2 */
  PetscCall(TestDM(9, 9, 1, DM_BOUNDARY_NONE, PETSC_FALSE, &da));
  PetscCall(MatCreateSBPSAT(da, &A));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_sbpsat_order"));
  PetscCall(MatSBPSATSetOrder(A, 2));
  PetscCall(MatView(A, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(MatSBPSATSetOrder(A, 6));
  PetscCall(MatCreateVecs(A, &x, &y));
  Refused("too few nodes", MatMult(A, x, y), PETSC_ERR_ARG_SIZ);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));

  PetscCall(TestDM(9, 9, 2, DM_BOUNDARY_NONE, PETSC_FALSE, &da));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  Refused("dof", TestSetUp(da, A), PETSC_ERR_SUP);
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(TestDM(9, 9, 1, DM_BOUNDARY_PERIODIC, PETSC_FALSE, &da));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  Refused("periodic", TestSetUp(da, A), PETSC_ERR_SUP);
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 9, 1, 1, NULL, &line));
  PetscCall(DMSetUp(line));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  Refused("one dimension", TestSetUp(line, A), PETSC_ERR_SUP);
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&line));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 9, 9));
  PetscCall(MatSetType(A, MATSBPSAT));
  Refused("no DMDA", MatSetUp(A), PETSC_ERR_ARG_WRONGSTATE);
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATAIJ));
  Refused("type", MatSBPSATSetOrder(A, 4), PETSC_ERR_ARG_WRONG);
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: double !complex
    args: -mat_sbpsat_order 4 -mat_sbpsat_dirichlet left,top -malloc_dump

TEST*/
