# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# LITHE_CHECK_GPU_AWARE_MPI
# -------------------------
# A PETSc with CUDA stops at its first GPU object if MPI cannot send from device
# memory, unless it is told so by -use_gpu_aware_mpi 0. MPI is taken not to be
# GPU-aware unless --with-gpu-aware-mpi is given or PETSc's own configuration
# says that its MPI was built so. Substitutes LITHE_PETSC_OPTIONS_GPU.
AC_DEFUN([LITHE_CHECK_GPU_AWARE_MPI],
[AC_REQUIRE([LITHE_CHECK_PETSC])
AC_ARG_WITH([gpu-aware-mpi],
  [AS_HELP_STRING([--with-gpu-aware-mpi], [MPI sends from device memory, so leave -use_gpu_aware_mpi 0 out of lithe.pc (default: as PETSc's tests do)])],
  [], [with_gpu_aware_mpi=auto])
AC_MSG_CHECKING([whether MPI sends from device memory])
AS_IF([test "$with_gpu_aware_mpi" = auto],
  [LITHE_PETSC_VARIABLE([lithe_petsc_test_options], [PETSC_TEST_OPTIONS])
   AS_CASE([$lithe_petsc_test_options],
     [*'-use_gpu_aware_mpi 0'*], [with_gpu_aware_mpi=no],
     [with_gpu_aware_mpi=yes])])
LITHE_PETSC_OPTIONS_GPU=
AS_IF([test "$PETSC_CUDA" = no], [AC_MSG_RESULT([PETSc has no CUDA])],
  [AS_IF([test "$with_gpu_aware_mpi" = no], [LITHE_PETSC_OPTIONS_GPU=" -use_gpu_aware_mpi 0"])
   AC_MSG_RESULT([$with_gpu_aware_mpi])])
AC_SUBST([LITHE_PETSC_OPTIONS_GPU])
])
