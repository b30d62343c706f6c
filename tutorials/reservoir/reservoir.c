/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Solves for the pressure of a reservoir with AIJ, and with vcrs in the operator and in the preconditioner.\n\
  -rows N, -seed S, -kind spe10 -permeability FILE, ... : the reservoir, as for matgen\n\
  -ksp_type TYPE        : the solver (default: bcgs)\n\
  -vcrs_pc_type TYPE    : the preconditioner, alone and inside of vcrs (default: gamg)\n\
  -pc_vcrs_loss LOSS    : compression of the preconditioner\n\
  -write FILE           : the matrix and the right-hand side, in the format of matgen\n\
  -picture FILE.png     : permeability and pressure\n\
  -picture_layer L      : layer of the picture (default: the middle layer)\n\n";

/*
   The same system is solved twice, by the same method and the same preconditioner. On the left of the table all objects
   are AIJ, of the type in -dm_mat_type. On the right the operator is stored by MATVCRS without loss, and PCVCRS applies
   the preconditioner from compressed matrices.
*/

#include "reservoir.h"
#include <tutorials/common/output.h>
#include <tutorials/common/solve.h>

/* What a column of the table describes */
typedef struct {
  Mat            amat;
  PetscLogDouble bytes; /* of the operator */
  PetscReal      product;
  char           stored[32];
  Solve          solve;
} Column;

static PetscErrorCode PrintNumbers(MPI_Comm comm, const char what[], const char format[], double aij, double vcrs, PetscBool ratio)
{
  char text[3][32] = {"-", "-", ""};

  PetscFunctionBegin;
  if (aij > 0.) (void)snprintf(text[0], sizeof(text[0]), format, aij);
  if (vcrs > 0.) (void)snprintf(text[1], sizeof(text[1]), format, vcrs);
  if (ratio && aij > 0. && vcrs > 0.) (void)snprintf(text[2], sizeof(text[2]), "%.2f", aij / vcrs);
  PetscCall(PetscPrintf(comm, "%-28s %12s %12s %9s\n", what, text[0], text[1], text[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintTable(MPI_Comm comm, const Column c[2], const char solver[], const char preconditioner[])
{
  const Solve *a = &c[0].solve, *v = &c[1].solve;

  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "solver %s, preconditioner %s\n\n", solver, preconditioner));
  PetscCall(PetscPrintf(comm, "%-28s %12s %12s %9s\n", "", "AIJ", "VCRS", "AIJ/VCRS"));
  PetscCall(PetscPrintf(comm, "%-28s %12s %12s\n", "operator stored as", c[0].stored, c[1].stored));
  PetscCall(PrintNumbers(comm, "operator, MB", "%.3f", c[0].bytes / 1e6, c[1].bytes / 1e6, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "preconditioner reads, MB", "%.3f", v->exactbytes / 1e6, v->bytes / 1e6, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "SpMV, ms", "%.4f", 1e3 * (double)c[0].product, 1e3 * (double)c[1].product, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "preconditioner applied, ms", "%.4f", 1e3 * (double)a->apply, 1e3 * (double)v->apply, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "set-up, s", "%.4f", a->setup, v->setup, PETSC_FALSE));
  PetscCall(PrintNumbers(comm, "compression, s", "%.4f", 0., v->compress, PETSC_FALSE));
  PetscCall(PrintNumbers(comm, "iterations", "%.0f", (double)a->its, (double)v->its, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "solve, s", "%.4f", a->solve, v->solve, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "true residual", "%.2e", (double)a->residual, (double)v->residual, PETSC_FALSE));
  PetscCall(PetscPrintf(comm, "%-28s %12s %12s\n", "converged", a->reason > 0 ? "yes" : "no", v->reason > 0 ? "yes" : "no"));
  for (int m = 0; m < 2; m++) {
    if (c[m].solve.reason <= 0) PetscCall(PetscPrintf(comm, "%s: %s\n", m ? "VCRS" : "AIJ", KSPConvergedReasons[c[m].solve.reason]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator in both forms: bytes, and the time of a product, in turn */
static PetscErrorCode MeasureOperators(const Bench *bench, Mat A, Vec b, Column c[2])
{
  BenchTask   task[2] = {{BenchProduct, A}, {BenchProduct, NULL}};
  PetscReal   median[2], least[2];
  MatVCRSInfo info;
  MatType     type;
  Vec         x, y;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)A));
  c[0].amat = A;
  PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &c[1].amat));
  PetscCall(MatVCRSGetInfo(c[1].amat, &info));
  c[0].bytes = info.aijbytes;
  c[1].bytes = info.bytes;
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscStrncpy(c[0].stored, type, sizeof(c[0].stored)));
  PetscCall(PetscSNPrintf(c[1].stored, sizeof(c[1].stored), "%s %s", MatVCRSLayouts[info.layout], info.values));
  task[1].ctx = c[1].amat;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(BenchFillVector(x));
  PetscCall(BenchTime(bench, 2, task, x, y, median, least));
  for (int m = 0; m < 2; m++) c[m].product = median[m];
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both solves; x is the solution of the second */
static PetscErrorCode SolveBoth(const Bench *bench, Mat A, Vec b, Vec x, Column c[2])
{
  BenchTask task[2] = {{BenchApply, NULL}, {BenchApply, NULL}};
  PetscReal median[2], least[2];
  KSPType   solver;
  PCType    preconditioner;
  KSP       ksp[2];
  PC        pc;
  Vec       r, z;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecDuplicate(b, &z));
  for (int m = 0; m < 2; m++) {
    PetscCall(SolveCreate(bench->comm, c[m].amat, A, PCGAMG, (PetscBool)m, &ksp[m]));
    PetscCall(SolveSetUp(bench, ksp[m], &c[m].solve));
    PetscCall(KSPGetPC(ksp[m], &pc));
    task[m].ctx = pc;
  }
  PetscCall(BenchFillVector(r));
  PetscCall(BenchTime(bench, 2, task, r, z, median, least));
  for (int m = 0; m < 2; m++) {
    PetscCall(SolveRun(bench, ksp[m], A, b, x, 1, &c[m].solve));
    c[m].solve.apply = median[m];
  }
  PetscCall(KSPGetType(ksp[0], &solver));
  PetscCall(PCGetType((PC)task[0].ctx, &preconditioner));
  PetscCall(PrintTable(bench->comm, c, solver, preconditioner));
  PetscCall(KSPViewFromOptions(ksp[1], NULL, "-view_solver"));
  for (int m = 0; m < 2; m++) PetscCall(KSPDestroy(&ksp[m]));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintReservoir(const Reservoir *r, Mat A)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscInt rows, begin, end, longest = 0;
  MatInfo  info;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    PetscInt n;

    PetscCall(MatGetRow(A, row, &n, NULL, NULL));
    longest = PetscMax(longest, n);
    PetscCall(MatRestoreRow(A, row, &n, NULL, NULL));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &longest, 1, MPIU_INT, MPI_MAX, comm));
  PetscCall(PetscPrintf(comm,
                        "%s: %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells, %" PetscInt_FMT " wells, %" PetscInt_FMT
                        " rows, %.0f nonzeros, longest row %" PetscInt_FMT "\n",
                        ProblemKinds[r->problem.kind], r->perm.nx, r->perm.ny, r->perm.nz, r->problem.wells + 1, rows, info.nz_used, longest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      picture[PETSC_MAX_PATH_LEN] = "", file[PETSC_MAX_PATH_LEN] = "";
  Column    column[2];
  PetscInt  layer;
  PetscBool solved;
  Reservoir reservoir;
  Bench     bench;
  Mat       A;
  Vec       b, x;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &bench));
  PetscOptionsBegin(bench.comm, NULL, "Files to write", "DM");
  PetscCall(PetscOptionsString("-picture", "Permeability and pressure, .png", NULL, picture, picture, sizeof(picture), NULL));
  PetscCall(PetscOptionsString("-write", "Matrix and right-hand side, PETSc binary", NULL, file, file, sizeof(file), NULL));
  PetscOptionsEnd();
  PetscCall(OutputCheck(bench.comm, "-picture", picture, NULL));
  PetscCall(OutputCheck(bench.comm, "-write", file, NULL));
  PetscCall(ReservoirCreate(bench.comm, &reservoir));
  PetscCall(ReservoirAssemble(&reservoir, &A, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(PrintReservoir(&reservoir, A));
  if (file[0]) PetscCall(ProblemWriteSystem(file, A, b));

  PetscCall(PetscMemzero(column, sizeof(column)));
  PetscCall(MeasureOperators(&bench, A, b, column));
  PetscCall(SolveBoth(&bench, A, b, x, column));
  solved = (PetscBool)(column[0].solve.reason > 0 && column[1].solve.reason > 0);

  layer = reservoir.perm.nz / 2;
  PetscOptionsBegin(bench.comm, NULL, "Picture", "DM");
  PetscCall(PetscOptionsInt("-picture_layer", "Which layer", NULL, layer, &layer, NULL));
  PetscOptionsEnd();
  if (picture[0]) PetscCall(ReservoirWritePicture(&reservoir, x, layer, picture));

  for (int m = 0; m < 2; m++) PetscCall(MatDestroy(&column[m].amat));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(ReservoirDestroy(&reservoir));
  PetscCall(PetscFinalize());
  return solved ? 0 : 1;
}
