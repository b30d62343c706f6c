/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   KSPMPCG: conjugate gradients whose vectors and products are in single precision.

   class         set-up, view                               mpcg.c
   method        reliable updates, verdicts                 iterate.c
   vectors       in single precision, in double precision   single.c, double.c
   matrix        and a diagonal preconditioner              diagonal.c
   eigenvalues   from the scalars of the method             spectrum.c
   kernels       of the host, of a device                   host.c, cuda/mpcg
*/

#include "mpcgimpl.h"

static PetscErrorCode KSPSetUp_MPCG(KSP ksp)
{
  PetscFunctionBegin;
  if (ksp->pc->mat) PetscCall(LitheCheckSquare((PetscObject)ksp, ksp->pc->mat));
  PetscCall(KSPSetWorkVecs(ksp, 1));
  PetscCall(MPCGSingleWish_Private(ksp));
  PetscCall(LitheCite(LITHE_CITE_MPCG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_MPCG(KSP ksp)
{
  KSP_MPCG *cg = (KSP_MPCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(MPCGSingleReset_Private(&cg->single));
  PetscCall(MPCGDiagonalReset_Private(&cg->diagonal));
  PetscCall(MPCGDoubleReset_Private(&cg->both));
  PetscCall(MPCGSpectrumReset_Private(&cg->spectrum));
  PetscCall(MPCGStateReset_Private(&cg->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Monitors may ask for it */
static PetscErrorCode KSPBuildSolution_MPCG(KSP ksp, Vec v, Vec *V)
{
  PetscFunctionBegin;
  PetscCall(MPCGLeave_Private(ksp));
  PetscCall(KSPBuildSolutionDefault(ksp, v, V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_MPCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_MPCG(ksp));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_MPCG(KSP ksp, PetscViewer viewer)
{
  KSP_MPCG   *cg    = (KSP_MPCG *)ksp->data;
  const char *where = cg->single.op.device ? "device" : "host";
  PetscBool   isascii, isstring;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &isstring));
  if (isstring) PetscCall(PetscViewerStringSPrintf(viewer, "%s", cg->state.single ? "single" : (cg->state.raised ? "double, raised" : "double")));
  if (!isascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  true residual at a factor of %g\n", (double)cg->opt.delta));
  if (cg->state.updates && cg->state.single) PetscCall(PetscViewerASCIIPrintf(viewer, "  vectors: single precision on the %s\n", where));
  else if (cg->state.updates)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  vectors: double precision%s\n", cg->state.raised ? ", since single did not suffice" : ""));
  if (cg->state.updates) PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve: %" PetscInt_FMT " true residuals\n", cg->state.updates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPMPCG - "mpcg" - Conjugate gradients with vectors and products in single precision, and true residuals in double
   precision

   Options Database Keys:
+ -ksp_mpcg_delta <0.001>                - the part of the residual at which the true residual is computed
. -ksp_mpcg_storage <auto,single,double> - precision of vectors inside
- -ksp_mpcg_graph <true>                 - on a device, record the kernels of an iteration and replay the record

   Level: beginner

   Notes:
   The type needs a symmetric positive definite matrix and preconditioner, or Hermitian ones, as `KSPCG` does.

   `PCCAMG`, and `PCGRIDMG` by aggregation on one process, work in single precision, and hold a copy of the matrix for
   products. The method then iterates with this copy, with vectors in single precision. Whenever the residual has fallen
   by the factor delta, the correction is added to the solution in double precision, and the true residual is computed
   with the matrix of the user. Only the norm of a true residual ends a solve as converged.

   `PCJACOBI` and `PCNONE` work in single precision with a `MATVCRS`, and with a relative of `MATAIJ`, of which the
   first solve makes a compressed copy.

   With other preconditioners the vectors have double precision. The method is then `KSPCG` with true residuals.

   If the true residual does not follow, vectors get double precision, until `KSPReset()`; -info and -ksp_view say so.

   Monitors get the norm of the method's residual in units of the user, and that of the true residual where it is
   computed.

   Norms are those of the residual, and preconditioning is from the left. Also `KSP_NORM_NONE` is supported.

   References:
   G. L. G. Sleijpen, H. A. van der Vorst, Reliable updated residuals in hybrid Bi-CG methods, Computing 56, 1996;
   M. A. Clark et al., Solving lattice QCD systems of equations using mixed precision solvers on GPUs, Comput. Phys.
   Commun. 181, 2010

.seealso: `KSPCG`, `PCCAMG`, `PCGRIDMG`, `KSPSetType()`
M*/
PETSC_INTERN PetscErrorCode KSPCreate_MPCG(KSP);

PetscErrorCode KSPCreate_MPCG(KSP ksp)
{
  KSP_MPCG *cg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&cg));
  ksp->data = cg;
  PetscCall(MPCGOptionsDefault_Private(&cg->opt));
  ksp->ops->setup                        = KSPSetUp_MPCG;
  ksp->ops->solve                        = KSPSolve_MPCG;
  ksp->ops->buildsolution                = KSPBuildSolution_MPCG;
  ksp->ops->buildresidual                = KSPBuildResidualDefault;
  ksp->ops->computeextremesingularvalues = KSPComputeExtremeSingularValues_MPCG;
  ksp->ops->computeeigenvalues           = KSPComputeEigenvalues_MPCG;
  ksp->ops->setfromoptions               = KSPSetFromOptions_MPCG;
  ksp->ops->view                         = KSPView_MPCG;
  ksp->ops->reset                        = KSPReset_MPCG;
  ksp->ops->destroy                      = KSPDestroy_MPCG;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}
