# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# LITHE_CHECK_PETSC
# -----------------
# Finds PETSc by PETSC_DIR and PETSC_ARCH, else by pkg-config; it must be 3.24,
# 3.25 or 3.26 and a shared library. Call it before AC_PROG_CC: it sets CC, unless the user
# did, to the compiler that PETSc was built with, usually an MPI wrapper.
#
# Substitutes PETSC_DIR, PETSC_ARCH, PETSC_CPPFLAGS, PETSC_LINK, PETSC_LIBDIR,
# PETSC_VERSION, PETSC_SCALAR, PETSC_PRECISION, PETSC_INDEX_BITS, PETSC_CUDA
# (yes or no), BLASLAPACK_LIBS, HDF5_LIBS, PETSC_HARNESS (where gmakefile.test is), PETSC_EXAMPLES (where
# its example programs are), PETSC_PCC, PETSC_PCC_FLAGS, PETSC_CXX, MPIEXEC.

# LITHE_PETSC_VARIABLE(SHELL-VARIABLE, MAKE-VARIABLE)
# ---------------------------------------------------
# Asks make for a variable of PETSc's configuration.
AC_DEFUN([LITHE_PETSC_VARIABLE],
[$1=`PETSC_DIR="$PETSC_DIR" PETSC_ARCH="$PETSC_ARCH" ${MAKE-make} -s --no-print-directory -f "$srcdir/build-aux/petscvariable.mk" NAME=$2 2>/dev/null`])

AC_DEFUN([LITHE_CHECK_PETSC],
[AC_ARG_VAR([PETSC_DIR], [where PETSc is: its source tree, or where it is installed])
AC_ARG_VAR([PETSC_ARCH], [which build of PETSC_DIR; empty for an installed PETSc])
AC_ARG_VAR([MPIEXEC], [starts an MPI program in the tests])
AC_REQUIRE([PKG_PROG_PKG_CONFIG])

# Where it is
AC_MSG_CHECKING([for PETSc])
lithe_petsc_from="PETSC_DIR and PETSC_ARCH"
AS_IF([test -z "$PETSC_DIR" && test -n "$PKG_CONFIG"],
  [for lithe_pc in PETSc petsc; do
     lithe_petsc_inc=`$PKG_CONFIG --variable=includedir $lithe_pc 2>/dev/null`
     AS_IF([test -n "$lithe_petsc_inc" && test -f "$lithe_petsc_inc/petscconf.h"],
       [PETSC_DIR=`sed -n 's/^#define PETSC_DIR "\(.*\)"/\1/p' "$lithe_petsc_inc/petscconf.h"`
        PETSC_ARCH=`sed -n 's/^#define PETSC_ARCH "\(.*\)"/\1/p' "$lithe_petsc_inc/petscconf.h"`
        lithe_petsc_from="pkg-config"
        break])
   done])
AS_IF([test -z "$PETSC_DIR"],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([PETSc was not found. Set PETSC_DIR (and PETSC_ARCH), or PKG_CONFIG_PATH, to PETSc 3.24, 3.25 or 3.26; ./quickstart builds one])])
AS_IF([test -f "$PETSC_DIR/include/petscversion.h"], [],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([PETSC_DIR=$PETSC_DIR holds no include/petscversion.h. Set PETSC_DIR to PETSc 3.24, 3.25 or 3.26])])
lithe_petsc_vars="$PETSC_DIR/$PETSC_ARCH/lib/petsc/conf/petscvariables"
AS_IF([test -f "$lithe_petsc_vars"], [],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([$lithe_petsc_vars is not there. Set PETSC_ARCH to a build of $PETSC_DIR, or to nothing for an installed PETSc])])
AC_MSG_RESULT([$PETSC_DIR $PETSC_ARCH (from $lithe_petsc_from)])

# Its version. A plugin must have been compiled for the minor version that loads it.
AC_MSG_CHECKING([for the version of PETSc])
for lithe_part in MAJOR MINOR SUBMINOR; do
  lithe_value=`sed -n "s/^#define PETSC_VERSION_$lithe_part  *\([0-9]*\).*/\1/p" "$PETSC_DIR/include/petscversion.h"`
  AS_VAR_SET([lithe_petsc_$lithe_part], [$lithe_value])
done
PETSC_VERSION=$lithe_petsc_MAJOR.$lithe_petsc_MINOR.$lithe_petsc_SUBMINOR
AC_MSG_RESULT([$PETSC_VERSION])
AS_CASE([$lithe_petsc_MAJOR.$lithe_petsc_MINOR],
  [3.24|3.25|3.26], [],
  [AC_MSG_ERROR([PETSc $PETSC_VERSION in $PETSC_DIR cannot be used: Lithe needs PETSc 3.24, 3.25 or 3.26])])

# How it was configured
AC_MSG_CHECKING([how PETSc was configured])
LITHE_PETSC_VARIABLE([PETSC_SCALAR], [PETSC_SCALAR])
LITHE_PETSC_VARIABLE([PETSC_PRECISION], [PETSC_PRECISION])
LITHE_PETSC_VARIABLE([PETSC_INDEX_BITS], [PETSC_INDEX_SIZE])
LITHE_PETSC_VARIABLE([PETSC_PCC], [PCC])
LITHE_PETSC_VARIABLE([PETSC_PCC_FLAGS], [PCC_FLAGS])
LITHE_PETSC_VARIABLE([PETSC_CXX], [CXX])
LITHE_PETSC_VARIABLE([PETSC_CPPFLAGS], [PETSC_CC_INCLUDES])
LITHE_PETSC_VARIABLE([lithe_petsc_libname], [PETSC_LIB_BASIC])
LITHE_PETSC_VARIABLE([BLASLAPACK_LIBS], [BLASLAPACK_LIB])
LITHE_PETSC_VARIABLE([HDF5_LIBS], [HDF5_LIB])
LITHE_PETSC_VARIABLE([lithe_petsc_shared], [BUILDSHAREDLIB])
LITHE_PETSC_VARIABLE([lithe_petsc_mpiexec], [MPIEXEC])
AS_IF([test -n "$PETSC_SCALAR" && test -n "$PETSC_PCC"],
  [AC_MSG_RESULT([$PETSC_SCALAR scalars, $PETSC_PRECISION precision, $PETSC_INDEX_BITS-bit indices])],
  [AC_MSG_RESULT([unknown])
   AC_MSG_ERROR([$lithe_petsc_vars cannot be read by ${MAKE-make}; GNU make is needed])])
AS_IF([test "$lithe_petsc_shared" = yes], [],
  [AC_MSG_ERROR([PETSc in $PETSC_DIR $PETSC_ARCH is a static library. A plugin needs a PETSc that was configured with --with-shared-libraries=1])])
AS_CASE([$PETSC_PRECISION],
  [single|double], [],
  [AC_MSG_ERROR([PETSc was configured with --with-precision=$PETSC_PRECISION; Lithe supports single and double])])

# Only PETSc itself is linked, and its LAPACK, and its HDF5 by tutorials: what PETSc needs, PETSc loads
PETSC_LIBDIR="$PETSC_DIR/$PETSC_ARCH/lib"
AS_IF([test -z "$PETSC_ARCH"], [PETSC_LIBDIR="$PETSC_DIR/lib"])
PETSC_LINK="-L$PETSC_LIBDIR -Wl,-rpath,$PETSC_LIBDIR $lithe_petsc_libname"

AC_MSG_CHECKING([whether PETSc has CUDA])
AS_IF([grep '^#define PETSC_HAVE_CUDA 1' "$PETSC_DIR/$PETSC_ARCH/include/petscconf.h" >/dev/null 2>&1],
  [PETSC_CUDA=yes], [PETSC_CUDA=no])
AC_MSG_RESULT([$PETSC_CUDA])

# CC and mpiexec
AS_IF([test -z "$CC"], [CC=$PETSC_PCC])
AC_MSG_CHECKING([for mpiexec])
AS_IF([test -z "$MPIEXEC"], [MPIEXEC=$lithe_petsc_mpiexec])
AC_MSG_RESULT([$MPIEXEC])

# The test harness and the example programs, in a source tree or in an installed PETSc
AC_MSG_CHECKING([for PETSc's test harness and examples])
PETSC_HARNESS=
for lithe_d in "$PETSC_DIR" "$PETSC_DIR/share/petsc/examples"; do
  AS_IF([test -f "$lithe_d/gmakefile.test" && test -f "$lithe_d/config/gmakegentest.py"],
    [PETSC_HARNESS=$lithe_d; break])
done
PETSC_EXAMPLES=$PETSC_HARNESS/src
AS_IF([test -n "$PETSC_HARNESS"],
  [AC_MSG_RESULT([$PETSC_HARNESS])],
  [AC_MSG_RESULT([no])
   AC_MSG_WARN([PETSc's test harness is not in $PETSC_DIR: make check will skip what needs it])])

AC_SUBST([BLASLAPACK_LIBS])
AC_SUBST([HDF5_LIBS])
AC_SUBST([PETSC_CPPFLAGS])
AC_SUBST([PETSC_CUDA])
AC_SUBST([PETSC_CXX])
AC_SUBST([PETSC_EXAMPLES])
AC_SUBST([PETSC_HARNESS])
AC_SUBST([PETSC_INDEX_BITS])
AC_SUBST([PETSC_LIBDIR])
AC_SUBST([PETSC_LINK])
AC_SUBST([PETSC_PCC])
AC_SUBST([PETSC_PCC_FLAGS])
AC_SUBST([PETSC_PRECISION])
AC_SUBST([PETSC_SCALAR])
AC_SUBST([PETSC_VERSION])
])
