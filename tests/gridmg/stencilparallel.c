/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG with de Zeeuw's interpolation on several processes: the bits of a single process, for any matrix and grid; errors.\n\
  -times <n>         - random problems\n\
  -shared_mat_type <type> - of the matrices; with a type of devices, the single process has a device, too\n\
  -transport <name>  - transport of exchanges between boxes, on devices\n\n";

#include "gridmgsplit.h"
#include "gridmgstencils.h"

static const char *const cycles[] = {"-@pc_gridmg_coarse_size 8",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_cycle v -@pc_gridmg_bits 16",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_smoother jacobi -@pc_gridmg_smooths 2",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_smoother damped -@pc_gridmg_bits 8 -@pc_gridmg_coarse_bits 16",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_smoother redblack -@pc_gridmg_smooths 0,2 -@pc_gridmg_cycle v",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_smoother redblack -@pc_gridmg_smooths 2,1 -@pc_gridmg_precision double",
                                     "-@pc_gridmg_bits 32 -@pc_gridmg_coarse_size 8 -@pc_gridmg_precision double -@pc_gridmg_smooths 2,0",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_levels 3 -@pc_gridmg_overcorrection 1.2"};

/* Whether matrices and levels are on devices */
static PetscErrorCode OnDevice(PetscBool *is)
{
  char type[64] = "", vectors[64] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-shared_mat_type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-shared_mat_vec_type", vectors, sizeof(vectors), NULL));
  *is = (PetscBool)(strstr(type, "cusparse") != NULL || strstr(vectors, "cuda") != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares y of one process with y of several processes */
static PetscErrorCode CheckSame(const char what[], const Split *s, Mat S, PC one, Mat A, PC pc, PetscInt seed)
{
  Vec x, y, X, Y, Z;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(S, &x, &y));
  PetscCall(MatCreateVecs(A, &X, &Y));
  PetscCall(VecDuplicate(Y, &Z));
  PetscCall(TestFillVec(x, (uint64_t)seed));
  PetscCall(PCApply(one, x, y));
  PetscCall(ToShared(s, x, X));
  PetscCall(PCApply(pc, X, Y));
  PetscCall(ToShared(s, y, Z));
  if (WRONG(!Equal(Y, Z))) {
    PetscReal norm, difference;

    PetscCall(VecNorm(Z, NORM_INFINITY, &norm));
    PetscCall(VecAXPY(Y, -1.0, Z));
    PetscCall(VecNorm(Y, NORM_INFINITY, &difference));
    FAIL("%s, %d x %d x %d boxes: %g differs from one process by %g", what, (int)s->parts[0], (int)s->parts[1], (int)s->parts[2], (double)norm,
         (double)difference);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&X));
  PetscCall(VecDestroy(&Y));
  PetscCall(VecDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static GridProblem GridOf(const StencilProblem *p)
{
  GridProblem g = {.name = p->name};

  for (int d = 0; d < 3; d++) g.n[d] = p->n[d];
  return g;
}

/* Several columns equal each column alone */
static PetscErrorCode CheckColumns(const char what[], Mat A, PC pc)
{
  VecType  type;
  PetscInt m, n = 3;
  Mat      X, Y;
  Vec      x, y, z;

  PetscFunctionBeginUser;
  PetscCall(MatGetVecType(A, &type));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatCreateVecs(A, &z, NULL));
  PetscCall(MatCreateDenseFromVecType(PETSC_COMM_WORLD, type, m, PETSC_DECIDE, PETSC_DETERMINE, n, PETSC_DECIDE, NULL, &X));
  PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &Y));
  for (PetscInt j = 0; j < n; j++) {
    PetscCall(MatDenseGetColumnVecWrite(X, j, &x));
    PetscCall(TestFillVec(z, 20 + (int)j));
    PetscCall(VecCopy(z, x));
    PetscCall(MatDenseRestoreColumnVecWrite(X, j, &x));
  }
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(PCMatApply(pc, X, Y));
  for (PetscInt j = 0; j < n; j++) {
    PetscCall(MatDenseGetColumnVecRead(X, j, &x));
    PetscCall(PCApply(pc, x, z));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &x));
    PetscCall(MatDenseGetColumnVecRead(Y, j, &y));
    if (WRONG(!Equal(y, z))) FAIL("%s: column %d of %d differs", what, (int)j, (int)n);
    PetscCall(MatDenseRestoreColumnVecRead(Y, j, &y));
  }
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Boxes of any size; then new values, in the same preconditioners */
static PetscErrorCode TestSame(const StencilProblem *p, PetscInt which, PetscBool even, PetscBool slabs, const char options[], PetscInt gather)
{
  const GridProblem g = GridOf(p);
  char              what[512], all[512], shared[512];
  Split             s;
  Mat               S, T, A;
  PC                one, pc;
  PetscBool         device, is;

  PetscFunctionBeginUser;
  PetscCall(OnDevice(&device));
  PetscCall(CreateSplit(&g, which, even, slabs, &s));
  PetscCall(CreateStencilMatrix(p, 0, &S));
  if (device) PetscCall(MatConvert(S, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &S));
  PetscCall(Distribute(S, &s, &A));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_gridmg_interpolation zeeuw %s", options));
  PetscCall(PetscSNPrintf(shared, sizeof(shared), "-@pc_gridmg_gather_size %d %s", (int)gather, all));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %d x %d x %d points, %s", p->name, (int)p->n[0], (int)p->n[1], (int)p->n[2], shared));
  PetscCall(CreateStencilPC(p, S, all, &one));
  PetscCall(CreateSharedPC(&g, &s, slabs, A, shared, &pc));
  PetscCall(CheckSame(what, &s, S, one, A, pc, 3));
  PetscCall(CheckSame(what, &s, S, one, A, pc, 4));
  if (which % 4 == 1) PetscCall(CheckColumns(what, A, pc));
  PetscCall(ViewContains(pc, "on a device", &is));
  if (WRONG(is != device)) FAIL("%s: the levels are %son a device", what, is ? "" : "not ");
  for (PetscInt round = 1; round < 3; round++) {
    PetscCall(CreateStencilMatrix(p, round, &T));
    PetscCall(MatCopy(T, S, DIFFERENT_NONZERO_PATTERN));
    PetscCall(FillFrom(T, &s, A));
    PetscCall(PCSetUp(one));
    PetscCall(PCSetUp(pc));
    PetscCall(CheckSame(what, &s, S, one, A, pc, 4 + round));
    PetscCall(MatDestroy(&T));
  }
  PetscCall(PCDestroy(&one));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&A));
  PetscCall(DestroySplit(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSames(PetscInt times)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < times; k++) {
    const PetscBool slabs = (PetscBool)(k % 3 == 1);
    StencilProblem  p     = {.name        = "random",
                             .kind        = k % 4 == 3 ? STENCILS_ELEMENTS : (k % 4 == 1 ? STENCILS_SYMMETRIC : (k % 4 == 0 ? STENCILS_RANDOM : STENCILS_STAR)),
                             .wave        = k % 8 == 3 ? (PetscReal)0.3 : (PetscReal)-0.1,
                             .shift       = (PetscReal)0.5,
                             .jumps       = k % 3 ? 0 : 6,
                             .disturbance = k % 4 == 0 ? 1 : 0};

    for (int d = 0; d < 3; d++) p.n[d] = size + (PetscInt)(12 * TestRandom((uint64_t)k, (uint64_t)d, 11));
    if (k % 5 == 4) p.n[k / 5 % 3] = 1;
    PIECE(TestSame(&p, k, (PetscBool)(k % 2), slabs, cycles[k % (PetscInt)PETSC_STATIC_ARRAY_LENGTH(cycles)], k % 3 == 2 ? 0 : 40));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of arrays, rows that are given one by one, and rows that a compressed matrix decodes: the same bits */
static PetscErrorCode TestReading(Stencils kind)
{
  const StencilProblem p       = {.name = "reading", .n = {11, 12, 9}, .kind = kind, .jumps = 3};
  const GridProblem    g       = GridOf(&p);
  const char          *types[] = {MATBAIJ, MATVCRS, MATVCRS}, options[] = "-@pc_gridmg_interpolation zeeuw -@pc_gridmg_coarse_size 8";
  PetscBool            device;
  Split                s;
  Mat                  S, A, B;
  Vec                  x, y, z;
  PC                   pc, other;

  PetscFunctionBeginUser;
  PetscCall(OnDevice(&device));
  if (device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateSplit(&g, 2, PETSC_TRUE, PETSC_FALSE, &s));
  PetscCall(CreateStencilMatrix(&p, 0, &S));
  PetscCall(Distribute(S, &s, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(TestFillVec(x, 7));
  PetscCall(CreateSharedPC(&g, &s, PETSC_FALSE, A, options, &pc));
  PetscCall(PCApply(pc, x, y));
  for (int t = 0; t < 3; t++) {
    PetscCall(MatConvert(A, types[t], MAT_INITIAL_MATRIX, &B));
    if (t == 2) PetscCall(MatVCRSDropAIJ(B));
    PetscCall(CreateSharedPC(&g, &s, PETSC_FALSE, B, options, &other));
    PetscCall(PCApply(other, x, z));
    if (WRONG(!Equal(y, z))) FAIL("%s%s: other bits than with aij", types[t], t == 2 ? " without arrays" : "");
    PetscCall(PCDestroy(&other));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&A));
  PetscCall(DestroySplit(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Processes without points, and processes with a single point */
static PetscErrorCode TestSmall(void)
{
  static const PetscInt grids[][3] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {1, 5, 1}, {2, 2, 1}, {4, 3, 1}, {1, 7, 5}, {3, 2, 2}, {6, 5, 3}, {9, 1, 5}};

  PetscFunctionBeginUser;
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(grids); g++) {
    StencilProblem p = {.name = "small", .kind = g % 2 ? STENCILS_RANDOM : STENCILS_SYMMETRIC};

    PetscCall(PetscArraycpy(p.n, grids[g], 3));
    PIECE(TestSame(&p, (PetscInt)g, PETSC_FALSE, PETSC_TRUE, "-@pc_gridmg_coarse_size 2", g % 3 ? 0 : 40));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 27 points are de Zeeuw's without being told, and all processes have the same errors */
static PetscErrorCode TestErrors(void)
{
  const StencilProblem p    = {.name = "errors", .n = {9, 10, 11}, .kind = STENCILS_ELEMENTS, .wave = -1};
  const GridProblem    g    = GridOf(&p);
  const PetscReal      zero = 0;
  PetscInt             row, far;
  Split                s;
  Mat                  S, A;
  PC                   pc;

  PetscFunctionBeginUser;
  PetscCall(CreateSplit(&g, 1, PETSC_TRUE, PETSC_FALSE, &s));
  PetscCall(CreateStencilMatrix(&p, 0, &S));
  PetscCall(Distribute(S, &s, &A));
  row = s.rows - 1;
  far = s.row[s.natural[row] - 5];
  PetscCall(CreateSharedPC(&g, &s, PETSC_FALSE, A, "", &pc));
  PetscCall(PCDestroy(&pc));
  if (rank == size - 1) PetscCall(MatSetValue(A, row, row, 1 / zero, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestError("infinity", &g, &s, PETSC_FALSE, A, ""));
  if (rank == size - 1) PetscCall(MatSetValue(A, row, row, 1., INSERT_VALUES));
  if (rank == size - 1) PetscCall(MatSetValue(A, row, far, 1., INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestError("no neighbour", &g, &s, PETSC_FALSE, A, "-@pc_gridmg_interpolation zeeuw"));
  PetscCall(MatDestroy(&A));
  PetscCall(Distribute(S, &s, &A));
  PetscCall(MatZeroEntries(A));
  PetscCall(TestError("zeros", &g, &s, PETSC_FALSE, A, "-@pc_gridmg_interpolation zeeuw"));
  PetscCall(TestError("k cycle", &g, &s, PETSC_FALSE, A, "-@pc_gridmg_interpolation zeeuw -@pc_gridmg_cycle k"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&S));
  PetscCall(DestroySplit(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt times = 16;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-times", &times, NULL));
  PetscCall(TestSames(times));
  PIECE(TestReading(STENCILS_STAR));
  PIECE(TestReading(STENCILS_ELEMENTS));
  PIECE(TestReading(STENCILS_RANDOM));
  PetscCall(TestSmall());
  PIECE(TestErrors());
  return TestEnd(100, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    nsize: {{1 2 3 4}}

  # Levels on devices; processes may share one
  testset:
    requires: cuda
    timeoutfactor: 3
    output_file: output/right.out
    args: -shared_mat_type aijcusparse -times 8
    test:
      suffix: cuda_n2_0
      nsize: 2
      args: -test_part 0,2
    test:
      suffix: cuda_n2_1
      nsize: 2
      args: -test_part 1,2
    test:
      suffix: cuda_n4_0
      nsize: 4
      args: -test_part 0,3
    test:
      suffix: cuda_n4_1
      nsize: 4
      args: -test_part 1,3
    test:
      suffix: cuda_n4_2
      nsize: 4
      args: -test_part 2,3
    test:
      suffix: cuda_ipc_0
      nsize: 2
      args: -transport ipc -test_part 0,2
    test:
      suffix: cuda_ipc_1
      nsize: 2
      args: -transport ipc -test_part 1,2

  # Rows that a compressed matrix decodes on devices
  test:
    suffix: cuda_vcrs
    requires: cuda
    nsize: 2
    timeoutfactor: 3
    output_file: output/right.out
    args: -shared_mat_type vcrs -shared_mat_vec_type cuda -times 8

TEST*/
