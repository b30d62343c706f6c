/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCVCRS against the inner preconditioner: the same without loss, nearly the same iterations with the default loss.\n\n";

#include <tests/pcvcrs/pcvcrstest.h>
#include <lithe/private/petsccompat.h>
#include <petscdmda.h>

typedef enum {
  POISSON,    /* constant coefficients: the default loss changes next to nothing */
  RESERVOIR,  /* symmetric, coefficients over three orders of magnitude */
  CONVECTION, /* upwind differences; complex: with an imaginary shift */
  PROBLEMS
} Problem;

static const char *const ProblemNames[PROBLEMS] = {"poisson", "reservoir", "convection"};

/* The options of a comparison; @ stands for the prefix of the inner preconditioner */
typedef struct {
  Problem     problem;
  const char *ksp;
  const char *options;
  const char *nested;    /* NULL, or options of the second solver if vcrs is nested inside; @ is its prefix */
  PetscBool   reads;     /* applications read a compressible matrix, and the result changes when the matrix is compressed */
  PetscBool   transpose; /* transposed applications are supported */
} Comparison;

static const Comparison comparisons[] =
  {{POISSON, KSPCG, "-@pc_type mg -@pc_mg_levels 3 -@pc_mg_galerkin both", NULL, PETSC_TRUE, PETSC_FALSE},
   {RESERVOIR, KSPFGMRES,
    "-@pc_type mg -@pc_mg_levels 3 -@pc_mg_galerkin both -@mg_levels_ksp_type richardson -@mg_levels_ksp_max_it 2 -@mg_levels_ksp_richardson_scale 0.6 "
    "-@mg_levels_pc_type jacobi",
    NULL, PETSC_TRUE, PETSC_TRUE},
   {RESERVOIR, KSPRICHARDSON,
    "-@pc_type mg -@pc_mg_levels 2 -@pc_mg_galerkin both -@pc_mg_distinct_smoothup -@mg_levels_ksp_type richardson -@mg_levels_pc_type sor", NULL, PETSC_TRUE,
    PETSC_FALSE},
   {RESERVOIR, KSPCG, "-@pc_type gamg", NULL, PETSC_TRUE, PETSC_FALSE},
   {CONVECTION, KSPBCGS, "-@pc_type gamg -@mg_levels_ksp_type richardson -@mg_levels_pc_type bjacobi -@mg_levels_sub_pc_type sor", NULL, PETSC_TRUE,
    PETSC_FALSE},
   {CONVECTION, KSPBCGS, "-@pc_type sor", NULL, PETSC_TRUE, PETSC_FALSE},
   {RESERVOIR, KSPBCGS, "-@pc_type jacobi", NULL, PETSC_FALSE, PETSC_TRUE},
   {CONVECTION, KSPBCGS, "-@pc_type bjacobi -@sub_pc_type sor", NULL, PETSC_TRUE, PETSC_FALSE},
   {CONVECTION, KSPBCGS, "-@pc_type bjacobi -@sub_pc_type ilu", NULL, PETSC_TRUE, PETSC_TRUE},
   {RESERVOIR, KSPFGMRES, "-@pc_type asm -@sub_ksp_type richardson -@sub_ksp_max_it 3 -@sub_pc_type sor", NULL, PETSC_TRUE, PETSC_FALSE},
   {CONVECTION, KSPFGMRES, "-@pc_type composite -@pc_composite_type multiplicative -@pc_composite_pcs sor,jacobi", NULL, PETSC_TRUE, PETSC_FALSE},
   {RESERVOIR, KSPFGMRES, "-@pc_type ksp -@ksp_ksp_type gmres -@ksp_ksp_max_it 3 -@ksp_ksp_convergence_test skip -@ksp_pc_type jacobi", NULL, PETSC_TRUE,
    PETSC_FALSE},
   {CONVECTION, KSPFGMRES, "-@pc_type fieldsplit -@fieldsplit_pc_type sor -@fieldsplit_ksp_type richardson -@fieldsplit_ksp_max_it 2", NULL, PETSC_TRUE,
    PETSC_FALSE},
   {RESERVOIR, KSPFGMRES, "-@pc_type fieldsplit -@fieldsplit_0_pc_type gamg -@fieldsplit_1_pc_type sor",
    "-@pc_type fieldsplit -@fieldsplit_0_pc_type vcrs -@fieldsplit_0_vcrs_pc_type gamg -@fieldsplit_1_pc_type vcrs -@fieldsplit_1_vcrs_pc_type sor", PETSC_TRUE,
    PETSC_FALSE},
   {CONVECTION, KSPFGMRES, "-@pc_type composite -@pc_composite_type additive -@pc_composite_pcs gamg,jacobi",
    "-@pc_type composite -@pc_composite_type additive -@pc_composite_pcs vcrs,jacobi -@sub_0_vcrs_pc_type gamg", PETSC_TRUE, PETSC_FALSE},
   /* factors: only on one process, in blocks, and below other preconditioners */
   {RESERVOIR, KSPCG, "-@pc_type icc", NULL, PETSC_TRUE, PETSC_TRUE},
   {CONVECTION, KSPBCGS, "-@pc_type ilu -@pc_factor_levels 1 -@pc_factor_mat_ordering_type rcm", NULL, PETSC_TRUE, PETSC_TRUE},
   {RESERVOIR, KSPCG, "-@pc_type bjacobi -@pc_bjacobi_blocks 6 -@sub_pc_type icc", NULL, PETSC_TRUE, PETSC_TRUE},
   {CONVECTION, KSPFGMRES, "-@pc_type asm -@pc_asm_overlap 2 -@sub_pc_type ilu -@sub_pc_factor_levels 1", NULL, PETSC_TRUE, PETSC_TRUE},
   {RESERVOIR, KSPFGMRES,
    "-@pc_type mg -@pc_mg_levels 3 -@pc_mg_galerkin both -@mg_levels_ksp_type richardson -@mg_levels_pc_type bjacobi -@mg_levels_sub_pc_type ilu", NULL,
    PETSC_TRUE, PETSC_FALSE},
   {CONVECTION, KSPFGMRES, "-@pc_type fieldsplit -@fieldsplit_pc_type bjacobi -@fieldsplit_sub_pc_type ilu",
    "-@pc_type fieldsplit -@fieldsplit_pc_type vcrs -@fieldsplit_vcrs_pc_type bjacobi -@fieldsplit_vcrs_sub_pc_type ilu", PETSC_TRUE, PETSC_FALSE},
   {RESERVOIR, KSPFGMRES, "-@pc_type ksp -@ksp_ksp_type bcgs -@ksp_ksp_max_it 3 -@ksp_ksp_convergence_test skip -@ksp_pc_type bjacobi -@ksp_sub_pc_type icc",
    NULL, PETSC_TRUE, PETSC_FALSE},
   {RESERVOIR, KSPFGMRES, "-@pc_type redundant -@redundant_pc_type icc", NULL, PETSC_TRUE, PETSC_FALSE},
   {CONVECTION, KSPFGMRES,
    "-@pc_type telescope -@pc_telescope_reduction_factor 2 -@pc_telescope_ignore_dm -@telescope_pc_type bjacobi -@telescope_sub_pc_type ilu", NULL, PETSC_TRUE,
    PETSC_FALSE}};

/* The conductivity of a cell, between 0.03 and 30 */
static PetscReal Conductivity(PetscInt i, PetscInt j, PetscInt k, PetscInt round)
{
  return PetscExpReal((PetscReal)3.4 * PetscSinReal((PetscReal)(1.3 * i + 0.7 * j + 2.1 * k + 1.7 * round)) *
                      PetscCosReal((PetscReal)(0.4 * i - 0.9 * j + 0.3 * k)));
}

/* Seven points per row; round: selects other values in the same pattern */
static PetscErrorCode Assemble(DM da, Problem problem, PetscInt round, Mat A)
{
  PetscInt xs, ys, zs, xm, ym, zm, n[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &xs, &ys, &zs, &xm, &ym, &zm));
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  for (PetscInt k = zs; k < zs + zm; k++) {
    for (PetscInt j = ys; j < ys + ym; j++) {
      for (PetscInt i = xs; i < xs + xm; i++) {
        const PetscInt here[3] = {i, j, k};
        MatStencil     row     = {.i = i, .j = j, .k = k}, col[7];
        PetscScalar    v[7], diagonal = 0.0;
        PetscInt       count = 0;

        for (int d = 0; d < 3; d++) {
          for (int s = -1; s <= 1; s += 2) {
            PetscInt  there[3] = {i, j, k};
            PetscReal w        = 1.0 + round;

            there[d] += s;
            if (problem == RESERVOIR) {
              const PetscReal a = Conductivity(i, j, k, round), b = Conductivity(there[0], there[1], there[2], round);

              w = 2.0 * a * b / (a + b);
            } else if (problem == CONVECTION)
              w += PetscMax((PetscReal)0.0, (PetscReal)(-s * 3.0) * PetscSinReal((PetscReal)(0.3 * (here[(d + 1) % 3] + round) + 0.5 * d)));
            diagonal += w;
            if (there[d] < 0 || there[d] >= n[d]) continue;
            col[count] = (MatStencil){.i = there[0], .j = there[1], .k = there[2]};
            v[count++] = -w;
          }
        }
        if (problem == CONVECTION && PetscDefined(USE_COMPLEX)) diagonal += (PetscScalar)(0.3 * PETSC_i);
        col[count] = row;
        v[count++] = diagonal;
        PetscCall(MatSetValuesStencil(A, 1, &row, count, col, v, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If pc, or its inner preconditioner, splits fields: the first and the second half of each process's rows */
static PetscErrorCode SetSplits(PC pc, Mat A)
{
  PetscBool isvcrs, isfieldsplit;
  PetscInt  start, end;
  IS        is;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCVCRS, &isvcrs));
  if (isvcrs) PetscCall(PCVCRSGetPC(pc, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCFIELDSPLIT, &isfieldsplit));
  if (!isfieldsplit) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt k = 0; k < 2; k++) {
    const PetscInt half = (end - start) / 2;

    PetscCall(ISCreateStride(PetscObjectComm((PetscObject)A), k ? end - start - half : half, k ? start + half : start, 1, &is));
    PetscCall(PCFieldSplitSetIS(pc, k ? "1" : "0", is));
    PetscCall(ISDestroy(&is));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(DM da, Mat A, const char type[], const char prefix[], KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetDM(*ksp, da));
  PetscCall(KSPSetDMActive(*ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 600));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(SetSplits(pc, A));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations to rtol = 1e-8, and the true relative residual of the solution */
static PetscErrorCode Solve(KSP ksp, Mat A, Vec b, PetscInt *its, PetscReal *residual)
{
  Vec       x, r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(SolveIterations(ksp, b, x, its));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(VecNorm(r, NORM_2, residual));
  *residual /= norm;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(DM da, const Comparison *c, PetscBool restrictions, PetscBool verbose, PetscBool view)
{
  const PetscReal tiny = 1e-2 * PETSC_SQRT_MACHINE_EPSILON;
  PetscOptions    options;
  Mat             A;
  Vec             b, y[2];
  KSP             exact, lossless, lossy;
  PC              pc[3];
  PetscReal       difference[2], residual[3];
  PetscInt        its[3], limit;
  PetscBool       issym, device, hastranspose[2];
  VecType         type;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(MatGetVecType(A, &type));
  PetscCall(PetscStrendswith(type, "cuda", &device));
  PetscCall(Assemble(da, c->problem, 0, A));
  issym = (PetscBool)(c->problem != CONVECTION);
  if (issym) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  if (issym) PetscCall(MatSetOption(A, MAT_SPD_ETERNAL, PETSC_TRUE));
  PetscCall(MatCreateVecs(A, &b, NULL));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(VecDuplicate(b, &y[0]));
  PetscCall(VecDuplicate(b, &y[1]));

  /* Three solvers: without vcrs, vcrs without loss, vcrs with its default loss */
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsPush(options));
  PetscCall(SetOptions(c->options, "e_"));
  if (c->nested) {
    PetscCall(SetOptions(c->nested, "z_"));
    PetscCall(SetOptions(c->nested, "l_"));
    PetscCall(SetOptions("-z_sub_0_pc_vcrs_loss none -z_fieldsplit_pc_vcrs_loss none", ""));
  } else {
    PetscCall(SetOptions("-z_pc_type vcrs -z_pc_vcrs_loss none -l_pc_type vcrs", ""));
    if (restrictions) PetscCall(SetOptions("-z_pc_vcrs_store_restrictions true -l_pc_vcrs_store_restrictions true", ""));
    PetscCall(SetOptions(c->options, "z_vcrs_"));
    PetscCall(SetOptions(c->options, "l_vcrs_"));
  }
  PetscCall(CreateSolver(da, A, c->ksp, "e_", &exact));
  PetscCall(CreateSolver(da, A, c->ksp, "z_", &lossless));
  PetscCall(CreateSolver(da, A, c->ksp, "l_", &lossy));
  PetscCall(KSPGetPC(exact, &pc[0]));
  PetscCall(KSPGetPC(lossless, &pc[1]));
  PetscCall(KSPGetPC(lossy, &pc[2]));

  /* The second round has other values in the same matrix */
  for (PetscInt round = 0; round < 2; round++) {
    if (round) {
      PetscCall(Assemble(da, c->problem, 1, A));
      PetscCall(KSPSetUp(exact));
      PetscCall(KSPSetUp(lossless));
      PetscCall(KSPSetUp(lossy));
    }
    PetscCall(Solve(exact, A, b, &its[0], &residual[0]));
    PetscCall(Solve(lossless, A, b, &its[1], &residual[1]));
    PetscCall(Solve(lossy, A, b, &its[2], &residual[2]));
    PetscCall(Difference(pc[0], pc[1], APPLY, b, &difference[0]));
    PetscCall(Difference(pc[0], pc[2], APPLY, b, &difference[1]));
    if (verbose)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "%s %s %s, round %" PetscInt_FMT ": %" PetscInt_FMT " iterations, lossless %" PetscInt_FMT ", lossy %" PetscInt_FMT
                            "; differences %g and %g\n",
                            ProblemNames[c->problem], c->ksp, c->nested ? c->nested : c->options, round, its[0], its[1], its[2], (double)difference[0],
                            (double)difference[1]));
    if (WRONG(its[0] < 0)) FAIL("%s, %s: the exact preconditioner does not converge", ProblemNames[c->problem], c->options);
    if (WRONG(!(difference[0] <= tiny)))
      FAIL("%s, %s, round %" PetscInt_FMT ": without loss the results are %g apart", ProblemNames[c->problem], c->options, round, (double)difference[0]);
    if (WRONG(PetscAbsInt(its[1] - its[0]) > 1))
      FAIL("%s, %s, round %" PetscInt_FMT ": %" PetscInt_FMT " iterations without loss, %" PetscInt_FMT " of the inner preconditioner alone",
           ProblemNames[c->problem], c->options, round, its[1], its[0]);
    limit = (PetscInt)(1.15 * (double)its[0]) + 1;
    if (WRONG(its[2] < 0 || its[2] > limit))
      FAIL("%s, %s, round %" PetscInt_FMT ": %" PetscInt_FMT " iterations with loss, %" PetscInt_FMT " without", ProblemNames[c->problem], c->options, round,
           its[2], its[0]);
    if (WRONG(!(residual[2] <= PetscMax(10.0 * residual[0], (PetscReal)1e-7))))
      FAIL("%s, %s, round %" PetscInt_FMT ": residual %g with loss, %g without", ProblemNames[c->problem], c->options, round, (double)residual[2],
           (double)residual[0]);
    /* The copies are read, not the exact matrices; and without a loss the results agree */
    if (WRONG(c->problem != POISSON && c->reads != (PetscBool)(difference[1] > tiny)))
      FAIL("%s, %s, round %" PetscInt_FMT ": with loss the results are %g apart", ProblemNames[c->problem], c->options, round, (double)difference[1]);
    PetscCall(PCApplyTransposeExists(pc[0], &hastranspose[0]));
    PetscCall(PCApplyTransposeExists(pc[1], &hastranspose[1]));
    if (WRONG(hastranspose[0] != hastranspose[1])) FAIL("%s, %s: one of them has a transpose, the other has not", ProblemNames[c->problem], c->options);
    if (c->transpose) {
      PetscCall(Difference(pc[0], pc[1], APPLY_TRANSPOSE, b, &difference[0]));
      if (WRONG(!(difference[0] <= tiny)))
        FAIL("%s, %s, round %" PetscInt_FMT ": without loss the transposed results are %g apart", ProblemNames[c->problem], c->options, round,
             (double)difference[0]);
    }
  }

  if (view) PetscCall(PCView(pc[2], PETSC_VIEWER_STDOUT_WORLD));

  /* With KSPSetReusePreconditioner() the results do not change, although values change */
  PetscCall(KSPSetReusePreconditioner(lossy, PETSC_TRUE));
  PetscCall(PCApply(pc[2], b, y[0]));
  PetscCall(Assemble(da, c->problem, 0, A));
  if (!c->nested) {
    PetscCall(KSPSetUp(lossy));
    PetscCall(PCApply(pc[2], b, y[1]));
    PetscCall(VecAXPY(y[1], -1.0, y[0]));
    PetscCall(VecNorm(y[1], NORM_INFINITY, &difference[0]));
    /* on a device many threads add to the same entry of a transposed product, in any order */
    if (WRONG(!(difference[0] <= (device && !restrictions ? 100 * PETSC_MACHINE_EPSILON : 0.0))))
      FAIL("%s, %s: a preconditioner that is to be reused changed by %g", ProblemNames[c->problem], c->options, (double)difference[0]);

    /* Other options take effect at once */
    PetscCall(KSPSetReusePreconditioner(lossy, PETSC_FALSE));
    PetscCall(KSPSetUp(lossy));
    PetscCall(KSPSetUp(exact));
    PetscCall(PCVCRSSetLoss(pc[2], MATVCRS_LOSS_NONE));
    PetscCall(Difference(pc[0], pc[2], APPLY, b, &difference[0]));
    if (WRONG(!(difference[0] <= tiny)))
      FAIL("%s, %s: after PCVCRSSetLoss() the results are %g apart", ProblemNames[c->problem], c->options, (double)difference[0]);
  }

  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&options));
  PetscCall(KSPDestroy(&exact));
  PetscCall(KSPDestroy(&lossless));
  PetscCall(KSPDestroy(&lossy));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y[0]));
  PetscCall(VecDestroy(&y[1]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        da;
  PetscInt  only[32], nonly = 32;
  PetscBool restrictions = PETSC_FALSE, verbose = PETSC_FALSE, view = PETSC_FALSE, some;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-only", only, &nonly, &some));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-restrictions", &restrictions, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-verbose", &verbose, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view", &view, NULL));
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 13, 13, 13, PETSC_DECIDE, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(comparisons); k++) {
    PetscBool wanted = (PetscBool)!some;
    char     *telescope;

    for (PetscInt l = 0; some && l < nonly; l++) {
      if (only[l] == (PetscInt)k) wanted = PETSC_TRUE;
    }
    /* PCTELESCOPE has no second process to use */
    PetscCall(PetscStrstr(comparisons[k].options, "telescope", &telescope));
    if (telescope && size == 1) wanted = PETSC_FALSE;
    if (wanted) PetscCall(Compare(da, &comparisons[k], restrictions, verbose, view));
  }
  PetscCall(DMDestroy(&da));
  return TestEnd(13, "all comparisons are right\n");
}

/*TEST

  test:

  test:
    suffix: 2
    nsize: {{2 3}}
    args: -only 1,2,3,4,7,9,13,17,18,20,22,23
    output_file: output/iterations_1.out

  # multigrid on a device; restrictions that are transposed interpolations, and stored. Not number 1: after MatPtAP() with
  # other values MATAIJCUSPARSE multiplies with the transpose of the old ones
  testset:
    requires: cuda
    args: -only 0,3,6 -dm_mat_type aijcusparse -dm_vec_type cuda
    output_file: output/iterations_1.out

    test:
      suffix: cuda
    test:
      suffix: cuda_restrictions
      args: -restrictions

  # a line a matrix: operators of the levels that are not factored, interpolations that restrict, too
  test:
    suffix: view
    args: -only 1 -view
    filter: grep -e "ratio to AIJ" -e "left as it is" | sed -E "s/:.+ratio to AIJ.+/: ratio to AIJ/"

TEST*/
