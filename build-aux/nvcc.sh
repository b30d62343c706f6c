#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# Runs nvcc like a host compiler: usage nvcc.sh NVCC ARGUMENTS. libtool adds -fPIC and -DPIC to a compile
# line; options for the host compiler are passed on. LITHE_CCACHE=ccache keeps objects for the next build.
nvcc=$1
shift
count=$#
while [ "$count" -gt 0 ]; do
  arg=$1
  shift
  case $arg in
    -f*|-W*|-pthread) set -- "$@" -Xcompiler "$arg" ;;
    *) set -- "$@" "$arg" ;;
  esac
  count=$((count - 1))
done
exec ${LITHE_CCACHE:+"$LITHE_CCACHE"} "$nvcc" "$@"
