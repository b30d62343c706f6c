/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   NVIDIA's AmgX: -set "NAME: options of AmgX in the scope p, its preconditioner". Values are uploaded before a set-up is
   timed. A later set-up is AMGX_solver_resetup() for values that AMGX_matrix_replace_coefficients() has put there.
*/

#define RIVAL_CUDA
#include "rival.h"
#include <amgx_c.h>

static void Check(AMGX_RC rc, const char what[])
{
  char text[256] = "";

  if (rc == AMGX_RC_OK) return;
  AMGX_get_error_string(rc, text, sizeof(text));
  RivalStop(what, text);
}

static void Quiet(const char *message, int length)
{
  if (getenv("RIVAL_VERBOSE")) fprintf(stderr, "%.*s", length, message);
}

static RivalResult RivalMeasure(const RivalSystem *s, const RivalOptions *opt, const char setting[])
{
  const size_t          nz = (size_t)s->i[s->n], vector = (size_t)s->n * sizeof(double);
  const char *const     krylov = !strcmp(opt->krylov, "cg") ? "PCG" : !strcmp(opt->krylov, "bcgs") ? "PBICGSTAB" : "FGMRES";
  char                  text[2048];
  double                start, between, norm = 0;
  int                  *i, *j;
  double               *a, *b;
  AMGX_config_handle    config;
  AMGX_resources_handle resources;
  AMGX_matrix_handle    A;
  AMGX_vector_handle    x, rhs;
  AMGX_solver_handle    solver;
  RivalResult           r = {0};

  for (int row = 0; row < s->n; row++) norm += s->b[row] * s->b[row];
  snprintf(text, sizeof(text),
           "config_version=2, solver(s)=%s, s:gmres_n_restart=%d, s:max_iters=%d, s:monitor_residual=1, s:convergence=ABSOLUTE, s:tolerance=%.17g, s:norm=L2, "
           "s:preconditioner(p)=%s",
           krylov, opt->restart, opt->iterations, opt->rtol * sqrt(norm), setting[0] ? setting : "NOSOLVER");
  RivalCheckCUDA(cudaSetDevice(0), "cudaSetDevice");
  AMGX_register_print_callback(Quiet);
  Check(AMGX_initialize(), "AMGX_initialize");
  Check(AMGX_config_create(&config, text), text);
  Check(AMGX_resources_create_simple(&resources, config), "resources");
  Check(AMGX_matrix_create(&A, resources, AMGX_mode_dDDI), "matrix");
  Check(AMGX_vector_create(&x, resources, AMGX_mode_dDDI), "vector");
  Check(AMGX_vector_create(&rhs, resources, AMGX_mode_dDDI), "vector");
  Check(AMGX_solver_create(&solver, resources, AMGX_mode_dDDI, config), "solver");
  i = (int *)RivalUpload(s->i, ((size_t)s->n + 1) * sizeof(int));
  j = (int *)RivalUpload(s->j, nz * sizeof(int));
  a = (double *)RivalUpload(s->a, nz * sizeof(double));
  b = (double *)RivalUpload(s->b, vector);
  Check(AMGX_matrix_upload_all(A, s->n, (int)nz, 1, 1, i, j, a, NULL), "upload");
  Check(AMGX_vector_upload(rhs, s->n, 1, b), "upload");
  Check(AMGX_vector_set_zero(x, s->n, 1), "zero");
  Check(AMGX_matrix_vector_multiply(A, rhs, x), "product"); /* as before the other programs' first set-up */
  for (int k = 0; k < opt->repeats; k++) {
    AMGX_SOLVE_STATUS status;

    if (k) Check(AMGX_matrix_replace_coefficients(A, s->n, (int)nz, a, NULL), "replace");
    Check(AMGX_vector_set_zero(x, s->n, 1), "zero"); /* the solve adds to x even so */
    start = RivalDone();
    Check(k ? AMGX_solver_resetup(solver, A) : AMGX_solver_setup(solver, A), "set-up");
    between = RivalDone();
    Check(AMGX_solver_solve_with_0_initial_guess(solver, rhs, x), "solve");
    RivalRecord(&r, k, start, between);
    Check(AMGX_solver_get_status(solver, &status), "status");
    Check(AMGX_solver_get_iterations_number(solver, &r.iterations), "iterations");
  }
  r.x = (double *)RivalAllocate(vector);
  Check(AMGX_vector_download(x, r.x), "download");
  return r;
}

int main(int argc, char **argv)
{
  return RivalMain(argc, argv, "AmgX");
}
