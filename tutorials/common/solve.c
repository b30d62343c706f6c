/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* A measured solve. See solve.h. */

#include "solve.h"
#include <petsctime.h>

/*
   SolveCreate - Creates a solver with a preconditioner, exact or compressed

   Collective

   Input Parameters:
+  comm       - the communicator
.  A          - the operator
.  P          - the matrix for the preconditioner
.  inner      - the type of the preconditioner, overruled by `-vcrs_pc_type`; or `NULL`
-  compressed - whether a `PCVCRS` contains the preconditioner

   Output Parameter:
.  ksp - the solver

   Note:
   The options of the preconditioner have the prefix `vcrs_` in both cases, so both are the same. The default
   method is BiCGSTAB, preconditioned from the right, with a relative tolerance of 1e-8.
*/
PetscErrorCode SolveCreate(MPI_Comm comm, Mat A, Mat P, const char inner[], PetscBool compressed, KSP *ksp)
{
  PetscBool side, same;
  PCType    type;
  PC        pc, outer;

  PetscFunctionBegin;
  PetscCall(KSPCreate(comm, ksp));
  PetscCall(KSPSetOperators(*ksp, A, P));
  PetscCall(KSPSetType(*ksp, KSPBCGS));
  PetscCall(KSPSetTolerances(*ksp, (PetscReal)1.e-8, PETSC_CURRENT, PETSC_CURRENT, 2000));

  /* the convergence test shall use the true residual, so most methods are preconditioned from the right */
  PetscCall(PetscOptionsHasName(NULL, NULL, "-ksp_pc_side", &side));
  if (!side) PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPGetPC(*ksp, &outer));
  pc = outer;
  if (compressed) {
    PetscCall(PCSetType(outer, PCVCRS));
    PetscCall(PCVCRSGetPC(outer, &pc));
  } else PetscCall(PCSetOptionsPrefix(pc, "vcrs_"));
  if (inner) PetscCall(PCSetType(pc, inner));
  PetscCall(KSPSetFromOptions(*ksp));
  if (compressed) {
    PetscCall(PCGetType(outer, &type));
    PetscCall(PetscStrcmp(type, PCVCRS, &same));
    PetscCheck(same, comm, PETSC_ERR_USER_INPUT, "-pc_type %s: an exact and a compressed preconditioner are compared; give -vcrs_pc_type for both", type);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs a task and adds the seconds of the first process */
static PetscErrorCode Begin(const Bench *bench, PetscLogDouble *start)
{
  PetscFunctionBegin;
  PetscCall(BenchWait(bench));
  PetscCall(PetscTime(start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode End(const Bench *bench, PetscLogDouble start, PetscLogDouble *seconds)
{
  PetscFunctionBegin;
  PetscCall(BenchWait(bench));
  PetscCall(PetscTime(seconds));
  *seconds -= start;
  PetscCallMPI(MPI_Bcast(seconds, 1, MPI_DOUBLE, 0, bench->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The compressed bytes of a PCVCRS, and the bytes of the same matrices without compression; 0 if nothing is
   compressed */
static PetscErrorCode GetBytes(PC pc, Solve *s)
{
  PCVCRSInfo info;

  PetscFunctionBegin;
  PetscCall(PCVCRSGetInfo(pc, &info));
  s->bytes      = info.bytes;
  s->exactbytes = info.exactbytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up of the preconditioner, inner or alone, then the remaining set-up */
PetscErrorCode SolveSetUp(const Bench *bench, KSP ksp, Solve *s)
{
  PC             pc, inner;
  PetscBool      compressed;
  PetscLogDouble start = 0.;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCVCRS, &compressed));
  inner = pc;
  if (compressed) PetscCall(PCVCRSGetPC(pc, &inner));
  PetscCall(Begin(bench, &start));
  PetscCall(PCSetUp(inner));
  PetscCall(PCSetUpOnBlocks(inner));
  PetscCall(End(bench, start, &s->setup));
  PetscCall(Begin(bench, &start));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(End(bench, start, &s->compress));
  if (compressed) PetscCall(GetBytes(pc, s));
  else s->compress = 0.;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first application compresses if necessary; the second application is timed */
PetscErrorCode SolveCompress(const Bench *bench, KSP ksp, Solve *s)
{
  PetscLogDouble start = 0., first, second;
  PC             pc;
  Mat            P;
  Vec            x, y;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetOperators(ksp, NULL, &P));
  PetscCall(MatCreateVecs(P, &x, &y));
  PetscCall(BenchFillVector(x));
  PetscCall(Begin(bench, &start));
  PetscCall(PCApply(pc, x, y));
  PetscCall(End(bench, start, &first));
  PetscCall(Begin(bench, &start));
  PetscCall(PCApply(pc, x, y));
  PetscCall(End(bench, start, &second));
  s->compress = PetscMax(0., first - second);
  PetscCall(GetBytes(pc, s));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The fastest of several solves from zero. Work of the first product counts in the first solve only */
PetscErrorCode SolveRun(const Bench *bench, KSP ksp, Mat A, Vec b, Vec x, PetscInt repeats, Solve *s)
{
  PetscLogDouble start = 0., seconds;
  PetscReal      bnorm;
  Vec            r;

  PetscFunctionBegin;
  s->solve = PETSC_MAX_REAL;
  for (PetscInt k = 0; k < repeats; k++) {
    PetscCall(VecSet(x, 0.));
    PetscCall(Begin(bench, &start));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(End(bench, start, &seconds));
    s->solve = PetscMin(s->solve, seconds);
  }
  PetscCall(KSPGetIterationNumber(ksp, &s->its));
  PetscCall(KSPGetConvergedReason(ksp, &s->reason));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1., b));
  PetscCall(VecNorm(r, NORM_2, &s->residual));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  if (bnorm > 0) s->residual /= bnorm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
