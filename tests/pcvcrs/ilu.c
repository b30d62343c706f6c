/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "ILU(0) made and compressed in the matrix's memory, against PETSc's: grids, grids with wells, and other patterns.\n\n";

#include <tests/pcvcrs/wellstest.h>

static const Problem problems[] = {{"one row", 1, 1, 1, 1, 0, 0, 0, PLAIN, PETSC_FALSE},
                                   {"line", 700, 1, 1, 1, 0, 0, 0, PLAIN, PETSC_FALSE},
                                   {"star in the plane", 45, 38, 1, 1, 0, 0, 0, PLAIN, PETSC_FALSE},
                                   {"star", 20, 17, 13, 1, 0, 0, 0, PLAIN, PETSC_FALSE},
                                   {"all neighbours", 12, 11, 10, 2, 0, 0, 0, PLAIN, PETSC_FALSE},
                                   {"a well behind", 20, 17, 13, 1, 0, 1, 0, PLAIN, PETSC_FALSE},
                                   {"wells behind", 20, 17, 13, 1, 0, 7, 0, PLAIN, PETSC_FALSE},
                                   {"wells before", 20, 17, 13, 1, 5, 0, 0, PLAIN, PETSC_FALSE},
                                   {"wells on both sides", 20, 17, 13, 1, 2, 3, 0, PLAIN, PETSC_FALSE},
                                   {"wells of all neighbours", 12, 11, 10, 2, 0, 3, 0, PLAIN, PETSC_FALSE},
                                   {"wells in the plane", 45, 38, 1, 1, 3, 0, 0, PLAIN, PETSC_FALSE},
                                   {"scattered", 900, 1, 1, 1, 0, 0, 6, PLAIN, PETSC_FALSE},
                                   {"wide rows", 30, 30, 2, 1, 0, 2, 60, PLAIN, PETSC_FALSE},
                                   {"units", 20, 17, 13, 1, 0, 2, 0, UNITS, PETSC_FALSE},
                                   {"zero pivots", 20, 17, 1, 1, 0, 0, 0, ZERO_PIVOT, PETSC_FALSE},
                                   {"no diagonal", 20, 17, 1, 1, 0, 0, 0, NO_DIAGONAL, PETSC_FALSE}};

/* A preconditioner against PETSc's, with vectors of the matrix's type */
static PetscErrorCode ComparePCs(const Problem *p, Mat A, PC exact, PC pc, const char what[], PetscReal tolerance)
{
  PetscFunctionBeginUser;
  for (int way = 0; way <= APPLY_TRANSPOSE; way++) {
    PetscReal difference;
    Vec       x;

    PetscCall(MatCreateVecs(A, &x, NULL));
    PetscCall(TestFillVec(x, 3 + way));
    PetscCall(Difference(exact, pc, (Way)way, x, &difference));
    if (WRONG(!(difference <= tolerance))) FAIL("%s, %s, %s: differs by %g", p->name, what, WayNames[way], (double)difference);
    PetscCall(VecDestroy(&x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProblem(const Problem *p, MatType type, PetscBool device)
{
  static const struct {
    const char *name, *options;
    PetscReal   tolerance;
    PetscBool   device;
  } variants[]               = {{"lithe", "-@pc_type ilu -@pc_factor_mat_solver_type lithe", 1e-11, PETSC_TRUE},
                                {"compressed", "-@pc_type vcrs -@vcrs_pc_type ilu -@pc_vcrs_loss none", 0.02, PETSC_FALSE}, /* by sweeps, perhaps */
                                {"substitution", "-@pc_type vcrs -@vcrs_pc_type ilu -@pc_vcrs_loss none -@pc_vcrs_factor_solve substitution", 1e-11, PETSC_FALSE},
                                {"sweeps", "-@pc_type vcrs -@vcrs_pc_type ilu -@pc_vcrs_loss none -@pc_vcrs_factor_solve jacobi -@pc_vcrs_factor_sweeps 60", 1e-6,
                                 PETSC_FALSE},
                                {"loss", "-@pc_type vcrs -@vcrs_pc_type ilu", 0.1, PETSC_FALSE}};
  const PetscBool degenerate = (PetscBool)(p->kind == ZERO_PIVOT || p->kind == NO_DIAGONAL);
  Mat             host, A;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, MATSEQAIJ, &host));
  PetscCall(CreateMatrix(p, type, &A));
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(variants); v++) {
    PC exact, pc;

    if ((variants[v].device && !device) || (degenerate && !variants[v].device)) continue;
    if (degenerate) {
      PCFailedReason reason[2];

      /* whatever PETSc answers is right; for a missing diagonal entry PETSc gives an error */
      if (p->kind == NO_DIAGONAL) continue;
      PetscCall(CreatePC(host, "-@pc_type ilu", NULL, &exact));
      PetscCall(CreatePC(A, variants[v].options, NULL, &pc));
      PetscCall(PCGetFailedReason(exact, &reason[0]));
      PetscCall(PCGetFailedReason(pc, &reason[1]));
      if (WRONG(reason[0] != reason[1])) FAIL("%s: another reason for failure than PETSc's", p->name);
      if (!reason[0]) PetscCall(ComparePCs(p, A, exact, pc, variants[v].name, variants[v].tolerance));
      PetscCall(PCDestroy(&exact));
      PetscCall(PCDestroy(&pc));
      continue;
    }
    PetscCall(CreatePC(host, "-@pc_type ilu", NULL, &exact));
    PetscCall(CreatePC(A, variants[v].options, NULL, &pc));
    PetscCall(ComparePCs(p, A, exact, pc, variants[v].name, variants[v].tolerance));

    /* tiles must be used together with separate rows for the wells */
    if (v == 2 && device && (p->before == 0) != (p->behind == 0) && !p->scattered) {
      PetscBool has;

      PetscCall(ViewHas(pc, "steps of tiles, and", &has));
      if (WRONG(!has)) FAIL("%s: no tiles with rows beside them", p->name);
    }

    /* other numbers in the same pattern */
    PetscCall(FillMatrix(p, 1, host));
    PetscCall(FillMatrix(p, 1, A));
    PetscCall(PCSetUp(exact));
    PetscCall(PCSetUp(pc));
    PetscCall(ComparePCs(p, A, exact, pc, variants[v].name, variants[v].tolerance));
    PetscCall(FillMatrix(p, 0, host));
    PetscCall(FillMatrix(p, 0, A));
    PetscCall(PCDestroy(&exact));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&host));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      type[64] = MATSEQAIJ;
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestMatType(sizeof(type), type, &device));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) PetscCall(TestProblem(&problems[k], type, device));
  return TestEnd(224, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

  # -checkfunctionlist 0: as in vcrs/conversions
  test:
    suffix: cuda
    requires: cuda
    args: -checkfunctionlist 0 -mat_type seqaijcusparse -test_least 280
    output_file: output/right.out

TEST*/
