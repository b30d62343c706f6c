#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# Runs the demo over every matrix of a folder and prints one markdown table.
# Run in the environment of ./quickstart env, for complex matrices in the
# environment of ./quickstart env --scalar complex. A real PETSc skips complex
# matrices and prints a note.

set -u

usage()
{
  cat <<'END'
Usage: run-data.sh [demo options] FOLDER [-- PETSc options]

Every .mtx and .tra file below FOLDER, also .gz or .xz, and every .petsc file is
solved by tutorials/demo.sh. Archives of permeabilities (*perm*.tar, .tar.xz) are
made into systems by matgen -kind spe10. The table goes to standard output, what
the demo prints to standard error.
END
}

here=$(cd "$(dirname "$0")" && pwd -P) || exit 1
demo=$here/../tutorials/demo.sh
: "${LITHE_BUILD:?is not set: eval \"\$(./quickstart env)\" first}"
folder= before=
while [ $# -gt 0 ]; do
  case $1 in
    --help|-h) usage; exit 0 ;;
    --) break ;;
    --types|--gpu|-n|--rtol) [ $# -ge 2 ] || { usage >&2; exit 1; }; before="$before $1 '$2'"; shift ;;
    -*) usage >&2; exit 1 ;;
    *) folder=$1 ;;
  esac
  shift
done
[ -n "$folder" ] && [ -d "$folder" ] || { usage >&2; exit 1; }

rows=$(mktemp) || exit 1
list=$(mktemp) || exit 1
trap 'rm -f "$rows" "$list"' EXIT
find "$folder" -type f \( -name '*.mtx' -o -name '*.mtx.?z' -o -name '*.tra' -o -name '*.tra.?z' -o -name '*.petsc' -o -name '*perm*.tar' -o -name '*perm*.tar.xz' \) | sort >"$list"
[ -s "$list" ] || { echo "run-data: no matrix below $folder" >&2; exit 1; }

# A real PETSc cannot hold complex numbers
conf=$PETSC_DIR/${PETSC_ARCH:-}/include/petscconf.h
[ -f "$conf" ] || conf=$PETSC_DIR/include/petscconf.h
scalars=real
if grep -q 'define PETSC_USE_COMPLEX 1' "$conf"; then scalars=complex; fi
header()
{
  case $1 in
    *.gz) gzip -dc "$1" ;;
    *.xz) xz -dc "$1" ;;
    *) cat "$1" ;;
  esac 2>/dev/null | head -n 1
}

failed=0
while IFS= read -r file <&3; do
  echo "run-data: $file" >&2
  case $file in
    *.mtx*)
      if [ "$scalars" = real ] && header "$file" | grep -qi ' complex '; then
        echo "run-data: complex, skipped" >&2
        continue
      fi
      eval 'sh "$demo"' "$before" '--markdown "$rows" "$file" "$@"' >&2 || failed=1 ;;
    *.tar|*.tar.xz) eval 'sh "$demo"' "$before" '--markdown "$rows" --kind spe10 --gen "-permeability $file" "$@"' >&2 || failed=1 ;;
    *) eval 'sh "$demo"' "$before" '--markdown "$rows" "$file" "$@"' >&2 || failed=1 ;;
  esac
done 3<"$list"

echo '| matrix | rows | nonzeros | solved with | stored as | MB | times smaller | SpMV ms | times faster | iterations | solve s | true residual | converged |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|'
cat "$rows"
exit $failed
