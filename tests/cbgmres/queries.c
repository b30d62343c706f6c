/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Queries of KSPCBGMRES: singular values, eigenvalues and Ritz pairs as in KSPGMRES; KSPCBGMRESGetInfo(), KSPView() and errors.\n\n";

#include <lithe/private/codec/frsz2.h>
#include <lithe/private/petsccompat.h>
#include <tests/cbgmres/ksptest.h>
#include <petsc/private/kspimpl.h>
#include <petscviewer.h>

#define MOST 200

typedef struct {
  PetscReal emax, emin, re[MOST], im[MOST], ritzre[MOST], ritzim[MOST];
  PetscInt  neig, nritz;
  PetscReal residual; /* the largest || A s - theta s || / || s || of all Ritz pairs with a separate vector */
  PetscReal product;  /* the largest | s^H (A s - theta s) | of these pairs; for harmonic pairs | (A s)^H (A s - theta s) |. Both are 0 by definition */
} Spectrum;

/* How far Ritz pairs are from eigenpairs of A */
static PetscErrorCode RitzResidual(Mat A, Vec s[], PetscBool ritz, Spectrum *sp)
{
  PetscReal   norm, length;
  PetscScalar product;
  Vec         r, image;

  PetscFunctionBeginUser;
  sp->residual = sp->product = 0.0;
  PetscCall(VecDuplicate(s[0], &r));
  PetscCall(VecDuplicate(s[0], &image));
  for (PetscInt i = 0; i < sp->nritz; i++) {
    if (!PetscDefined(USE_COMPLEX) && sp->ritzim[i] != 0.0) continue;
    PetscCall(MatMult(A, s[i], image));
    PetscCall(VecCopy(image, r));
    PetscCall(VecAXPY(r, PetscCMPLX(-sp->ritzre[i], -sp->ritzim[i]), s[i]));
    PetscCall(VecNorm(r, NORM_2, &norm));
    PetscCall(VecNorm(s[i], NORM_2, &length));
    sp->residual = PetscMax(sp->residual, norm / length);
    PetscCall(VecDot(r, ritz ? s[i] : image, &product));
    sp->product = PetscMax(sp->product, PetscAbsScalar(product) / (length * length));
  }
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&image));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetSpectrum(Mat A, const char options[], PetscInt its, PetscBool ritz, PetscBool small, Spectrum *sp)
{
  KSP ksp;
  Vec b, x, *s;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(b, 3));
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_CURRENT, PETSC_CURRENT, its));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSetComputeRitz(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, &sp->emax, &sp->emin));
  PetscCall(KSPComputeEigenvalues(ksp, MOST, sp->re, sp->im, &sp->neig));
  sp->nritz = 4;
  PetscCall(VecDuplicateVecs(x, 6, &s));
  PetscCall(KSPComputeRitz(ksp, ritz, small, &sp->nritz, s, sp->ritzre, sp->ritzim));
  PetscCall(RitzResidual(A, s, ritz, sp));
  PetscCall(VecDestroyVecs(6, &s));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With and without a restart, at the end of a cycle and within a cycle */
static PetscErrorCode TestSpectrum(Mat A, const char storage[], double tolerance)
{
  static const PetscInt counts[][2] = {{30, 12}, {10, 10}, {10, 24}};

  PetscFunctionBeginUser;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(counts); c++) {
    for (int way = 0; way < 4; way++) {
      Spectrum  a, b;
      char      options[256];
      PetscReal worst, limit;
      PetscBool ritz = (PetscBool)(way & 1), small = (PetscBool)(way & 2);

      PetscCall(PetscSNPrintf(options, sizeof(options), TEST_GMRES_REFINED " -pc_type none -ksp_gmres_restart %" PetscInt_FMT, counts[c][0]));
      PetscCall(GetSpectrum(A, options, counts[c][1], PETSC_TRUE, small, &a));
      PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type cbgmres -pc_type none -ksp_gmres_restart %" PetscInt_FMT " -ksp_cbgmres_storage %s",
                              counts[c][0], storage));
      PetscCall(GetSpectrum(A, options, counts[c][1], ritz, small, &b));
      limit = tolerance * a.emax * PetscMax(a.emax, 1.0);
      worst = PetscMax(PetscAbsReal(a.emax - b.emax), PetscAbsReal(a.emin - b.emin));
      worst = PetscMax(worst, b.product);
      if (WRONG(a.neig != b.neig || b.nritz < 3))
        FAIL("%s: %" PetscInt_FMT " eigenvalues and %" PetscInt_FMT " Ritz pairs, not %" PetscInt_FMT " and at least 3", options, b.neig, b.nritz, a.neig);
      for (PetscInt i = 0; i < PetscMin(a.neig, b.neig); i++) worst = PetscMax(worst, PetscAbsReal(a.re[i] - b.re[i]));

      /* harmonic pairs cannot be compared: KSPGMRES puts the correction into the wrong places of the Hessenberg
         matrix */
      for (PetscInt i = 0; ritz && i < PetscMin(a.nritz, b.nritz); i++)
        worst = PetscMax(worst, PetscAbsReal(PetscSqrtReal(a.ritzre[i] * a.ritzre[i] + a.ritzim[i] * a.ritzim[i]) -
                                             PetscSqrtReal(b.ritzre[i] * b.ritzre[i] + b.ritzim[i] * b.ritzim[i])));
      if (ritz) worst = PetscMax(worst, PetscAbsReal(a.residual - b.residual));
      if (WRONG(ritz && a.nritz != b.nritz)) FAIL("%s: %" PetscInt_FMT " Ritz pairs, not %" PetscInt_FMT, options, b.nritz, a.nritz);
      if (WRONG(!(worst <= limit)))
        FAIL("%s, %" PetscInt_FMT " iterations, way %d: spectra differ by %g", options, counts[c][1], way, (double)(worst / a.emax));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If rounding ends a cycle and another cycle follows, the spectrum belongs to the longest cycle */
static PetscErrorCode TestLongest(Mat A)
{
  static const char *const cut[] = {"frsz2_32", "frsz2_21"};
  Spectrum                 a, b;
  char                     options[256];

  PetscFunctionBeginUser;
  PetscCall(GetSpectrum(A, TEST_GMRES_REFINED " -pc_type jacobi -ksp_gmres_restart 190", 190, PETSC_TRUE, PETSC_FALSE, &a));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cut); c++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type cbgmres -pc_type jacobi -ksp_gmres_restart 190 -ksp_cbgmres_storage %s", cut[c]));
    PetscCall(GetSpectrum(A, options, 190, PETSC_TRUE, PETSC_FALSE, &b));
    if (WRONG(b.neig < a.neig - 5 || !(PetscAbsReal(a.emax - b.emax) < 1e-3 * a.emax && PetscAbsReal(a.emin - b.emin) < 0.05 * a.emin)))
      FAIL("%s: singular values from %g to %g, not %g to %g; %" PetscInt_FMT " eigenvalues, not %" PetscInt_FMT, options, (double)b.emin, (double)b.emax,
           (double)a.emin, (double)a.emax, b.neig, a.neig);
    if (WRONG(!(PetscAbsReal(a.ritzre[0] - b.ritzre[0]) < 1e-2 * a.emax)))
      FAIL("%s: a Ritz value of %g, not %g", options, (double)b.ritzre[0], (double)a.ritzre[0]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of a column of n numbers: blocks of 32 are whole, both arrays are multiples of 16 bytes, and only FRSZ2 has
   quarters of a bit */
static double Bytes(PetscInt n, double bits, double exponentbits)
{
  const double blocks = ceil((double)n * (sizeof(PetscScalar) / sizeof(PetscReal)) / 32), whole = floor(bits);

  return 16 * ceil(4 * whole * blocks / 16) + (bits > whole ? 16 * ceil(exponentbits / 8 * blocks / 16) : 0);
}

/* Bytes and bits */
static PetscErrorCode TestInfo(Mat A)
{
  static const struct {
    const char *storage;
    double      bits;
  } cases[] = {{"double", 8 * sizeof(PetscReal)}, {"single", 32}, {"half", 16}, {"bfloat16", 16}, {"frsz2_21", 21.25}, {"frsz2_16", 16.25}};
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    for (int flexible = 0; flexible < 2; flexible++) {
      char           options[256];
      KSP            ksp;
      KSPCBGMRESInfo info;
      PetscLogDouble expected[2];

      PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -ksp_gmres_restart 12 -ksp_cbgmres_storage %s", flexible ? "cbfgmres" : "cbgmres",
                              cases[c].storage));
      PetscCall(TestCreateKSP(A, options, &ksp));
      PetscCall(KSPCBGMRESGetInfo(ksp, &info));
      if (WRONG(info.bytes != 0.0 || strcmp(info.storage, cases[c].storage))) FAIL("%s: %g bytes of %s before the set-up", options, info.bytes, info.storage);
      PetscCall(KSPSetUp(ksp));
      PetscCall(KSPCBGMRESGetInfo(ksp, &info));
      expected[1] = Bytes(n, cases[c].bits, 8) * 13 + (flexible ? Bytes(n, strcmp(cases[c].storage, "half") ? cases[c].bits : 16.25, 16) * 12 : 0);
      expected[0] = (flexible ? 25.0 : 13.0) * (PetscLogDouble)n * sizeof(PetscScalar);
      PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, expected, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
      if (WRONG(info.uncompressed != expected[0] || (double)info.bits != cases[c].bits || info.bytes != expected[1]))
        FAIL("%s: %g bytes for %g, not %g for %g; %g bits", options, info.bytes, info.uncompressed, expected[1], expected[0], (double)info.bits);
      PetscCall(KSPDestroy(&ksp));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The output of KSPView(), without the preconditioner and the matrix */
static PetscErrorCode View(Mat A)
{
  KSP          ksp;
  Vec          x, b;
  Mat          hard;
  PetscScalar *d;
  PetscInt     n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(b, 3));
  PetscCall(TestCreateKSP(A, "-ksp_type cbgmres -pc_type none -ksp_gmres_restart 15", &ksp));
  PetscCall((*ksp->ops->view)(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(TestSetOptions(ksp, "-ksp_cbgmres_adaptive"));
  PetscCall((*ksp->ops->view)(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(TestSetOptions(ksp, "-ksp_cbgmres_adaptive false"));
  PetscCall(KSPOrthogonalizationSet(ksp, KSPOrthogonalizationModifiedGramSchmidt));
  PetscCall(KSPCBGMRESSetStorage(ksp, "frsz2_8"));

  /* Unknowns of very different sizes, which 8 bits do not hold */
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &hard));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayWrite(x, &d));
  for (PetscInt i = 0; i < n; i++) d[i] = PetscPowReal(10.0, (PetscReal)-6 * (PetscReal)i / (PetscReal)n);
  PetscCall(VecRestoreArrayWrite(x, &d));
  PetscCall(MatDiagonalScale(hard, x, x));
  PetscCall(KSPSetOperators(ksp, hard, hard));
  PetscCall(MatDestroy(&hard));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(VecZeroEntries(x));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall((*ksp->ops->view)(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Mine(KSP ksp, Vec v[], PetscInt n, Vec x, PetscScalar h[])
{
  PetscFunctionBeginUser;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps an error's message from the call which finds the error */
static PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n, PetscErrorType type, const char *message,
                                  void *ctx)
{
  if (type == PETSC_ERROR_INITIAL) (void)PetscStrncpy((char *)ctx, message, 512);
  return n;
}

/* Unsupported widths of FRSZ2 are refused: the message names the option, the value and the permitted values.
   tests/app/ksp.tap tests the option itself */
static PetscErrorCode TestWidths(Mat A)
{
  static const int widths[] = {0, 1, 2, 7, LITHE_FRSZ2_MAX_BITS + 1, 1000};
  KSPCBGMRESInfo   info;
  KSP              ksp;

  PetscFunctionBeginUser;
  PetscCall(TestCreateKSP(A, "-ksp_type cbgmres -pc_type none -ksp_cbgmres_storage single", &ksp));
  for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(widths); w++) {
    char           name[16], value[64], permitted[32], message[512] = "";
    char          *names = NULL, *allows = NULL;
    PetscErrorCode ierr;

    PetscCall(PetscSNPrintf(name, sizeof(name), "frsz2_%d", widths[w]));
    PetscCall(PetscSNPrintf(value, sizeof(value), "-ksp_cbgmres_storage %s", name));
    PetscCall(PetscSNPrintf(permitted, sizeof(permitted), "8 to %d bits", LITHE_FRSZ2_MAX_BITS));
    PetscCall(PetscPushErrorHandler(KeepMessage, message));
    ierr = KSPCBGMRESSetStorage(ksp, name);
    PetscCall(PetscPopErrorHandler());
    PetscCall(PetscStrstr(message, value, &names));
    PetscCall(PetscStrstr(message, permitted, &allows));
    if (WRONG(ierr != PETSC_ERR_ARG_OUTOFRANGE || !names || !allows)) FAIL("%s: the error is %d and the message \"%s\"", name, (int)ierr, message);
    PetscCall(KSPCBGMRESGetInfo(ksp, &info));
    if (WRONG(strcmp(info.storage, "single"))) FAIL("%s: the storage has become %s", name, info.storage);
  }
  PetscCall(KSPCBGMRESSetStorage(ksp, "frsz2_8"));
  PetscCall(KSPCBGMRESGetInfo(ksp, &info));
  if (WRONG(strcmp(info.storage, "frsz2_8"))) FAIL("frsz2_8: the storage is %s", info.storage);
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Impossible requests are refused, and the solver stays usable. tests/app/ksp.tap tests those of options */
static PetscErrorCode TestErrors(Mat A)
{
  KSP            ksp;
  Vec            x, b;
  KSPCBGMRESInfo info;
  PetscErrorCode ierr[6];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(b, 3));
  PetscCall(TestCreateKSP(A, "-ksp_type cbgmres -pc_type none", &ksp));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr[0] = KSPCBGMRESSetStorage(ksp, "quarter");
  ierr[1] = KSPCBGMRESSetStorage(ksp, "frsz2_");
  ierr[2] = KSPCBGMRESSetStorage(ksp, "frsz2_16x");
  ierr[3] = KSPGMRESSetRestart(ksp, 0);
  PetscCall(KSPOrthogonalizationSet(ksp, Mine));
  ierr[4] = KSPSolve(ksp, b, x);
  PetscCall(KSPOrthogonalizationSet(ksp, KSPOrthogonalizationClassicalGramSchmidt));
  PetscCall(KSPMonitorSet(ksp, KSPGMRESMonitorKrylov, NULL, NULL));
  ierr[5] = KSPSolve(ksp, b, x);
  PetscCall(KSPMonitorCancel(ksp));
  PetscCall(PetscPopErrorHandler());
  for (int i = 0; i < 6; i++) {
    if (WRONG(i < 3 ? ierr[i] != PETSC_ERR_ARG_UNKNOWN_TYPE : !ierr[i])) FAIL("error %d is %d", i, (int)ierr[i]);
  }
  PetscCall(KSPCBGMRESGetInfo(ksp, &info));
  if (WRONG(strcmp(info.storage, "frsz2_32"))) FAIL("the storage is %s", info.storage);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool view = PETSC_FALSE;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view", &view, NULL));
  PetscCall(TestCreateOperator(PETSC_COMM_WORLD, TEST_CONVECTION, 0, &A));
  if (view) {
    PetscCall(View(A));
  } else {
    PetscCall(TestSpectrum(A, "double", 1e-8));
    PetscCall(TestSpectrum(A, "frsz2_32", 1e-5));
    PetscCall(TestLongest(A));
    PetscCall(TestInfo(A));
    PetscCall(TestErrors(A));
    PetscCall(TestWidths(A));
  }
  PetscCall(MatDestroy(&A));
  return TestEnd(view ? 0 : 81, view ? "" : "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    nsize: {{1 2}}

  test:
    suffix: view
    requires: !complex double
    args: -view
    filter: sed -e "s/[0-9]* cycles, continued [0-9]* times, [0-9]* second/some cycles, continued some times, some second/"

  test:
    suffix: cusparse
    requires: cuda
    nsize: {{1 2}}
    args: -operator_types aijcusparse
    output_file: output/right.out

TEST*/
