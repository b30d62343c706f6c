/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATHYBMGPU: options, information, bad input, rows moved between processes, and a multigrid solve.\n\n";

#include <tests/vcrs/vcrstest.h>
#include <tests/refused.h>
#include <tests/matview.h>
#include <tests/options.h>
#include <petscksp.h>

static PetscErrorCode Check(PetscBool good, const char what[])
{
  PetscFunctionBegin;
  count++;
  if (!good) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s\n", what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options database with a prefix; a copy has the options */
static PetscErrorCode TestDatabase(Mat B)
{
  Mat               A, C;
  MatHYBMGPUInfo    info;
  PetscBool         has;
  static const char values[] = "-some_mat_hybmgpu_format hyb -some_mat_hybmgpu_width 3 -some_mat_hybmgpu_reorder rcm -some_mat_hybmgpu_transport mpi";

  PetscFunctionBegin;
  PetscCall(MatConvert(B, MATHYBMGPU, MAT_INITIAL_MATRIX, &A));
  PetscCall(PetscOptionsInsertString(NULL, values));
  PetscCall(MatSetOptionsPrefix(A, "some_"));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &C));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatHYBMGPUGetInfo(k ? C : A, &info));
    PetscCall(MatViewHas(k ? C : A, "order of rows rcm", &has));
    PetscCall(Check((PetscBool)(info.format == MATHYBMGPU_FORMAT_HYB && info.width == 3 && info.transport == LITHE_TRANSPORT_MPI && has),
                    k ? "options of a copy" : "options of the database"));
  }
  PetscCall(MatDestroy(&C));
  PetscCall(TestSetOptions(A, "-mat_hybmgpu_width -1 -mat_hybmgpu_sigma -1 -mat_hybmgpu_transport auto -mat_hybmgpu_reorder none"));
  PetscCall(MatHYBMGPUGetInfo(A, &info));
  PetscCall(MatViewHas(A, "order of rows none", &has));
  PetscCall(Check((PetscBool)(info.width != 3 && info.transport == LITHE_TRANSPORT_AUTO && has), "options set back"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares MatHYBMGPUGetInfo() with the definitions */
static PetscErrorCode TestInfo(Mat B)
{
  Mat            A, Ad = B, Ao = NULL;
  MatHYBMGPUInfo info;
  MatInfo        all, diagonal;
  PetscInt       m;
  PetscInt64     number[2], places;
  PetscBool      parallel;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(B, &Ad, &Ao, NULL));
  PetscCall(MatGetInfo(B, MAT_GLOBAL_SUM, &all));
  PetscCall(MatGetInfo(Ad, MAT_LOCAL, &diagonal));
  PetscCall(MatGetLocalSize(B, &m, NULL));
  number[1] = 0;
  if (Ao) {
    PetscInt ghosts;

    PetscCall(MatGetLocalSize(Ao, NULL, &ghosts));
    number[1] = (PetscInt64)ghosts * (PetscInt64)sizeof(PetscScalar);
  }
  places    = (PetscInt64)(m + 31) / 32 * 32 * 7;
  number[0] = places - (PetscInt64)diagonal.nz_used;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, number, 2, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));

  PetscCall(MatConvert(B, MATHYBMGPU, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatHYBMGPUSetFormat(A, MATHYBMGPU_FORMAT_HYB));
  PetscCall(TestSetOptions(A, "-mat_hybmgpu_width 7"));
  PetscCall(MatHYBMGPUGetInfo(A, &info));
  PetscCall(
    Check((PetscBool)(info.format == MATHYBMGPU_FORMAT_HYB && info.width == 7 && info.tail == 0 && info.padding == number[0] &&
                      info.nonzeros == (PetscInt64)all.nz_used && info.halobytes == number[1] && info.from == info.to && info.from == (parallel ? 1 : 0)),
          "info of a HYB without lists"));

  /* all entries in lists; the width with the fewest bytes, which covers nearly all points of the star, since few rows
     are shorter; the width by the cusp rule */
  PetscCall(TestSetOptions(A, "-mat_hybmgpu_width 0"));
  PetscCall(MatHYBMGPUGetInfo(A, &info));
  PetscCall(Check((PetscBool)(info.width == 0 && info.padding == 0 && info.tail == info.nonzeros - info.ghost), "info of a HYB of lists"));
  PetscCall(TestSetOptions(A, "-mat_hybmgpu_width -1"));
  PetscCall(MatHYBMGPUGetInfo(A, &info));
  PetscCall(Check((PetscBool)(info.width >= 5 && info.width <= 7), "the width with the fewest bytes"));
  PetscCall(TestSetOptions(A, "-mat_hybmgpu_split cusp"));
  PetscCall(MatHYBMGPUGetInfo(A, &info));
  PetscCall(Check((PetscBool)(info.width >= 3 && info.width <= 4), "the width by the cusp rule: that of all rows of a small matrix"));
  PetscCall(MatHYBMGPUSetFormat(A, MATHYBMGPU_FORMAT_SELL));
  PetscCall(MatHYBMGPUGetInfo(A, &info));
  PetscCall(
    Check((PetscBool)(info.format == MATHYBMGPU_FORMAT_SELL && info.padding == 0 && info.tail == 0 && info.bytes < info.aijbytes + 64 * (parallel ? 2 : 1)),
          "info of SELL"));
  PetscCall(MatHYBMGPUSetFormat(A, MATHYBMGPU_FORMAT_VCRS));
  PetscCall(MatHYBMGPUGetInfo(A, &info));
  PetscCall(Check((PetscBool)(info.format == MATHYBMGPU_FORMAT_VCRS && info.bytes < info.aijbytes / 2), "info of compressed rows"));
  PetscCall(MatHYBMGPUSetFormat(A, MATHYBMGPU_FORMAT_AUTO));
  PetscCall(MatHYBMGPUGetInfo(A, &info));
  PetscCall(Check((PetscBool)(info.format == MATHYBMGPU_FORMAT_VCRS), "what auto takes for equal rows"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestErrors(Mat B)
{
  Mat            A, W, V;
  MatHYBMGPUInfo info;
  Vec            x, y;
  IS             rows;
  PetscBool      parallel;

  PetscFunctionBegin;
  PetscCall(MatConvert(B, MATHYBMGPU, MAT_INITIAL_MATRIX, &A));
  TEST_REFUSED("width", TestSetOptions(A, "-mat_hybmgpu_width -7"), "-mat_hybmgpu_width", "-7");
  TEST_REFUSED("sigma", TestSetOptions(A, "-mat_hybmgpu_sigma 0"), "-mat_hybmgpu_sigma", "at least 1");
  PetscCall(TestSetOptions(A, "-mat_hybmgpu_reorder rcm"));
  TEST_REFUSED("rcm and vcrs", MatHYBMGPUSetFormat(A, MATHYBMGPU_FORMAT_VCRS), "rcm", "vcrs");
  PetscCall(TestSetOptions(A, "-mat_hybmgpu_reorder none"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_vcrs_loss", "single"));
  PetscCall(MatHYBMGPUSetFormat(A, MATHYBMGPU_FORMAT_VCRS));
  TEST_REFUSED("a loss", MatHYBMGPUGetInfo(A, &info), "-mat_vcrs_loss single", "-mat_type vcrs");
  PetscCall(PetscOptionsClearValue(NULL, "-mat_vcrs_loss"));
  PetscCall(MatHYBMGPUGetInfo(A, &info));
  PetscCall(Check((PetscBool)(info.format == MATHYBMGPU_FORMAT_VCRS), "compressed rows after an error"));

  TEST_REFUSED("a setter for another type", MatHYBMGPUSetFormat(B, MATHYBMGPU_FORMAT_HYB), "hybmgpu", "MatConvert()");
  TEST_REFUSED("info of another type", MatHYBMGPUGetInfo(B, &info), "not hybmgpu");
  PetscCall(MatCreate(PETSC_COMM_WORLD, &W));
  PetscCall(MatSetSizes(W, PETSC_DECIDE, PETSC_DECIDE, 6, 8));
  PetscCall(MatSetType(W, MATHYBMGPU));
  TEST_REFUSED("info of a matrix that is not assembled", MatHYBMGPUGetInfo(W, &info), "MatAssemblyBegin()");
  PetscCall(MatSetUp(W));
  PetscCall(MatAssemblyBegin(W, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(W, MAT_FINAL_ASSEMBLY));
  TEST_REFUSED("rows and columns moved together", MatHYBMGPURepartition(W, &V, &rows), "6 rows and 8 columns");
  PetscCall(MatDestroy(&W));

  /* A transport which needs a device, with host vectors; a single process exchanges nothing */
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJHYBMGPU, &parallel));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(TestSetOptions(A, "-mat_hybmgpu_transport ipc"));
  if (parallel) TEST_REFUSED("ipc on the host", MatMult(A, x, y), "ipc", "cannot be used");
  else PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(TestSetOptions(A, "-mat_hybmgpu_transport mpi"));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix with permuted rows equals the old matrix for vectors permuted likewise */
static PetscErrorCode TestRepartition(Mat B)
{
  Mat            A, C;
  MatHYBMGPUInfo info;
  IS             rows;
  Vec            x, y, cx, cy, cr;
  VecScatter     scatter;
  PetscReal      norm, difference;

  PetscFunctionBegin;
  PetscCall(MatConvert(B, MATHYBMGPU, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatHYBMGPUSetFormat(A, MATHYBMGPU_FORMAT_SELL));
  PetscCall(MatHYBMGPURepartition(A, &C, &rows));
  PetscCall(MatHYBMGPUGetInfo(C, &info));
  PetscCall(Check((PetscBool)(info.format == MATHYBMGPU_FORMAT_SELL), "the options of a matrix whose rows were moved"));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatCreateVecs(C, &cx, &cy));
  PetscCall(VecDuplicate(cy, &cr));
  PetscCall(TestFillVec(x, 3));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecScatterCreate(x, rows, cx, NULL, &scatter));
  PetscCall(VecScatterBegin(scatter, x, cx, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, cx, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterBegin(scatter, y, cr, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, y, cr, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(MatMult(C, cx, cy));
  PetscCall(VecNorm(cr, NORM_2, &norm));
  PetscCall(VecAXPY(cy, -1.0, cr));
  PetscCall(VecNorm(cy, NORM_2, &difference));
  PetscCall(TestIsRounding(difference, norm, "rows moved", "the product", &failures));
  count++;
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&cx));
  PetscCall(VecDestroy(&cy));
  PetscCall(VecDestroy(&cr));
  PetscCall(ISDestroy(&rows));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conjugate gradients with algebraic multigrid, which coarsens by products of matrices, and with relaxation: the same
   iterations as AIJ */
static PetscErrorCode TestSolve(Mat B)
{
  static const char *const pcs[] = {PCGAMG, PCSOR, PCBJACOBI};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(pcs); k++) {
    PetscInt  its[2];
    PetscReal norm[2];

    for (int ours = 0; ours < 2; ours++) {
      Mat A;
      KSP ksp;
      PC  pc;
      Vec x, b;

      PetscCall(MatConvert(B, ours ? MATHYBMGPU : MATAIJ, MAT_INITIAL_MATRIX, &A));
      if (ours) PetscCall(MatHYBMGPUSetFormat(A, MATHYBMGPU_FORMAT_SELL));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(TestFillVec(b, 4));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetType(ksp, KSPCG));
      PetscCall(KSPSetTolerances(ksp, 100 * PETSC_SQRT_MACHINE_EPSILON, PETSC_DETERMINE, PETSC_DETERMINE, 200));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, pcs[k]));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetIterationNumber(ksp, &its[ours]));
      PetscCall(VecNorm(x, NORM_2, &norm[ours]));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&b));
      PetscCall(MatDestroy(&A));
    }
    PetscCall(
      Check((PetscBool)(its[0] > 1 && PetscAbsInt(its[0] - its[1]) <= 1 && PetscAbsReal(norm[0] - norm[1]) <= 1000 * PETSC_SQRT_MACHINE_EPSILON * norm[0]),
            pcs[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat       star, star7, A;
  PetscBool view = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view", &view, NULL));
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_STAR5, 0, &star));
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_STAR7, 0, &star7));
  if (view) {
    PetscCall(MatConvert(star7, MATHYBMGPU, MAT_INITIAL_MATRIX, &A));
    PetscCall(MatViewFromOptions(A, NULL, "-matrix_view"));
    PetscCall(MatDestroy(&A));
  } else {
    PetscCall(TestDatabase(star));
    PetscCall(TestInfo(star7));
    PetscCall(TestErrors(star));
    PetscCall(TestRepartition(star));
    PetscCall(TestSolve(star));
  }
  PetscCall(MatDestroy(&star));
  PetscCall(MatDestroy(&star7));
  return TestReport(view ? "" : "%" PetscInt_FMT " checks\n", count);
}

/*TEST

  # -checkfunctionlist 0: as in vcrs/conversions
  test:
    args: -checkfunctionlist 0

  test:
    suffix: 2
    nsize: 2
    args: -checkfunctionlist 0

  test:
    suffix: hyb
    requires: !complex double !defined(PETSC_USE_64BIT_INDICES)
    args: -view -matrix_view ::ascii_info -mat_hybmgpu_format hyb -mat_hybmgpu_width 6

  test:
    suffix: sell
    requires: !complex double !defined(PETSC_USE_64BIT_INDICES)
    nsize: 2
    args: -view -matrix_view ::ascii_info -mat_hybmgpu_format sell -mat_hybmgpu_reorder rcm

TEST*/
