/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The package: it initialises once, however often it is asked to, and again after PetscFinalize().\n\n";

#include <lithemat.h>
#include <petscmat.h>

int main(int argc, char **argv)
{
  /* PETSc may be initialised twice if it does not start MPI itself */
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

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "round %d: Lithe is there\n", round));
    PetscCall(PetscFinalize());
  }
  return MPI_Finalize();
}

/*TEST

  test:
    nsize: {{1 2}}

TEST*/
