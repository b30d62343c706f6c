/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The transpose of an interpolation for compression: on a device if the entries are on the device, else by
   MatTranspose().

   The diagonal block of a parallel matrix stays on its device. Entries of off-diagonal blocks are few, belong to remote
   rows in the transpose, and pass through the host.
*/

#include "pcvcrsimpl.h"
#include <lithe/private/litheimpl.h>

#if defined(LITHE_HAVE_CUDA)
/* Creates a MATMPIAIJ with the transposes of A's off-diagonal blocks alone */
static PetscErrorCode PCVCRSTransposeBeside_Private(Mat A, Mat *beside)
{
  const PetscInt    *garray, *i, *j;
  const PetscScalar *a;
  PetscInt           m;
  PetscBool          done;
  Mat                Ao;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &Ao, &garray));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), beside));
  PetscCall(MatSetSizes(*beside, A->cmap->n, A->rmap->n, A->cmap->N, A->rmap->N));
  PetscCall(MatSetType(*beside, MATMPIAIJ));
  PetscCall(MatSetUp(*beside));
  PetscCall(MatGetRowIJ(Ao, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "The rows of a matrix of type %s cannot be read", ((PetscObject)Ao)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(Ao, &a));
  for (PetscInt r = 0; r < m; r++) {
    for (PetscInt k = i[r]; k < i[r + 1]; k++) PetscCall(MatSetValue(*beside, garray[j[k]], A->rmap->rstart + r, a[k], INSERT_VALUES));
  }
  PetscCall(MatSeqAIJRestoreArrayRead(Ao, &a));
  PetscCall(MatRestoreRowIJ(Ao, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  PetscCall(MatAssemblyBegin(*beside, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*beside, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSTransposeOnDevice_Private(Mat A, PCVCRSSource *source, PetscBool *done)
{
  PetscBool      parallel;
  PetscErrorCode ierr;
  PetscOptions   none;
  Mat            block = A;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatVCRSBlocksAreOnDevice_Private(A, done));
  else PetscCall(MatVCRSIsOnDevice_Private(A, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (parallel) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
    PetscCall(LitheOptionsHide(&none));
    ierr = PCVCRSTransposeBeside_Private(A, &source->beside);
    PetscCall(LitheOptionsShow(&none));
    PetscCall(ierr);
  }
  source->comm = PetscObjectComm((PetscObject)A);
  source->m    = block->cmap->n;
  source->n    = block->rmap->n;
  PetscCall(MatVCRSTransposeOnDevice_Private(block, &source->csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode PCVCRSTransposeCreate_Private(Mat A, PCVCRSSource *source)
{
  PetscBool      done = PETSC_FALSE;
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(source, sizeof(*source)));
#if defined(LITHE_HAVE_CUDA)
  PetscCall(PCVCRSTransposeOnDevice_Private(A, source, &done));
#endif
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheOptionsHide(&none));
  ierr = MatTranspose(A, MAT_INITIAL_MATRIX, &source->exact);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSTransposeDestroy_Private(PCVCRSSource *source)
{
  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  if (!source->exact) PetscCall(MatVCRSFreeCSR_Private(&source->csr));
#endif
  PetscCall(MatDestroy(&source->exact));
  PetscCall(MatDestroy(&source->beside));
  PetscFunctionReturn(PETSC_SUCCESS);
}
