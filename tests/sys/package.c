/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The package: initialised once, after any number of requests, and again after PetscFinalize().\n\n";

#include <lithe.h>

/* lithe.h has all parts of the API: types, enums and functions of each part, and the underlying objects of PETSc */
static PetscErrorCode TestParts(void)
{
  PetscErrorCode (*const functions[])(void) = {(PetscErrorCode(*)(void))MatVCRSGetInfo,         (PetscErrorCode(*)(void))MatHYBMGPUGetInfo,
                                               (PetscErrorCode(*)(void))MatSBPSATGetOrder,      (PetscErrorCode(*)(void))PCVCRSGetInfo,
                                               (PetscErrorCode(*)(void))PCSBPMGSetCycle,        (PetscErrorCode(*)(void))KSPCBGMRESGetInfo,
                                               (PetscErrorCode(*)(void))TSUniformizationGetInfo};
  Mat A;
  PC  pc;
  KSP ksp;
  TS  ts;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(functions); i++)
    PetscCheck(functions[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Function %d is not in the library", (int)i);
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATHYBMGPU));
  PetscCall(MatDestroy(&A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCVCRS));
  PetscCall(PCVCRSSetFactorSolve(pc, PCVCRS_FACTOR_AUTO));
  PetscCall(PCDestroy(&pc));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCBGMRES));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetType(ts, TSUNIFORMIZATION));
  PetscCall(TSUniformizationSetSteadyState(ts, PETSC_FALSE));
  PetscCall(TSDestroy(&ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first product of a round registers references, later products do not */
static PetscErrorCode TestCitations(void)
{
  size_t size[3];

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    Mat A;
    Vec x, y;

    PetscCall(PetscSegBufferGetSize(PetscCitationsList, &size[k]));
    PetscCall(MatCreateConstantDiagonal(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 8, 8, 1.0, &A));
    PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
    PetscCall(MatConvert(A, MATVCRS, MAT_INPLACE_MATRIX, &A));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(MatMult(A, x, y));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  PetscCheck(size[1] > size[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "A product registered no reference");
  PetscCheck(size[2] == size[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Another product registered a reference");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  /* if the program starts MPI itself, PETSc may be initialised twice */
  if (MPI_Init(&argc, &argv)) return 1;
  for (int round = 0; round < 2; round++) {
    Mat           A;
    char          version[32];
    PetscBool     same;
    PetscMPIInt   size;
    PetscLogEvent event;
    const char   *types[] = {MATVCRS, MATAIJVCRS};

    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, help));

    /* Twice does nothing */
    PetscCall(LitheInitializePackage());
    PetscCall(LitheInitializePackage());

    PetscCall(LitheGetVersion(version, sizeof(version)));
    PetscCall(PetscStrcmp(version, LITHE_VERSION, &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The library is %s, the header %s", version, LITHE_VERSION);

    PetscCall(PetscLogEventGetId("MatVCRSCompress", &event));
    PetscCheck(event >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "There is no log event MatVCRSCompress");

    /* The short names choose by the size of the communicator */
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
      PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
      PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 8, 8));
      PetscCall(MatSetType(A, types[t]));
      PetscCall(PetscObjectTypeCompare((PetscObject)A, size == 1 ? MATSEQAIJVCRS : MATMPIAIJVCRS, &same));
      PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s gives a matrix of another type", types[t]);
      PetscCall(MatDestroy(&A));
    }

    PetscCall(TestParts());
    PetscCall(TestCitations());
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "round %d: Lithe is there\n", round));
    PetscCall(PetscFinalize());
  }
  return MPI_Finalize();
}

/*TEST

  test:
    nsize: {{1 2}}

TEST*/
