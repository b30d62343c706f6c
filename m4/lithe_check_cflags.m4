# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# LITHE_CHECK_CFLAGS
# ------------------
# Puts into LITHE_CFLAGS those of our flags that the C compiler knows: warnings,
# no errno from mathematics (it keeps square roots out of vector loops),
# and hidden symbols, as PETSC_EXTERN expects. Into LITHE_LDFLAGS: that the
# library may not be unloaded (PETSc and CUDA keep pointers into it until the
# process ends) and may not have undefined symbols.
AC_DEFUN([LITHE_CHECK_CFLAGS],
[AC_LANG_ASSERT([C])
LITHE_CFLAGS=
for lithe_flag in -Wall -Wextra -Wwrite-strings -Wno-unknown-pragmas -Wno-unused-parameter -Wno-sign-compare -Werror=implicit-function-declaration -fno-math-errno -fvisibility=hidden; do
  AS_VAR_PUSHDEF([lithe_known], [lithe_cv_cflag_$lithe_flag])
  AC_CACHE_CHECK([whether $CC knows $lithe_flag], [lithe_known],
    [lithe_save_CFLAGS=$CFLAGS
     CFLAGS="$CFLAGS -Werror $lithe_flag"
     AC_COMPILE_IFELSE([AC_LANG_PROGRAM()], [AS_VAR_SET([lithe_known], [yes])], [AS_VAR_SET([lithe_known], [no])])
     CFLAGS=$lithe_save_CFLAGS])
  AS_VAR_IF([lithe_known], [yes], [LITHE_CFLAGS="$LITHE_CFLAGS $lithe_flag"])
  AS_VAR_POPDEF([lithe_known])
done
LITHE_LDFLAGS=
for lithe_flag in -Wl,-z,nodelete -Wl,-z,defs; do
  AS_VAR_PUSHDEF([lithe_known], [lithe_cv_ldflag_$lithe_flag])
  AC_CACHE_CHECK([whether the linker knows $lithe_flag], [lithe_known],
    [lithe_save_LDFLAGS=$LDFLAGS
     LDFLAGS="$LDFLAGS $lithe_flag"
     AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AS_VAR_SET([lithe_known], [yes])], [AS_VAR_SET([lithe_known], [no])])
     LDFLAGS=$lithe_save_LDFLAGS])
  AS_VAR_IF([lithe_known], [yes], [LITHE_LDFLAGS="$LITHE_LDFLAGS $lithe_flag"])
  AS_VAR_POPDEF([lithe_known])
done
AC_SUBST([LITHE_CFLAGS])
AC_SUBST([LITHE_LDFLAGS])
])
