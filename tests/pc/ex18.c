/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "ILU(0) made and compressed where the matrix is, against PETSc's: grids, grids with wells, and patterns that are none.\n\n";

#include <tests/mat/vcrstest.h>
#include <tests/pc/pcvcrstest.h>

/* A grid with rows before it or behind it that touch columns of cells, or other patterns */
typedef struct {
  const char *name;
  PetscInt    nx, ny, nz, reach; /* reach 1: a star, 2: all neighbours */
  PetscInt    before, behind;    /* rows that are not the grid's */
  PetscInt    scattered;         /* entries of a row at random places */
  PetscInt    kind;              /* 1: zero pivots; 2: some diagonal entries are not there; 3: units over decades */
} Problem;

static const Problem problems[] = {{"one row", 1, 1, 1, 1, 0, 0, 0, 0},
                                   {"line", 700, 1, 1, 1, 0, 0, 0, 0},
                                   {"star in the plane", 45, 38, 1, 1, 0, 0, 0, 0},
                                   {"star", 20, 17, 13, 1, 0, 0, 0, 0},
                                   {"all neighbours", 12, 11, 10, 2, 0, 0, 0, 0},
                                   {"a well behind", 20, 17, 13, 1, 0, 1, 0, 0},
                                   {"wells behind", 20, 17, 13, 1, 0, 7, 0, 0},
                                   {"wells before", 20, 17, 13, 1, 5, 0, 0, 0},
                                   {"wells on both sides", 20, 17, 13, 1, 2, 3, 0, 0},
                                   {"wells of all neighbours", 12, 11, 10, 2, 0, 3, 0, 0},
                                   {"wells in the plane", 45, 38, 1, 1, 3, 0, 0, 0},
                                   {"scattered", 900, 1, 1, 1, 0, 0, 6, 0},
                                   {"wide rows", 30, 30, 2, 1, 0, 2, 60, 0},
                                   {"units", 20, 17, 13, 1, 0, 2, 0, 3},
                                   {"zero pivots", 20, 17, 1, 1, 0, 0, 0, 1},
                                   {"no diagonal", 20, 17, 1, 1, 0, 0, 0, 2}};

/* The well that cell c belongs to, or -1 */
static PetscInt WellOf(const Problem *p, PetscInt c)
{
  const PetscInt column = c % (p->nx * p->ny), wells = p->before + p->behind;

  return wells && column % 37 == 5 ? (column / 37) % wells : -1;
}

static PetscReal UnitOf(const Problem *p, PetscInt row)
{
  return p->kind == 3 ? (PetscReal)PetscPowReal(10.0, (PetscReal)(row % 5) - 2.0) : (PetscReal)1.0;
}

static PetscErrorCode AddEntry(const Problem *p, Mat A, PetscInt row, PetscInt col, PetscInt round, PetscReal *sum)
{
  PetscScalar v = TestScalar((uint64_t)row, (uint64_t)col, (uint64_t)round) / 3 - (PetscReal)0.6;

  PetscFunctionBeginUser;
  *sum += PetscAbsScalar(v);
  v *= UnitOf(p, row) * UnitOf(p, col);
  PetscCall(MatSetValue(A, row, col, v, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillMatrix(const Problem *p, PetscInt round, Mat A)
{
  const PetscInt cells = p->nx * p->ny * p->nz, wells = p->before + p->behind;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < cells; c++) {
    const PetscInt i = c % p->nx, j = c / p->nx % p->ny, k = c / p->nx / p->ny, row = p->before + c, well = WellOf(p, c);
    PetscReal      sum = 0.0;

    for (PetscInt dk = -1; dk <= 1; dk++) {
      for (PetscInt dj = -1; dj <= 1; dj++) {
        for (PetscInt di = -1; di <= 1; di++) {
          const PetscInt far = PetscAbsInt(di) + PetscAbsInt(dj) + PetscAbsInt(dk);

          if (!far || (p->reach == 1 && far > 1)) continue;
          if (i + di < 0 || i + di >= p->nx || j + dj < 0 || j + dj >= p->ny || k + dk < 0 || k + dk >= p->nz) continue;
          PetscCall(AddEntry(p, A, row, row + di + p->nx * (dj + p->ny * dk), round, &sum));
        }
      }
    }
    for (PetscInt s = 0; s < p->scattered; s++) {
      const PetscInt to = (PetscInt)(TestRandom((uint64_t)c, (uint64_t)s, 3) * (double)cells);

      if (to != c) PetscCall(AddEntry(p, A, row, p->before + to, round, &sum));
    }
    if (well >= 0) {
      const PetscInt at = well < p->before ? well : cells + well;

      PetscCall(AddEntry(p, A, row, at, round, &sum));
      PetscCall(AddEntry(p, A, at, row, round, &sum));
    }
    if (p->kind == 2 && c % 50 == 7) continue;
    PetscCall(MatSetValue(A, row, row, p->kind == 1 && c == 0 ? 0.0 : (1.1 * sum + 0.1) * UnitOf(p, row) * UnitOf(p, row), INSERT_VALUES));
  }
  for (PetscInt w = 0; w < wells; w++) {
    const PetscInt at = w < p->before ? w : cells + w;

    PetscCall(MatSetValue(A, at, at, 90.0 * UnitOf(p, at) * UnitOf(p, at), INSERT_VALUES));
    if (w) {
      PetscReal sum = 0.0;

      /* wells of a group touch one another */
      PetscCall(AddEntry(p, A, at, w - 1 < p->before ? w - 1 : cells + w - 1, round, &sum));
      PetscCall(AddEntry(p, A, w - 1 < p->before ? w - 1 : cells + w - 1, at, round, &sum));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(const Problem *p, MatType type, Mat *A)
{
  const PetscInt n = p->nx * p->ny * p->nz + p->before + p->behind;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(FillMatrix(p, 0, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

/* Whether the view of a preconditioner has a text in it */
static PetscErrorCode ViewHas(PC pc, const char text[], PetscBool *has)
{
  char        buffer[8192] = "", *found;
  PetscViewer viewer;
  FILE       *file;
  size_t      n;

  PetscFunctionBeginUser;
  PetscCheck((file = tmpfile()), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No file for the view");
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, file, &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerFlush(viewer));
  rewind(file);
  n         = fread(buffer, 1, sizeof(buffer) - 1, file);
  buffer[n] = 0;
  PetscCall(PetscStrstr(buffer, text, &found));
  *has = (PetscBool)(found != NULL);
  PetscCall(PetscViewerDestroy(&viewer));
  (void)fclose(file);
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
  const PetscBool degenerate = (PetscBool)(p->kind == 1 || p->kind == 2);
  Mat             host, A;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(p, MATSEQAIJ, &host));
  PetscCall(CreateMatrix(p, type, &A));
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(variants); v++) {
    PC exact, pc;

    if ((variants[v].device && !device) || (degenerate && !variants[v].device)) continue;
    if (degenerate) {
      PCFailedReason reason[2];

      /* PETSc's answer, whatever it is; a missing diagonal entry is an error there */
      if (p->kind == 2) continue;
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

    /* tiles with rows beside them are used where they should be */
    if (v == 2 && device && (p->before == 0) != (p->behind == 0) && !p->scattered) {
      PetscBool has;

      PetscCall(ViewHas(pc, "steps of tiles, and", &has));
      if (WRONG(!has)) FAIL("%s: no tiles with rows beside them", p->name);
    }

    /* other numbers, the same pattern */
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
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, "seqaijcusparse", &device));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) PetscCall(TestProblem(&problems[k], type, device));
  PetscCall(TestDone(224, "all is right\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 1

  # -checkfunctionlist 0: as in mat/ex5
  test:
    suffix: cuda
    requires: cuda
    args: -checkfunctionlist 0 -mat_type seqaijcusparse -test_least 280
    output_file: output/ex18_1.out

TEST*/
