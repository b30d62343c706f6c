/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Ginkgo's GMRES with a compressed basis on a device, CbGmres: -set "NAME: storage=S jacobi=J". S: keep (double), float,
   half, or int64, int32, int16 of a block. J: 1 preconditions with the diagonal. A later set-up is a new solver.
*/

#define RIVAL_CUDA
#include "rival.h"
#include <ginkgo/ginkgo.hpp>

static gko::solver::cb_gmres::storage_precision Storage(const char setting[])
{
  using precision = gko::solver::cb_gmres::storage_precision;
  static const struct {
    const char *name;
    precision   storage;
  } storages[] = {{"storage=keep", precision::keep},     {"storage=float", precision::reduce1},  {"storage=half", precision::reduce2},
                  {"storage=int64", precision::integer}, {"storage=int32", precision::ireduce1}, {"storage=int16", precision::ireduce2}};

  for (const auto &s : storages) {
    if (strstr(setting, s.name)) return s.storage;
  }
  return precision::reduce1;
}

static RivalResult RivalMeasure(const RivalSystem *s, const RivalOptions *opt, const char setting[])
{
  using Dense    = gko::matrix::Dense<double>;
  using Csr      = gko::matrix::Csr<double, int>;
  const auto n   = static_cast<gko::size_type>(s->n);
  const auto nz  = static_cast<gko::size_type>(s->i[s->n]);
  auto       cpu = gko::OmpExecutor::create();
  auto       gpu = gko::CudaExecutor::create(0, cpu);
  auto       A   = gko::share(Csr::create(gpu, gko::dim<2>{n, n}, gko::array<double>(gpu, s->a, s->a + nz), gko::array<int>(gpu, s->j, s->j + nz),
                                          gko::array<int>(gpu, s->i, s->i + n + 1)));
  auto       b   = Dense::create(gpu, gko::dim<2>{n, 1}, gko::array<double>(gpu, s->b, s->b + n), 1);
  auto       x   = Dense::create(gpu, gko::dim<2>{n, 1});

  RivalResult r = {};

  A->apply(b, x); /* as before the other programs' first set-up */
  for (int k = 0; k < opt->repeats; k++) {
    x->fill(0.);
    const double start  = RivalDone();
    auto         counts = gko::share(gko::log::Convergence<double>::create());
    auto         parts  = gko::solver::CbGmres<double>::build()
                   .with_criteria(gko::stop::Iteration::build().with_max_iters(static_cast<gko::size_type>(opt->iterations)),
                                  gko::stop::ResidualNorm<double>::build().with_baseline(gko::stop::mode::rhs_norm).with_reduction_factor(opt->rtol))
                   .with_krylov_dim(static_cast<gko::size_type>(opt->restart))
                   .with_storage_precision(Storage(setting));
    if (RivalNumber(setting, "jacobi", 0) > 0) parts.with_preconditioner(gko::preconditioner::Jacobi<double, int>::build().with_max_block_size(1u));
    auto solver = parts.on(gpu)->generate(A);
    solver->add_logger(counts);
    const double between = RivalDone();
    solver->apply(b, x);
    RivalRecord(&r, k, start, between);
    r.iterations = static_cast<int>(counts->get_num_iterations());
  }
  r.x = static_cast<double *>(RivalAllocate(n * sizeof(double)));
  cpu->copy_from(gpu, n, x->get_const_values(), r.x);
  return r;
}

int main(int argc, char **argv)
{
  return RivalMain(argc, argv, "Ginkgo");
}
