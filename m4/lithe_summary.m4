# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# LITHE_SUMMARY
# -------------
# What was found, in a box.
AC_DEFUN([LITHE_SUMMARY],
[AS_IF([test "$lithe_have_cuda" = yes],
  [lithe_summary_cuda="yes, for $CUDA_ARCH ($NVCC)"],
  [lithe_summary_cuda="no ($lithe_cuda_why)"])
cat <<_LITHE_EOF

+------------------------------------------------------------------------------
| Lithe $PACKAGE_VERSION
+------------------------------------------------------------------------------
| PETSc       $PETSC_VERSION in $PETSC_DIR ${PETSC_ARCH:-(installed)}
| scalars     $PETSC_SCALAR, $PETSC_PRECISION precision, $PETSC_INDEX_BITS-bit indices
| compiler    $CC $CFLAGS
| mpiexec     $MPIEXEC
| CUDA        $lithe_summary_cuda
| tests       ${PETSC_HARNESS:-no harness found}
| prefix      $prefix
+------------------------------------------------------------------------------
| next        make, make check, make install
| use it      PETSC_OPTIONS="-dll_append `pwd`/.libs/liblithe.so$LITHE_PETSC_OPTIONS_GPU"
+------------------------------------------------------------------------------

_LITHE_EOF
])
