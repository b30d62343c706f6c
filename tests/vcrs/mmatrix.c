/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A symmetric M-matrix in logarithmic loss stays positive definite, and kappa(A~^-1 A) <= (1+d)^2.\n\n";

#include "vcrstest.h"
#include <petscksp.h>

int main(int argc, char **argv)
{
  PetscInt count = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (int kind = 0; kind < TEST_KINDS; kind++) {
    if (!TestKindIsMMatrix((TestKind)kind)) continue;
    for (PetscInt bits = 8; bits <= 16; bits += 8) {
      for (int known = 0; known < 2; known++) {
        Mat         A, B, C;
        MatVCRSInfo info;
        PetscReal   least = 0.0, largest = 0.0;
        PetscBool   definite = PETSC_FALSE;

        PetscCall(TestCreateMatrix(PETSC_COMM_SELF, (TestKind)kind, 0, &B));
        PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));
        /* a logarithmic scale depends on values alone, so symmetry need not be known */
        if (known) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
        PetscCall(MatVCRSSetLoss(A, MATVCRS_LOSS_LOG));
        PetscCall(MatVCRSSetBits(A, bits));
        PetscCall(MatVCRSGetInfo(A, &info));
        PetscCall(MatVCRSDropAIJ(A));
        PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
        PetscCall(TestEigenvalues(B, C, &least, &largest, &definite));
        if (!definite) PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s, %" PetscInt_FMT " bit: not positive definite\n", TestKindNames[kind], bits));
        /* eigenvalues lie within [1/(1+d), 1+d], up to the rounding errors of an ill-conditioned matrix */
        else if (!(least > 0.0 && largest / least <= PetscSqr(1.0 + info.bound) * (1.0 + PetscSqrtReal(PETSC_MACHINE_EPSILON))))
          PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s, %" PetscInt_FMT " bit: eigenvalues from %g to %g, d = %g\n", TestKindNames[kind], bits,
                                (double)least, (double)largest, (double)info.bound));
        else if (bits == 8 && kind == TEST_RESERVOIR && largest / least < 1.0 + 0.1 * info.bound)
          PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s, %" PetscInt_FMT " bit: eigenvalues from %g to %g, nearer than 8 bits can be\n", TestKindNames[kind],
                                bits, (double)least, (double)largest));
        else count++;
        PetscCall(MatDestroy(&A));
        PetscCall(MatDestroy(&B));
        PetscCall(MatDestroy(&C));
      }
    }
  }
  return TestReport("%" PetscInt_FMT " M-matrices stay near and positive definite\n", count);
}

/*TEST

  test:

TEST*/
