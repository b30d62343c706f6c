#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# Checks that no solve fails only because of the default compression of PCVCRS: random reservoirs,
# and every matrix of the given folders. Run in the environment of ./quickstart env.

set -u

usage()
{
  cat <<'END'
Usage: precond-seeds.sh [--seeds N] [--size N] [--inner LIST] [FOLDER...] [-- PETSc options]

  --seeds N     so many random reservoirs (default: 100)
  --size N      of N cells in each direction (default: 32)
  --inner LIST  preconditioners (default: ilu,gamg,bjacobi; bjacobi has 8 blocks)
  FOLDER        every .mtx and .tra file below it, also .gz or .xz, every .petsc file, and every file of
                permeabilities in a tar archive

Matrices that lack diagonal entries are shifted by a tenth of their largest entry, as the demo does. The
exit status is not zero if a solve that converges with an exact preconditioner fails with the compressed one.
END
}

seeds=100 size=32 inner=ilu,gamg,bjacobi folders=
while [ $# -gt 0 ]; do
  case $1 in
    --help|-h) usage; exit 0 ;;
    --) shift; break ;;
    --seeds|--size|--inner)
      [ $# -ge 2 ] || { usage >&2; exit 1; }
      eval "${1#--}=\$2"
      shift ;;
    -*) usage >&2; exit 1 ;;
    *)
      [ -d "$1" ] || { echo "precond-seeds: $1 is no folder" >&2; exit 1; }
      folders="$folders '$1'" ;;
  esac
  shift
done
: "${LITHE_BUILD:?is not set: eval \"\$(./quickstart env)\" first}"
# In a bundle all programs are in one folder
find_program()
{
  for place in "$LITHE_BUILD/$1" "$LITHE_BUILD/bin/$(basename "$1")"; do
    [ ! -f "$place" ] || [ ! -x "$place" ] || { echo "$place"; return; }
  done
  echo "precond-seeds: $LITHE_BUILD/$1 is missing: make $1 there" >&2
  return 1
}
precond=$(find_program bench/precond) && mm2petsc=$(find_program tutorials/mm2petsc) && matcheck=$(find_program tutorials/matcheck) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# Only the default compression, without timing
solve()
{
  "$precond" -bench_stores default -bench_inner "$inner" -bench_apply 0 -bench_rounds 1 -bench_strict -vcrs_pc_bjacobi_blocks 8 -options_left 0 "$@" >"$work/out" 2>&1
  status=$?
  grep -e '^PETSC ERROR' -e '\[0\]PETSC ERROR' "$work/out" | sed -n 2,4p >&2
  [ "$status" = 0 ] || failed=1
  return "$status"
}

# ---- random reservoirs: failures, and the summary
if [ "$seeds" -gt 0 ]; then
  solve -bench_cases reservoir -nx "$size" -ny "$size" -nz "$size" -bench_seeds "1,$seeds" "$@"
  echo "$seeds random reservoirs of $size x $size x $size cells"
  awk '/^reservoir, seed/ { seed = $0 } $2 == "default" && $NF != "yes" && NF > 8 { print "  " seed; print }' "$work/out"
  sed -n '/^all systems/,$p' "$work/out" | sed 1d
fi

# ---- files
[ -n "$folders" ] || exit $failed
eval "find $folders -type f \( -name '*.mtx' -o -name '*.mtx.?z' -o -name '*.tra' -o -name '*.tra.?z' -o -name '*.petsc' -o -name '*perm*.tar' -o -name '*perm*.tar.xz' \)" | sort >"$work/list"
[ -s "$work/list" ] || { echo "precond-seeds: no matrix in $folders" >&2; exit 1; }
echo
echo "| matrix | rows | preconditioner | iterations, exact | compressed | times smaller | converged, exact | compressed |"
echo "|---|---|---|---|---|---|---|---|"
while IFS= read -r file <&3; do
  name=$(basename "$file")
  input=$file
  case $file in
    *.mtx*|*.tra*)
      input=$work/matrix
      if ! PETSC_OPTIONS="" "$mm2petsc" -f "$file" -o "$input" >"$work/convert" 2>&1; then
        echo "precond-seeds: $name: $(sed -n 's/^\[0\]PETSC ERROR: //p' "$work/convert" | grep -v -e '^-----' | sed -n 2p)" >&2
        continue
      fi
      missing=$(PETSC_OPTIONS="" "$matcheck" -f "$input" | sed -n 's/^missing=//p')
      if [ "${missing:-0}" -gt 0 ]; then
        PETSC_OPTIONS="" "$mm2petsc" -f "$file" -o "$input" -shift 0.1 >/dev/null 2>&1
        name="$name + shift"
      fi ;;
    *.tar|*.tar.xz) input=spe10 ;;
  esac
  rm -f "$work/table"
  solve -bench_cases "$input" -permeability "$file" -bench_markdown "$work/table" "$@" || echo "precond-seeds: $name: see the table" >&2
  [ -f "$work/table" ] || continue

  # the exact row comes before the compressed row
  sed 1,2d "$work/table" | awk -F' *[|] *' -v name="$name" '
    $5 == "exact" { its = $12; reason = $17 }
    $5 == "default" { printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", name, $3, $4, its, $12, $7, reason, $17 }'
done 3<"$work/list"
exit $failed
