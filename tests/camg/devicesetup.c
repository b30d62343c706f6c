/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCCAMG's set-up: each function of graphs, aggregates and products on a device gives what the function on the host gives.\n\
  -n <n>    - points per direction of the Laplacian with jumps\n\
  -times    - prints the time of each function on the device\n\n";

#include "devicelevels.h"

static PetscErrorCode TestGraph(const char *what, const CAMGMatrix *A, const CAMGMatrix *D, PetscReal threshold, const CAMGGraph *g, CAMGGraph *dg)
{
  CAMGGraph  own;
  PetscReal *root, *droot;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(A->m, &root));
  PetscCall(PCCAMGRoots_Private(A, root));
  PetscCall(Put((size_t)A->m * sizeof(*root), root, (void **)&droot));
  DEVICE(LitheCUDACAMGFilter(D, droot, threshold, &own));
  PetscCall(PetscFree(root));
  PetscCallRuntime(cudaFree(droot));
  PetscCall(Scalars(what, A->m, g->d, own.d));
  PetscCallRuntime(cudaFree(own.d));
  PetscCall(Matrices(what, &g->strong, &own.strong));
  PetscCall(PutMatrix(&g->strong, &dg->strong));
  PetscCall(Put((size_t)A->m * sizeof(PetscScalar), g->d, (void **)&dg->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pairs, and the composition with themselves */
static PetscErrorCode TestPairs(const CAMGMatrix *A, const CAMGMatrix *D, PetscReal threshold)
{
  const size_t bytes = (size_t)A->m * sizeof(PetscInt);
  PetscInt    *agg, *dagg, *next, pairs, dpairs;
  PetscReal   *root, *droot;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(A->m, &agg, A->m, &next, A->m, &root));
  PetscCallRuntime(cudaMalloc((void **)&dagg, bytes));
  PetscCall(PCCAMGRoots_Private(A, root));
  PetscCall(Put((size_t)A->m * sizeof(*root), root, (void **)&droot));
  PetscCall(PCCAMGPairs_Private(A, root, threshold, agg, &pairs));
  DEVICE(LitheCUDACAMGPairs(D, droot, threshold, dagg, &dpairs));
  PetscCallRuntime(cudaFree(droot));
  if (WRONG(pairs != dpairs)) FAIL("%s: %d pairs on the host, %d", problem, (int)pairs, (int)dpairs);
  PetscCall(Integers("pairs", A->m, agg, dagg));
  PetscCallRuntime(cudaFree(dagg));
  PetscCall(Put(bytes, agg, (void **)&dagg));
  PetscCall(PetscArraycpy(next, agg, A->m));
  PetscCall(PCCAMGCompose_Private(A->m, next, agg));
  {
    PetscInt *dnext;

    PetscCall(Put(bytes, next, (void **)&dnext));
    DEVICE(LitheCUDACAMGCompose(A->m, dnext, dagg));
    PetscCall(Integers("composition", A->m, agg, dagg));
    PetscCallRuntime(cudaFree(dnext));
  }
  PetscCallRuntime(cudaFree(dagg));
  PetscCall(PetscFree3(agg, next, root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P in all forms */
static PetscErrorCode TestSmooth(const Level *l, const CAMGGraph *dF, const CAMGSpace *dspace, const PetscInt dagg[])
{
  const CAMGGraph *F      = &l->F;
  const PetscInt   most[] = {2, 0, TRUNCATE};
  PetscReal       *damping, *ddamping;
  CAMGMatrix       P, dP;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(F->strong.m * F->strong.rb, &damping));
  PetscCallRuntime(cudaMalloc((void **)&ddamping, (size_t)(F->strong.m * F->strong.rb) * sizeof(PetscReal)));
  PetscCall(PCCAMGDamping_Private(F, (PetscReal)0.9, damping));
  DEVICE(LitheCUDACAMGDamping(dF, (PetscReal)0.9, ddamping));
  PetscCall(Reals("damping", F->strong.m * F->strong.rb, damping, ddamping, sizeof(PetscReal), TOLERANCE));
  PetscCallRuntime(cudaFree(ddamping));
  PetscCall(Put((size_t)(F->strong.m * F->strong.rb) * sizeof(PetscReal), damping, (void **)&ddamping));
  PetscCall(PCCAMGSmooth_Private(F, NULL, &l->space, l->agg, l->aggregates, 0, &P));
  DEVICE(LitheCUDACAMGSmooth(dF, NULL, dspace, dagg, l->aggregates, 0, &dP));
  PetscCall(Matrices("tentative matrix", &P, &dP));
  for (int k = 0; k < 3; k++) {
    PetscCall(PCCAMGMatrixFree_Private(&P));
    PetscCall(PCCAMGSmooth_Private(F, damping, &l->space, l->agg, l->aggregates, most[k], &P));
    DEVICE(LitheCUDACAMGSmooth(dF, ddamping, dspace, dagg, l->aggregates, most[k], &dP));
    PetscCall(Matrices(k == 0 ? "truncated to two" : (k == 1 ? "smooth, all entries" : "smooth"), &P, &dP));
  }
  PetscCall(PCCAMGMatrixFree_Private(&P));
  PetscCall(PetscFree(damping));
  PetscCallRuntime(cudaFree(ddamping));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A B on a device, with sizes of rows unknown, and known from before */
static PetscErrorCode TestMultiply(const char *what, const CAMGMatrix *A, const CAMGMatrix *B, const CAMGMatrix *result)
{
  CAMGMatrix C;

  PetscFunctionBeginUser;
  for (int known = 0; known < 2; known++) {
    C = (CAMGMatrix){.nz = known ? result->nz : 0};
    if (known) PetscCall(Put(((size_t)result->m + 1) * sizeof(*C.i), result->i, (void **)&C.i));
    DEVICE(LitheCUDACAMGMultiply(A, B, &C));
    PetscCall(Matrices(what, result, &C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transpose of P, products, and a coarse matrix some of whose unknowns have no row */
static PetscErrorCode TestProducts(const Level *l)
{
  const CAMGMatrix *A = &l->A, *D = &l->D;
  CAMGMatrix        C, AP, dP, dR, dAP, own;
  PetscReal        *d, *dd;
  unsigned char    *null, *dnull;
  PetscBool         any, dany;

  PetscFunctionBeginUser;
  PetscCall(PutMatrix(&l->P, &dP));
  DEVICE(LitheCUDACAMGTranspose(&dP, &own));
  PetscCall(Matrices("transpose", &l->R, &own));
  PetscCall(PutMatrix(&l->R, &dR));
  PetscCall(PCCAMGMultiply_Private(A, &l->P, &AP));
  PetscCall(TestMultiply("A P", D, &dP, &AP));
  PetscCall(PutMatrix(&AP, &dAP));
  PetscCall(PCCAMGMultiply_Private(&l->R, &AP, &C));
  PetscCall(TestMultiply("R A P", &dR, &dAP, &C));
  /* some diagonal entries become rounding errors */
  for (PetscInt v = 0; v < C.m; v += 7) {
    for (PetscInt k = C.i[v]; k < C.i[v + 1]; k++) {
      if (C.j[k] == v) C.a[k * C.rb * C.cb] *= 1e-16;
    }
  }
  PetscCall(PutMatrix(&C, &own));
  PetscCall(PetscMalloc2(A->m * A->rb, &d, C.m * C.rb, &null));
  PetscCallRuntime(cudaMalloc((void **)&dd, (size_t)(A->m * A->rb) * sizeof(*d)));
  PetscCallRuntime(cudaMalloc((void **)&dnull, (size_t)(C.m * C.rb)));
  PetscCall(PCCAMGModuli_Private(A, d));
  DEVICE(LitheCUDACAMGModuli(D, dd));
  PetscCall(Reals("moduli", A->m * A->rb, d, dd, sizeof(*d), TOLERANCE));
  PetscCall(PCCAMGFindNull_Private(&l->R, d, &C, null, &any));
  DEVICE(LitheCUDACAMGFindNull(&dR, dd, &own, dnull, &dany));
  if (WRONG(!any || !dany)) FAIL("%s: null vectors %d on the host, %d", problem, (int)any, (int)dany);
  PetscCall(PCCAMGClearNull_Private(null, &C));
  DEVICE(LitheCUDACAMGClearNull(dnull, &own));
  PetscCall(Matrices("clean", &C, &own));
  PetscCall(PetscFree2(d, null));
  PetscCallRuntime(cudaFree(dd));
  PetscCallRuntime(cudaFree(dnull));
  PetscCall(PCCAMGMatrixFree_Private(&C));
  PetscCall(PCCAMGMatrixFree_Private(&AP));
  PetscCall(FreeMatrix(&dP));
  PetscCall(FreeMatrix(&dR));
  PetscCall(FreeMatrix(&dAP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S = (A + A^H) / 2 */
static PetscErrorCode TestMean(const CAMGMatrix *A, const CAMGMatrix *D)
{
  CAMGMatrix H, S, dH, own;

  PetscFunctionBeginUser;
  PetscCall(PCCAMGTranspose_Private(A, &H));
  DEVICE(LitheCUDACAMGTranspose(D, &own));
  PetscCall(Matrices("adjoint", &H, &own));
  PetscCall(PutMatrix(&H, &dH));
  PetscCall(PCCAMGMean_Private(A, &H, &S));
  DEVICE(LitheCUDACAMGMean(D, &dH, &own));
  PetscCall(Matrices("symmetric part", &S, &own));
  PetscCall(PCCAMGMatrixFree_Private(&H));
  PetscCall(PCCAMGMatrixFree_Private(&S));
  PetscCall(FreeMatrix(&dH));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestConjugate(const CAMGGraph *F, const CAMGGraph *dF)
{
  const PetscInt n = F->strong.m;
  PetscScalar   *d, *dd;

  PetscFunctionBeginUser;
  if (!F->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &d));
  PetscCallRuntime(cudaMalloc((void **)&dd, (size_t)n * sizeof(*d)));
  PetscCall(PCCAMGConjugate_Private(n, F->d, d));
  DEVICE(LitheCUDACAMGConjugate(n, dF->d, dd));
  PetscCall(Scalars("conjugates", n, d, dd));
  PetscCall(PetscFree(d));
  PetscCallRuntime(cudaFree(dd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLevel(const Level *l)
{
  const PetscInt    nodes = l->A.m, size = l->A.m * l->A.rb * l->space.columns;
  const PetscBool   blocks = (PetscBool)(l->space.block > 1);
  const CAMGMatrix *B = blocks ? &l->N : &l->A, *dB = &l->D;
  CAMGMatrix        dN, dS, own;
  CAMGGraph         dg, dF;
  CAMGSpace         dspace = l->space, dcoarse;
  PetscInt         *dagg, daggregates;

  PetscFunctionBeginUser;
  if (blocks) {
    DEVICE(LitheCUDACAMGNorms(&l->D, &own));
    PetscCall(Matrices("norms", &l->N, &own));
    PetscCall(PutMatrix(&l->N, &dN));
    dB = &dN;
    PetscCall(TestMean(&l->A, &l->D));
  }
  PetscCall(TestMean(B, dB));
  PetscCall(PutMatrix(&l->S, &dS));
  PetscCall(TestGraph("strong entries", l->symmetric ? B : &l->S, l->symmetric ? dB : &dS, l->threshold, &l->g, &dg));
  PetscCallRuntime(cudaMalloc((void **)&dagg, (size_t)nodes * sizeof(*dagg)));
  DEVICE(LitheCUDACAMGAggregate(&dg, dagg, &daggregates));
  if (WRONG(l->aggregates != daggregates)) FAIL("%s: %d aggregates on the host, %d", problem, (int)l->aggregates, (int)daggregates);
  PetscCall(Integers("aggregates", nodes, l->agg, dagg));
  PetscCallRuntime(cudaFree(dagg));
  PetscCall(Put((size_t)nodes * sizeof(*dagg), l->agg, (void **)&dagg));
  PetscCall(TestPairs(&l->S, &dS, l->threshold));
  dspace.T = NULL;
  if (l->T) PetscCall(Put((size_t)size * sizeof(PetscScalar), l->T, (void **)&dspace.T));
  DEVICE(LitheCUDACAMGTentative(&dspace, nodes, dagg, l->aggregates, &dcoarse));
  if (l->T) {
    PetscCall(Scalars("tentative", size, l->space.T, dspace.T));
    PetscCall(Scalars("coarse space", l->aggregates * l->space.columns * l->space.columns, l->coarse.T, dcoarse.T));
    PetscCallRuntime(cudaFree(dcoarse.T));
    PetscCallRuntime(cudaFree(dspace.T));
    PetscCall(Put((size_t)size * sizeof(PetscScalar), l->space.T, (void **)&dspace.T));
  }
  if (blocks) dF = (CAMGGraph){.strong = l->D};
  else PetscCall(TestGraph("filtered matrix", &l->A, &l->D, l->threshold, &l->F, &dF));
  PetscCall(TestConjugate(&l->F, &dF));
  PetscCall(TestSmooth(l, &dF, &dspace, dagg));
  PetscCall(TestProducts(l));
  if (blocks) PetscCall(FreeMatrix(&dN));
  else {
    PetscCall(FreeMatrix(&dF.strong));
    PetscCallRuntime(cudaFree(dF.d));
  }
  PetscCall(FreeMatrix(&dS));
  PetscCall(FreeMatrix(&dg.strong));
  PetscCallRuntime(cudaFree(dg.d));
  PetscCallRuntime(cudaFree(dagg));
  if (dspace.T) PetscCallRuntime(cudaFree(dspace.T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A process without rows has columns, of other processes. Nothing may be read */
static PetscErrorCode TestEmpty(PetscInt block)
{
  const PetscInt  n = 5, zero[5] = {0, 0, 0, 0, 0};
  const CAMGShare alone = {.ctx = NULL};
  CAMGMatrix      A     = {.n = n, .rb = block, .cb = block}, N, S, H, P, C;
  CAMGGraph       g;
  CAMGSpace       space = {.block = block, .columns = block}, coarse;
  CAMGOperator    op    = {.i = NULL};
  PetscInt       *agg, aggregates = 7, sign;
  PetscReal      *root, bound;
  double         *s, largest[2], sum[CAMG_FORMS];
  PetscBool       finite;

  PetscFunctionBeginUser;
  problem = "no rows";
  PetscCall(Put(sizeof(*zero), zero, (void **)&A.i));
  PetscCall(Put(sizeof(zero), zero, (void **)&agg));
  PetscCall(LitheDeviceAlloc(0, (void **)&A.j));
  PetscCall(LitheDeviceAlloc(0, (void **)&A.a));
  PetscCallRuntime(cudaMalloc((void **)&root, (size_t)n * sizeof(*root)));
  PetscCallRuntime(cudaMalloc((void **)&s, (size_t)(n * block) * sizeof(*s)));
  if (block == 1) {
    PetscCall(LitheCUDACAMGSurvey(&A, largest, &sign, &finite));
    PetscCall(LitheCUDACAMGForms(&A, root, 0, agg, sum));
    if (WRONG(!finite || sign || largest[1] != 0 || sum[4] != 0)) FAIL("a survey of no rows");
  }
  PetscCall(LitheCUDACAMGNorms(&A, &N));
  PetscCall(LitheCUDACAMGRoots(&N, root));
  PetscCall(LitheCUDACAMGFilter(&N, root, 0.1, &g));
  PetscCall(LitheCUDACAMGAggregate(&g, agg, &aggregates));
  if (WRONG(g.strong.nz || aggregates)) FAIL("%d aggregates of no rows", (int)aggregates);
  aggregates = 7;
  PetscCall(LitheCUDACAMGPairs(&N, root, 0.1, agg, &aggregates));
  if (WRONG(aggregates)) FAIL("%d pairs of no rows", (int)aggregates);
  PetscCall(LitheDeviceAlloc(0, (void **)&space.T));
  PetscCall(LitheCUDACAMGTentative(&space, 0, agg, 0, &coarse));
  PetscCall(LitheCUDACAMGDamping(&g, 1, root));
  PetscCall(LitheCUDACAMGSmooth(&g, root, &space, agg, n, 4, &P));
  PetscCall(LitheCUDACAMGTranspose(&P, &H));
  C.i = NULL;
  PetscCall(LitheCUDACAMGMultiply(&H, &P, &C));
  PetscCall(LitheCUDACAMGMean(&A, &A, &S));
  if (WRONG(P.nz || H.m != n || C.m != n || C.nz || S.nz)) FAIL("products of no rows have %d, %d, %d entries", (int)P.nz, (int)C.nz, (int)S.nz);
  PetscCall(LitheCUDACAMGScales(&A, s));
  PetscCall(LitheCUDACAMGEncode(&A, s, 8, PETSC_TRUE, &alone, &op, &bound));
  if (WRONG(op.nz || bound != 1)) FAIL("a level without rows: bound %g", (double)bound);
  PetscCallRuntime(cudaDeviceSynchronize());
  PetscCall(FreeMatrix(&A));
  PetscCall(FreeMatrix(&N));
  PetscCall(FreeMatrix(&S));
  PetscCall(FreeMatrix(&H));
  PetscCall(FreeMatrix(&P));
  PetscCall(FreeMatrix(&C));
  PetscCall(FreeMatrix(&g.strong));
  PetscCallRuntime(cudaFree(g.d));
  PetscCallRuntime(cudaFree(space.T));
  PetscCallRuntime(cudaFree(coarse.T));
  PetscCallRuntime(cudaFree(agg));
  PetscCallRuntime(cudaFree(root));
  PetscCallRuntime(cudaFree(s));
  PetscCall(FreeOperator(&(CAMGOperator){.i = NULL}, &op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Test test = {NULL, TestLevel};
  PetscInt   n;

  PetscFunctionBeginUser;
  PetscCall(TestDeviceBegin(&argc, &argv, help, &n));
  PetscCall(TestEmpty(1));
  PetscCall(TestEmpty(3));
  PetscCall(TestProblems(n, &test));
  return TestEnd(900, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    requires: cuda !defined(PETSC_USE_64BIT_INDICES)

TEST*/
