/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Eigenvalues of the preconditioned operator by Lanczos' method, whose matrix conjugate gradients make on the way */

#include "mpcgimpl.h"
#include <petscblaslapack.h>

PetscErrorCode MPCGSpectrumReset_Private(MPCGSpectrum *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(t->d, t->e, t->work[0], t->work[1]));
  t->n = t->max = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MPCGSpectrumBegin_Private(KSP ksp)
{
  MPCGSpectrum *t = &((KSP_MPCG *)ksp->data)->spectrum;

  PetscFunctionBegin;
  t->n = 0;
  if (!ksp->calc_sings || t->max == ksp->max_it) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MPCGSpectrumReset_Private(t));
  PetscCall(PetscMalloc4(ksp->max_it, &t->d, ksp->max_it + 1, &t->e, ksp->max_it, &t->work[0], ksp->max_it + 1, &t->work[1]));
  t->max = ksp->max_it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scalars of an iteration: beta is 0 for the first one, and after a restart */
PetscErrorCode MPCGSpectrumAdd_Private(KSP ksp, double alpha, double beta)
{
  MPCGSpectrum *t = &((KSP_MPCG *)ksp->data)->spectrum;
  const double  b = sqrt(fabs(beta));

  PetscFunctionBegin;
  if (!ksp->calc_sings || t->n >= t->max) PetscFunctionReturn(PETSC_SUCCESS);
  t->e[t->n]     = t->n ? (PetscReal)b * t->e[t->n] : 0; /* which held 1/alpha of the iteration before */
  t->d[t->n]     = (PetscReal)b * t->e[t->n] + (PetscReal)(1 / alpha);
  t->e[t->n + 1] = (PetscReal)(1 / alpha);
  t->n++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ascending, in work[0] */
static PetscErrorCode Eigenvalues_Private(KSP ksp)
{
  MPCGSpectrum *t   = &((KSP_MPCG *)ksp->data)->spectrum;
  PetscBLASInt  ldz = 1, n, info;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(t->work[0], t->d, t->n));
  PetscCall(PetscArraycpy(t->work[1], t->e + 1, t->n));
  PetscCall(PetscBLASIntCast(t->n, &n));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  PetscCallBLAS("LAPACKstev", LAPACKREALstev_("N", &n, t->work[0], t->work[1], NULL, &ldz, NULL, &info));
  PetscCall(PetscFPTrapPop());
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's stev: info %d", (int)info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeExtremeSingularValues_MPCG(KSP ksp, PetscReal *emax, PetscReal *emin)
{
  const MPCGSpectrum *t = &((KSP_MPCG *)ksp->data)->spectrum;

  PetscFunctionBegin;
  *emax = *emin = 1;
  if (!t->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Eigenvalues_Private(ksp));
  *emin = t->work[0][0];
  *emax = t->work[0][t->n - 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeEigenvalues_MPCG(KSP ksp, PetscInt most, PetscReal *r, PetscReal *c, PetscInt *n)
{
  const MPCGSpectrum *t = &((KSP_MPCG *)ksp->data)->spectrum;

  PetscFunctionBegin;
  PetscCheck(most >= t->n, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_SIZ, "There are %" PetscInt_FMT " eigenvalues, and room for %" PetscInt_FMT, t->n,
             most);
  *n = t->n;
  PetscCall(PetscArrayzero(c, most));
  if (!t->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Eigenvalues_Private(ksp));
  PetscCall(PetscArraycpy(r, t->work[0], t->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
