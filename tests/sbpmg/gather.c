/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCSBPMG on several processes, each with all nodes of small levels: applications equal those of one process, whatever "
                     "level is the first small one, also with nodes of neighbours; a set-up makes no DMDA.\n\n";

#include <tests/sbpmg/sbpmgtest.h>

/* The numbers of unknowns up to which levels are gathered: of N = 64, no level, 17^2, 33^2, the whole grid; -1: default */
static const PetscInt sizes[] = {0, 300, 1100, 5000, -1};

/* x at the nodes of this process, from a vector of one process with all nodes */
static PetscErrorCode TakeOwn(DM da, DM all, Vec x, Vec own)
{
  PetscScalar      **a;
  const PetscScalar *b;
  PetscInt           start[2], count[2], nodes;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(all, NULL, &nodes, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArrayWrite(da, own, &a));
  PetscCall(VecGetArrayRead(x, &b));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) a[j][i] = b[j * nodes + i];
  }
  PetscCall(VecRestoreArrayRead(x, &b));
  PetscCall(DMDAVecRestoreArrayWrite(da, own, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Three applications: a device does the first, records the second and replays the third, of another input */
static PetscErrorCode Compare(System *s, System *self, PetscInt gathersize, PetscReal tolerance, const char options[])
{
  char      all[512];
  KSP       ksp, alone;
  PC        pc, pcalone;
  PetscReal error, norm;

  PetscFunctionBeginUser;
  if (gathersize >= 0) PetscCall(PetscSNPrintf(all, sizeof(all), "%s -pc_sbpmg_gather_size %" PetscInt_FMT, options, gathersize));
  else PetscCall(PetscStrncpy(all, options, sizeof(all)));
  PetscCall(SolverCreate(s->A, KSPPREONLY, (PetscReal)1e-6, all, &ksp));
  PetscCall(SolverCreate(self->A, KSPPREONLY, (PetscReal)1e-6, options, &alone));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetPC(alone, &pcalone));
  for (PetscInt seed = 0; seed < 4; seed++) {
    PetscCall(FillNoise(s->da, seed ? seed : 1, s->b));
    PetscCall(FillNoise(self->da, seed ? seed : 1, self->b));
    PetscCall(PCApply(pc, s->b, s->x));
    PetscCall(PCApply(pcalone, self->b, self->x));
    PetscCall(TakeOwn(s->da, self->da, self->x, s->b));
    PetscCall(VecNorm(s->b, NORM_INFINITY, &norm));
    PetscCall(VecAXPY(s->b, -1., s->x));
    PetscCall(VecNorm(s->b, NORM_INFINITY, &error));
    if (WRONG(!(error <= tolerance * norm))) FAIL("%s, input %" PetscInt_FMT ": differs by %g of %g from one process", all, seed, (double)error, (double)norm);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(KSPDestroy(&alone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  PLAIN,
  SHIFTED, /* -2 A - d */
  NEUMANN  /* and no shift: singular */
} Change;

/* The matrix of one process gets its diagonal from the indices of the nodes, too */
static PetscErrorCode SetChange(System *s, Change change)
{
  const PetscBool none[4] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  Vec             d;

  PetscFunctionBeginUser;
  if (change == NEUMANN) PetscCall(MatSBPSATSetDirichlet(s->A, none));
  if (change != SHIFTED) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(s->x, &d));
  PetscCall(FillNoise(s->da, 9, d));
  PetscCall(VecRealPart(d));
  PetscCall(VecAbs(d));
  PetscCall(VecScale(d, (PetscReal)-0.1));
  PetscCall(MatScale(s->A, (PetscReal)-2));
  PetscCall(MatDiagonalSet(s->A, d, ADD_VALUES));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGrid(PetscInt nr, PetscInt ns, PetscInt order, Change change, const char options[])
{
  const PetscReal single = (PetscReal)2e-5, tight = PetscDefined(USE_REAL_DOUBLE) ? (PetscReal)1e-10 : single;
  System          s, self;
  char            more[256];

  PetscFunctionBeginUser;
  PetscCall(SystemCreate(PETSC_COMM_WORLD, nr, ns, order, &s));
  PetscCall(SystemCreate(PETSC_COMM_SELF, nr, ns, order, &self));
  PetscCall(SetChange(&s, change));
  PetscCall(SetChange(&self, change));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    if (sizes[k] == 0 && change == NEUMANN) continue;
    PetscCall(Compare(&s, &self, sizes[k], single, options));
    PetscCall(PetscSNPrintf(more, sizeof(more), "%s -pc_sbpmg_precision double", options));
    PetscCall(Compare(&s, &self, sizes[k], tight, more));
  }
  PetscCall(SystemDestroy(&s));
  PetscCall(SystemDestroy(&self));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt grids = 0; /* created */

static PetscErrorCode CountGrid(PetscObject object)
{
  PetscClassId id;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectGetClassId(object, &id));
  if (id == DM_CLASSID) grids++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up makes no DMDA, whose lists on the host have all own nodes */
static PetscErrorCode TestLists(PetscInt order, PetscBool exact, const char options[])
{
  const PetscInt n[2] = {128, 64};
  System         s;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(SystemCreateWith(PETSC_COMM_WORLD, n, order, exact, &s));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCSBPMG));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(MatAssemblyBegin(s.A, MAT_FINAL_ASSEMBLY)); /* the coefficients are made again */
  PetscCall(MatAssemblyEnd(s.A, MAT_FINAL_ASSEMBLY));
  PetscCall(PCSetOperators(pc, s.A, s.A));
  grids = 0;
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, s.b, s.x));
  if (WRONG(grids > 0)) FAIL("order %" PetscInt_FMT ", %s: a set-up has made %" PetscInt_FMT " DMDAs", order, options, grids);
  PetscCall(PCDestroy(&pc));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAllLists(void)
{
  PetscFunctionBeginUser;
  PetscCall(PetscLogLegacyCallbacksBegin(NULL, NULL, CountGrid, NULL));
  for (PetscInt order = 2; order <= 6; order += 2) {
    for (int exact = 0; exact < 2; exact++) {
      PetscCall(TestLists(order, (PetscBool)exact, "-pc_sbpmg_gather_size 1100"));
      PetscCall(TestLists(order, (PetscBool)exact, "-pc_sbpmg_gather_size 1100 -pc_sbpmg_cycle full"));
      PetscCall(PetscOptionsClearValue(NULL, "-pc_sbpmg_cycle"));
    }
  }
  PetscCall(PetscOptionsClearValue(NULL, "-pc_sbpmg_gather_size"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The view names the levels that each process has: none, 17^2, 33^2 and 17^2, ... */
static PetscErrorCode ViewLevels(void)
{
  System s;

  PetscFunctionBeginUser;
  PetscCall(SystemCreate(PETSC_COMM_WORLD, 64, 64, 2, &s));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    char options[64];
    KSP  ksp;
    PC   pc;

    PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_sbpmg_gather_size %" PetscInt_FMT, sizes[k] >= 0 ? sizes[k] : 2000));
    PetscCall(SolverCreate(s.A, KSPPREONLY, (PetscReal)1e-6, options, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool view = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view_levels", &view, NULL));
  if (view) {
    PetscCall(ViewLevels());
    PetscCall(PetscFinalize());
    return 0;
  }
  PIECE(TestGrid(64, 64, 2, PLAIN, ""));
  PIECE(TestGrid(64, 48, 2, PLAIN, "-pc_sbpmg_cycle f"));
  PIECE(TestGrid(64, 64, 2, PLAIN, "-pc_sbpmg_cycle full"));
  PIECE(TestGrid(64, 64, 4, PLAIN, ""));
  PIECE(TestGrid(64, 64, 6, PLAIN, "-pc_sbpmg_cycle full"));
  PIECE(TestGrid(64, 64, 4, PLAIN, "-pc_sbpmg_coarse rediscretized -pc_sbpmg_cycle f"));
  PIECE(TestGrid(64, 64, 2, SHIFTED, ""));
  PIECE(TestGrid(64, 64, 4, SHIFTED, "-pc_sbpmg_cycle f"));
  PIECE(TestGrid(64, 64, 2, SHIFTED, "-pc_sbpmg_coarse rediscretized"));
  PIECE(TestGrid(64, 64, 2, NEUMANN, ""));
  PIECE(TestGrid(128, 64, 2, PLAIN, "-pc_sbpmg_overlap"));
  PIECE(TestGrid(128, 128, 2, PLAIN, "-pc_sbpmg_overlap -pc_sbpmg_cycle f"));
  PIECE(TestGrid(128, 128, 2, PLAIN, "-pc_sbpmg_overlap -pc_sbpmg_smooths 3,1 -pc_sbpmg_smooths_finest 1,4"));
  PIECE(TestGrid(128, 128, 2, SHIFTED, "-pc_sbpmg_overlap"));
  PIECE(TestGrid(128, 128, 2, NEUMANN, "-pc_sbpmg_overlap -pc_sbpmg_smoother richardson"));
  PIECE(TestAllLists());
  return TestEnd(48, "all is right\n");
}

/*TEST

  testset:
    output_file: output/right.out
    test:
      nsize: {{1 2 3}}
      args: -malloc_debug

  test:
    suffix: levels
    nsize: {{2 3}}
    args: -view_levels
    filter: grep "on each process" | cut -d, -f1

  testset:
    requires: cuda
    output_file: output/right.out
    args: -dm_vec_type cuda
    test:
      suffix: cuda_1
    test:
      suffix: cuda
      nsize: 2
      args: -mat_sbpsat_transport {{auto mpi}}
    test:
      suffix: cuda_4
      nsize: 4

TEST*/
