# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# A small library for tests which are shell scripts and use the Test Anything Protocol. A script runs
# in the build folder, begins with
#
#   . "${srcdir:-$(dirname "$0")/../..}/tests/tap.sh"
#
# and ends with tap_done. By hand: cd build/ARCH && sh ../../tests/app/loading.tap

. ./tests/env.sh
export PETSC_DIR PETSC_ARCH
unset PETSC_OPTIONS
# More MPI processes than cores: a waiting process of MPICH must give up its core at once. The collectives in
# shared memory ("release_gather") never give up the core, and a test would take minutes
export MPIR_CVAR_POLLS_BEFORE_YIELD=1
for collective in ALLREDUCE BARRIER BCAST REDUCE; do
  export "MPIR_CVAR_${collective}_POSIX_INTRA_ALGORITHM=mpir"
done
tap_count=0
# petsc.tap has a folder for each of its own, because two may run at a time
tap_work=$PWD/tests/work/$(basename "$0" .tap)${tap_part:+-$tap_part}
rm -rf "$tap_work"
mkdir -p "$tap_work" tests/bin

# ok NAME COMMAND...: passes if the command succeeds; otherwise prints the output of the command
ok()
{
  tap_name=$1
  shift
  tap_count=$((tap_count + 1))
  if "$@" >"$tap_work/last" 2>&1; then
    echo "ok $tap_count - $tap_name"
  else
    echo "not ok $tap_count - $tap_name"
    sed 's/^/# /' "$tap_work/last" | tail -n 60
  fi
}

# not_ok NAME COMMAND...: passes if the command fails
not_ok() { tap_name=$1; shift; ok "$tap_name" tap_fails "$@"; }
tap_fails() { if "$@"; then echo "it succeeded: $*"; return 1; fi; }

# skip NAME REASON
skip()
{
  tap_count=$((tap_count + 1))
  echo "ok $tap_count - $1 # SKIP $2"
}

# skip_all REASON: instead of every test
skip_all() { echo "1..0 # SKIP $1"; exit 0; }

# long_form NAME: whether tests that take a minute or more run; otherwise NAME is skipped
long_form() { [ "${LITHE_WEEKLY:-no}" = yes ] || { skip "$1" "it takes a minute: make check-long"; return 1; }; }

tap_done() { echo "1..$tap_count"; }

# says FILE PATTERN / says_not FILE PATTERN: tests the output of a program
says() { grep -q -e "$2" "$1" || { echo "this does not say: $2"; cat "$1"; return 1; }; }
says_not() { if grep -e "$2" "$1"; then echo "this says: $2"; return 1; fi; }

# petsc_program ksp/ksp/tutorials/ex2: compiles an unmodified program of PETSc, once; sets $program to the program
petsc_program()
{
  program=$PWD/tests/bin/$(echo "$1" | tr / -)
  [ -z "${LITHE_BUNDLE:-}" ] || [ ! -x "$program" ] || return 0
  tap_source=$PETSC_EXAMPLES/$1.c
  [ -f "$tap_source" ] || { program=; return 1; }
  [ -x "$program" ] && [ "$program" -nt "$tap_source" ] && [ "$program" -nt tests/env.sh ] && return 0
  # shellcheck disable=SC2086
  $PETSC_PCC $PETSC_PCC_FLAGS $PETSC_CPPFLAGS "$tap_source" -o "$program.$$" -Wl,-export-dynamic $PETSC_LINK -lm >"$tap_work/compile" 2>&1 || {
    sed 's/^/# /' "$tap_work/compile"
    program=
    return 1
  }
  mv "$program.$$" "$program"
}

# mpirun N PROGRAM OPTIONS...: ends within two minutes in all cases
mpirun()
{
  tap_n=$1
  shift
  MPIEXEC_TIMEOUT=120 timeout 150 $MPIEXEC -n "$tap_n" "$@"
}

# with_lithe COMMAND...: runs COMMAND with Lithe loaded by PETSC_OPTIONS, memory leaks shown, errors on stdout
with_lithe() { PETSC_OPTIONS="$LITHE_OPTIONS -malloc_dump -error_output_stdout" "$@"; }
without_lithe() { PETSC_OPTIONS="$LITHE_OPTIONS_GPU -malloc_dump -error_output_stdout" "$@"; }

# same_output FILE FILE: equal but for round-off, by PETSc's petscdiff
same_output() { "$PETSC_DIR/lib/petsc/bin/petscdiff" "$1" "$2"; }

# as_aij NAME N EXAMPLE "OPTIONS" "AIJ OPTIONS" "OUR OPTIONS" [FILTER]
# An unmodified program of PETSc must print the same with Lithe's options and with the options of AIJ. FILTER is a
# sed script which removes permitted differences.
as_aij()
{
  tap_title=$1
  if ! petsc_program "$3"; then
    tap_count=$((tap_count + 1))
    if [ -f "$PETSC_EXAMPLES/$3.c" ]; then echo "not ok $tap_count - $tap_title: $3 does not compile"
    else echo "ok $tap_count - $tap_title # SKIP this PETSc comes without $3.c"; fi
    return
  fi
  ok "$tap_title" as_aij_compare "$2" "$4" "$5" "$6" "${7:-}"
}
as_aij_compare()
{
  tap_dir=$tap_work/$tap_count
  mkdir -p "$tap_dir"
  # shellcheck disable=SC2086
  (cd "$tap_dir" && without_lithe mpirun "$1" "$program" $2 $3 >aij.raw 2>&1) || { echo "the run with AIJ fails"; cat "$tap_dir/aij.raw"; return 1; }
  # shellcheck disable=SC2086
  (cd "$tap_dir" && with_lithe mpirun "$1" "$program" $2 $4 >lithe.raw 2>&1) || { echo "the run with $4 fails"; cat "$tap_dir/lithe.raw"; return 1; }
  sed "$5" "$tap_dir/aij.raw" >"$tap_dir/aij.out"
  sed "$5" "$tap_dir/lithe.raw" >"$tap_dir/lithe.out"
  same_output "$tap_dir/aij.out" "$tap_dir/lithe.out"
}

# petsc_has NAME: whether PETSc was configured with this package
petsc_has() { grep -q "^#define PETSC_HAVE_$1 1" "$PETSC_DIR/$PETSC_ARCH/include/petscconf.h"; }

# Whether CUDA has a usable GPU: no_device succeeds without a GPU, and sets $reason
no_device()
{
  if [ "$LITHE_HAVE_CUDA" != yes ]; then reason="built without CUDA"
  elif ! ./tests/countdevices >"$tap_work/devices" 2>&1; then reason="no CUDA device here"
  else return 1; fi
}

# A Python with petsc4py for the PETSc in use: sets $python, or fails and sets $reason. The interpreter of quickstart, or PYTHON
find_petsc4py()
{
  python=${LITHE_PYTHON:-${PYTHON:-python3}}
  if ! command -v "$python" >/dev/null 2>&1; then reason="there is no $python"
  elif ! "$python" -c 'import petsc4py.PETSc' >"$tap_work/import" 2>&1; then
    reason="$python cannot import petsc4py: ${LITHE_NO_PETSC4PY:-$(tail -n 1 "$tap_work/import")}"
  elif ! "$python" -c '
import sys, petsc4py
from petsc4py import PETSc
folder, arch, version = sys.argv[1:]
config = petsc4py.get_config()
mine = folder == config.get("PETSC_DIR") and arch in ("", config.get("PETSC_ARCH"))
sys.exit(not (mine if config.get("PETSC_DIR") else version == "%d.%d.%d" % PETSc.Sys.getVersion()))' "$PETSC_DIR" "$PETSC_ARCH" "$PETSC_VERSION" >/dev/null 2>&1; then
    reason="petsc4py of $python belongs to another PETSc than $PETSC_DIR $PETSC_ARCH"
  else
    return 0
  fi
  return 1
}
