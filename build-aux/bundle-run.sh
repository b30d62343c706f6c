#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# Runs a command with PETSc, MPI and Lithe from the folder of this script
LITHE_BUNDLE=$(cd "$(dirname "$0")" && pwd -P)
export LITHE_BUNDLE
scalar=
for name in real complex; do
  [ -n "$scalar" ] || [ ! -d "$LITHE_BUNDLE/$name" ] || scalar=$name
done
[ "${1:-}" != --scalar ] || { scalar=${2:-}; shift 2; }
part=$LITHE_BUNDLE/$scalar
[ -d "$part" ] || { echo "run: there is no $scalar part in this bundle" >&2; exit 1; }

if [ $# = 0 ] || [ "$1" = --help ]; then
  cat <<END
Usage: ./run [--scalar real|complex] COMMAND ARGUMENTS...

A command is any program, found first among those here; Lithe is loaded by PETSC_OPTIONS:
  ./run ksp-ksp-tutorials-ex2 -m 300 -n 300 -mat_type vcrs -log_view
  ./run mpiexec -n 2 ksp-ksp-tutorials-ex2 -mat_type vcrs
  ./run spmv -help
  ./run check [FOLDER...]  the tests, in a new folder below the current one, LITHE_TEST_JOBS at a time; the last line counts them;
                           LITHE_TEST_DEVICE_ONLY=yes: only those that need a GPU;
                           LITHE_TESTS=FILE: those of programs that it names, vcrs/products a line;
                           LITHE_TEST_MEMCHECK=yes: under compute-sanitizer, which takes up to a minute a test: two or three at a time
  ./run env                the shell lines that set all this

programs of $scalar scalars: $(cd "$part" && ls bin tests/bin | grep -v : | tr '\n' ' ')
END
  exit 0
fi

# CUDA's libraries come from the machine: search the usual folders
paths=$part/lib:$LITHE_BUNDLE/mpi/lib
missing()
{
  for library in "$part"/lib/libpetsc.so.* "$part/lib/liblithe.so"; do
    LD_LIBRARY_PATH=$paths${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ldd "$library" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p'
  done | sort -u
}
lost=$(missing)
if [ -n "$lost" ]; then
  nvcc=$(command -v nvcc 2>/dev/null)
  python=$(command -v python3 2>/dev/null)
  for folder in "${CUDA_HOME:-/nowhere}/lib64" "${nvcc:+$(dirname "$nvcc")/../lib64}" "${nvcc:+$(dirname "$nvcc")/../lib}" \
    /usr/local/cuda*/lib64 /usr/local/cuda*/lib /usr/local/cuda*/targets/*/lib /usr/local/nvidia/lib64 \
    ${python:+$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null)/nvidia/*/lib} \
    /opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib /opt/*/lib/python3*/site-packages/nvidia/*/lib /usr/lib/python3*/*-packages/nvidia/*/lib "$LITHE_BUNDLE/fallback"; do
    for name in $lost; do
      if [ -e "$folder/$name" ]; then
        case :$paths: in *":$folder:"*) ;; *) paths=$paths:$folder ;; esac
      fi
    done
  done
  lost=$(missing | tr '\n' ' ')
  [ -z "$lost" ] || echo "run: these libraries are not on this machine: $lost(CUDA's: install the toolkit of that version, or set LD_LIBRARY_PATH)" >&2
fi

LD_LIBRARY_PATH=$paths${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PATH=$part/bin:$part/tests/bin:$LITHE_BUNDLE/mpi/bin:${PATH:-/usr/local/bin:/usr/bin:/bin}
LITHE_BUILD=$part
export LD_LIBRARY_PATH PATH LITHE_BUILD PETSC_DIR PETSC_ARCH
. "$part/tests/env.sh"
lithe_options=$LITHE_OPTIONS
export UCX_MODULE_DIR="$LITHE_BUNDLE/mpi/lib/ucx" LITHE_PLOT="$LITHE_BUNDLE/share/tutorials/plot.py" OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"

# The tests: copies of PETSc's harness scripts get the paths of the current machine
check()
{
  work=$PWD/lithe-check-$scalar
  jobs=${LITHE_TEST_JOBS:-$((($(nproc 2>/dev/null || echo 1) + 1) / 2))}
  # possibly more processes than cores: MPICH must sleep while waiting
  export MPIR_CVAR_POLLS_BEFORE_YIELD=1
  rm -rf "$work"
  mkdir -p "$work/tests/bin" "$work/logs"
  cp "$part/tests/env.sh" "$work/tests/"
  cp -R "$part/tests/petsc" "$work/petsc"
  cp "$part"/tests/bin/* "$work/tests/bin/" 2>/dev/null
  [ ! -x "$part/bin/countdevices" ] || cp "$part/bin/countdevices" "$work/tests/"
  device=yes
  [ "$LITHE_HAVE_CUDA" = yes ] && "$part/bin/countdevices" >"$work/logs/devices" 2>&1 || device=no
  if [ "$device" = no ]; then echo "# no CUDA device: tests that need one are skipped"; fi
  find "$work/petsc" -name '*.sh' -exec sed -i "s|@SHARE@|$LITHE_BUNDLE/share|g; s|@WORK@|$work/petsc|g; s|@LIB@|$part/lib|g" {} +
  if [ "${LITHE_TEST_MEMCHECK:-no}" = yes ]; then
    memcheck="compute-sanitizer --tool memcheck --error-exitcode 99 --log-file $work/logs/memcheck.%p"
    find "$work/petsc" -name '*.sh' -exec sed -i "s|^mpiexec_tail=.*|mpiexec_tail='$memcheck'|" {} +
  fi
  : >"$work/tap"
  : >"$work/scripts"
  for script in $(cd "$work/petsc" && find . -name 'run*.sh' | sort); do
    folder=$(echo "$script" | cut -d / -f 2)
    [ $# = 0 ] || case " $* " in *" $folder "*) ;; *) continue ;; esac
    name=$(basename "$script" .sh)
    name=${name#run}
    needs_cuda=no
    grep -qx "$name" "$work/petsc/$folder/device.list" && needs_cuda=yes
    [ $needs_cuda = yes ] || [ "${LITHE_TEST_DEVICE_ONLY:-no}" = no ] || continue
    [ -z "${LITHE_TESTS:-}" ] || grep -qx "$folder/${name%%[_+]*}" "$LITHE_TESTS" || continue
    if [ "$device" = no ] && [ $needs_cuda = yes ]; then
      echo "ok $script # SKIP no CUDA device here" | tee -a "$work/tap"
      continue
    fi
    mkdir -p "$work/petsc/$folder/counts"
    echo "$script" >>"$work/scripts"
  done
  # keep the lines of a script together
  export work lithe_options
  xargs -P "$jobs" -I SCRIPT sh -c '
    log=$work/logs/$(echo "SCRIPT" | tr / -)
    (cd "$(dirname "$work/petsc/SCRIPT")" && PETSC_OPTIONS=$lithe_options bash "./$(basename "SCRIPT")" -t "${LITHE_TEST_TIMEOUT:-240}" 2>&1) | sed "s/^ ok/ok/" >"$log"
    cat "$log"' <"$work/scripts"
  while read -r script; do cat "$work/logs/$(echo "$script" | tr / -)"; done <"$work/scripts" >>"$work/tap"
  for script in "$LITHE_BUNDLE"/share/tests/app/*.tap; do
    [ -f "$script" ] || continue
    [ $# = 0 ] || case " $* " in *" app "*) ;; *) continue ;; esac
    (cd "$work" && srcdir=$LITHE_BUNDLE/share sh "$script" 2>&1) | sed "s|^\(not \)\{0,1\}ok [0-9]*|&|" | tee -a "$work/tap"
  done
  # what memcheck found: the kernels and lines, once each
  cat "$work"/logs/memcheck.* 2>/dev/null | awk '/Invalid|Misaligned|leaked|Program hit/ { what = $0; getline; print "# memcheck:" what $0 }' | sort | uniq -c
  awk '/^ok .*# *SKIP/ { s++; next } /^ok / { p++ } /^not ok / { f++ } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$work/tap"
}

case $1 in
  check)
    shift
    unset PETSC_OPTIONS
    check "$@" ;;
  env)
    for line in "PETSC_DIR=$PETSC_DIR" "PETSC_ARCH=$PETSC_ARCH" "PATH=$PATH" "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" "PETSC_OPTIONS=$lithe_options" "LITHE_BUNDLE=$LITHE_BUNDLE" "LITHE_BUILD=$part" "UCX_MODULE_DIR=$UCX_MODULE_DIR" "LITHE_PLOT=$LITHE_PLOT"; do
      printf "export %s='%s'\n" "${line%%=*}" "${line#*=}"
    done ;;
  *)
    PETSC_OPTIONS="$lithe_options${PETSC_OPTIONS:+ $PETSC_OPTIONS}"
    export PETSC_OPTIONS
    exec "$@" ;;
esac
