/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#include "vcrsbuildimpl.h"

PetscErrorCode VCRSLossApply(VCRSBuild *b, const VCRSCSR *csr, const PetscScalar extra[], VCRSReport *report)
{
  PetscFunctionBegin;
  b->lossless = PETSC_TRUE;
  b->i        = csr->i;
  b->j        = csr->j;
  b->a        = csr->a;
  PetscCheck(b->opt->loss == MATVCRS_LOSS_NONE, PETSC_COMM_SELF, PETSC_ERR_SUP, "lossy modes not yet");
  PetscFunctionReturn(PETSC_SUCCESS);
}
