#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# Packs one or more builds of Lithe with PETSc, MPI, BLAS, tests, tutorials and benchmarks into a
# relocatable archive. Called by make bundle: bundle.sh VERSION BUILD_FOLDER...
#
#   lithe-VERSION-SCALARS/
#     run                 ./run COMMAND: sets the paths and runs COMMAND; ./run alone prints help
#     mpi/bin, mpi/lib    MPI
#     fallback/           libstdc++ and libgcc_s, for a machine without these
#     real/, complex/     files which depend on the scalar type: lib, bin, tests
#     share/              the scripts
set -eu
version=$1
shift
here=$PWD
aux=$(cd "$(dirname "$0")" && pwd)
say() { echo "bundle: $*" >&2; }
die() { say "$*"; exit 1; }

stage=$here/bundle.stage
rm -rf "$stage"
mkdir -p "$stage"
trap 'rm -rf "$stage"' EXIT

# The libraries of a program or library, with paths; those of CUDA and glibc come from the machine
needs() { LD_LIBRARY_PATH=${mpilib:-} ldd "$1" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }'; }
of_the_machine()
{
  case $1 in
    libc.so*|libm.so*|libdl.so*|librt.so*|libpthread.so*|ld-linux*|libresolv.so*|libutil.so*) return 0 ;;
    libcu*|libnv*) return 0 ;;
    libstdc++*|libgcc_s*) return 0 ;;
  esac
  return 1
}

# copy_needs FOLDER FILE...: copies the needed libraries of the files to FOLDER
copy_needs()
{
  folder=$1
  shift
  for file in "$@"; do
    needs "$file" | while read -r name path; do
      of_the_machine "$name" && continue
      [ ! -f "$top/mpi/lib/$name" ] || continue
      [ -f "$folder/$name" ] || cp -L "$path" "$folder/$name"
    done
  done
}

scalars=
for build in "$@"; do
  . "$build/tests/env.sh"
  scalars=$scalars-$PETSC_SCALAR
done
top=$stage/lithe-$version$scalars
mkdir -p "$top/mpi/bin" "$top/mpi/lib" "$top/fallback" "$top/share"

for build in "$@"; do
  build=$(cd "$build" && pwd)
  . "$build/tests/env.sh"
  say "$PETSC_SCALAR scalars, from $build"
  part=$top/$PETSC_SCALAR
  mkdir -p "$part/lib" "$part/bin" "$part/tests/bin"

  # MPI, once
  if [ ! -x "$top/mpi/bin/mpiexec" ]; then
    bin=$(dirname "$(command -v "$MPIEXEC" || echo "$MPIEXEC")")
    [ -x "$bin/mpiexec" ] || die "mpiexec is not in $bin"
    for program in mpiexec mpiexec.hydra hydra_pmi_proxy; do
      [ ! -x "$bin/$program" ] || cp -L "$bin/$program" "$top/mpi/bin/"
    done
    libmpi=$(needs "$PETSC_LIBDIR/libpetsc.so" | awk '$1 ~ /^libmpi/ { print $2; exit }')
    [ -n "$libmpi" ] || die "libpetsc.so loads no libmpi that could be packed"
    mpilib=$(dirname "$libmpi")
    cp -L "$libmpi" "$top/mpi/lib/"
    copy_needs "$top/mpi/lib" "$libmpi" "$top/mpi/bin"/*
    # a plugin for processes of one machine, which UCX opens by name
    mkdir -p "$top/mpi/lib/ucx"
    cp -L "$mpilib"/mpich/ucx/libuct_cma.so* "$top/mpi/lib/ucx/" 2>/dev/null || true
  fi

  # PETSc and Lithe
  cp -L "$build/.libs/liblithe.so" "$part/lib/"
  for lib in "$PETSC_LIBDIR"/libpetsc.so.*; do
    case $lib in *.so.[0-9]*.[0-9]*.[0-9]*) ;; *) cp -L "$lib" "$part/lib/" ;; esac
  done
  copy_needs "$part/lib" "$part/lib"/*.so*

  # Lithe's programs; behind a libtool wrapper the program is in .libs
  for program in "$build"/tutorials/* "$build"/tutorials/*/* "$build"/bench/* "$build"/tests/countdevices; do
    real=$(dirname "$program")/.libs/$(basename "$program")
    [ -x "$real" ] && [ -f "$real" ] || real=$program
    [ -f "$real" ] && [ -x "$real" ] && head -c 4 "$real" | grep -q ELF || continue
    cp "$real" "$part/bin/"
  done

  # The unmodified programs of PETSc for the tests and the demo
  (
    cd "$build"
    srcdir=$LITHE_SOURCE
    export srcdir
    . "$LITHE_SOURCE/tests/tap.sh"
    for example in ksp/ksp/tutorials/ex10 $(cat "$LITHE_SOURCE"/tests/*/*.tap "$LITHE_SOURCE"/tutorials/*.sh 2>/dev/null | grep -ohE '(ksp/ksp|ksp/pc|snes|ts|mat|dm)/(tutorials|tests)/ex[0-9]+' | sort -u); do
      petsc_program "$example" || { echo "bundle: $example is left out: it does not compile" >&2; continue; }
      cp "$program" "$part/tests/bin/"
    done
  ) </dev/null

  # The folder in which tutorials/demo.sh looks for programs
  [ ! -f "$part/tests/bin/ksp-ksp-tutorials-ex10" ] || cp "$part/tests/bin/ksp-ksp-tutorials-ex10" "$part/bin/ex10"
  ln -s bin "$part/tutorials"

  # The programs of the tests, and the harness's scripts with placeholders for paths
  for folder in $(cd "$LITHE_SOURCE/tests" && grep -l '^TEST\*/' ./*/*.c | cut -d / -f 2 | sort -u); do
    (cd "$build" && srcdir=$LITHE_SOURCE LITHE_TEST_BUILD_ONLY=yes sh "$LITHE_SOURCE/tests/petsc.tap" "$folder") || die "the tests of $folder do not compile"
    mkdir -p "$part/tests/petsc/$folder"
    cp "$build/tests/petsc/$folder/device.list" "$part/tests/petsc/$folder/"
    (cd "$build/tests/petsc/$folder" && find "$folder" -type f \( -name '*.sh' -o -perm -u+x \) ! -path '*/run*/*') | while read -r file; do
      mkdir -p "$part/tests/petsc/$folder/$(dirname "$file")"
      cp "$build/tests/petsc/$folder/$file" "$part/tests/petsc/$folder/$file"
      case $file in
        *.sh) sed -i "s|$LITHE_SOURCE/tests|@SHARE@/tests|g; s|$build/tests/petsc|@WORK@|g; s|$PETSC_DIR/$PETSC_ARCH/lib|@LIB@|g; s|'$PETSC_HARNESS/config'|'@SHARE@'|; s|'$PETSC_DIR/lib/petsc/bin'|'@SHARE@'|; s|$PETSC_DIR|@SHARE@|g; s|$MPIEXEC|mpiexec|g" "$part/tests/petsc/$folder/$file" ;;
      esac
    done
    mkdir -p "$top/share/tests/$folder"
    [ ! -d "$LITHE_SOURCE/tests/$folder/output" ] || cp -r "$LITHE_SOURCE/tests/$folder/output" "$top/share/tests/$folder/"
  done

  # PETSc's configuration, for tutorials/demo.sh and bench/run-data.sh
  conf=$PETSC_DIR/$PETSC_ARCH/include/petscconf.h
  [ -f "$conf" ] || conf=$PETSC_DIR/include/petscconf.h
  mkdir -p "$top/share/$PETSC_SCALAR/include"
  cp "$conf" "$top/share/$PETSC_SCALAR/include/"

  # Settings for tests/tap.sh
  sed "s|^PETSC_DIR=.*|PETSC_DIR=\$LITHE_BUNDLE/share|; s|^PETSC_ARCH=.*|PETSC_ARCH=$PETSC_SCALAR|; s|^PETSC_HARNESS=.*|PETSC_HARNESS=|; s|^PETSC_EXAMPLES=.*|PETSC_EXAMPLES=|; s|^PETSC_PCC.*||; s|^PETSC_CPPFLAGS=.*||; s|^PETSC_LIN.*||; s|^BLASLAPACK.*||; s|^PETSC_LIBDIR=.*||; s|^MPIEXEC=.*|MPIEXEC=mpiexec|; s|^LITHE_SOURCE=.*|LITHE_SOURCE=\$LITHE_BUNDLE/share|; s|^LITHE_BUILD=.*|LITHE_BUILD=\$LITHE_BUNDLE/$PETSC_SCALAR|; s|$build/.libs|'\"\$LITHE_BUNDLE\"'/$PETSC_SCALAR/lib|" "$build/tests/env.sh" >"$part/tests/env.sh"
done

# The scripts
. "$1/tests/env.sh"
cp "$aux/bundle-run.sh" "$top/run"
chmod +x "$top/run"
cp "$LITHE_SOURCE/LICENSE" "$top/share/"
cp "$PETSC_DIR/lib/petsc/bin/petscdiff" "$top/share/"
mkdir -p "$top/share/lib/petsc/bin"
ln -sf ../../../petscdiff "$top/share/lib/petsc/bin/petscdiff"
cp "$PETSC_HARNESS/config/petsc_harness.sh" "$top/share/"
cp "$LITHE_SOURCE/tests/tap.sh" "$top/share/tests/"
mkdir -p "$top/share/tests/app" "$top/share/tutorials/sbpsat" "$top/share/bench"
cp "$LITHE_SOURCE"/tests/app/*.tap "$top/share/tests/app/" 2>/dev/null || true
cp "$LITHE_SOURCE"/tutorials/*.sh "$LITHE_SOURCE/tutorials/plot.py" "$top/share/tutorials/" 2>/dev/null || true
cp "$LITHE_SOURCE/tutorials/sbpsat/cycle.py" "$top/share/tutorials/sbpsat/" 2>/dev/null || true
cp "$LITHE_SOURCE"/bench/*.sh "$top/share/bench/" 2>/dev/null || true
for lib in libstdc++.so.6 libgcc_s.so.1; do
  path=$(ldd "$PETSC_LIBDIR/libpetsc.so" | awk -v name="$lib" '$1 == name { print $3 }')
  [ -z "$path" ] || cp -L "$path" "$top/fallback/"
done

# Strip, and remove the folders of the build machine
find "$top" -type f \( -name '*.so*' -o -perm -u+x \) | while read -r file; do
  head -c 4 "$file" | grep -q ELF || continue
  strip --strip-unneeded "$file" 2>/dev/null || true
done

name=lithe-$version$scalars
say "packing $(du -sk "$top" | cut -f 1) kB"
tar -C "$stage" -cf - "$name" | xz -T0 >"$here/$name.tar.xz"
say "$here/$name.tar.xz: $(du -k "$here/$name.tar.xz" | cut -f 1) kB"
