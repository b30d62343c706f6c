/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   BoomerAMG of hypre, on the host or a device as the library was built: -set "NAME: key=value ...". Keys are numbers of
   hypre's own settings: theta (strong threshold), coarsen, interp, pmax, trunc, maxrowsum, aggressive (levels), agginterp,
   relax (down and up; on the host 13 and 14), sweeps, cheby (order), functions (unknowns of a point). A later set-up is
   a new hierarchy: BoomerAMG keeps none of the old one.
*/

#include "rivalhypre.h"
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <HYPRE_parcsr_mv.h>

typedef HYPRE_Int (*CreateFunction)(MPI_Comm, HYPRE_Solver *);
typedef HYPRE_Int (*DestroyFunction)(HYPRE_Solver);
typedef HYPRE_Int (*ToleranceFunction)(HYPRE_Solver, HYPRE_Real);
typedef HYPRE_Int (*LimitFunction)(HYPRE_Solver, HYPRE_Int);
typedef HYPRE_Int (*PreconditionerFunction)(HYPRE_Solver, HYPRE_PtrToSolverFcn, HYPRE_PtrToSolverFcn, HYPRE_Solver);
typedef HYPRE_Int (*SolveFunction)(HYPRE_Solver, HYPRE_Matrix, HYPRE_Vector, HYPRE_Vector);
typedef HYPRE_Int (*CountFunction)(HYPRE_Solver, HYPRE_Int *);

typedef struct {
  const char            *name;
  CreateFunction         create;
  DestroyFunction        destroy;
  ToleranceFunction      tolerance;
  LimitFunction          limit, restart;
  PreconditionerFunction preconditioner;
  SolveFunction          setup, solve;
  CountFunction          iterations;
} Krylov;

static const Krylov kryloves[] = {{"cg", HYPRE_ParCSRPCGCreate, HYPRE_ParCSRPCGDestroy, HYPRE_PCGSetTol, HYPRE_PCGSetMaxIter, NULL, HYPRE_PCGSetPrecond,
                                   HYPRE_PCGSetup, HYPRE_PCGSolve, HYPRE_PCGGetNumIterations},
                                  {"bcgs", HYPRE_ParCSRBiCGSTABCreate, HYPRE_ParCSRBiCGSTABDestroy, HYPRE_BiCGSTABSetTol, HYPRE_BiCGSTABSetMaxIter, NULL,
                                   HYPRE_BiCGSTABSetPrecond, HYPRE_BiCGSTABSetup, HYPRE_BiCGSTABSolve, HYPRE_BiCGSTABGetNumIterations},
                                  {"gmres", HYPRE_ParCSRGMRESCreate, HYPRE_ParCSRGMRESDestroy, HYPRE_GMRESSetTol, HYPRE_GMRESSetMaxIter, HYPRE_GMRESSetKDim,
                                   HYPRE_GMRESSetPrecond, HYPRE_GMRESSetup, HYPRE_GMRESSolve, HYPRE_GMRESGetNumIterations}};

static HYPRE_Solver CreateBoomerAMG(const char setting[])
{
  const int    aggressive = (int)RivalNumber(setting, "aggressive", 0), relax = (int)RivalNumber(setting, "relax", ON_DEVICE ? 18 : 13);
  HYPRE_Solver amg;

  HYPRE_BoomerAMGCreate(&amg);
  HYPRE_BoomerAMGSetTol(amg, 0.);
  HYPRE_BoomerAMGSetMaxIter(amg, 1);
  HYPRE_BoomerAMGSetPrintLevel(amg, 0);
  HYPRE_BoomerAMGSetCoarsenType(amg, (int)RivalNumber(setting, "coarsen", ON_DEVICE ? 8 : 10));
  HYPRE_BoomerAMGSetInterpType(amg, (int)RivalNumber(setting, "interp", 6));
  HYPRE_BoomerAMGSetPMaxElmts(amg, (int)RivalNumber(setting, "pmax", 4));
  HYPRE_BoomerAMGSetTruncFactor(amg, RivalNumber(setting, "trunc", 0));
  HYPRE_BoomerAMGSetStrongThreshold(amg, RivalNumber(setting, "theta", .25));
  HYPRE_BoomerAMGSetMaxRowSum(amg, RivalNumber(setting, "maxrowsum", .9));
  HYPRE_BoomerAMGSetAggNumLevels(amg, aggressive);
  if (aggressive) HYPRE_BoomerAMGSetAggInterpType(amg, (int)RivalNumber(setting, "agginterp", ON_DEVICE ? 5 : 4));
  HYPRE_BoomerAMGSetRelaxOrder(amg, 0);
  HYPRE_BoomerAMGSetCycleRelaxType(amg, relax, 1);
  HYPRE_BoomerAMGSetCycleRelaxType(amg, relax == 13 ? 14 : relax, 2);
  HYPRE_BoomerAMGSetCycleRelaxType(amg, 9, 3);
  HYPRE_BoomerAMGSetNumSweeps(amg, (int)RivalNumber(setting, "sweeps", 1));
  HYPRE_BoomerAMGSetCycleNumSweeps(amg, 1, 3);
  if (relax == 16) HYPRE_BoomerAMGSetChebyOrder(amg, (int)RivalNumber(setting, "cheby", 2));
  HYPRE_BoomerAMGSetKeepTranspose(amg, ON_DEVICE);
  HYPRE_BoomerAMGSetModuleRAP2(amg, ON_DEVICE);
  HYPRE_BoomerAMGSetNumFunctions(amg, (int)RivalNumber(setting, "functions", 1));
  return amg;
}

/* rows: on the device where the vector is */
static HYPRE_IJVector CreateVector(MPI_Comm comm, int n, const int *rows, const double values[], HYPRE_ParVector *par)
{
  double *const  placed = (double *)Place(values, (size_t)n * sizeof(double));
  void          *object;
  HYPRE_IJVector v;

  HYPRE_IJVectorCreate(comm, 0, n - 1, &v);
  HYPRE_IJVectorSetObjectType(v, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(v);
  HYPRE_IJVectorSetValues(v, n, rows, placed);
  HYPRE_IJVectorAssemble(v);
  HYPRE_IJVectorGetObject(v, &object);
  *par = (HYPRE_ParVector)object;
  return v;
}

static RivalResult RivalMeasure(const RivalSystem *s, const RivalOptions *opt, const char setting[])
{
  const size_t       nz = (size_t)s->i[s->n], vector = (size_t)s->n * sizeof(double);
  int               *count = (int *)RivalAllocate((size_t)s->n * sizeof(int)), *row = (int *)RivalAllocate((size_t)s->n * sizeof(int)), *rows;
  const MPI_Comm     comm = Alone();
  const Krylov      *kind = NULL;
  double             start, between, norm;
  double            *values;
  void              *object;
  HYPRE_IJMatrix     matrix;
  HYPRE_IJVector     xv;
  HYPRE_ParCSRMatrix A;
  HYPRE_ParVector    x, b, y;
  HYPRE_Solver       solver;
  RivalResult        r = {0};

  for (size_t k = 0; k < sizeof(kryloves) / sizeof(*kryloves); k++) {
    if (!strcmp(kryloves[k].name, opt->krylov)) kind = &kryloves[k];
  }
  if (!kind) RivalStop("no such Krylov method", opt->krylov);
  for (int k = 0; k < s->n; k++) {
    count[k] = s->i[k + 1] - s->i[k];
    row[k]   = k;
  }
  Start();
  HYPRE_IJMatrixCreate(comm, 0, s->n - 1, 0, s->n - 1, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  if (!ON_DEVICE) HYPRE_IJMatrixSetRowSizes(matrix, count);
  HYPRE_IJMatrixInitialize(matrix);
  rows = (int *)Place(row, (size_t)s->n * sizeof(int));
  HYPRE_IJMatrixSetValues(matrix, s->n, (int *)Place(count, (size_t)s->n * sizeof(int)), rows, (int *)Place(s->j, nz * sizeof(int)),
                          (double *)Place(s->a, nz * sizeof(double)));
  HYPRE_IJMatrixAssemble(matrix);
  HYPRE_IJMatrixGetObject(matrix, &object);
  A  = (HYPRE_ParCSRMatrix)object;
  xv = CreateVector(comm, s->n, rows, NULL, &x);
  (void)CreateVector(comm, s->n, rows, s->b, &b);
  (void)CreateVector(comm, s->n, rows, NULL, &y);
  HYPRE_ParCSRMatrixMatvec(1., A, b, 0., y); /* as before the other programs' first set-up */
  HYPRE_ParVectorInnerProd(b, y, &norm);
  kind->create(comm, &solver);
  kind->tolerance(solver, opt->rtol);
  kind->limit(solver, opt->iterations);
  if (kind->restart) kind->restart(solver, opt->restart);
  else if (kind == kryloves) HYPRE_PCGSetTwoNorm(solver, 1);
  for (int k = 0; k < opt->repeats; k++) {
    HYPRE_Solver amg = CreateBoomerAMG(setting);

    HYPRE_ParVectorSetConstantValues(x, 0.);
    start = RivalDone();
    kind->preconditioner(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
    kind->setup(solver, (HYPRE_Matrix)A, (HYPRE_Vector)b, (HYPRE_Vector)x);
    between = RivalDone();
    kind->solve(solver, (HYPRE_Matrix)A, (HYPRE_Vector)b, (HYPRE_Vector)x);
    RivalRecord(&r, k, start, between);
    kind->iterations(solver, &r.iterations);
    HYPRE_BoomerAMGDestroy(amg);
  }
  kind->destroy(solver);
  values = (double *)Place(NULL, vector);
  HYPRE_IJVectorGetValues(xv, s->n, rows, values);
  r.x = Fetch(values, vector);
  return r;
}

int main(int argc, char **argv)
{
  return RivalMain(argc, argv, "hypre");
}
