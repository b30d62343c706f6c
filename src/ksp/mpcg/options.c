/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The options of KSPMPCG */

#include "mpcgimpl.h"

static const char *const Storages[] = {"auto", "single", "double", "MPCGStorage", "MPCG_STORAGE_", NULL};

PetscErrorCode MPCGOptionsDefault_Private(MPCGOptions *opt)
{
  PetscFunctionBegin;
  opt->delta   = (PetscReal)0.001;
  opt->storage = MPCG_STORAGE_AUTO;
  opt->graph   = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSetFromOptions_MPCG(KSP ksp, PetscOptionItems PetscOptionsObject)
{
  MPCGOptions *opt   = &((KSP_MPCG *)ksp->data)->opt;
  PetscReal    delta = opt->delta;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Conjugate gradients in single precision (mpcg)");
  PetscCall(PetscOptionsReal("-ksp_mpcg_delta", "The part of a residual at which the true one is computed", NULL, delta, &delta, NULL));
  PetscCall(PetscOptionsEnum("-ksp_mpcg_storage", "Precision of vectors inside", NULL, Storages, (PetscEnum)opt->storage, (PetscEnum *)&opt->storage, NULL));
  PetscCall(PetscOptionsBool("-ksp_mpcg_graph", "On a device: record an iteration and replay the record", NULL, opt->graph, &opt->graph, NULL));
  PetscOptionsHeadEnd();
  PetscCheck(delta > 0 && delta < 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "-ksp_mpcg_delta %g: use a number between 0 and 1",
             (double)delta);
  opt->delta = delta;
  PetscCall(MPCGSingleWish_Private(ksp)); /* before programs that call PCSetUp() first */
  PetscFunctionReturn(PETSC_SUCCESS);
}
