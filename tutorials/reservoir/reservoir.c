/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Solves for the pressure of a reservoir with AIJ, with vcrs in the operator and in the preconditioner, and with gridmg.\n\
  -rows N, -seed S, -kind spe10 -permeability FILE, ... : the reservoir, as for matgen\n\
  -ksp_type TYPE        : the first two solvers (default: bcgs)\n\
  -vcrs_pc_type TYPE    : the preconditioner, alone and inside of vcrs (default: gamg)\n\
  -gridmg_ksp_type TYPE : the third solver (default: cg)\n\
  -pc_vcrs_loss LOSS    : compression of the preconditioner\n\
  -columns aij,vcrs,gridmg : which columns of the table (default: all)\n\
  -write FILE           : the matrix and the right-hand side, in the format of matgen\n\
  -picture FILE.png     : permeability and pressure\n\
  -picture_layer L      : layer of the picture (default: the middle layer)\n\n";

/*
   The same system is solved three times, twice by the same method and the same preconditioner. In the first column of
   the table all objects are AIJ, of the type in -dm_mat_type. In the second column the operator is stored by MATVCRS
   without loss, and PCVCRS applies the preconditioner from compressed matrices. The third column has conjugate gradients
   with PCGRIDMG, the fastest way for a matrix on a grid.
*/

#include "reservoir.h"
#include <tutorials/common/output.h>
#include <tutorials/common/solve.h>
#include <petscdevice.h>
#include <petsctime.h>

/* What a column of the table describes */
typedef struct {
  PetscBool      wanted, converged; /* converged: also by the true residual */
  Mat            amat;
  PetscLogDouble bytes;   /* of the operator */
  PetscLogDouble convert; /* seconds of its compression */
  PetscReal      product;
  char           stored[32];
  Solve          solve;
} Column;

enum {
  AIJ,
  VCRS,
  GRIDMG,
  COLUMNS
};
static const char *const names[COLUMNS] = {"AIJ", "VCRS", "GRIDMG"}, *const options[COLUMNS] = {"aij", "vcrs", "gridmg"};

/* Numbers that are zero are not known, or are of columns that are not wanted. The ratios are those of the first column
   to the others */
static PetscErrorCode PrintNumbers(MPI_Comm comm, const char what[], const char format[], const double number[COLUMNS], PetscBool ratio)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "%-28s", what));
  for (int m = 0; m < COLUMNS; m++) {
    char text[32] = "-";

    if (number[m] > 0.) (void)snprintf(text, sizeof(text), format, number[m]);
    PetscCall(PetscPrintf(comm, " %12s", text));
  }
  for (int m = 1; ratio && m < COLUMNS; m++) {
    char text[32] = "-";

    if (number[AIJ] > 0. && number[m] > 0.) (void)snprintf(text, sizeof(text), "%.2f", number[AIJ] / number[m]);
    PetscCall(PetscPrintf(comm, " %10s", text));
  }
  PetscCall(PetscPrintf(comm, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintTable(MPI_Comm comm, const Column c[COLUMNS])
{
  double reads[COLUMNS] = {c[AIJ].wanted ? c[VCRS].solve.exactbytes / 1e6 : 0., c[VCRS].solve.bytes / 1e6};
  double bytes[COLUMNS], product[COLUMNS], apply[COLUMNS], setup[COLUMNS], compress[COLUMNS];
  double its[COLUMNS], solve[COLUMNS], total[COLUMNS], residual[COLUMNS];

  PetscFunctionBegin;
  for (int m = 0; m < COLUMNS; m++) {
    const Solve *s = &c[m].solve;

    bytes[m]    = c[m].bytes / 1e6;
    product[m]  = 1e3 * (double)c[m].product;
    apply[m]    = 1e3 * (double)s->apply;
    setup[m]    = s->setup;
    compress[m] = c[m].convert + s->compress;
    its[m]      = (double)s->its;
    solve[m]    = s->solve;
    total[m]    = setup[m] + compress[m] + solve[m];
    residual[m] = (double)s->residual;
  }
  PetscCall(PetscPrintf(comm, "%-28s %12s %12s %12s %10s %10s\n", "", names[AIJ], names[VCRS], names[GRIDMG], "AIJ/VCRS", "AIJ/GRIDMG"));
  PetscCall(PetscPrintf(comm, "%-28s", "operator stored as"));
  for (int m = 0; m < COLUMNS; m++) PetscCall(PetscPrintf(comm, " %12s", c[m].wanted ? c[m].stored : "-"));
  PetscCall(PetscPrintf(comm, "\n"));
  PetscCall(PrintNumbers(comm, "operator, MB", "%.3f", bytes, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "preconditioner reads, MB", "%.3f", reads, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "SpMV, ms", "%.4f", product, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "preconditioner applied, ms", "%.4f", apply, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "set-up, s", "%.4f", setup, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "compression, s", "%.4f", compress, PETSC_FALSE));
  PetscCall(PrintNumbers(comm, "iterations", "%.0f", its, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "solve, s", "%.4f", solve, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "total, s", "%.4f", total, PETSC_TRUE));
  PetscCall(PrintNumbers(comm, "true residual", "%.2e", residual, PETSC_FALSE));
  PetscCall(PetscPrintf(comm, "%-28s", "converged"));
  for (int m = 0; m < COLUMNS; m++) PetscCall(PetscPrintf(comm, " %12s", !c[m].wanted ? "-" : (c[m].converged ? "yes" : "no")));
  PetscCall(PetscPrintf(comm, "\n"));
  for (int m = 0; m < COLUMNS; m++) {
    if (!c[m].wanted || c[m].converged) continue;
    PetscCall(PetscPrintf(comm, "%s: %s%s\n", names[m], KSPConvergedReasons[c[m].solve.reason],
                          c[m].solve.reason > 0 ? ", but the true residual is more than ten times the tolerance" : ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of a MATVCRS, or of an AIJ matrix with as many nonzeros */
static PetscErrorCode OperatorBytes(Mat A, PetscLogDouble *bytes)
{
  PetscBool   vcrs;
  PetscInt    rows;
  MatVCRSInfo compressed;
  MatInfo     info;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &vcrs, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
  if (vcrs) {
    PetscCall(MatVCRSGetInfo(A, &compressed));
    *bytes = compressed.bytes;
  } else {
    PetscCall(MatGetSize(A, &rows, NULL));
    PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
    *bytes = info.nz_used * (PetscLogDouble)(sizeof(PetscScalar) + sizeof(PetscInt)) + (PetscLogDouble)rows * (PetscLogDouble)sizeof(PetscInt);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The compressed operator, and the time of the compression */
static PetscErrorCode CompressOperator(const Bench *bench, Mat A, Column *c)
{
  PetscLogDouble start, end;
  MatVCRSInfo    info;

  PetscFunctionBegin;
  PetscCall(BenchWait(bench));
  PetscCall(PetscTime(&start));
  PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &c->amat));
  PetscCall(BenchWait(bench));
  PetscCall(PetscTime(&end));
  c->convert = end - start;
  PetscCall(MatVCRSGetInfo(c->amat, &info));
  c->bytes = info.bytes;
  PetscCall(PetscSNPrintf(c->stored, sizeof(c->stored), "%s %s", MatVCRSLayouts[info.layout], info.values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operators of all columns, and the time of a product, in turn */
static PetscErrorCode MeasureOperators(const Bench *bench, Mat A, Vec b, Column c[COLUMNS])
{
  BenchTask task[2] = {{BenchProduct, A}, {BenchProduct, NULL}};
  PetscReal median[2], least[2];
  MatType   type;
  Vec       x, y;

  PetscFunctionBegin;
  if (c[VCRS].wanted) PetscCall(CompressOperator(bench, A, &c[VCRS]));
  task[1].ctx = c[VCRS].amat;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(BenchFillVector(x));
  PetscCall(BenchTime(bench, c[VCRS].wanted ? 2 : 1, task, x, y, median, least));
  c[VCRS].product = c[VCRS].wanted ? median[1] : 0.;
  PetscCall(MatGetType(A, &type));
  for (int m = 0; m < COLUMNS; m++) {
    if (m == VCRS || !c[m].wanted) continue;
    PetscCall(PetscObjectReference((PetscObject)A));
    c[m].amat = A;
    PetscCall(OperatorBytes(A, &c[m].bytes));
    c[m].product = median[0];
    PetscCall(PetscStrncpy(c[m].stored, type, sizeof(c[m].stored)));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conjugate gradients with PCGRIDMG, to the tolerance of the other solvers. The options have the prefix gridmg_ */
static PetscErrorCode CreateGridMG(Mat A, KSP *ksp)
{
  PetscReal rtol, abstol, dtol;
  PetscInt  maxits;
  PC        pc;
  KSP       other;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "gridmg_"));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(SolveCreate(PetscObjectComm((PetscObject)A), A, A, PCGAMG, PETSC_FALSE, &other));
  PetscCall(KSPGetTolerances(other, &rtol, &abstol, &dtol, &maxits));
  PetscCall(KSPDestroy(&other));
  PetscCall(KSPSetTolerances(*ksp, rtol, abstol, dtol, maxits));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCGRIDMG));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All solves; x is the solution of the last */
static PetscErrorCode SolveAll(const Bench *bench, Mat A, Vec b, Vec x, Column c[COLUMNS])
{
  BenchTask task[COLUMNS];
  PetscReal median[COLUMNS], least[COLUMNS], rtol;
  PetscInt  n = 0;
  KSPType   solver;
  PCType    preconditioner;
  KSP       ksp[COLUMNS] = {NULL, NULL, NULL};
  PC        pc[COLUMNS];
  Vec       r, z;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecDuplicate(b, &z));
  for (int m = 0; m < COLUMNS; m++) {
    if (!c[m].wanted) continue;
    if (m == GRIDMG) PetscCall(CreateGridMG(A, &ksp[m]));
    else PetscCall(SolveCreate(bench->comm, c[m].amat, A, PCGAMG, (PetscBool)(m == VCRS), &ksp[m]));
    PetscCall(SolveSetUp(bench, ksp[m], &c[m].solve));
    PetscCall(KSPGetPC(ksp[m], &pc[m]));
    task[n++] = (BenchTask){BenchApply, pc[m]};
  }
  PetscCall(BenchFillVector(r));
  PetscCall(BenchTime(bench, n, task, r, z, median, least));
  n = 0;
  for (int m = 0; m < COLUMNS; m++) {
    if (!c[m].wanted) continue;
    PetscCall(SolveRun(bench, ksp[m], A, b, x, 1, &c[m].solve));
    PetscCall(KSPGetTolerances(ksp[m], &rtol, NULL, NULL, NULL));
    c[m].solve.apply = median[n++];
    c[m].converged   = (PetscBool)(c[m].solve.reason > 0 && c[m].solve.residual <= 10 * rtol);
  }
  for (int m = 0; m < COLUMNS; m++) {
    if (!c[m].wanted || (m == VCRS && c[AIJ].wanted)) continue;
    PetscCall(KSPGetType(ksp[m], &solver));
    if (m == VCRS) PetscCall(PCVCRSGetPC(pc[m], &pc[m]));
    PetscCall(PCGetType(pc[m], &preconditioner));
    PetscCall(PetscPrintf(bench->comm, "%s: solver %s, preconditioner %s\n", m == AIJ && c[VCRS].wanted ? "AIJ, VCRS" : names[m], solver, preconditioner));
  }
  PetscCall(PetscPrintf(bench->comm, "\n"));
  PetscCall(PrintTable(bench->comm, c));
  for (int m = VCRS; m < COLUMNS; m++) {
    if (c[m].wanted) PetscCall(KSPViewFromOptions(ksp[m], NULL, "-view_solver"));
  }
  for (int m = 0; m < COLUMNS; m++) PetscCall(KSPDestroy(&ksp[m]));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintReservoir(const Reservoir *r, Mat A, PetscLogDouble seconds)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscInt rows, longest = 1, beside = 0;
  MatInfo  info;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  for (int d = 0; d < 3; d++) {
    const PetscInt n = d == 0 ? r->perm.nx : (d == 1 ? r->perm.ny : r->perm.nz);

    longest += PetscMin(2, n - 1);
    if (d < 2) beside += (r->well[0][d] > 0) + (r->well[0][d] < n - 1);
  }
  if (r->problem.wellrows) longest = PetscMax(longest, r->perm.nz + beside); /* rows of the injector's cells */
  PetscCall(PetscPrintf(comm,
                        "%s: %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells, %" PetscInt_FMT " wells, %" PetscInt_FMT
                        " rows, %.0f nonzeros, longest row %" PetscInt_FMT "\ngrid and matrix made in %.3f s\n",
                        ProblemKinds[r->problem.kind], r->perm.nx, r->perm.ny, r->perm.nz, r->problem.wells + 1, rows, info.nz_used, longest, seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns as records of -bench_json and rows of -bench_markdown */
static PetscErrorCode WriteColumns(Bench *bench, PetscInt rows, const Column c[COLUMNS])
{
  PetscFunctionBegin;
  for (int m = 0; m < COLUMNS; m++) {
    const Solve     *s       = &c[m].solve;
    const BenchField field[] = {{"column", options[m], 0.},
                                {"rows", NULL, (double)rows},
                                {"operator", c[m].stored, 0.},
                                {"operator_bytes", NULL, c[m].bytes},
                                {"spmv_ms", NULL, 1e3 * (double)c[m].product},
                                {"apply_ms", NULL, 1e3 * (double)s->apply},
                                {"setup_s", NULL, s->setup},
                                {"compress_s", NULL, c[m].convert + s->compress},
                                {"iterations", NULL, (double)s->its},
                                {"solve_s", NULL, s->solve},
                                {"residual", NULL, (double)s->residual},
                                {"reason", KSPConvergedReasons[s->reason], 0.}};

    if (!c[m].wanted) continue;
    PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
    if (!bench->markdown) continue;
    fprintf(bench->markdown, "| %s | %" PetscInt_FMT " | %s | %.3f | %.4f | %.4f | %.4f | %.4f | %" PetscInt_FMT " | %.4f | %.2e | %s |\n", options[m], rows,
            c[m].stored, c[m].bytes / 1e6, 1e3 * (double)c[m].product, 1e3 * (double)s->apply, s->setup, c[m].convert + s->compress, s->its, s->solve,
            (double)s->residual, c[m].converged ? "yes" : "no");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An operator with a loss would be another system, and its residual says nothing of this one */
static PetscErrorCode CheckLoss(MPI_Comm comm)
{
  char      loss[64] = "none";
  PetscBool none;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_vcrs_loss", loss, sizeof(loss), NULL));
  PetscCall(PetscStrcasecmp(loss, "none", &none));
  PetscCheck(none, comm, PETSC_ERR_USER_INPUT, "-mat_vcrs_loss %s: all operators are exact here. Take -pc_vcrs_loss for a loss in the preconditioner", loss);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char           picture[PETSC_MAX_PATH_LEN] = "", file[PETSC_MAX_PATH_LEN] = "";
  Column         column[COLUMNS];
  PetscInt       layer, rows;
  PetscBool      solved = PETSC_TRUE, wanted[COLUMNS];
  Reservoir      reservoir;
  Bench          bench;
  Mat            A;
  Vec            b, x;
  PetscLogDouble start, end;

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
  PetscCall(BenchGetWanted(&bench, "-columns", COLUMNS, options, wanted));
  PetscCall(CheckLoss(bench.comm));
  if (bench.gpu) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscTime(&start));
  PetscCall(ReservoirCreate(bench.comm, &reservoir));
  layer = reservoir.perm.nz / 2;
  PetscOptionsBegin(bench.comm, NULL, "Picture", "DM");
  PetscCall(PetscOptionsInt("-picture_layer", "Which layer", NULL, layer, &layer, NULL));
  PetscOptionsEnd();
  PetscCheck(layer >= 0 && layer < reservoir.perm.nz, bench.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-picture_layer %" PetscInt_FMT " is not one of the layers 0 to %" PetscInt_FMT, layer, reservoir.perm.nz - 1);
  PetscCall(ReservoirAssemble(&reservoir, &A, &b));
  PetscCall(BenchWait(&bench));
  PetscCall(PetscTime(&end));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(PrintReservoir(&reservoir, A, end - start));
  if (file[0]) PetscCall(ReservoirWrite(&reservoir, A, b, file));

  PetscCall(
    BenchOpen(&bench,
              "| column | rows | operator | MB | SpMV, ms | applied, ms | set-up, s | compression, s | iterations | solve, s | residual | converged |"));
  PetscCall(PetscMemzero(column, sizeof(column)));
  for (int m = 0; m < COLUMNS; m++) column[m].wanted = wanted[m];
  PetscCall(MeasureOperators(&bench, A, b, column));
  PetscCall(SolveAll(&bench, A, b, x, column));
  for (int m = 0; m < COLUMNS; m++) solved = (PetscBool)(solved && (!column[m].wanted || column[m].converged));

  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(WriteColumns(&bench, rows, column));
  PetscCall(BenchClose(&bench));
  if (picture[0]) PetscCall(ReservoirWritePicture(&reservoir, x, layer, picture));

  for (int m = 0; m < COLUMNS; m++) PetscCall(MatDestroy(&column[m].amat));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(ReservoirDestroy(&reservoir));
  PetscCall(PetscFinalize());
  return solved ? 0 : 1;
}
