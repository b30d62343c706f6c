# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# LITHE_CHECK_BUILD
# -----------------
# Compiles and links one program with PETSc, so that a broken PETSc is found
# here and not in the middle of make.
AC_DEFUN([LITHE_CHECK_BUILD],
[AC_REQUIRE([LITHE_CHECK_PETSC])
AC_MSG_CHECKING([whether a program with PETSc compiles and links])
lithe_save_CPPFLAGS=$CPPFLAGS
lithe_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $PETSC_CPPFLAGS"
LIBS="$PETSC_LINK $LIBS"
AC_LINK_IFELSE(
  [AC_LANG_PROGRAM([[#include <petscmat.h>]],
    [[PetscInt major, minor, sub, release;
      return (int)PetscGetVersionNumber(&major, &minor, &sub, &release);]])],
  [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([$CC cannot build a program with PETSc in $PETSC_DIR $PETSC_ARCH; config.log says why])])
CPPFLAGS=$lithe_save_CPPFLAGS
LIBS=$lithe_save_LIBS
])
