/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCVCRS in the memory of parallel matrices: blocks which factor once, stored restrictions.\n\n";

#include <petsc/private/pcimpl.h>
#include <tests/vcrs/vcrstest.h>
#include <tests/pcvcrs/pcvcrstest.h>

static const TestKind kinds[] = {TEST_STAR7, TEST_BOX27, TEST_RESERVOIR, TEST_CONVECTION};

/* How often an event was logged, by all processes */
static PetscErrorCode CountEvent(const char name[], PetscInt *count)
{
  PetscEventPerfInfo info;
  PetscLogEvent      event;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  *count = (PetscInt)info.count;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, count, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same matrix with another type; on devices its values are on the device only */
static PetscErrorCode CreateMatrix(TestKind kind, MatType type, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, kind, 0, A));
  PetscCall(MatConvert(*A, type, MAT_INPLACE_MATRIX, A));
  PetscCall(MatShift(*A, 1.0));
  PetscCall(MatScale(*A, 2.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the copies with their originals */
static PetscErrorCode CompareWithInner(Mat A, PC pc, PetscReal tolerance, const char where[])
{
  PC inner;

  PetscFunctionBeginUser;
  PetscCall(PCVCRSGetPC(pc, &inner));
  for (int way = 0; way <= APPLY_TRANSPOSE; way++) {
    PetscReal difference;
    Vec       x;

    if (way == APPLY_TRANSPOSE && !inner->ops->applytranspose) continue;
    PetscCall(MatCreateVecs(A, &x, NULL));
    PetscCall(TestFillVec(x, 3 + way));
    PetscCall(Difference(inner, pc, (Way)way, x, &difference));
    if (WRONG(!(difference <= tolerance))) FAIL("%s, %s: differs by %g", where, WayNames[way], (double)difference);
    PetscCall(VecDestroy(&x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver type of the first block */
static PetscErrorCode GetBlockSolver(PC pc, PetscBool *lithe)
{
  PC            inner, block;
  KSP          *ksp;
  MatSolverType type;
  PetscBool     isbjacobi;

  PetscFunctionBeginUser;
  PetscCall(PCVCRSGetPC(pc, &inner));
  PetscCall(PetscObjectTypeCompare((PetscObject)inner, PCBJACOBI, &isbjacobi));
  if (isbjacobi) PetscCall(PCBJacobiGetSubKSP(inner, NULL, NULL, &ksp));
  else PetscCall(PCASMGetSubKSP(inner, NULL, NULL, &ksp));
  PetscCall(KSPGetPC(ksp[0], &block));
  PetscCall(PCFactorGetMatSolverType(block, &type));
  PetscCall(PetscStrcmp(type, "lithe", lithe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each block is factored once; the solver type is Lithe's on a device, or the requested type */
static PetscErrorCode TestBlocks(TestKind kind, Mat A, PetscBool device)
{
  static const struct {
    const char *options;
    PetscInt    blocks; /* per process */
    PetscBool   ours;
  } variants[] = {{"-@pc_type vcrs -@vcrs_pc_type bjacobi -@vcrs_sub_pc_type ilu", 1, PETSC_TRUE},
                  {"-@pc_type vcrs -@vcrs_pc_type bjacobi -@vcrs_sub_pc_type ilu -@vcrs_pc_bjacobi_local_blocks 3", 3, PETSC_TRUE},
                  {"-@pc_type vcrs -@vcrs_pc_type asm -@vcrs_sub_pc_type ilu", 1, PETSC_TRUE},
                  {"-@pc_type vcrs -@vcrs_pc_type bjacobi -@vcrs_sub_pc_type ilu -@vcrs_sub_pc_factor_mat_solver_type petsc", 1, PETSC_FALSE},
                  {"-@pc_type vcrs -@vcrs_pc_type asm -@vcrs_sub_pc_type ilu -@vcrs_sub_pc_factor_mat_solver_type petsc", 1, PETSC_FALSE}};
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(variants); v++) {
    for (int lossy = 0; lossy < 2; lossy++) {
      PetscInt  symbolic[2], numeric[2];
      PetscBool lithe;
      char      where[512], options[512];
      PC        pc;

      PetscCall(PetscSNPrintf(where, sizeof(where), "%s, %s, %s", TestKindNames[kind], variants[v].options, lossy ? "log" : "none"));
      PetscCall(
        PetscSNPrintf(options, sizeof(options), "%s -@pc_vcrs_factor_solve substitution -@pc_vcrs_loss %s", variants[v].options, lossy ? "log" : "none"));
      PetscCall(CountEvent("MatILUFactorSym", &symbolic[0]));
      PetscCall(CountEvent("MatLUFactorNum", &numeric[0]));
      PetscCall(CreatePC(A, options, NULL, &pc));
      PetscCall(CountEvent("MatILUFactorSym", &symbolic[1]));
      PetscCall(CountEvent("MatLUFactorNum", &numeric[1]));
      if (WRONG(symbolic[1] - symbolic[0] != size * variants[v].blocks || numeric[1] - numeric[0] != size * variants[v].blocks))
        FAIL("%s: %" PetscInt_FMT " blocks factor %" PetscInt_FMT " and %" PetscInt_FMT " times", where, size * variants[v].blocks, symbolic[1] - symbolic[0],
             numeric[1] - numeric[0]);
      PetscCall(GetBlockSolver(pc, &lithe));
      if (WRONG(lithe != (PetscBool)(device && variants[v].ours))) FAIL("%s: the wrong solver type", where);
      PetscCall(CompareWithInner(A, pc, lossy ? 0.2 : 1e-10, where));
      PetscCall(PCDestroy(&pc));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multigrid, with and without stored restrictions: if no matrix is made on the host, significant digits must not
   change */
static PetscErrorCode TestMultigrid(TestKind kind, Mat A)
{
  static const char *const variants[] = {"-@pc_vcrs_loss none", "-@pc_vcrs_loss none -@pc_vcrs_store_restrictions", "-@pc_vcrs_loss log",
                                         "-@pc_vcrs_loss log -@pc_vcrs_store_restrictions", "-@pc_vcrs_loss fixed -@pc_vcrs_store_restrictions"};

  PetscFunctionBeginUser;
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(variants); v++) {
    char where[512], options[512];
    PC   pc;

    PetscCall(PetscSNPrintf(where, sizeof(where), "%s, gamg, %s", TestKindNames[kind], variants[v]));
    PetscCall(PetscSNPrintf(options, sizeof(options), "-@pc_type vcrs -@vcrs_pc_type gamg -@vcrs_pc_gamg_coarse_eq_limit 20 %s", variants[v]));
    PetscCall(CreatePC(A, options, NULL, &pc));
    PetscCall(CompareWithInner(A, pc, v < 2 ? 1e-9 : 0.2, where));

    /* set up again with the same matrices, and with new matrices */
    PetscCall(MatScale(A, 2.0));
    PetscCall(PCSetUp(pc));
    PetscCall(CompareWithInner(A, pc, v < 2 ? 1e-9 : 0.2, where));
    PetscCall(MatScale(A, 0.5));
    PetscCall(PCDestroy(&pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      type[64] = MATAIJ;
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(LitheInitializePackage());
  PetscCall(TestMatType(sizeof(type), type, &device));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    Mat A;

    PetscCall(CreateMatrix(kinds[k], type, &A));
    PetscCall(TestBlocks(kinds[k], A, device));
    PetscCall(TestMultigrid(kinds[k], A));
    PetscCall(MatDestroy(&A));
  }
  return TestEnd(240, "all is right\n");
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    output_file: output/right.out

    test:

    # -checkfunctionlist 0: as in vcrs/conversions
    test:
      suffix: cuda
      requires: cuda
      args: -checkfunctionlist 0 -mat_type aijcusparse

TEST*/
