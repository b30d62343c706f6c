/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCCAMG: algebraic multigrid by smoothed aggregation, with compressed levels.

   context       memory, failure, reset                        context.c
   set-up        the matrix and its near null space            read.c
                 strong entries, aggregates, interpolation     strength.c, aggregate.c, interpolate.c
                 the largest eigenvalue                        bound.c
                 products                                      matrix.c
                 rows and numbers of other processes           shared.c, join.c, ghosts.c
                 the next level, all levels                    coarsen.c, setup.c
                 new values                                    kept.c
                 codes                                         encode.c
                 the coarsest level                            src/mg/coarsest.c
   application   a V cycle, also for KSPMPCG                   cycle.c
                 loops over a level                            host.c, slices.c
   devices       the same operations, levels that move         device.c, devicerows.c, cuda/camg

   docs/theory/camg.md explains the method.
*/

#include "camgimpl.h"
#include <petsc/private/kspimpl.h>

/* Bytes of an operator, and the number of its entries */
static size_t Bytes(const CAMGOperator *op, double *entries)
{
  const double parts = PetscDefined(USE_COMPLEX) ? 2 : 1, rows = (double)op->m * op->rb;
  double       bytes;

  *entries = op->i ? (double)op->nz * op->rb * op->cb : 0;
  if (!op->i) return 0;
  bytes = (op->d ? 4 * parts * rows : 0) + (op->minv ? 4 * rows : 0);
  if (op->group) bytes += op->steps * (64. * ((op->narrow ? 2 : 4) + parts * op->bits / 8) + (op->narrow ? 4 : 0)) + 4. * rows * op->group / 32;
  else bytes += 4. * op->nz + *entries * parts * op->bits / 8 + 4. * op->m;
  return (size_t)bytes;
}

/* Floating-point operations of a cycle, and bytes of the levels */
static void Count(PC_CAMG *mg)
{
  const double factor = PetscDefined(USE_COMPLEX) ? 4 : 1, passes = (double)(mg->opt.smooths[0] + mg->opt.smooths[1]);

  mg->flops = 0;
  for (PetscInt k = 0; k < mg->n; k++) {
    CAMGLevel   *l = &mg->level[k];
    const size_t n = (size_t)l->facts.n, number = PCCAMGNumberBytes_Private(mg);
    double       a, p, r;

    l->facts.bytes = 3 * n * number + Bytes(&l->op, &a) + Bytes(&l->prolong, &p) + Bytes(&l->restrict_, &r);
    if (k == mg->n - 1 && mg->coarsest.n) {
      l->facts.bytes += n * n * number;
      mg->flops += factor * (mg->coarsest.factored ? 4 : 2) * (double)n * (double)n;
    } else mg->flops += factor * (passes * (2 * a + 8 * (double)n) + 2 * p + 2 * r);
  }
}

/* The levels are on a device if the matrix has CUDA vectors, and made there. With 64-bit indices the host makes them */
static PetscErrorCode FindPlace_Private(PC pc)
{
  PC_CAMG *mg = (PC_CAMG *)pc->data;

  PetscFunctionBegin;
  mg->device  = PETSC_FALSE;
  mg->kernels = &CAMGHostKernels;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  {
    VecType   type;
    PetscBool bound;

    PetscCall(MatGetVecType(pc->pmat, &type));
    PetscCall(MatBoundToCPU(pc->pmat, &bound));
    if (!bound) PetscCall(PetscStrcmpAny(type, &mg->device, VECCUDA, VECSEQCUDA, VECMPICUDA, ""));
    if (mg->shared) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &mg->device, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)pc)));
    if (mg->device && !PetscDefined(USE_64BIT_INDICES)) mg->kernels = &CAMGDeviceKernels;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The end of a set-up, perhaps on the host for a device */
static PetscErrorCode PlaceLevels_Private(PC pc)
{
  PC_CAMG *mg = (PC_CAMG *)pc->data;

  PetscFunctionBegin;
  if (!mg->n || pc->failedreason) mg->device = PETSC_FALSE;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->device && mg->kernels == &CAMGHostKernels) PetscCall(PCCAMGMove_Private(mg));
#endif
  if (mg->kernels == &CAMGHostKernels) {
    PetscCall(PCCAMGSlices_Private(&mg->fine.op));
    for (PetscInt k = 0; k < mg->n; k++) {
      PetscCall(PCCAMGSlices_Private(&mg->level[k].op));
      PetscCall(PCCAMGSlices_Private(&mg->level[k].prolong));
      PetscCall(PCCAMGSlices_Private(&mg->level[k].restrict_));
    }
  }
  /* a second set-up suggests more: from then on the pool keeps the memory of a set-up */
  if (mg->device && !mg->setups++) PetscCall((*mg->kernels->memory->trim)());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Build_Private(PC pc, PetscBool *good)
{
  CAMGMatrix A;
  CAMGGhosts ghosts;
  CAMGSpace  space;
  PetscInt   rows;

  PetscFunctionBegin;
  *good = PETSC_TRUE;
  PetscCall(MatGetSize(pc->pmat, &rows, NULL));
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(PC_CAMGRead, pc, 0, 0, 0));
  PetscCall(PCCAMGRead_Private(pc, &A, &ghosts, &space, good));
  PetscCall(PetscLogEventEnd(PC_CAMGRead, pc, 0, 0, 0));
  if (*good) PetscCall(PCCAMGBuild_Private(pc, &A, &ghosts, &space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_CAMG(PC pc)
{
  PC_CAMG *mg = (PC_CAMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCCAMGKeptFree_Private(mg));
  PetscCall(PCCAMGLevelsFree_Private(mg));
  PetscCall(PCCAMGHalosFree_Private(mg, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_CAMG(PC pc)
{
  PC_CAMG    *mg = (PC_CAMG *)pc->data;
  PetscMPIInt size;
  PetscBool   good;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(LitheCheckSquare((PetscObject)pc, pc->pmat));
  PetscCall(PCCAMGKeptBegin_Private(pc));
  PetscCall(PCCAMGLevelsFree_Private(mg));
  mg->shared = (PetscBool)(size > 1);
  PetscCall(FindPlace_Private(pc));
  mg->failed[0]        = 0;
  mg->precision.single = (PetscBool) !(mg->opt.precision == CAMG_PRECISION_DOUBLE || (mg->opt.precision == CAMG_PRECISION_AUTO && mg->precision.linear));
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(Build_Private(pc, &good));
  if (!good) PetscCall(PCCAMGFail_Private(pc, "the matrix has an entry that is infinite or not a number"));
  PetscCall(PCCAMGHalosFree_Private(mg, PETSC_TRUE));
  PetscCall(PlaceLevels_Private(pc));
  PetscCall(LitheCite(LITHE_CITE_CAMG | LITHE_CITE_CHEBYSHEV4));
  Count(mg);
  pc->ops->applytranspose = mg->matrix.symmetric && !PetscDefined(USE_COMPLEX) && mg->opt.smooths[0] == mg->opt.smooths[1] ? PCApply_CAMG : NULL;
  mg->precision.rounding  = -1;
  mg->built               = PETSC_TRUE;
  mg->fine.number         = LitheSingleNumber();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a solve: double precision if the solver needs it, and a test of the true residual */
static PetscErrorCode PCPreSolve_CAMG(PC pc, KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PC_CAMG *mg = (PC_CAMG *)pc->data;

  PetscFunctionBegin;
  if (mg->n && mg->precision.single && mg->opt.precision == CAMG_PRECISION_AUTO) {
    PetscCall(LithePCNeedsDouble(pc, ksp, mg->matrix.symmetric, &mg->precision.rounding, &mg->precision.linear));
    if (mg->precision.linear) PetscCall(PCSetUp_CAMG(pc));
  }
  PetscCall(LitheKSPConfirmBegin(ksp, pc->mat == pc->pmat ? mg->matrix.largest : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPostSolve_CAMG(PC pc, KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PetscInt its;

  PetscFunctionBegin;
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(PCCAMGKeptJudge_Private(pc, its));
  PetscCall(LitheKSPConfirmEnd(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_CAMG(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_CAMG(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, LITHE_SINGLE, NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCCAMG - "camg" - Compressed algebraic multigrid: smoothed aggregation for any sparse matrix, with levels of 8 or 16
   bits an entry and vectors in single precision

   Options Database Keys:
+ -pc_camg_threshold <0.08>          - entries of at least threshold |a_ii a_jj|^1/2 are strong
. -pc_camg_threshold_scale <0.5>     - factor of the threshold from level to level
. -pc_camg_smooths <2,2>             - steps of the smoother before and after the coarse correction
. -pc_camg_bits <8,16,32>            - bits of an entry; the default is 8, or 16 for more than one near null vector
. -pc_camg_near_null <auto,constant> - the near null space: given or found, or constant
. -pc_camg_precision <auto,single,double> - precision of internal vectors
. -pc_camg_truncate <4>              - most entries of a row of the interpolation, 0 for all
. -pc_camg_agg_nsmooths <1>          - 0 leaves the interpolation constant on aggregates
. -pc_camg_coarse_eq_limit <400>     - the most unknowns of the coarsest level, which has a dense inverse; 200 for a
                                       nonsymmetric matrix, 600 for more than one near null vector
. -pc_camg_reuse_interpolation <true> - new values in the same pattern keep the interpolation, from the second set-up on
. -pc_camg_graph <true>              - on a device, record the kernels of a cycle and replay the record
- -pc_camg_levels <n>                - number of levels

   Level: beginner

   Notes:
   The near null space is that of `MatSetNearNullSpace()`. Without it, relaxation finds a vector if unknowns are in
   different units. A matrix with a block size has one constant per component. Elasticity needs
   `MatNullSpaceCreateRigidBody()`.

   With a symmetric positive definite matrix the preconditioner is symmetric and positive definite: use `KSPCG`. With a
   nonsymmetric matrix use `KSPFGMRES`, or any other method: vectors then have double precision where the method takes
   the preconditioner for linear.

   For new values in the same pattern the second set-up is a whole one, and keeps its interpolation. Later ones form
   coarse matrices with this interpolation. A solve with more than 1.5 times the iterations of the first one, and 3,
   ends this.

   If the vectors of the matrix are on a CUDA device, levels are on the device, and the set-up runs there. Rows of
   `MATAIJCUSPARSE` and, on one process, `MATVCRS` are read on the device. Other rows are copied there.

   On several processes aggregates end at the boundary of a process, and small levels are whole on each process.

   A singular matrix needs `MatSetNullSpace()`, as with all preconditioners. The singular part of the coarsest level is
   left out.

.seealso: `PCGRIDMG`, `PCGAMG`, `PCVCRS`, `MatSetNearNullSpace()`, `MatNullSpaceCreateRigidBody()`, `PCCreate()`,
          `PCSetType()`
M*/
PETSC_INTERN PetscErrorCode PCCreate_CAMG(PC);

PetscErrorCode PCCreate_CAMG(PC pc)
{
  PC_CAMG *mg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&mg));
  pc->data    = mg;
  mg->kernels = &CAMGHostKernels;
  PetscCall(PCCAMGOptionsDefault_Private(&mg->opt));
  pc->ops->apply          = PCApply_CAMG;
  pc->ops->presolve       = PCPreSolve_CAMG;
  pc->ops->postsolve      = PCPostSolve_CAMG;
  pc->ops->setup          = PCSetUp_CAMG;
  pc->ops->reset          = PCReset_CAMG;
  pc->ops->destroy        = PCDestroy_CAMG;
  pc->ops->setfromoptions = PCSetFromOptions_CAMG;
  pc->ops->view           = PCView_CAMG;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, LITHE_SINGLE, PCCAMGGetSingle_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}
