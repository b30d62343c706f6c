/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Spectra of the preconditioned operator from the Hessenberg matrix: singular values, eigenvalues, Ritz and harmonic
   Ritz pairs. They satisfy M V = V H + E, with E of the size of the storage's rounding.
*/

#include "cbgmresimpl.h"
#include <petscblaslapack.h>

PetscErrorCode CBGMRESSpectrumReset_Private(KSP_CBGMRES *gm)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(gm->spectrum.keptH, gm->spectrum.keptR));
  gm->spectrum.kept = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Another cycle begins. As in KSPGMRES, spectra are taken from the last cycle. If a cycle had to end because of
   rounding, the next cycle may be short, and the longest cycle counts.
*/
PetscErrorCode CBGMRESSpectrumKeep_Private(KSP ksp)
{
  KSP_CBGMRES *gm   = (KSP_CBGMRES *)ksp->data;
  const size_t size = (size_t)gm->bases.V->host.ld * (size_t)gm->bases.V->host.ld;

  PetscFunctionBegin;
  if (gm->least.columns >= gm->opt.restart) gm->spectrum.kept = 0;
  else if (ksp->calc_sings && gm->least.columns > gm->spectrum.kept) {
    if (!gm->spectrum.keptH) PetscCall(PetscMalloc2(size, &gm->spectrum.keptH, size, &gm->spectrum.keptR));
    PetscCall(PetscArraycpy(gm->spectrum.keptH, gm->bases.V->host.hessenberg, size));
    PetscCall(PetscArraycpy(gm->spectrum.keptR, gm->least.R, size));
    gm->spectrum.kept = gm->least.columns;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeExtremeSingularValues_CBGMRES(KSP ksp, PetscReal *emax, PetscReal *emin)
{
  KSP_CBGMRES   *gm = (KSP_CBGMRES *)ksp->data;
  const PetscInt k  = PetscMax(gm->least.columns, gm->spectrum.kept);
  PetscBLASInt   n, one = 1, lwork;
  PetscScalar   *R, *work, unused = 0;
  PetscReal     *values;
#if PetscDefined(USE_COMPLEX)
  PetscReal *rwork;
#endif

  PetscFunctionBegin;
  *emax = *emin = 1.0;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);

  /* Rotations change no singular values: the triangle has the singular values of the Hessenberg matrix */
  PetscCall(PetscBLASIntCast(k, &n));
  PetscCall(PetscBLASIntCast(5 * k, &lwork));
  PetscCall(PetscCalloc3(k * k, &R, k, &values, 5 * k, &work));
  for (PetscInt j = 0; j < k; j++)
    PetscCall(PetscArraycpy(R + j * k, (k > gm->least.columns ? gm->spectrum.keptR : gm->least.R) + (size_t)j * (size_t)gm->bases.V->host.ld, j + 1));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
#if PetscDefined(USE_COMPLEX)
  PetscCall(PetscMalloc1(5 * k, &rwork));
  PetscCallLAPACKInfo("LAPACKgesvd", LAPACKgesvd_("N", "N", &n, &n, R, &n, values, &unused, &one, &unused, &one, work, &lwork, rwork, &info));
  PetscCall(PetscFree(rwork));
#else
  PetscCallLAPACKInfo("LAPACKgesvd", LAPACKgesvd_("N", "N", &n, &n, R, &n, values, &unused, &one, &unused, &one, work, &lwork, &info));
#endif
  PetscCall(PetscFPTrapPop());
  *emax = values[0];
  *emin = values[k - 1];
  PetscCall(PetscFree3(R, values, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Eigenvalues of the k x k matrix H, which is overwritten, and eigenvectors unless Q is NULL. Real scalars: in the
   format of LAPACK's real geev
*/
static PetscErrorCode CBGMRESEigen_Private(PetscInt k, PetscScalar H[], PetscReal re[], PetscReal im[], PetscScalar *Q)
{
  PetscBLASInt n, one       = 1, ldq, lwork;
  PetscScalar *work, unused = 0;
#if PetscDefined(USE_COMPLEX)
  PetscScalar *w;
  PetscReal   *rwork;
#endif

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(k, &n));
  PetscCall(PetscBLASIntCast(5 * k, &lwork));
  ldq = Q ? n : 1;
  PetscCall(PetscMalloc1(5 * k, &work));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
#if PetscDefined(USE_COMPLEX)
  PetscCall(PetscMalloc2(k, &w, 2 * k, &rwork));
  PetscCallLAPACKInfo("LAPACKgeev", LAPACKgeev_("N", Q ? "V" : "N", &n, H, &n, w, &unused, &one, Q ? Q : &unused, &ldq, work, &lwork, rwork, &info));
  for (PetscInt i = 0; i < k; i++) {
    re[i] = PetscRealPart(w[i]);
    im[i] = PetscImaginaryPart(w[i]);
  }
  PetscCall(PetscFree2(w, rwork));
#else
  PetscCallLAPACKInfo("LAPACKgeev", LAPACKgeev_("N", Q ? "V" : "N", &n, H, &n, re, im, &unused, &one, Q ? Q : &unused, &ldq, work, &lwork, &info));
#endif
  PetscCall(PetscFPTrapPop());
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first k columns and rows of a Hessenberg matrix */
static PetscErrorCode CBGMRESHessenberg_Private(const PetscScalar hessenberg[], PetscInt ld, PetscInt k, PetscScalar H[])
{
  PetscFunctionBegin;
  for (PetscInt j = 0; j < k; j++) PetscCall(PetscArraycpy(H + j * k, hessenberg + (size_t)j * (size_t)ld, PetscMin(j + 2, k)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeEigenvalues_CBGMRES(KSP ksp, PetscInt nmax, PetscReal *r, PetscReal *c, PetscInt *neig)
{
  KSP_CBGMRES   *gm = (KSP_CBGMRES *)ksp->data;
  const PetscInt k  = PetscMax(gm->least.columns, gm->spectrum.kept);
  PetscScalar   *H;
  PetscReal     *re, *im;
  PetscInt      *order;

  PetscFunctionBegin;
  PetscCheck(nmax >= k, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_SIZ,
             "Not enough room for the %" PetscInt_FMT " eigenvalues: there is some for %" PetscInt_FMT, k, nmax);
  *neig = k;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc4(k * k, &H, k, &re, k, &im, k, &order));
  PetscCall(CBGMRESHessenberg_Private(k > gm->least.columns ? gm->spectrum.keptH : gm->bases.V->host.hessenberg, gm->bases.V->host.ld, k, H));
  PetscCall(CBGMRESEigen_Private(k, H, re, im, NULL));
  for (PetscInt i = 0; i < k; i++) order[i] = i;
  PetscCall(PetscSortRealWithPermutation(k, re, order));
  for (PetscInt i = 0; i < k; i++) {
    r[i] = re[order[i]];
    c[i] = im[order[i]];
  }
  PetscCall(PetscFree4(H, re, im, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   H + h^2 H^{-H} e_k e_k^H with the entry h below the last diagonal entry. The eigenvalues are the harmonic Ritz values
*/
static PetscErrorCode CBGMRESHarmonic_Private(CBBasis V, PetscInt k, PetscScalar H[])
{
  const PetscScalar h = V->host.hessenberg[(size_t)(k - 1) * (size_t)V->host.ld + (size_t)k];
  PetscBLASInt      n, one = 1, *pivots;
  PetscScalar      *Ht, *t;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(k, &n));
  PetscCall(PetscCalloc3(k * k, &Ht, k, &t, k, &pivots));
  for (PetscInt i = 0; i < k; i++) {
    for (PetscInt j = 0; j < k; j++) Ht[i * k + j] = PetscConj(H[j * k + i]);
  }
  t[k - 1] = h * h;
  PetscCallLAPACKInfo("LAPACKgesv", LAPACKgesv_(&n, &one, Ht, &n, pivots, t, &n, &info));
  for (PetscInt i = 0; i < k; i++) H[(k - 1) * k + i] += t[i];
  PetscCall(PetscFree3(Ht, t, pivots));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeRitz_CBGMRES(KSP ksp, PetscBool ritz, PetscBool small, PetscInt *nrit, Vec S[], PetscReal *tetar, PetscReal *tetai)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  PetscInt     k = PetscMax(gm->least.columns, gm->bases.ritzcolumns), wanted, taken = 0;
  CBBasis      V = k > gm->least.columns ? gm->bases.Vritz : gm->bases.V;
  PetscScalar *H, *Q;
  PetscReal   *re, *im, *modulus;
  PetscInt    *order;

  PetscFunctionBegin;
  wanted = PetscMin(*nrit, k);
  *nrit  = 0;
  if (!wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc6(k * k, &H, k * k, &Q, k, &re, k, &im, k, &modulus, k, &order));
  PetscCall(CBGMRESHessenberg_Private(V->host.hessenberg, V->host.ld, k, H));
  if (!ritz) PetscCall(CBGMRESHarmonic_Private(V, k, H));
  PetscCall(CBGMRESEigen_Private(k, H, re, im, Q));
  for (PetscInt i = 0; i < k; i++) {
    modulus[i] = PetscSqrtReal(re[i] * re[i] + im[i] * im[i]);
    order[i]   = i;
  }
  PetscCall(PetscSortRealWithPermutation(k, modulus, order));

  /* real scalars: both columns of a complex pair, its real and imaginary part, are taken, or none */
#if PetscDefined(USE_COMPLEX)
  taken = wanted;
#else
  for (PetscInt i = 0; i + 1 < k; i++) {
    if (im[order[i]] == 0.0) continue;
    if (order[i] > order[i + 1]) {
      const PetscInt first = order[i + 1];

      order[i + 1] = order[i];
      order[i]     = first;
    }
    i++;
  }
  while (taken < wanted) {
    const PetscInt next = small ? order[taken] : order[k - taken - 1];

    if (im[next] != 0.0 && taken + 1 >= wanted) break;
    taken += im[next] != 0.0 ? 2 : 1;
  }
#endif
  for (PetscInt i = 0; i < taken; i++) {
    const PetscInt l = small ? order[i] : order[k - taken + i];

    tetar[i] = re[l];
    tetai[i] = im[l];
    PetscCall((*V->ops->combine)(V, k, Q + l * k, CB_IMAGE(ksp)));
    PetscCall(VecCopy(CB_IMAGE(ksp), S[i]));
  }
  *nrit = taken;
  PetscCall(PetscFree6(H, Q, re, im, modulus, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}
