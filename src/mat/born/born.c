/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   MATBORN: the linearised wave equation as a matrix. Source of the method: C. Leader, R. Clapp, Large scale linearised
   inversion with multiple GPUs, Stanford Exploration Project.
*/

#include "bornimpl.h"
#include <lithe/private/litheimpl.h>

static PetscErrorCode MatDestroy_Born(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  PetscCall(MatBornForget_Private(A));
  PetscCall(BornParallelDestroy_Private(&ctx->parallel));
  PetscCall(PetscFree(ctx->cost));
  PetscCall(MatBornDestroySurvey_Private(A));
  PetscCall(MatBornDestroyScales_Private(A));
  PetscCall(PetscFree(A->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows and columns; everything else waits until the matrix is used */
static PetscErrorCode MatSetUp_Born(Mat A)
{
  const Mat_Born *ctx  = (Mat_Born *)A->data;
  MPI_Comm        comm = PetscObjectComm((PetscObject)A);
  DM              da;
  PetscInt        rows, dim, columns[3], more;
  VecType         vectype;

  PetscFunctionBegin;
  if (A->preallocated) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBornGetDM_Private(A, &da, &dim));
  PetscCall(MatBornCheckShots_Private(A, dim));
  PetscCheck(ctx->survey.nshots > 0, comm, PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has no shots, so it has no rows; use MatCreateBorn() and MatBornAddShot(), not DMCreateMatrix()");
  PetscCheck(ctx->time.steps > 0, comm, PETSC_ERR_ARG_WRONGSTATE, "The matrix has no steps of time; use MatBornSetTime()");
  PetscCall(MatBornCountRows_Private(A, &rows));
  PetscCall(DMDAGetCorners(da, NULL, NULL, NULL, &columns[0], &columns[1], &columns[2]));
  PetscCall(PetscIntMultError(columns[0], columns[1], &more));
  PetscCall(PetscIntMultError(more, columns[2], &more));
  if (A->rmap->n < 0 && A->rmap->N < 0) PetscCall(MatSetSizes(A, rows, more, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  PetscCheck(A->rmap->n == rows && A->cmap->n == more, comm, PETSC_ERR_ARG_SIZ,
             "The matrix has %" PetscInt_FMT " x %" PetscInt_FMT " rows and columns, its shots %" PetscInt_FMT " samples, its DMDA %" PetscInt_FMT
             " nodes; leave MatSetSizes() out",
             A->rmap->n, A->cmap->n, rows, more);
  PetscCall(DMGetVecType(da, &vectype));
  if (vectype) PetscCall(MatSetVecType(A, vectype));
  A->preallocated = PETSC_TRUE;
  A->assembled    = PETSC_TRUE;
  PetscCall(LitheCite(LITHE_CITE_BORN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
static PetscErrorCode MatBindToCPU_Born(Mat A, PetscBool bind)
{
  PetscFunctionBegin;
  if (A->boundtocpu == bind) PetscFunctionReturn(PETSC_SUCCESS);
  A->boundtocpu = bind;
  PetscCall(MatBornChanged_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* The same as for any matrix, of which rows are counted first */
static PetscErrorCode MatCreateVecs_Born(Mat A, Vec *right, Vec *left)
{
  Vec     *out[2] = {right, left};
  PetscInt n[2];

  PetscFunctionBegin;
  PetscCall(MatSetUp(A));
  n[0] = A->cmap->n;
  n[1] = A->rmap->n;
  for (int k = 0; k < 2; k++) {
    if (!out[k]) continue;
    PetscCall(VecCreate(PetscObjectComm((PetscObject)A), out[k]));
    PetscCall(VecSetSizes(*out[k], n[k], PETSC_DETERMINE));
    PetscCall(VecSetType(*out[k], A->defaultvectype));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCreateBorn - Creates the matrix of Born modelling on a `DMDA`: the change of the data of shots for a change of the
  velocity

  Collective

  Input Parameter:
. da - a 2-D or 3-D `DMDA` with one number per node

  Output Parameter:
. J - the matrix

  Level: beginner

  Notes:
  Velocity, steps of time, wavelet and shots follow, then `MatSetFromOptions()`, and `MatSetUp()` or `MatCreateVecs()`.

  `DMCreateMatrix()` cannot make this matrix: its rows are samples of traces, not nodes.

.seealso: `MATBORN`, `MatBornSetVelocity()`, `MatBornSetTime()`, `MatBornSetWavelet()`, `MatBornAddShot()`,
          `MatBornModel()`
@*/
PetscErrorCode MatCreateBorn(DM da, Mat *J)
{
  const char *prefix;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(da, DM_CLASSID, 1);
  PetscAssertPointer(J, 2);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)da), J));
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)da, &prefix));
  PetscCall(MatSetOptionsPrefix(*J, prefix));
  PetscCall(MatSetDM(*J, da));
  PetscCall(MatSetType(*J, MATBORN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings and shots; with MAT_COPY_VALUES a copy of the velocity, and the scales */
static PetscErrorCode MatDuplicate_Born(Mat A, MatDuplicateOption op, Mat *B)
{
  DM          da;
  PetscInt    dim;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(MatBornGetDM_Private(A, &da, &dim));
  PetscCall(MatCreateBorn(da, B));
  PetscCall(MatGetOptionsPrefix(A, &prefix));
  PetscCall(MatSetOptionsPrefix(*B, prefix));
  MatBornCopyOptions_Private(A, *B);
  PetscCall(MatBornCopySurvey_Private(A, *B, dim, (PetscBool)(op == MAT_COPY_VALUES)));
#if defined(LITHE_HAVE_CUDA)
  (*B)->boundtocpu = A->boundtocpu;
#endif
  PetscCall(MatSetUp(*B));
  if (op == MAT_COPY_VALUES) PetscCall(MatBornCopyScales_Private(A, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  MATBORN - "born": Born modelling, and as its transpose reverse-time migration, of the acoustic wave equation on a
  `DMDA`

  Options Database Keys:
+ -mat_born_order <2,4,8,12> - the order in space, see `MatBornSetOrder()`
. -mat_born_parameter <reflectivity,slowness2,velocity> - the parameter of the columns, see `MatBornSetParameter()`
. -mat_born_width <nodes> - the width of the sponge, see `MatBornSetSponge()`
. -mat_born_damping <s> - the damping of the sponge at the faces
. -mat_born_free_surface <bool> - whether there is a free surface, see `MatBornSetFreeSurface()`
. -mat_born_interpolation <none,sinc> - where sources and receivers may be, see `MatBornSetInterpolation()`
. -mat_born_field <float,double> - the numbers of wavefields, whatever `PetscReal` is; float is the default
. -mat_born_background <auto,keep,ring,random,checkpoint> - where the background comes back from, see
    `MatBornSetBackground()`
. -mat_born_background_bits <32,16,8> - of a number that the background keep stores, 16 by default
. -mat_born_batch <n> - shots in two dimensions that are computed together, at most; -1 for the default
. -mat_born_group_size <n> - processes that share a shot, at least; 1 by default
. -mat_born_transport <auto,ipc,nccl,mpi> - how they exchange planes on devices
. -mat_born_journal <path> - begin of the names of the files from which a killed product continues
. -mat_born_journal_keep <bool> - whether the files stay
. -mat_born_progress <bool> - whether lines report the number of finished shots and the time left
. -mat_born_fixed <bool> - whether shots are distributed by their times in the last product, instead of taken by free
  groups
. -mat_born_checkpoints <n> - number of states that the background checkpoint stores; -1 for the default
. -mat_born_interval <n> - steps between two steps that scatter and image, 1 by default
. -mat_born_lowpass <frequency> - up to which traces stay, see `MatBornSetLowpass()`
. -mat_born_velocity_bits <32,16> - of the velocity: as the fields, or 16 bits of fixed point
- -mat_born_seed <n> - of random velocities, 0 by default

  Level: beginner

  Notes:
  Let F(v) be the data that `MatBornModel()` computes for the velocity v. `MatMult()` multiplies with the derivative of
  F, and `MatMultTranspose()` with its transpose, which is exact up to rounding. Least-squares migration is therefore
  `KSPSolve()` with `KSPLSQR` or `KSPCGLS`.

  Columns are the nodes of the `DMDA`, rows the samples of all traces, see `MatBornAddShot()`. The sponge is a part of
  the grid.

  `MatDuplicate()` copies settings and shots. With `MAT_COPY_VALUES` the new matrix has a copy of the velocity and the
  scales, else none.

  `MatScale()` and `MatDiagonalScale()` act upon products, `MatBornGetNormal()` and `MatBornGetIllumination()`, and not
  upon `MatBornModel()`. Scales stay with the matrix when the velocity or a setting changes, also in `MatAssemblyEnd()`,
  unlike those of `MATSHELL`.

  A group of processes has the whole grid, in slabs along the last dimension. The size of groups, the transport, the
  batch and the number of checkpoints change no bit of a result. With `MATBORN_BACKGROUND_AUTO` the size of groups may
  change the choice of the background.

  Each group writes its finished shots into a file of its own. The name of a file starts with -mat_born_journal, in a
  folder that all processes reach, and has a hash of the matrix and of the vector. The same product, also on another
  number of processes, finds the file, does the missing shots, and gives the same bits. A file that is empty, cut or
  changed is an error on all processes, which names the file.

  `MatMult()` rounds and scatters like `MatMultTranspose()`: with all bits and intervals the two stay transposes of one
  another. An interval of more than a quarter of the shortest period is refused. Velocities of 16 bits need fields in
  single precision.

  Groups of processes share the shots. With a `DMDA` whose vectors are on a CUDA device the matrix computes on the
  device. Scalars are real.

.seealso: `MatCreateBorn()`, `MatBornModel()`, `MatBornParameter`, `KSPLSQR`
M*/
PETSC_INTERN PetscErrorCode MatCreate_Born(Mat A)
{
  Mat_Born *ctx;

  PetscFunctionBegin;
  PetscCheck(!PetscDefined(USE_COMPLEX), PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "A matrix of type born is real, and half of a complex vector would be wasted; use a PETSc with real scalars");
  PetscCall(PetscNew(&ctx));
  A->data = (void *)ctx;
  MatBornDefaultOptions_Private(A);
  MatBornDefaultScales_Private(A);

  A->ops->setup                     = MatSetUp_Born;
  A->ops->destroy                   = MatDestroy_Born;
  A->ops->setfromoptions            = MatSetFromOptions_Born;
  A->ops->getvecs                   = MatCreateVecs_Born;
  A->ops->duplicate                 = MatDuplicate_Born;
  A->ops->mult                      = MatMult_Born;
  A->ops->multtranspose             = MatMultTranspose_Born;
  A->ops->multhermitiantranspose    = MatMultTranspose_Born;
  A->ops->multadd                   = MatMultAdd_Born;
  A->ops->multtransposeadd          = MatMultTransposeAdd_Born;
  A->ops->multhermitiantransposeadd = MatMultTransposeAdd_Born;
  A->ops->scale                     = MatScale_Born;
  A->ops->diagonalscale             = MatDiagonalScale_Born;
  A->ops->copy                      = MatCopy_Born;
  A->ops->shift                     = MatShift_Born;
  A->ops->axpy                      = MatAXPY_Born;
  A->ops->view                      = MatView_Born;
  A->ops->getinfo                   = MatGetInfo_Born;
#if defined(LITHE_HAVE_CUDA)
  A->boundtocpu     = PETSC_FALSE; /* every matrix is bound to the CPU until its type says that it can do otherwise */
  A->ops->bindtocpu = MatBindToCPU_Born;
#endif
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATBORN));
  PetscFunctionReturn(PETSC_SUCCESS);
}
