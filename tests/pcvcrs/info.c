/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCVCRSGetInfo(): bytes and numbers of the compressed matrices, against the exact matrices in PETSc; "
                     "and all bounds are small.\n\n";

#include <tests/options.h>
#include <tests/pcvcrs/reservoirtest.h>

/* Bytes of the factors of all blocks: a number and an index per entry, a pointer per row of each triangle, and a
   pointer at the end */
static PetscErrorCode FactorBytes(PC pc, PetscLogDouble *bytes, PetscInt64 *factors)
{
  const PetscLogDouble entry = sizeof(PetscScalar) + sizeof(PetscInt);
  PetscInt             n, first, rows;
  KSP                 *sub;

  PetscFunctionBeginUser;
  PetscCall(PCBJacobiGetSubKSP(pc, &n, &first, &sub));
  *bytes   = 0.0;
  *factors = n;
  for (PetscInt k = 0; k < n; k++) {
    MatInfo info;
    Mat     F;
    PC      block;

    PetscCall(KSPGetPC(sub[k], &block));
    PetscCall(PCFactorGetMatrix(block, &F));
    PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
    PetscCall(MatGetLocalSize(F, &rows, NULL));
    *bytes += info.nz_used * entry + 2.0 * (rows + 1) * sizeof(PetscInt);
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, factors, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckInfo(const char name[], PC pc, PetscLogDouble exactbytes, PetscInt64 matrices, PetscInt64 factors)
{
  PCVCRSInfo info;

  PetscFunctionBeginUser;
  PetscCall(PCVCRSGetInfo(pc, &info));
  if (WRONG(info.exactbytes != exactbytes)) FAIL("%s: %g bytes uncompressed, not %g", name, info.exactbytes, exactbytes);
  if (WRONG(info.matrices != matrices || info.factors != factors))
    FAIL("%s: %" PetscInt64_FMT " matrices and %" PetscInt64_FMT " factors, not %" PetscInt64_FMT " and %" PetscInt64_FMT, name, info.matrices, info.factors,
         matrices, factors);
  if (WRONG(matrices ? !(info.bytes > 0.0 && 2.0 * info.bytes < exactbytes && info.bound > 0.0 && info.bound < 0.5) : info.bytes != 0.0 || info.bound != 0.0))
    FAIL("%s: %g bytes for %g, with a bound of %g", name, info.bytes, exactbytes, (double)info.bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix distributed over all processes, and separate factors on each process */
static PetscErrorCode TestInfo(DM da)
{
  static const char *const inner[] = {"-@pc_type ksp -@ksp_ksp_type gmres -@ksp_ksp_max_it 3 -@ksp_ksp_convergence_test skip -@ksp_pc_type jacobi",
                                      "-@pc_type bjacobi -@pc_bjacobi_blocks 6 -@sub_pc_type ilu"};
  PetscLogDouble           exactbytes;
  PetscInt64               factors;
  PetscInt                 N;
  MatInfo                  info;
  Mat                      A;
  Vec                      x, y;

  PetscFunctionBeginUser;
  PetscCall(CreateReservoir(da, 8, MATAIJ, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(TestFillVec(x, 5));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(inner); k++) {
    PCVCRSInfo lossy, lossless;
    PC         pc, inside;

    PetscCall(CreatePC(A, "-@pc_type vcrs", inner[k], &pc));
    PetscCall(PCVCRSGetPC(pc, &inside));
    /* several processes have rows of two blocks each */
    exactbytes = info.nz_used * (PetscLogDouble)(sizeof(PetscScalar) + sizeof(PetscInt)) +
                 (size > 1 ? 2.0 : 1.0) * (PetscLogDouble)(N + size) * sizeof(PetscInt);
    factors = 0;
    if (k == 1) PetscCall(FactorBytes(inside, &exactbytes, &factors));
    PetscCall(CheckInfo(inner[k], pc, exactbytes, k == 1 ? 3 * factors : 1, factors));
    if (WRONG(k == 1 && factors != 6)) FAIL("%s: %" PetscInt64_FMT " factors", inner[k], factors);
    PetscCall(PCVCRSGetInfo(pc, &lossy));

    /* zero until copies with the new options exist */
    PetscCall(PCVCRSSetLoss(pc, MATVCRS_LOSS_NONE));
    PetscCall(CheckInfo("other options", pc, 0.0, 0, 0));
    PetscCall(PCApply(pc, x, y));
    PetscCall(PCVCRSGetInfo(pc, &lossless));
    if (WRONG(lossless.matrices != lossy.matrices || lossless.exactbytes != exactbytes || lossless.bound != 0.0 || !(lossless.bytes > lossy.bytes)))
      FAIL("%s, without loss: %g bytes for %g of %" PetscInt64_FMT " matrices", inner[k], lossless.bytes, lossless.exactbytes, lossless.matrices);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A tiny coupling makes 8 bits of a logarithmic scale coarse for all entries; factors and operators then use 16 bits */
static PetscErrorCode TestTiny(DM da)
{
  static const struct {
    const char *ksp, *inner;
  } cases[]              = {{KSPGMRES, "-@pc_type bjacobi -@sub_pc_type ilu"},
                            {KSPCG, "-@pc_type bjacobi -@sub_pc_type icc"},
                            {KSPCG, "-@pc_type gamg -@mg_levels_ksp_type chebyshev -@mg_levels_pc_type jacobi"}};
  const PetscScalar tiny = (PetscReal)-1e-30;
  PetscInt          first, end;
  Mat               A;
  Vec               x;

  PetscFunctionBeginUser;
  PetscCall(CreateReservoir(da, 9, MATAIJ, &A));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(MatSetValue(A, first, first + 1, tiny, INSERT_VALUES));
  PetscCall(MatSetValue(A, first + 1, first, tiny, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(TestFillVec(x, 5));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    PetscInt   its[2];
    PetscReal  difference;
    PCVCRSInfo info;
    KSP        ksp[2];
    PC         pc[2];

    PetscCall(CreateSolver(NULL, A, cases[k].ksp, cases[k].inner, NULL, &ksp[0]));
    PetscCall(CreateSolver(NULL, A, cases[k].ksp, "-@pc_type vcrs", cases[k].inner, &ksp[1]));
    for (int i = 0; i < 2; i++) {
      PetscCall(KSPGetPC(ksp[i], &pc[i]));
      PetscCall(Iterations(ksp[i], &its[i]));
    }
    PetscCall(PCVCRSGetInfo(pc[1], &info));
    PetscCall(Difference(pc[0], pc[1], APPLY, x, &difference));
    if (WRONG(!(info.bytes < info.exactbytes && info.bound > 0.0 && info.bound <= 0.1 && difference < 0.02)))
      FAIL("tiny coupling, %s: %g bytes for %g, with a bound of %g; the results are %g apart", cases[k].inner, info.bytes, info.exactbytes, (double)info.bound,
           (double)difference);
    if (WRONG(its[0] < 0 || its[1] < 0 || its[1] > 1.15 * its[0] + 1))
      FAIL("tiny coupling, %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " with loss", cases[k].inner, its[0], its[1]);
    for (int i = 0; i < 2; i++) PetscCall(KSPDestroy(&ksp[i]));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coarse levels may have their own bits. The finest level, and preconditioners without levels, ignore these bits. On
   several processes coarse operators may need 16 bits of log anyway */
static PetscErrorCode TestCoarse(DM da)
{
  static const char *const inner[] = {"-@pc_type gamg", "-@pc_type bjacobi -@sub_pc_type ilu"};
  Mat                      A;
  Vec                      x, y;

  PetscFunctionBeginUser;
  PetscCall(CreateReservoir(da, 2, MATAIJ, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(TestFillVec(x, 5));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(inner); k++) {
    PetscLogDouble bytes[3]; /* 8 bits on all levels, 16 on coarse levels, 16 on all levels */
    PCVCRSInfo     info;
    PC             pc;

    PetscCall(CreatePC(A, "-@pc_type vcrs", inner[k], &pc));
    for (int i = 0; i < 3; i++) {
      PetscCall(TestSetOptions(pc, "-pc_vcrs_bits %d -pc_vcrs_coarse_bits %d", i == 2 ? 16 : 8, i ? 16 : 8));
      PetscCall(PCApply(pc, x, y));
      PetscCall(PCVCRSGetInfo(pc, &info));
      bytes[i] = info.bytes;
    }
    if (WRONG(!(bytes[1] < bytes[2]) || (k ? bytes[0] != bytes[1] : size > 1 ? bytes[0] > bytes[1] : bytes[0] >= bytes[1])))
      FAIL("%s: %g bytes with 8 bits, %g with 16 on coarse levels, %g with 16", inner[k], bytes[0], bytes[1], bytes[2]);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM da;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCVCRS));
  PetscCall(CheckInfo("before the set-up", pc, 0.0, 0, 0));
  PetscCall(PCDestroy(&pc));
  PetscCall(CreateGrid(15, 1, &da));
  PetscCall(TestInfo(da));
  PetscCall(TestTiny(da));
  PetscCall(TestCoarse(da));
  PetscCall(DMDestroy(&da));
  return TestEnd(20, "all is right\n");
}

/*TEST

  test:
    nsize: {{1 2}}
    output_file: output/right.out

TEST*/
