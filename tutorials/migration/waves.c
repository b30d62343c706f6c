/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Waves of a frequency: the grid for the wavelength, the matrix of tutorials/helmholtz, solvers for many right-hand
   sides, and the transfer to the image */

#include "migration.h"
#include <lithepc.h>

#define CUBIC  MIGRATION_CUBIC
#define SPREAD 6 /* nodes of a source: the interpolation nodes, spread by the mass matrix */

/* ------------------------------------------------------------ solvers */

/*
   The default solver: LU in 2-D, where factors are small; in 3-D BiCGSTAB with compressed multigrid, which is PCGRIDMG
   on one process. A preconditioner from options gets a suitable method
*/
static PetscErrorCode SetUsual(const Waves *w, KSP ksp)
{
  const char *prefix;
  char        type[64];
  PetscBool   direct, grid;
  PetscMPIInt size;
  PC          pc;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(w->comm, &size));
  PetscCall(PetscStrncpy(type, size == 1 && w->problem.dim == 2 ? PCLU : PCGRIDMG, sizeof(type)));
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PetscOptionsGetString(NULL, prefix, "-pc_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmpAny(type, &direct, PCLU, PCCHOLESKY, PCQR, PCSVD, PCREDUNDANT, ""));
  PetscCall(PetscStrcmp(type, PCGRIDMG, &grid));
  PetscCall(KSPSetType(ksp, direct ? KSPPREONLY : KSPBCGSM));
  PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-4, PETSC_CURRENT, PETSC_CURRENT, 500));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetDM(pc, w->problem.da));
  PetscCall(PCSetType(pc, type));
  if (grid) PetscCall(HelmholtzSetMultigrid(&w->problem, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A direct solver uses the equation, all other preconditioners use the shifted Laplacian */
static PetscErrorCode SetOperators(Waves *w, KSP ksp)
{
  PetscBool direct, grid, device;
  char      prefix[64];
  PC        pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &direct, PCLU, PCCHOLESKY, PCQR, PCSVD, PCREDUNDANT, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGRIDMG, &grid));
  PetscCall(HelmholtzIsOnDevice(&w->problem, w->A, &device));
  if (direct || (grid && device)) PetscCall(KSPSetOperators(ksp, w->A, w->A));
  else {
    if (!w->M) {
      PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "%sshifted_", w->prefix));
      PetscCall(HelmholtzCreateMatrix(&w->problem, w->m->beta[0], w->m->beta[1], NULL, prefix, &w->M));
    }
    PetscCall(KSPSetOperators(ksp, w->A, w->M));
  }
  if (grid && device) PetscCall(HelmholtzSetUpOnDevice(&w->problem, w->m->beta[0], w->m->beta[1], pc));
  PetscCall(KSPSetUp(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* BiCGSTAB measures the residual of the equation where the preconditioner is on the right */
static PetscErrorCode SetSide(KSP ksp)
{
  const char *prefix;
  PetscBool   side, norm, stabilized;

  PetscFunctionBegin;
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PetscOptionsHasName(NULL, prefix, "-ksp_pc_side", &side));
  PetscCall(PetscOptionsHasName(NULL, prefix, "-ksp_norm_type", &norm));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &stabilized, KSPBCGSM, KSPBCGS, ""));
  if (stabilized && !side && !norm) PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(Waves *w)
{
  PetscFunctionBegin;
  PetscCall(KSPCreate(w->comm, &w->ksp[0]));
  PetscCall(KSPSetOptionsPrefix(w->ksp[0], w->prefix));
  PetscCall(SetUsual(w, w->ksp[0]));
  PetscCall(KSPSetOperators(w->ksp[0], w->A, w->A));
  PetscCall(KSPSetFromOptions(w->ksp[0]));
  PetscCall(SetSide(w->ksp[0]));
  PetscCall(SetOperators(w, w->ksp[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For failed tasks: the same method with twice the iterations, and with PCVCRS and PCGRIDMG uncompressed */
static PetscErrorCode CreateCarefulSolver(Waves *w)
{
  const char *prefix = NULL;
  char        own[64];
  PetscReal   rtol, abstol, dtol;
  PetscInt    most;
  KSPType     type;
  PCType      pctype;
  PC          pc, first;
  PetscBool   compressed, grid;

  PetscFunctionBegin;
  PetscCall(KSPGetType(w->ksp[0], &type));
  PetscCall(KSPGetTolerances(w->ksp[0], &rtol, &abstol, &dtol, &most));
  PetscCall(KSPGetPC(w->ksp[0], &first));
  PetscCall(PetscObjectTypeCompare((PetscObject)first, PCVCRS, &compressed));
  PetscCall(PetscObjectTypeCompare((PetscObject)first, PCGRIDMG, &grid));
  PetscCall(PetscSNPrintf(own, sizeof(own), "%sretry_", w->prefix));
  if (compressed) {
    PetscCall(PCVCRSGetPC(first, &first));
    PetscCall(PCGetOptionsPrefix(first, &prefix));
  }
  PetscCall(PCGetType(first, &pctype));
  PetscCall(KSPCreate(w->comm, &w->ksp[1]));
  PetscCall(KSPSetOptionsPrefix(w->ksp[1], own));
  PetscCall(KSPSetType(w->ksp[1], type));
  PetscCall(KSPSetTolerances(w->ksp[1], rtol, abstol, dtol, PetscMin(most, PETSC_INT_MAX / 2) * 2));
  PetscCall(KSPGetPC(w->ksp[1], &pc));
  if (prefix) PetscCall(PCSetOptionsPrefix(pc, prefix));
  PetscCall(PCSetDM(pc, w->problem.da));
  PetscCall(PCSetType(pc, pctype));
  if (grid) {
    PetscCall(HelmholtzSetMultigrid(&w->problem, pc));
    PetscCall(PCGridMGSetBits(pc, 32, 32));
    PetscCall(PCGridMGSetPrecision(pc, PCGRIDMG_PRECISION_DOUBLE));
  }
  PetscCall(KSPSetOperators(w->ksp[1], w->A, w->A));
  PetscCall(KSPSetFromOptions(w->ksp[1]));
  PetscCall(SetSide(w->ksp[1]));
  PetscCall(SetOperators(w, w->ksp[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the equation */

/* In 2-D the grid's second direction is the depth */
static int Axis(const Waves *w, PetscInt d)
{
  return w->problem.dim == 2 && d == 1 ? 2 : (int)d;
}

static PetscErrorCode SetSpeed(Waves *w)
{
  PetscInt     at[3];
  PetscScalar *speed;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(at, w->grid.start, 3));
  PetscCall(VecGetArrayWrite(w->problem.speed, &speed));
  for (PetscInt row = 0; row < w->grid.rows; row++, GridNext(&w->grid, at)) {
    PetscReal place[3] = {0, 0, 0};

    for (PetscInt d = 0; d < w->problem.dim; d++) place[Axis(w, d)] = HelmholtzCoordinate(&w->problem, at[d]);
    if (w->problem.dim == 2) place[1] = 0;
    speed[row] = MigrationSpeed(w->m, w->velocity, place);
  }
  PetscCall(VecRestoreArrayWrite(w->problem.speed, &speed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WavesCreate(MPI_Comm comm, const Migration *m, int which, PetscReal frequency, const PetscReal velocity[], const char prefix[], Waves **waves)
{
  const MigrationGrid *g = &m->grid[which];
  Helmholtz           *p;
  Waves               *w;

  PetscFunctionBegin;
  PetscCall(PetscNew(&w));
  *waves      = w; /* set early, so the caller can destroy the objects after an error */
  w->m        = m;
  w->comm     = comm;
  w->velocity = velocity;
  w->prefix   = prefix;
  p           = &w->problem;
  p->dim      = m->dim;
  PetscCall(MigrationGetGrid(m, which, frequency, p->n, &p->h));
  p->stencil    = g->stencil;
  p->boundary   = HELMHOLTZ_PML;
  p->layer      = g->layer;
  p->reflection = g->reflection;
  p->frequency  = frequency;
  p->alpha      = m->alpha;
  p->host       = m->host;
  p->model      = HELMHOLTZ_HOMOGENEOUS;
  p->velocity   = m->slowest[which];
  p->slowest    = m->slowest[which];
  for (PetscInt d = 0; d < p->dim; d++) p->length[d] = (PetscReal)(p->n[d] - 1 - 2 * p->layer) * p->h;
  p->pointsperwave = p->slowest / (frequency * p->h);
  PetscCall(HelmholtzSetUp(comm, p));
  PetscCall(GridCreate(p->da, &w->grid));
  PetscCall(SetSpeed(w));
  PetscCall(HelmholtzCreateMatrix(p, 1, 0, NULL, prefix, &w->A));
  PetscCall(VecDuplicate(p->speed, &w->work));
  PetscCall(CreateSolver(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WavesDestroy(Waves **waves)
{
  Waves *w = *waves;

  PetscFunctionBegin;
  if (!w) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) PetscCall(KSPDestroy(&w->ksp[k]));
  PetscCall(MatDestroy(&w->M));
  PetscCall(MatDestroy(&w->A));
  PetscCall(VecDestroy(&w->work));
  PetscCall(VecDestroy(&w->box));
#if defined(LITHE_HAVE_CUDA)
  if (w->ondevice) PetscCall(ImagingDeviceDestroy(&w->device));
#endif
  PetscCall(VecScatterDestroy(&w->scatter));
  for (int d = 0; d < 3; d++) {
    PetscCall(PetscFree(w->node[d]));
    PetscCall(PetscFree(w->weight[d]));
  }
  for (int k = 0; k < 2; k++) PetscCall(PetscFree(w->line[k]));
  PetscCall(GridDestroy(&w->grid));
  PetscCall(HelmholtzDestroy(&w->problem));
  PetscCall(PetscFree(*waves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WavesCreateColumns(const Waves *w, PetscInt columns, Mat *B)
{
  VecType  type;
  PetscInt n, N;

  PetscFunctionBegin;
  PetscCall(VecGetType(w->work, &type));
  PetscCall(VecGetLocalSize(w->work, &n));
  PetscCall(VecGetSize(w->work, &N));
  PetscCall(MatCreateDenseFromVecType(w->comm, type, n, PETSC_DECIDE, N, columns, -1, NULL, B));
  PetscCall(MatZeroEntries(*B));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether all columns are solutions: of methods without a block, KSP tells of the last column only */
static PetscErrorCode CheckColumns(const Waves *w, KSP ksp, Mat B, Mat X, PetscBool *failed)
{
  KSPConvergedReason reason;
  PetscReal          rtol, abstol, norm, residual;
  PetscInt           columns;

  PetscFunctionBegin;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetTolerances(ksp, &rtol, &abstol, NULL, NULL));
  *failed = (PetscBool)(reason < 0);
  PetscCall(MatGetSize(B, NULL, &columns));
  for (PetscInt k = 0; k < columns && !*failed; k++) {
    Vec b, x;

    PetscCall(MatDenseGetColumnVecRead(B, k, &b));
    PetscCall(MatDenseGetColumnVecRead(X, k, &x));
    PetscCall(MatMult(w->A, x, w->work));
    PetscCall(VecAXPY(w->work, -1, b));
    PetscCall(VecNorm(w->work, NORM_2, &residual));
    PetscCall(VecNorm(b, NORM_2, &norm));
    PetscCall(MatDenseRestoreColumnVecRead(X, k, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, k, &b));
    *failed = (PetscBool) !(residual <= PetscMax(10 * rtol * norm, 10 * abstol));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WavesSolve(Waves *w, Mat B, Mat X, PetscBool careful, PetscBool *failed)
{
  PetscFunctionBegin;
  if (careful && !w->ksp[1]) PetscCall(CreateCarefulSolver(w));
  PetscCall(KSPMatSolve(w->ksp[careful], B, X));
  PetscCall(CheckColumns(w, w->ksp[careful], B, X, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ places */

/* Lagrange weights of four nodes in a line of n, for a place in units of the node spacing */
static PetscInt CubicWeights(PetscInt n, PetscReal at, PetscReal weight[CUBIC])
{
  const PetscInt  first = PetscMax(0, PetscMin(n - CUBIC, (PetscInt)PetscFloorReal(at) - 1));
  const PetscReal x     = at - (PetscReal)first;

  for (int a = 0; a < CUBIC; a++) {
    weight[a] = 1;
    for (int b = 0; b < CUBIC; b++) weight[a] *= a == b ? 1 : (x - (PetscReal)b) / (PetscReal)(a - b);
  }
  return first;
}

/* The owned nodes of a place: rows, and their weights. A right-hand side is spread by the mass matrix */
static PetscInt PlaceNodes(const Waves *w, const PetscReal place[3], PetscReal spread, PetscInt row[], PetscReal amount[])
{
  const PetscInt dim = w->problem.dim, all = dim == 2 ? SPREAD * SPREAD : SPREAD * SPREAD * SPREAD;
  PetscInt       first[3], n               = 0;
  PetscReal      weight[3][SPREAD];

  for (PetscInt d = 0; d < dim; d++) {
    PetscReal cubic[CUBIC];

    first[d] = CubicWeights(w->problem.n[d], place[Axis(w, d)] / w->problem.h + (PetscReal)w->problem.layer, cubic) - 1;
    for (int a = 0; a < SPREAD; a++) {
      weight[d][a] = a > 0 && a <= CUBIC ? (1 - 2 * spread) * cubic[a - 1] : 0;
      if (a > 1) weight[d][a] += spread * cubic[a - 2];
      if (a < CUBIC) weight[d][a] += spread * cubic[a];
    }
  }
  for (PetscInt c = 0; c < all; c++) {
    PetscInt  at[3] = {0, 0, 0}, rest = c;
    PetscBool own = PETSC_TRUE;

    amount[n] = 1;
    for (PetscInt d = 0; d < dim; d++, rest /= SPREAD) {
      at[d] = first[d] + rest % SPREAD;
      amount[n] *= weight[d][rest % SPREAD];
      if (at[d] < w->grid.start[d] || at[d] >= w->grid.start[d] + w->grid.count[d]) own = PETSC_FALSE;
    }
    if (own && amount[n] != 0) row[n++] = GridOwned(&w->grid, at);
  }
  return n;
}

PetscErrorCode WavesAddSource(const Waves *w, const PetscReal place[3], PetscScalar strength, PetscScalar array[])
{
  const HelmholtzForm form = HelmholtzGetForm(&w->problem);
  const PetscReal     wave = form.omegah / MigrationSpeed(w->m, w->velocity, place);
  PetscInt            row[SPREAD * SPREAD * SPREAD], n;
  PetscReal           amount[SPREAD * SPREAD * SPREAD + 1];

  PetscFunctionBegin;
  n = PlaceNodes(w, place, HelmholtzMassOffDiagonal(&form, wave * wave), row, amount);
  for (PetscInt k = 0; k < n; k++) array[row[k]] += amount[k] * form.sourcescale * strength;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscScalar WavesGetAt(const Waves *w, const PetscReal place[3], const PetscScalar array[])
{
  PetscScalar sum = 0;
  PetscInt    row[SPREAD * SPREAD * SPREAD], n;
  PetscReal   amount[SPREAD * SPREAD * SPREAD + 1];

  n = PlaceNodes(w, place, 0, row, amount);
  for (PetscInt k = 0; k < n; k++) sum += amount[k] * array[row[k]];
  return sum;
}

/* ------------------------------------------------------------ the way to the image */

PetscErrorCode WavesSetImage(Waves *w, PetscInt first, PetscInt count)
{
  const Migration *m   = w->m;
  PetscInt         low = PETSC_INT_MAX, high = 0, *place, l = 0, N;
  const int        deep = (int)w->problem.dim - 1;
  IS               is;
  AO               ao;

  PetscFunctionBegin;
  w->first = first;
  w->count = count;
  for (int d = 0; d < 3; d++) {
    const PetscInt begin = d == 2 ? first : 0, n = d == 2 ? count : m->n[d];

    PetscCall(PetscMalloc1(n, &w->node[d]));
    PetscCall(PetscMalloc1(CUBIC * n, &w->weight[d]));
    w->boxn[d] = 1;
    if (m->n[d] == 1) continue;
    w->boxn[d] = w->problem.n[d == 2 ? deep : d];
    for (PetscInt i = 0; i < n; i++)
      w->node[d][i] = CubicWeights(w->boxn[d], (PetscReal)(begin + i) * m->h / w->problem.h + (PetscReal)w->problem.layer, w->weight[d] + CUBIC * i);
  }
  /* planes needed for this process' image */
  for (PetscInt k = 0; k < count; k++) {
    low  = PetscMin(low, w->node[2][k]);
    high = PetscMax(high, w->node[2][k] + CUBIC);
  }
  if (!count) low = 0;
#if defined(LITHE_HAVE_CUDA)
  PetscCall(HelmholtzIsOnDevice(&w->problem, NULL, &w->ondevice));
  {
    PetscMPIInt size;

    PetscCallMPI(MPI_Comm_size(w->comm, &size));
    if (size > 1) w->ondevice = PETSC_FALSE; /* images on a device are of a whole grid */
  }
  if (w->ondevice) {
    const PetscInt points[3] = {w->boxn[0], w->boxn[1], w->boxn[2]};

    PetscCall(ImagingDeviceCreate(m->n, points, w->node, w->weight, m->background, &w->device));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscInt k = 0; k < count; k++) w->node[2][k] -= low;
  w->boxn[2] = high - low;
  N          = w->boxn[0] * w->boxn[1] * w->boxn[2];
  PetscCall(PetscMalloc1(N, &place));
  for (PetscInt p = 0; p < N; p++) place[l++] = p + w->boxn[0] * w->boxn[1] * low;
  PetscCall(ISCreateGeneral(w->comm, N, place, PETSC_OWN_POINTER, &is));
  PetscCall(DMDAGetAO(w->problem.da, &ao));
  PetscCall(AOApplicationToPetscIS(ao, is));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, N, &w->box));
  PetscCall(VecScatterCreate(w->work, is, w->box, NULL, &w->scatter));
  PetscCall(ISDestroy(&is));
  PetscCall(PetscMalloc1(w->boxn[0] * w->boxn[1], &w->line[0]));
  PetscCall(PetscMalloc1(w->boxn[0], &w->line[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n weighted sums over four lines with distance "stride"; weight: NULL for a single line */
static void Combine(PetscInt n, PetscInt stride, const PetscReal weight[], const PetscScalar from[], PetscScalar to[])
{
  if (!weight) {
    for (PetscInt i = 0; i < n; i++) to[i] = from[i];
    return;
  }
  for (PetscInt i = 0; i < n; i++)
    to[i] = weight[0] * from[i] + weight[1] * from[stride + i] + weight[2] * from[2 * stride + i] + weight[3] * from[3 * stride + i];
}

PetscErrorCode WavesGetImage(Waves *w, Vec field, PetscScalar image[])
{
  const PetscInt    *n = w->m->n, plane = w->boxn[0] * w->boxn[1];
  const PetscScalar *box;
  const PetscBool    flat = (PetscBool)(n[1] == 1);

  PetscFunctionBegin;
  PetscCall(VecScatterBegin(w->scatter, field, w->box, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(w->scatter, field, w->box, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(w->box, &box));
  for (PetscInt k = 0; k < w->count; k++) {
    Combine(plane, plane, w->weight[2] + CUBIC * k, box + plane * w->node[2][k], w->line[0]);
    for (PetscInt j = 0; j < n[1]; j++) {
      Combine(w->boxn[0], w->boxn[0], flat ? NULL : w->weight[1] + CUBIC * j, w->line[0] + (flat ? 0 : w->boxn[0] * w->node[1][j]), w->line[1]);
      for (PetscInt i = 0; i < n[0]; i++) {
        const PetscReal   *x    = w->weight[0] + CUBIC * i;
        const PetscScalar *from = w->line[1] + w->node[0][i];

        *image++ = x[0] * from[0] + x[1] * from[1] + x[2] * from[2] + x[3] * from[3];
      }
    }
  }
  PetscCall(VecRestoreArrayRead(w->box, &box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WavesAddImages(Waves *w, PetscReal frequency, PetscInt n, Mat X, PetscReal sum[])
{
  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  {
    const PetscBool    reflectivity = (PetscBool)(w->m->image == MIGRATION_REFLECTIVITY);
    const PetscScalar *x;
    PetscMemType       type;
    PetscInt           lda;

    PetscCall(MatDenseGetLDA(X, &lda));
    PetscCall(MatDenseGetArrayReadAndMemType(X, &x, &type));
    PetscCheck(PetscMemTypeDevice(type), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Waves are not on the device");
    PetscCall(ImagingDeviceZero(&w->device));
    for (PetscInt s = 0; s < n; s++)
      PetscCall(ImagingDeviceAdd(&w->device, reflectivity, frequency, x + (size_t)s * (size_t)lda, x + (size_t)(n + s) * (size_t)lda));
    PetscCall(ImagingDeviceGet(&w->device, sum));
    PetscCall(MatDenseRestoreArrayReadAndMemType(X, &x));
  }
#else
  (void)frequency, (void)n, (void)X, (void)sum;
  SETERRQ(w->comm, PETSC_ERR_PLIB, "This build has no devices");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
