/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "KSPCBGMRES and types of vectors: nested vectors work, and set-up refuses vectors without arrays.\n\n";

#include <tests/cbgmres/ksptest.h>
#include <petsc/private/vecimpl.h>

/* Two fields, or fields in fields, and the same without nests */
static PetscErrorCode CreateNest(PetscInt depth, Mat *N)
{
  Mat A, block[4] = {NULL, NULL, NULL, NULL};

  PetscFunctionBeginUser;
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_CONVECTION, 0, &A));
  if (depth > 1) PetscCall(CreateNest(depth - 1, &block[0]));
  else PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &block[0]));
  PetscCall(MatShift(A, 1.0));
  block[3] = A;
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, block, N));
  PetscCall(MatDestroy(&block[0]));
  PetscCall(MatDestroy(&block[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TryNest(PetscInt depth, PetscInt *compared)
{
  static const char *const types[] = {"cbgmres", "cbfgmres"};
  Mat                      A;
  Vec                      x, b;
  PetscBool                nest;

  PetscFunctionBeginUser;
  PetscCall(CreateNest(depth, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(MatNestSetVecType(A, VECNEST));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PetscObjectTypeCompare((PetscObject)b, VECNEST, &nest));
  if (WRONG(!nest)) FAIL("vectors of type %s", ((PetscObject)b)->type_name);
  PetscCall(VecSet(b, 1.0));
  for (int t = 0; t < 2; t++) {
    for (int s = 0; s < NSTORAGES; s++) {
      KSP                ksp;
      KSPConvergedReason reason;
      PetscReal          residual, rtol = PetscMax(1e-5, 100 * PETSC_MACHINE_EPSILON);
      char               options[256];

      PetscCall(PetscSNPrintf(options, sizeof(options),
                              "-ksp_type %s -pc_type none -ksp_rtol %g -ksp_max_it 500 -ksp_gmres_restart 100 -ksp_cbgmres_storage %s", types[t], (double)rtol,
                              storages[s].name));
      PetscCall(TestCreateKSP(A, options, &ksp));
      PetscCall(VecZeroEntries(x));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCall(TestResidual(A, x, b, &residual));
      (*compared)++;
      if (WRONG(storages[s].unit < 1e-2 && (reason <= 0 || residual > 1.01 * rtol)))
        FAIL("depth %" PetscInt_FMT ", %s: reason %d, residual %g", depth, options, (int)reason, (double)residual);
      PetscCall(KSPDestroy(&ksp));
    }
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A type with products and sums but without arrays, as composed vectors of other packages */
static PetscErrorCode VecDuplicate_Bare(Vec, Vec *);

static PetscErrorCode VecMakeBare(Vec v)
{
  PetscFunctionBeginUser;
  v->petscnative        = PETSC_FALSE;
  v->ops->getarray      = NULL;
  v->ops->getarrayread  = NULL;
  v->ops->getarraywrite = NULL;
  v->ops->duplicate     = VecDuplicate_Bare;
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, "bare"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDuplicate_Bare(Vec x, Vec *y)
{
  PetscInt n, N;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetSize(x, &N));
  PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)x), n, N, y));
  PetscCall(VecMakeBare(*y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateVecs_Bare(Mat A, Vec *right, Vec *left)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  for (int k = 0; k < 2; k++) {
    Vec *v = k ? left : right;

    if (!v) continue;
    PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)A), n, PETSC_DETERMINE, v));
    PetscCall(VecMakeBare(*v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static char message[2048];

/* Keeps the text of the error */
static PetscErrorCode KeepMessage(PETSC_UNUSED MPI_Comm comm, PETSC_UNUSED int line, PETSC_UNUSED const char *function, PETSC_UNUSED const char *file,
                                  PetscErrorCode n, PetscErrorType p, const char *text, PETSC_UNUSED void *unused)
{
  if (p == PETSC_ERROR_INITIAL && text) (void)PetscStrncpy(message, text, sizeof(message));
  return n;
}

/* Set-up, and no later call, must name the solver, the type of the vectors, and an alternative */
static PetscErrorCode TryBare(const char type[], const char instead[], PetscInt *compared)
{
  const char *const wanted[] = {type, "type bare", instead};
  Mat               A;
  KSP               ksp;
  PC                pc;
  PetscErrorCode    ierr;
  PetscBool         found;

  PetscFunctionBeginUser;
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, 5, 5, PETSC_DETERMINE, PETSC_DETERMINE, NULL, &A));
  PetscCall(MatShellSetOperation(A, MATOP_CREATE_VECS, (PetscErrorCodeFn *)MatCreateVecs_Bare));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  message[0] = '\0';
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = KSPSetUp(ksp);
  PetscCall(PetscPopErrorHandler());
  if (WRONG(ierr != PETSC_ERR_SUP)) FAIL("-ksp_type %s: set-up returns %d, not %d", type, (int)ierr, (int)PETSC_ERR_SUP);
  for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(wanted); w++) {
    const char *at;

    PetscCall(PetscStrstr(message, wanted[w], (char **)&at));
    found = (PetscBool) !!at;
    if (WRONG(!found)) FAIL("-ksp_type %s: the message '%s' has no '%s'", type, message, wanted[w]);
  }
  (*compared)++;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt compared = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (PetscInt depth = 1; depth <= 2; depth++) PetscCall(TryNest(depth, &compared));
  PetscCall(TryBare(KSPCBGMRES, "-ksp_type gmres", &compared));
  PetscCall(TryBare(KSPCBFGMRES, "-ksp_type fgmres", &compared));
  if (WRONG(compared != 4 * NSTORAGES + 2)) FAIL("%" PetscInt_FMT " things were compared", compared);
  return TestEnd(38, "nests of 2 depths in each storage, 2 solvers without arrays: all is right\n");
}

/*TEST

  test:
    nsize: {{1 2}}
    output_file: output/vectypes_1.out

TEST*/
