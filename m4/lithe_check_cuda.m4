# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# LITHE_CHECK_CUDA
# ----------------
# Call it after LITHE_CHECK_PETSC. Kernels are compiled if PETSc has CUDA and
# nvcc is there, unless --without-cuda; --with-cuda makes their lack an error.
#
# Substitutes NVCC, NVCCFLAGS, LITHE_NVCC_FLAGS, CUDA_ARCH, CUDA_GENCODE,
# CUDA_CPPFLAGS (for the host compiler), CUDA_LIBS; sets the conditional LITHE_HAVE_CUDA and lithe_have_cuda.
AC_DEFUN([LITHE_CHECK_CUDA],
[AC_REQUIRE([LITHE_CHECK_PETSC])
AC_ARG_VAR([NVCC], [the CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [flags for the CUDA compiler])
AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda], [compile the CUDA kernels, or fail (default: if PETSc has CUDA and nvcc is there)])
AS_HELP_STRING([--without-cuda], [leave the CUDA kernels out])],
  [], [with_cuda=auto])
AC_ARG_WITH([cuda-arch],
  [AS_HELP_STRING([--with-cuda-arch=LIST], [compute capabilities to compile for, for example 80,90 (default: that of the GPU in this machine, else 80,90)])],
  [], [with_cuda_arch=])

lithe_have_cuda=no
lithe_cuda_why=
AS_IF([test "$with_cuda" = no], [lithe_cuda_why="--without-cuda"],
      [test "$PETSC_CUDA" = no], [lithe_cuda_why="PETSc has no CUDA"],
      [test "$lithe_petsc_MINOR" -lt 26], [lithe_cuda_why="PETSc $PETSC_VERSION is used on the host only, the kernels need 3.26"],
  [lithe_cuda_path=
   AS_CASE([$with_cuda], [yes|auto], [], [lithe_cuda_path=$with_cuda/bin])
   LITHE_PETSC_VARIABLE([lithe_petsc_nvcc], [SYSTEMNVCC])
   AC_PATH_PROG([NVCC], [nvcc], [], [$lithe_cuda_path$PATH_SEPARATOR`dirname "$lithe_petsc_nvcc"`$PATH_SEPARATOR$PATH$PATH_SEPARATOR/usr/local/cuda/bin])
   AS_IF([test -n "$NVCC"], [lithe_have_cuda=yes], [lithe_cuda_why="nvcc was not found"])])
AS_IF([test "$lithe_have_cuda" = no && test "$with_cuda" != no && test "$with_cuda" != auto],
  [AC_MSG_ERROR([--with-cuda was given, but $lithe_cuda_why])])

AS_IF([test "$lithe_have_cuda" = yes],
  [# For which processors
   AC_MSG_CHECKING([for the CUDA architectures to compile for])
   CUDA_ARCH=$with_cuda_arch
   lithe_cuda_from="--with-cuda-arch"
   AS_IF([test -z "$CUDA_ARCH"],
     [CUDA_ARCH=`nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -n 's/^ *\([[0-9]][[0-9]]*\)\.\([[0-9]]\) *$/\1\2/p' | sort -un | tr '\n' ',' | sed 's/,$//'`
      lithe_cuda_from="the GPU of this machine"])
   AS_IF([test -z "$CUDA_ARCH"], [CUDA_ARCH=80,90; lithe_cuda_from="the default, no GPU here"])
   CUDA_GENCODE=
   lithe_cuda_last=
   for lithe_arch in `echo "$CUDA_ARCH" | sed 's/sm_//g; s/,/ /g'`; do
     AS_CASE([$lithe_arch],
       [*[[!0-9a-z]]*], [AC_MSG_ERROR([--with-cuda-arch=$CUDA_ARCH is no list of compute capabilities such as 80,90])])
     CUDA_GENCODE="$CUDA_GENCODE -gencode arch=compute_$lithe_arch,code=sm_$lithe_arch"
     lithe_cuda_last=$lithe_arch
   done
   # PTX of the last one, for processors that come later
   CUDA_GENCODE="$CUDA_GENCODE -gencode arch=compute_$lithe_cuda_last,code=compute_$lithe_cuda_last"
   AC_MSG_RESULT([$CUDA_ARCH ($lithe_cuda_from)])

   # Compile as PETSc does: the same host compiler and the same C++
   LITHE_PETSC_VARIABLE([lithe_petsc_cudac_flags], [CUDAC_FLAGS])
   LITHE_PETSC_VARIABLE([lithe_petsc_mpicxx_inc], [MPICXX_INCLUDES])
   LITHE_PETSC_VARIABLE([lithe_petsc_cuda_lib], [CUDA_LIB])
   LITHE_PETSC_VARIABLE([CUDA_CPPFLAGS], [CUDA_INCLUDE])
   lithe_cuda_std=`echo " $lithe_petsc_cudac_flags " | sed -n 's/.* \(-std=[[^ ]]*\) .*/\1/p'`
   AS_IF([test -z "$lithe_cuda_std"], [lithe_cuda_std=-std=c++17])
   LITHE_NVCC_FLAGS="$lithe_petsc_mpicxx_inc"
   AS_IF([test -n "$PETSC_CXX"], [LITHE_NVCC_FLAGS="-ccbin $PETSC_CXX $LITHE_NVCC_FLAGS"])
   LITHE_NVCC_FLAGS="$LITHE_NVCC_FLAGS $lithe_cuda_std"
   # PetscComplex of PETSc with real scalars, which no kernel uses: thrust/complex.h takes 3 of the 5 seconds of most files
   AS_IF([test "$PETSC_SCALAR" = real], [LITHE_NVCC_FLAGS="$LITHE_NVCC_FLAGS -DPETSC_SKIP_COMPLEX"])
   AS_IF([test -z "$NVCCFLAGS"], [NVCCFLAGS="-O3 -lineinfo"])

   # The shared runtime that PETSc uses, nothing of the directory of stubs, and what C++ needs
   CUDA_LIBS=
   for lithe_flag in $lithe_petsc_cuda_lib; do
     AS_CASE([$lithe_flag],
       [*stubs*], [],
       [-L*|-Wl,-rpath*], [CUDA_LIBS="$CUDA_LIBS $lithe_flag"])
   done
   CUDA_LIBS="$CUDA_LIBS -lcudart -lstdc++"

   AC_CACHE_CHECK([whether nvcc compiles with PETSc's headers], [lithe_cv_cuda_works],
     [cat >conftest.cu <<_LITHE_EOF
#include <petscsys.h>
__global__ void k(PetscScalar *x) { x[[threadIdx.x]] = 0.0; }
_LITHE_EOF
      AS_IF([$NVCC $LITHE_NVCC_FLAGS $PETSC_CPPFLAGS -arch=sm_$lithe_cuda_last -Xcompiler -fPIC -c conftest.cu -o conftest.o >conftest.out 2>&1],
        [lithe_cv_cuda_works=yes],
        [lithe_cv_cuda_works=no
         cat conftest.out >&AS_MESSAGE_LOG_FD])
      rm -f conftest.cu conftest.o conftest.out])
   AS_IF([test "$lithe_cv_cuda_works" = no],
     [AS_IF([test "$with_cuda" = auto],
        [lithe_have_cuda=no
         lithe_cuda_why="nvcc failed with PETSc's headers, see config.log"
         AC_MSG_WARN([$lithe_cuda_why])],
        [AC_MSG_ERROR([nvcc failed with PETSc's headers, see config.log])])])])

LITHE_CUDA_DEFS=
AS_IF([test "$lithe_have_cuda" = yes], [LITHE_CUDA_DEFS=-DLITHE_HAVE_CUDA=1])
AM_CONDITIONAL([LITHE_HAVE_CUDA], [test "$lithe_have_cuda" = yes])
AC_SUBST([CUDA_ARCH])
AC_SUBST([CUDA_CPPFLAGS])
AC_SUBST([CUDA_GENCODE])
AC_SUBST([CUDA_LIBS])
AC_SUBST([LITHE_CUDA_DEFS])
AC_SUBST([LITHE_NVCC_FLAGS])
AC_SUBST([LITHE_HAVE_CUDA_WORD], [$lithe_have_cuda])
])
