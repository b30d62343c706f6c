/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   MATSBPSAT: the summation-by-parts, simultaneous-approximation-term (SBP-SAT) discretisation of -div(mu grad u) on a
   curved quadrilateral, as an operator that is not stored.

   The context and its destruction are in context.c. Settings (options.c) become coefficients and penalties when the
   matrix is first used (metrics.c, build.c). Products (apply.c) run with one of the two sets of operations of
   sbp/sbpsat.h: host loops (host.c, sbphostloops.h) or kernels. Right-hand sides: rhs.c. As a stored matrix: convert.c,
   factor.c. Coarser grids: coarsen.c.
*/

#include "sbpsatimpl.h"

PETSC_INTERN PetscErrorCode MatCreate_SBPSAT(Mat);

static PetscErrorCode MatDestroy_SBPSAT(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  PetscCall(MatSBPSATForget_Private(A));
  PetscCall(MatSBPSATWithdraw_Private(A));
  PetscCall(SBPSettingsClear_Private(&ctx->settings));
  PetscCall(MatSBPSATClearChange_Private(A));
  PetscCall(MatSBPSATDestroyWork_Private(A));
  PetscCall(MatSBPSATDestroyBlock_Private(A));
  PetscCall(MatSBPSATSetStored_Private(A, PETSC_FALSE));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_sbpsat_aij_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_sbpsat_seqaij_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_sbpsat_mpiaij_C", NULL));
  PetscCall(PetscFree(A->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid's faces and sizes, checked; everything else waits until the matrix is used */
static PetscErrorCode MatSetUp_SBPSAT(Mat A)
{
  DM             da;
  PetscBool      isda;
  PetscInt       dim, dof, nodes[2], count[2];
  DMBoundaryType boundary[2];
  VecType        vectype;
  MPI_Comm       comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  if (A->preallocated) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDM(A, &da));
  PetscCheck(da, comm, PETSC_ERR_ARG_WRONGSTATE,
             "A matrix of type sbpsat needs a DMDA; use DMCreateMatrix() after DMSetMatType(da, MATSBPSAT) or -dm_mat_type sbpsat, or MatCreateSBPSAT()");
  PetscCall(PetscObjectTypeCompare((PetscObject)da, DMDA, &isda));
  PetscCheck(isda, comm, PETSC_ERR_ARG_WRONG, "A matrix of type sbpsat lives on a DMDA, not on a DM of type %s; use another -dm_mat_type",
             ((PetscObject)da)->type_name ? ((PetscObject)da)->type_name : "none");
  PetscCall(DMDAGetInfo(da, &dim, &nodes[0], &nodes[1], NULL, NULL, NULL, NULL, &dof, NULL, &boundary[0], &boundary[1], NULL, NULL));
  PetscCheck(dim == 2, comm, PETSC_ERR_SUP,
             "A matrix of type sbpsat lives on a DMDA of 2 dimensions, this one has %" PetscInt_FMT "; make it with DMDACreate2d()", dim);
  PetscCheck(dof == 1, comm, PETSC_ERR_SUP, "A matrix of type sbpsat has one unknown per node, this DMDA has %" PetscInt_FMT "; use dof = 1", dof);
  PetscCheck((boundary[0] == DM_BOUNDARY_NONE || boundary[0] == DM_BOUNDARY_GHOSTED) && (boundary[1] == DM_BOUNDARY_NONE || boundary[1] == DM_BOUNDARY_GHOSTED),
             comm, PETSC_ERR_SUP, "A matrix of type sbpsat has four faces, this DMDA is periodic or mirrored (%s, %s); use DM_BOUNDARY_NONE",
             DMBoundaryTypes[boundary[0]], DMBoundaryTypes[boundary[1]]);
  PetscCall(DMDAGetCorners(da, NULL, NULL, NULL, &count[0], &count[1], NULL));
  if (A->rmap->n < 0 && A->rmap->N < 0) PetscCall(MatSetSizes(A, count[0] * count[1], count[0] * count[1], nodes[0] * nodes[1], nodes[0] * nodes[1]));
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  PetscCheck(A->rmap->n == count[0] * count[1] && A->cmap->n == A->rmap->n, comm, PETSC_ERR_ARG_SIZ,
             "The matrix has %" PetscInt_FMT " x %" PetscInt_FMT " rows and columns on this process, its DMDA %" PetscInt_FMT
             " nodes; let DMCreateMatrix() set the sizes",
             A->rmap->n, A->cmap->n, count[0] * count[1]);
  PetscCall(DMGetVecType(da, &vectype));
  if (vectype) PetscCall(MatSetVecType(A, vectype));
  PetscCall(MatSBPSATAdopt_Private(A, da));
  PetscCall(MatSBPSATPublish_Private(A, da));
  A->preallocated = PETSC_TRUE;
  A->assembled    = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of coordinates or of the coefficient may have changed */
static PetscErrorCode MatAssemblyEnd_SBPSAT(Mat A, MatAssemblyType type)
{
  PetscFunctionBegin;
  if (type == MAT_FINAL_ASSEMBLY) PetscCall(MatSBPSATForget_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   With values, the duplicate keeps the present values until its next assembly, even if the vectors of either matrix
   change
*/
static PetscErrorCode MatDuplicate_SBPSAT(Mat A, MatDuplicateOption option, Mat *B)
{
  Mat_SBPSAT *from = (Mat_SBPSAT *)A->data, *to;
  DM          da;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &da));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatGetOptionsPrefix(A, &prefix));
  PetscCall(MatSetOptionsPrefix(*B, prefix));
  PetscCall(MatSetSizes(*B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(MatSetType(*B, MATSBPSAT));
  PetscCall(MatSetDM(*B, da));
  to = (Mat_SBPSAT *)(*B)->data;
  MatSBPSATMarkDuplicate_Private(*B);
  PetscCall(MatSetUp(*B));
  PetscCall(SBPSettingsCopy_Private(&from->settings, &to->settings));
  if (option == MAT_COPY_VALUES) {
    PetscCall(MatSBPSATCopyBuilt_Private(A, *B));
    PetscCall(MatSBPSATCopyChange_Private(A, *B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCreateSBPSAT - Creates the SBP-SAT operator of a `DMDA`

  Collective

  Input Parameter:
. da - a 2-D `DMDA` with one unknown per node, and the coordinates of the nodes, see `DMSetCoordinates()`

  Output Parameter:
. A - the matrix

  Level: beginner

  Notes:
  `DMCreateMatrix()` makes the same matrix after `DMSetMatType`(da, `MATSBPSAT`) or with -dm_mat_type sbpsat. The matrix
  takes options from the options database. The matrix type of `da` is not changed.

  The stencil of the `DMDA` does not matter: the matrix has separate ghosts.

.seealso: `MATSBPSAT`, `MatSBPSATSetOrder()`, `MatSBPSATSetDirichlet()`, `MatSBPSATSetCoefficient()`
@*/
PetscErrorCode MatCreateSBPSAT(DM da, Mat *A)
{
  MatType        type;
  char          *saved;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(da, DM_CLASSID, 1);
  PetscAssertPointer(A, 2);
  PetscCall(DMGetMatType(da, &type));
  PetscCall(PetscStrallocpy(type, &saved));
  PetscCall(DMSetMatType(da, MATSBPSAT));
  ierr = DMCreateMatrix(da, A);
  PetscCall(DMSetMatType(da, saved));
  PetscCall(PetscFree(saved));
  PetscCall(ierr);
  (*A)->ops->view = MatView_SBPSAT; /* a parallel DMDA has set another view */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  MATSBPSAT - "sbpsat": the summation-by-parts (SBP-SAT) discretisation of -div(mu grad u) on a curved quadrilateral,
  matrix-free

  Options Database Keys:
+ -mat_sbpsat_order <2,4,6> - the order of the interior stencils, see `MatSBPSATSetOrder()`
. -mat_sbpsat_dirichlet <left,right,bottom,top,none> - the list of Dirichlet faces, see `MatSBPSATSetDirichlet()`
. -mat_sbpsat_metrics <stored,fly> - whether coefficients are stored, see `MatSBPSATSetMetrics()`
. -mat_sbpsat_transport <auto,ipc,nccl,mpi> - transport of ghosts on a device, also in `PCSBPMG`, see `LitheTransport`
- -lithe_halo_timeout <60> - all matrices: seconds that the transport ipc waits for a silent process

  Level: beginner

  Notes:
  If a transport is not possible, such as `LITHE_TRANSPORT_IPC` with vectors on the host, the next product raises an
  error.

  The `DMDA` of the matrix has the nodes and their coordinates. Reference coordinates (r, s) run over [-1, 1]^2; r
  follows x of the `DMDA`, s follows y. The operator is scaled by the quadrature rule of its order in both directions.
  The operator is therefore symmetric, and positive definite if at least one face is a Dirichlet face. Right-hand sides
  are scaled in the same way: `MatSBPSATAddSource()`, `MatSBPSATAddBoundary()`. `MatSBPSATGetTraction()` gives the
  traction on a Dirichlet face.

  A product reads the vector and three coefficients per node. With vectors of type `VECCUDA` products run on the
  device.

  `PCMG` on the `DMDA` works: order, faces and coefficient pass down to coarser grids automatically. `MatConvert()`
  makes an assembled matrix; `PCLU` and `PCCHOLESKY` assemble a matrix automatically.

  Values of coordinates and of the coefficient are read when the matrix is first used, and again after
  `MatAssemblyBegin()` and `MatAssemblyEnd()`. `MatDuplicate()` with `MAT_COPY_VALUES` copies these values. With another
  option the new matrix reads the values at its first use.

.seealso: `MatCreateSBPSAT()`, `MatSBPSATSetOrder()`, `MatSBPSATSetDirichlet()`, `MatSBPSATSetCoefficient()`,
          `MatSBPSATSetTensor()`, `MatSBPSATNorm()`, `DMDA`
M*/
PetscErrorCode MatCreate_SBPSAT(Mat A)
{
  Mat_SBPSAT *ctx;

  PetscFunctionBegin;
  PetscCall(PetscNew(&ctx));
  A->data   = (void *)ctx;
  ctx->view = MatView_SBPSAT;
  PetscCall(SBPSettingsDefault_Private(&ctx->settings));
  PetscCall(MatSBPSATClearChange_Private(A));
#if defined(LITHE_HAVE_CUDA)
  A->boundtocpu = PETSC_FALSE; /* a new matrix is bound to the CPU until its type changes the flag */
#endif

  A->ops->setup             = MatSetUp_SBPSAT;
  A->ops->destroy           = MatDestroy_SBPSAT;
  A->ops->setfromoptions    = MatSetFromOptions_SBPSAT;
  A->ops->assemblyend       = MatAssemblyEnd_SBPSAT;
  A->ops->duplicate         = MatDuplicate_SBPSAT;
  A->ops->view              = MatView_SBPSAT;
  A->ops->createsubmatrix   = MatCreateSubMatrix_SBPSAT;
  A->ops->createsubmatrices = MatCreateSubMatrices_SBPSAT;
  A->ops->getinfo           = MatGetInfo_SBPSAT;
  PetscCall(MatSBPSATSetProducts_Private(A));
  PetscCall(MatSBPSATSetChanges_Private(A));
  PetscCall(MatSBPSATSetStored_Private(A, PETSC_TRUE));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_sbpsat_aij_C", MatConvert_SBPSAT_AIJ));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_sbpsat_seqaij_C", MatConvert_SBPSAT_AIJ));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_sbpsat_mpiaij_C", MatConvert_SBPSAT_AIJ));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATSBPSAT));

  /* Coefficients are real, so the matrix is symmetric and Hermitian */
  A->symmetric              = PETSC_BOOL3_TRUE;
  A->hermitian              = PETSC_BOOL3_TRUE;
  A->structurally_symmetric = PETSC_BOOL3_TRUE;
  A->symmetry_eternal       = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
