/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A MATVCRS without AIJ arrays takes the layout's bytes, and MatVCRSGetInfo() reports these bytes.\n\n";

#include "vcrstest.h"
#include <tests/options.h>

/* A 7-point matrix on an n^3 grid, with one medium or with all coefficients different */
static PetscErrorCode TestCreateLarge(PetscInt n, PetscBool constant, Mat *A)
{
  const PetscInt N = n * n * n;
  PetscInt       begin, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, MATVCRS));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 4, NULL));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    const PetscInt x = i % n, y = (i / n) % n, z = i / (n * n);
    PetscInt       cols[7], len = 0;
    PetscScalar    vals[7];

    if (z > 0) TestPut(&len, cols, vals, i - n * n, -1.0);
    if (y > 0) TestPut(&len, cols, vals, i - n, -1.0);
    if (x > 0) TestPut(&len, cols, vals, i - 1, -1.0);
    TestPut(&len, cols, vals, i, 6.0);
    if (x < n - 1) TestPut(&len, cols, vals, i + 1, -1.0);
    if (y < n - 1) TestPut(&len, cols, vals, i + n, -1.0);
    if (z < n - 1) TestPut(&len, cols, vals, i + n * n, -1.0);
    for (PetscInt k = 0; !constant && k < len; k++) vals[k] *= 1.0 + TestRandom(80, (uint64_t)i, (uint64_t)k);
    PetscCall(MatSetValues(*A, 1, &i, len, cols, vals, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestUsage(PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscCall(PetscMallocGetCurrentUsage(bytes));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, bytes, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const struct {
    const char   *name;
    PetscBool     constant;
    MatVCRSLayout layout;
    MatVCRSLoss   loss;
    PetscInt      bits;
    PetscBool     plain; /* the layout may change to plain rows */
  } cases[]      = {{"constant", PETSC_TRUE, MATVCRS_LAYOUT_AUTO, MATVCRS_LOSS_NONE, 16, PETSC_TRUE},
                    {"variable", PETSC_FALSE, MATVCRS_LAYOUT_AUTO, MATVCRS_LOSS_NONE, 16, PETSC_TRUE},
                    {"variable, log 8", PETSC_FALSE, MATVCRS_LAYOUT_L1, MATVCRS_LOSS_LOG, 8, PETSC_TRUE},
                    {"variable, fixed 16", PETSC_FALSE, MATVCRS_LAYOUT_AUTO, MATVCRS_LOSS_FIXED, 16, PETSC_FALSE},
                    {"variable, log 16", PETSC_FALSE, MATVCRS_LAYOUT_AUTO, MATVCRS_LOSS_LOG, 16, PETSC_TRUE}};
  PetscInt count = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));

  /* Memory which packages allocate once, at their first use, does not count */
  {
    Mat A;

    PetscCall(TestCreateLarge(8, PETSC_TRUE, &A));
    PetscCall(MatVCRSDropAIJ(A));
    PetscCall(MatVCRSMaterializeAIJ(A));
    PetscCall(MatDestroy(&A));
  }

  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    Mat            A;
    Vec            x, y;
    MatVCRSInfo    info;
    PetscLogDouble before, with, kept, dropped, again, fixed, exchange;

    PetscCall(TestUsage(&before));
    PetscCall(TestCreateLarge(32, cases[k].constant, &A));
    PetscCall(MatVCRSSetAllowLossyOperator(A, PETSC_TRUE));
    PetscCall(MatVCRSSetLayout(A, cases[k].layout));
    PetscCall(TestSetOptions(A, "-mat_vcrs_plain_rows %d", cases[k].plain));
    PetscCall(MatVCRSSetLoss(A, cases[k].loss));
    PetscCall(MatVCRSSetBits(A, cases[k].bits));
    PetscCall(TestUsage(&with));
    PetscCall(MatVCRSGetInfo(A, &info));
    PetscCall(TestUsage(&kept));
    PetscCall(MatVCRSDropAIJ(A));
    PetscCall(TestUsage(&dropped));

    /*
       The limit is the layout's bytes plus 5 %. Two more parts are allowed. The first are two objects (the matrix or
       its two blocks, in parallel with vectors and a scatter of the ghost values), which do not grow with the matrix.
       The second is AIJ's map of the ghost columns, at most 60 bytes per column.
    */
    {
      PetscInt    size = 1, ghosts = 0;
      PetscMPIInt ranks;

      PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
      size = ranks;
      if (ranks > 1) ghosts = 2 * (ranks - 1) * 32 * 32;
      fixed = 40000.0 * (PetscLogDouble)size + 60.0 * (PetscLogDouble)ghosts;
      /* of products: two numbers per ghost; real numbers are in the constant */
      exchange = 100000.0 + 2.0 * (PetscLogDouble)(sizeof(PetscScalar) - sizeof(PetscReal)) * (PetscLogDouble)ghosts;
      count++;
      if (dropped - before > 1.05 * info.bytes + fixed || dropped >= with || (k != 1 && dropped - before > 0.5 * (with - before))) {
        failures++;
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: %.0f bytes with AIJ, %.0f with both, %.0f without AIJ; MatVCRSGetInfo() says %.0f\n", cases[k].name,
                              with - before, kept - before, dropped - before, info.bytes));
      }
      if (kept - with < 0.95 * info.bytes - fixed || kept - with > 1.05 * info.bytes + fixed) {
        failures++;
        PetscCall(
          PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: the compression took %.0f bytes, MatVCRSGetInfo() says %.0f\n", cases[k].name, kept - with, info.bytes));
      }
      if (info.aijbytes > with - before) {
        failures++;
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: AIJ takes %.0f bytes, MatVCRSGetInfo() says %.0f\n", cases[k].name, with - before, info.aijbytes));
      }
    }

    /* products need no more memory, except for plain rows; after materialisation everything exists again */
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1.0));
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMultTranspose(A, x, y));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(TestUsage(&again));
    PetscCall(MatVCRSGetInfo(A, &info));
    if (info.plainrows ? !cases[k].plain || cases[k].layout != MATVCRS_LAYOUT_AUTO || again - before > 1.05 * (info.bytes + info.plainbytes) + fixed
                       : again > dropped + 0.05 * info.bytes + exchange) {
      failures++;
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: %.0f bytes before products, %.0f after\n", cases[k].name, dropped - before, again - before));
    }
    PetscCall(MatVCRSMaterializeAIJ(A));
    PetscCall(TestUsage(&again));
    if (again - before < info.aijbytes) {
      failures++;
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: only %.0f bytes with AIJ again\n", cases[k].name, again - before));
    }
    PetscCall(MatDestroy(&A));
  }
  return TestReport("%" PetscInt_FMT " matrices take the memory that they say\n", count);
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -malloc_debug

TEST*/
