/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/*
   What the programs of rivals share: a system from a file in PETSc's binary form, the settings of the command line, the
   true residual, and a line of results for rivals.py. C and C++; a program of a GPU defines RIVAL_CUDA before. No PETSc: a
   rival's own interface is measured, without PETSc's calls in between.
*/

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef RIVAL_CUDA
  #include <cuda_runtime_api.h>
#endif

enum {
  RIVAL_SETTINGS_MAX = 32,
  RIVAL_MAT_CLASSID  = 1211216,
  RIVAL_VEC_CLASSID  = 1211214
};

/* Rows of a square matrix, and the right-hand side */
typedef struct {
  int     n, *i, *j;
  double *a, *b;
} RivalSystem;

/* Seconds from the matrix, which is in its place, to the solution; again: new values in the same pattern */
typedef struct {
  double setup, solve, setupagain, solveagain, *x;
  int    iterations;
} RivalResult;

typedef struct {
  const char *file, *krylov, *setting[RIVAL_SETTINGS_MAX];
  double      rtol;
  int         nsettings, restart, repeats, iterations, seconds;
} RivalOptions;

static void RivalStop(const char what[], const char which[])
{
  fprintf(stderr, "%s: %s\n", what, which);
  exit(3);
}

static double RivalNow(void)
{
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *RivalAllocate(size_t bytes)
{
  void *p = malloc(bytes ? bytes : 1);

  if (!p) RivalStop("no memory", "host");
  return p;
}

static void RivalReadInts(FILE *file, const char path[], int *p, size_t n)
{
  if (fread(p, sizeof(int), n, file) != n) RivalStop("too short", path);
  for (size_t k = 0; k < n; k++) p[k] = (int)__builtin_bswap32((uint32_t)p[k]);
}

static void RivalReadDoubles(FILE *file, const char path[], double *p, size_t n)
{
  if (fread(p, sizeof(double), n, file) != n) RivalStop("too short", path);
  for (size_t k = 0; k < n; k++) {
    uint64_t bits;

    memcpy(&bits, p + k, sizeof(bits));
    bits = __builtin_bswap64(bits);
    memcpy(p + k, &bits, sizeof(bits));
  }
}

/* The file of MatView() and VecView(): PETSc's integers of 32 bits, real scalars of double precision. Ones take the place of a missing vector */
static RivalSystem RivalRead(const char path[])
{
  FILE       *file = fopen(path, "rb");
  RivalSystem s;
  int         head[4];

  if (!file) RivalStop("cannot read", path);
  RivalReadInts(file, path, head, 4);
  if (head[0] != RIVAL_MAT_CLASSID || head[1] != head[2] || head[3] < 0) RivalStop("no square matrix, or one of 2^31 entries, in", path);
  s.n    = head[1];
  s.i    = (int *)RivalAllocate(((size_t)s.n + 1) * sizeof(int));
  s.j    = (int *)RivalAllocate((size_t)head[3] * sizeof(int));
  s.a    = (double *)RivalAllocate((size_t)head[3] * sizeof(double));
  s.b    = (double *)RivalAllocate((size_t)s.n * sizeof(double));
  s.i[0] = 0;
  RivalReadInts(file, path, s.i + 1, (size_t)s.n);
  for (int row = 0; row < s.n; row++) s.i[row + 1] += s.i[row];
  RivalReadInts(file, path, s.j, (size_t)head[3]);
  RivalReadDoubles(file, path, s.a, (size_t)head[3]);
  if (fread(head, sizeof(int), 2, file) == 2) {
    if ((int)__builtin_bswap32((uint32_t)head[0]) != RIVAL_VEC_CLASSID || (int)__builtin_bswap32((uint32_t)head[1]) != s.n)
      RivalStop("no right-hand side in", path);
    RivalReadDoubles(file, path, s.b, (size_t)s.n);
  } else {
    for (int row = 0; row < s.n; row++) s.b[row] = 1;
  }
  fclose(file);
  return s;
}

static inline double RivalDone(void);

/* After a solve: start and between are the times before the set-up and before the solve, repeat counts from 0 */
static inline void RivalRecord(RivalResult *r, int repeat, double start, double between)
{
  r->solveagain = RivalDone() - between;
  r->setupagain = between - start;
  if (repeat) return;
  r->setup = r->setupagain;
  r->solve = r->solveagain;
}

/* |b - A x| / |b| */
static double RivalResidual(const RivalSystem *s, const double x[])
{
  double sum = 0, norm = 0;

  for (int row = 0; row < s->n; row++) {
    double r = s->b[row];

    for (int k = s->i[row]; k < s->i[row + 1]; k++) r -= s->a[k] * x[s->j[k]];
    sum += r * r;
    norm += s->b[row] * s->b[row];
  }
  return sqrt(sum / norm);
}

/* The number behind "name=" in the setting, or the default */
static inline double RivalNumber(const char setting[], const char name[], double standard)
{
  const size_t length = strlen(name);

  for (const char *p = setting; *p;) {
    while (*p == ' ') p++;
    if (!strncmp(p, name, length) && p[length] == '=') return atof(p + length + 1);
    while (*p && *p != ' ') p++;
  }
  return standard;
}

static RivalOptions RivalArguments(int argc, char **argv)
{
  RivalOptions opt = {NULL, "cg", {NULL}, 1e-8, 0, 30, 3, 1000, 200};

  for (int k = 1; k < argc; k += 2) {
    const char *const name = argv[k], *const value = k + 1 < argc ? argv[k + 1] : NULL;

    if (!value) RivalStop("no value for", name);
    if (!strcmp(name, "-system")) opt.file = value;
    else if (!strcmp(name, "-krylov")) opt.krylov = value;
    else if (!strcmp(name, "-rtol")) opt.rtol = atof(value);
    else if (!strcmp(name, "-restart")) opt.restart = atoi(value);
    else if (!strcmp(name, "-repeats")) opt.repeats = atoi(value);
    else if (!strcmp(name, "-iterations")) opt.iterations = atoi(value);
    else if (!strcmp(name, "-seconds")) opt.seconds = atoi(value);
    else if (!strcmp(name, "-set") && opt.nsettings < RIVAL_SETTINGS_MAX) opt.setting[opt.nsettings++] = value;
    else RivalStop("unknown option, or too many", name);
  }
  if (!opt.file || !opt.nsettings)
    RivalStop("usage", "-system FILE -set \"NAME: ...\" [-set ...] [-krylov cg|bcgs|gmres] [-restart N] [-rtol R] [-repeats N] [-iterations N] [-seconds N]");
  return opt;
}

/* What a program of a rival defines: one setting, measured */
static RivalResult RivalMeasure(const RivalSystem *s, const RivalOptions *opt, const char setting[]);

/*
   Each setting is a process of its own, as a user's program is: nothing is warm that is cold for a user. The system is
   read before, once. "NAME: ..." is a setting.
*/
static int RivalMain(int argc, char **argv, const char rival[])
{
  const RivalOptions opt = RivalArguments(argc, argv);
  const RivalSystem  s   = RivalRead(opt.file);

  for (int k = 0; k < opt.nsettings; k++) {
    const char *const colon = strchr(opt.setting[k], ':');
    const int         name  = (int)(colon ? colon - opt.setting[k] : (ptrdiff_t)strlen(opt.setting[k]));
    int               status;
    pid_t             child;

    fflush(stdout);
    child = fork();
    if (!child) {
      RivalResult r;
      double      residual;

      alarm((unsigned)opt.seconds);
      r        = RivalMeasure(&s, &opt, colon ? colon + 1 : "");
      residual = RivalResidual(&s, r.x);
      printf("{\"rival\": \"%s\", \"setting\": \"%.*s\", \"rows\": %d, \"nonzeros\": %d, \"iterations\": %d, \"setup\": %.6f, \"solve\": %.6f, "
             "\"setup_again\": %.6f, \"solve_again\": %.6f, \"residual\": %.3e}\n",
             rival, name, opt.setting[k], s.n, s.i[s.n], r.iterations, r.setup, r.solve, r.setupagain, r.solveagain, isfinite(residual) ? residual : 9.);
      fflush(stdout);
      _exit(0);
    }
    if (waitpid(child, &status, 0) < 0) RivalStop("waitpid", opt.setting[k]);
    if (status)
      printf("{\"rival\": \"%s\", \"setting\": \"%.*s\", \"rows\": %d, \"error\": \"%s %d\"}\n", rival, name, opt.setting[k], s.n,
             WIFSIGNALED(status) ? (WTERMSIG(status) == SIGALRM ? "not done in seconds:" : "signal") : "exit status",
             WIFSIGNALED(status) ? (WTERMSIG(status) == SIGALRM ? opt.seconds : WTERMSIG(status)) : WEXITSTATUS(status));
  }
  return 0;
}

#ifdef RIVAL_CUDA
static void RivalCheckCUDA(cudaError_t error, const char what[])
{
  if (error) RivalStop(what, cudaGetErrorString(error));
}

/* A copy on the device; zeros where p is NULL */
static void *RivalUpload(const void *p, size_t bytes)
{
  void *d;

  RivalCheckCUDA(cudaMalloc(&d, bytes ? bytes : 1), "cudaMalloc");
  RivalCheckCUDA(p ? cudaMemcpy(d, p, bytes, cudaMemcpyHostToDevice) : cudaMemset(d, 0, bytes), "upload");
  return d;
}

static inline double RivalDone(void)
{
  RivalCheckCUDA(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return RivalNow();
}
#else
static inline double RivalDone(void)
{
  return RivalNow();
}
#endif
