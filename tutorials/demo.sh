#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# Solves a system with PETSc's own ksp ex10, with AIJ and with vcrs, and prints
# the results side by side. A generated system is also solved with PETSc's
# preconditioners and with gridmg, from the assembled matrix to the solution,
# with a picture. Run this script by ./quickstart demo, or in the environment
# printed by ./quickstart env.

set -u

usage()
{
  cat <<'END'
Usage: demo.sh [options] [matrix] [-- PETSc options]

matrix is a file: Matrix Market (.mtx), a Markov chain (.tra), both also .gz or
.xz, or PETSc binary (a matrix, then an optional right-hand side). Without a
file, a reservoir of 1000000 cells is generated.

  --kind KIND     generate reservoir, spe10, laplace7, laplace27, helmholtz27,
                  convdiff7 or fem instead
  --rows N        approximate number of rows
  --gen 'OPTIONS' more options for the generator (see matgen -help)
  --types 'A B'   matrix types to compare; the first type is the reference
                  (default: aij vcrs)
  --gpu yes|no    solve on the GPU as well (default: if a GPU exists)
  -n N            processes
  --rtol R        relative tolerance of the solve (default 1e-8)
  --markdown FILE append the result as rows of a markdown table
  --help

PETSc options are given to every solve, e.g. -- -ksp_type gmres -pc_type gamg.
END
}

say() { printf '%s\n' "demo: $*" >&2; }
die() { say "$*"; exit 1; }
absolute() { case $1 in /*) printf '%s' "$1" ;; *) printf '%s' "$(pwd)/$1" ;; esac; }

# ------------------------------------------------------------ arguments

matrix= kind= rows= generator= types='aij vcrs' gpu=auto processes=1 rtol=1e-8 markdown=
while [ $# -gt 0 ]; do
  case $1 in
    --) shift; break ;;
    --help|-h) usage; exit 0 ;;
    --kind|--rows|--gen|--types|--gpu|-n|--rtol|--markdown)
      [ $# -ge 2 ] || die "$1 needs a value; see --help"
      case $1 in
        --kind) kind=$2 ;;
        --rows) rows=$2 ;;
        --gen) generator=$2 ;;
        --types) types=$2 ;;
        --gpu) gpu=$2 ;;
        -n) processes=$2 ;;
        --rtol) rtol=$2 ;;
        --markdown) markdown=$(absolute "$2") ;;
      esac
      shift ;;
    -*) die "$1 is no option of the demo; PETSc options follow --; see --help" ;;
    *)
      [ -z "$matrix" ] || die "two matrices: $matrix and $1; give one"
      matrix=$1 ;;
  esac
  shift
done
case $gpu in auto|yes|no) ;; *) die "--gpu $gpu: it is yes or no" ;; esac
case $processes in ''|*[!0-9]*|0) die "-n $processes: it is a number of processes" ;; esac
case $rows in *[!0-9]*) die "--rows $rows: it is a number" ;; esac
[ -z "$matrix" ] || [ -z "$kind$rows$generator" ] || die "--kind, --rows and --gen are for a generated matrix, and $matrix is a file"

folder=$(dirname "$markdown")
[ -z "$markdown" ] || [ -d "$folder" ] || die "--markdown $markdown: there is no folder $folder; make it first"
[ -z "$markdown" ] || { [ -w "$folder" ] && [ ! -d "$markdown" ] && { [ ! -e "$markdown" ] || [ -w "$markdown" ]; }; } ||
  die "--markdown $markdown: cannot write to the folder $folder; give another one"

# ------------------------------------------------------------ surroundings

: "${PETSC_DIR:?is not set: run ./quickstart demo, or eval \"\$(./quickstart env)\" first}"
: "${LITHE_BUILD:?is not set: run ./quickstart demo, or eval \"\$(./quickstart env)\" first}"
PETSC_ARCH=${PETSC_ARCH-}
programs=$LITHE_BUILD/tutorials
work=$LITHE_BUILD/demo
mkdir -p "$work" || die "cannot write to $work"
run=$(mktemp -d "$work/run.XXXXXX") || die "cannot write to $work"
trap 'rm -rf "$run"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Helper programs run without the options for the solves. Only lines name=value of their output are used,
# because MPI may print warnings.
helper()
{
  program=$1
  shift
  PETSC_OPTIONS= "$programs/$program" "$@" >"$run/helper.out" 2>"$run/helper.err" || {
    # the second line of PETSc's message has the cause, the first line only the kind of error
    sed -n 's/^\[0\]PETSC ERROR: //p' "$run/helper.err" | grep -v -e '^-----' | sed -n 2p >&2
    [ -s "$run/helper.err" ] || cat "$run/helper.out" >&2
    return 1
  }
  sed -n '/^[a-z][a-z]*=[[:alnum:].+-]*$/p' "$run/helper.out" >"$run/helper"
}

for program in matgen mm2petsc matcheck; do
  [ -x "$programs/$program" ] || die "$programs/$program is missing: run make in $LITHE_BUILD"
done

# PETSc's unchanged example, compiled once
ex10=
for folder in "$PETSC_DIR" "$PETSC_DIR/$PETSC_ARCH/share/petsc/examples" "$PETSC_DIR/share/petsc/examples"; do
  [ ! -f "$folder/src/ksp/ksp/tutorials/ex10.c" ] || { ex10=$folder/src/ksp/ksp/tutorials/ex10.c; break; }
done
if [ -x "$programs/ex10" ]; then solver=$programs/ex10
else
  [ -n "$ex10" ] || die "this PETSc ($PETSC_DIR) comes without src/ksp/ksp/tutorials/ex10.c"
  solver=$work/ex10
  if [ ! -x "$solver" ] || [ "$ex10" -nt "$solver" ]; then
    cat >"$run/makefile" <<'END'
include $(PETSC_DIR)/lib/petsc/conf/variables
all: ; $(PCC) $(PCC_FLAGS) $(CFLAGS) $(CCPPFLAGS) -o "$(TARGET)" "$(SOURCE)" $(PETSC_KSP_LIB)
END
    "${MAKE:-make}" -s -f "$run/makefile" PETSC_DIR="$PETSC_DIR" PETSC_ARCH="$PETSC_ARCH" TARGET="$solver" SOURCE="$ex10" >"$run/make.log" 2>&1 || {
      tail -n 20 "$run/make.log" >&2
      die "cannot compile $ex10"
    }
  fi
fi

# The launch command
launcher=
if [ "$processes" -gt 1 ]; then
  if [ -n "${MPIEXEC:-}" ]; then launcher="$MPIEXEC -n $processes"
  elif command -v mpiexec >/dev/null 2>&1; then launcher="mpiexec -n $processes"
  else die "mpiexec is not in PATH: set MPIEXEC"
  fi
fi

# Whether a GPU exists, and PETSc can use the GPU
conf=$PETSC_DIR/$PETSC_ARCH/include/petscconf.h
[ -f "$conf" ] || conf=$PETSC_DIR/include/petscconf.h
device=no
if grep -q 'define PETSC_HAVE_CUDA 1' "$conf" 2>/dev/null && { [ -e /dev/nvidia0 ] || nvidia-smi -L >/dev/null 2>&1; }; then device=yes; fi
[ "$gpu" != yes ] || [ "$device" = yes ] || die "--gpu yes: there is no NVIDIA GPU here, or PETSc was built without CUDA"
[ "$gpu" = no ] || gpu=$device

# ------------------------------------------------------------ the matrix

# Generated matrices are kept; the name of a file holds the options
if [ -z "$matrix" ]; then
  [ -n "$kind" ] || kind=reservoir
  [ -n "$rows" ] || rows=1000000
  name=$kind-$rows
  [ -z "$generator" ] || name=$name-$(printf '%s' "$generator" | cksum | cut -d' ' -f1)
  binary=$work/$name.bin
  if [ ! -f "$binary" ] || [ "$programs/matgen" -nt "$binary" ]; then
    say "generating $kind, $rows rows"
    # shellcheck disable=SC2086
    helper matgen -kind "$kind" -rows "$rows" -o "$run/new.bin" $generator || die "the generator failed"
    mv "$run/new.bin" "$binary" || exit 1
  fi
  name=$kind
else
  [ -f "$matrix" ] || die "$matrix: no such file"
  name=$(basename "$matrix")
  case $matrix in
    *.mtx|*.mtx.gz|*.mtx.xz|*.tra|*.tra.gz|*.tra.xz)
      binary=$run/matrix.bin
      helper mm2petsc -f "$matrix" -o "$binary" || die "cannot convert $matrix" ;;
    *) binary=$matrix ;;
  esac
fi
helper matcheck -f "$binary" || die "$binary cannot be read as a PETSc binary matrix of this PETSc (its scalars and index size must fit)"
. "$run/helper"
[ "$rows" -gt 0 ] && [ "$rows" = "$columns" ] ||
  die "$name is rectangular, with $rows rows and $columns columns, and the demo solves square systems. For least squares use -ksp_type lsqr in a program of your own: docs/guide/choosing.md"

# A matrix of an eigenvalue problem is often singular, so its systems are shifted
if [ "$missing" -gt 0 ] && [ "$binary" = "$run/matrix.bin" ]; then
  helper mm2petsc -f "$matrix" -o "$binary" -shift 0.1 && helper matcheck -f "$binary" || die "cannot convert $matrix"
  say "$missing diagonal entries are missing: the matrix is shifted by a tenth of its largest entry"
  . "$run/helper"
  name="$name + shift"
fi

# ex10 solves a small system first, so timed solves do no first-time work
small=$work/small.bin
[ -f "$small" ] && [ ! "$programs/matgen" -nt "$small" ] || helper matgen -nx 8 -ny 8 -nz 4 -o "$small" || die "the generator failed"

# ------------------------------------------------------------ the solver

# The convergence test uses the true residual. Options of the user come later and win.
if [ "$positive" = yes ]; then options="-ksp_type cg -ksp_norm_type unpreconditioned"
elif [ "$rows" -le 50000 ]; then options="-ksp_type gmres -ksp_gmres_restart 200 -ksp_pc_side right"
else options="-ksp_type bcgs -ksp_pc_side right"
fi
options="$options -ksp_rtol $rtol -ksp_max_it 10000"

# Milliseconds of a product, from a Richardson iteration, which does little else: many products with any
# solver. With -log_view_gpu_time PETSc waits for each kernel.
product()
{
  type=$1
  shift
  # shellcheck disable=SC2086
  $launcher "$solver" -f0 "$small" -f1 "$binary" $right -mat_type "$type" "$@" -ksp_type richardson -ksp_richardson_scale 1e-30 -pc_type none \
    -ksp_pc_side left -ksp_norm_type none -ksp_convergence_test skip -ksp_max_it "$products" -log_view_gpu_time -log_view ":$run/log.product:ascii_csv" >/dev/null 2>&1
  spmv=$(awk -F, '
    $1 == "KSPSolve 1" && $3 == "0" && NF > 4 { n[$2] = $4; t[$2] = $5 }
    END { m = t["MatMult"] - t["MatVCRSCompress"] - t["MatVCRSUpload"] - t["MatCUSPARSCopyTo"]; if (n["MatMult"] > 0 && m > 0) printf "%.4g", 1000 * m / n["MatMult"]; else printf "-" }' "$run/log.product" 2>/dev/null) || spmv=-
}
products=$(awk -v n="$nonzeros" 'BEGIN { k = int(4e8 / (n + 1)); print (k < 40 ? 40 : k > 1000 ? 1000 : k) }')

# A solve: label, matrix type, more options
count=0
failed=0
table=results
solve()
{
  label=$1 type=$2
  shift 2
  count=$((count + 1))
  out=$run/out.$count
  say "solving with $label"
  # shellcheck disable=SC2086
  $launcher "$solver" -f0 "$small" -f1 "$binary" $options $right -mat_type "$type" "$@" -mat_view ::ascii_info \
    -ksp_converged_reason -ksp_view_solution "binary:$run/x.$count" -log_view ":$run/log.$count:ascii_csv" >"$out" 2>&1
  status=$?

  # the second of the two systems
  its=$(sed -n 's/^Number of iterations = *//p' "$out" | tail -n 1)
  reason=$(sed -n 's/.*Linear solve.* \([A-Z_]*\) iterations.*/\1/p' "$out" | tail -n 1)
  bytes=$(sed -n 's/^ *vcrs: bytes \([0-9]*\),.*/\1/p' "$out" | tail -n 1)
  layout=$(sed -n 's/^ *vcrs: layout \([^,]*\), values \([^,]*\).*/\1 \2/p' "$out" | tail -n 1)
  solved=no
  ! sed -n '/Linear solve/p' "$out" | tail -n 1 | grep -q 'Linear solve converged' || solved=yes
  if [ "$status" != 0 ]; then
    solved=no
    reason=error
    { grep -m1 -A2 'PETSC ERROR: ---.*Error Message' "$out" | sed 1d | sed 's/^\[[0-9]*\]PETSC ERROR: /demo:   /'; } >&2
    say "$label: ex10 failed with status $status"
  fi

  # seconds of the solve, without one-time work of the first product
  seconds=$(awk -F, '
    $1 == "KSPSolve 1" && $3 == "0" && NF > 4 { t[$2] = $5 }
    END { s = t["KSPSolve"] - t["MatVCRSCompress"] - t["MatVCRSUpload"] - t["MatCUSPARSCopyTo"]; if (s > 0) printf "%.4g", s; else printf "-" }' "$run/log.$count" 2>/dev/null) || seconds=-
  spmv=-
  [ "$status" != 0 ] || [ "$table" != results ] || product "$type" "$@"

  # seconds of the set-up, including one-time work of a product
  setup=$(awk -F, '
    ($1 == "KSPSetUp 1" || $1 == "KSPSolve 1") && $3 == "0" && NF > 4 { t[$1, $2] = $5 }
    END { printf "%.4g", t["KSPSetUp 1", "PCSetUp"] + t["KSPSetUp 1", "PCSetUpOnBlocks"] + t["KSPSetUp 1", "KSPSetUp"] + t["KSPSolve 1", "MatVCRSCompress"] + t["KSPSolve 1", "MatVCRSUpload"] + t["KSPSolve 1", "MatCUSPARSCopyTo"] }' "$run/log.$count" 2>/dev/null) || setup=-

  # the residual of the solution, with the matrix of the file as AIJ
  residual=-
  if [ "$status" = 0 ] && helper matcheck -f "$binary" -x "$run/x.$count" $checkones; then . "$run/helper"; fi
  [ "$solved" = yes ] || failed=1
  set -- "$label" "$type" "${bytes:-$aijbytes}" "$spmv" "${its:--}" "$seconds" "$residual" "${reason:--}" "${layout:--}" "$solved" "$setup"
  (IFS='|'; printf '%s\n' "$*") >>"$run/$table"
}

right= checkones=
[ "$rhs" = yes ] || { right="-rhs one"; checkones=-ones; }
for type in $types; do
  if [ "$missing" -gt 0 ]; then solve "CPU $type" "$type" -pc_type jacobi "$@" # ILU needs a diagonal
  else solve "CPU $type" "$type" -pc_type bjacobi "$@"
  fi
done

# ex10 reads a right-hand side from a file into host memory, so on the GPU the right-hand side is ones.
# Incomplete factors suit a GPU poorly, hence Jacobi.
if [ "$gpu" = yes ]; then
  right="-rhs one" checkones=-ones
  for type in $types; do
    case $type in aij) type=aijcusparse ;; esac
    solve "GPU $type" "$type" -mat_vec_type cuda -vec_type cuda -pc_type jacobi "$@"
  done
fi

# ------------------------------------------------------------ the table

echo
echo "$name: $rows rows, $nonzeros nonzeros"
echo "solver: $options${*:+ $*}$([ "$rhs" = yes ] || echo ' -rhs one')"
echo
awk -F'|' '
  function number(x) { return x ~ /^[0-9.eE+-]+$/ && x != "-" }
  {
    n++; label[n] = $1; mb[n] = $3 / 1e6; spmv[n] = $4; its[n] = $5; time[n] = $6; residual[n] = $7; reason[n] = $8; layout[n] = $9; solved[n] = $10
    place = substr($1, 1, 3)
    if (!(place in base)) base[place] = n
    b[n] = base[place]
  }
  function line(title, cell,   i, s) {
    s = sprintf("%-22s", title)
    for (i = 1; i <= n; i++) s = s sprintf(" %16s", cell[i])
    print s
  }
  END {
    line("", label)
    for (i = 1; i <= n; i++) c[i] = layout[i]
    line("stored as", c)
    for (i = 1; i <= n; i++) c[i] = sprintf(mb[i] < 10 ? "%.3f" : "%.1f", mb[i])
    line("matrix, MB", c)
    for (i = 1; i <= n; i++) c[i] = mb[i] > 0 ? sprintf("%.2f", mb[b[i]] / mb[i]) : "-"
    line("  times smaller", c)
    line("SpMV, ms", spmv)
    for (i = 1; i <= n; i++) c[i] = number(spmv[i]) && number(spmv[b[i]]) ? sprintf("%.2f", spmv[b[i]] / spmv[i]) : "-"
    line("  times faster", c)
    line("iterations", its)
    line("solve, s", time)
    for (i = 1; i <= n; i++) c[i] = number(time[i]) && number(time[b[i]]) && time[i] > 0 ? sprintf("%.2f", time[b[i]] / time[i]) : "-"
    line("  times faster", c)
    line("true residual", residual)
    for (i = 1; i <= n; i++) c[i] = solved[i] == "yes" ? "yes" : reason[i]
    line("converged", c)
  }' "$run/results"
echo
[ "$gpu" = no ] || echo "On the GPU the right-hand side is of ones and the preconditioner is Jacobi."

# ------------------------------------------------------------ the whole job

# A generated grid: PETSc's preconditioners against gridmg. On a GPU, incomplete factors are much slower than gamg
if [ -z "$matrix" ] && [ "$positive" = yes ] && [ "$processes" = 1 ] && [ $# = 0 ]; then case $kind in reservoir|spe10|laplace7)
  table=jobs
  if [ "$gpu" = yes ]; then
    place="GPU, -mat_type aijcusparse"
    on="-mat_vec_type cuda -vec_type cuda" type=aijcusparse preconditioners='gamg gridmg'
  else
    place="CPU, -mat_type aij"
    on= type=aij preconditioners='ilu gamg gridmg'
  fi
  for pc in $preconditioners; do
    case $pc in gridmg) who=Lithe ;; *) who=PETSc ;; esac
    # ILU of one block has been measured
    [ "$pc" != ilu ] || ! sed -n "s/^CPU aij|/PETSc, -pc_type ilu|/p" "$run/results" | grep . >"$run/jobs" || continue
    # shellcheck disable=SC2086
    solve "$who, -pc_type $pc" "$type" $on -pc_type "$pc"
  done
  picture=$work/jobs.svg
  awk -F'|' -v place="$place" -v name="$name" -v rows="$rows" -v picture="$picture" '
    function bar(x, y, height, color) { printf "<rect x=\"%d\" y=\"%.1f\" width=\"90\" height=\"%.1f\" fill=\"%s\"/>\n", x, y, height, color >picture }
    function text(x, y, size, what) { printf "<text x=\"%d\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"middle\">%s</text>\n", x, y, size, what >picture }
    { n++; label[n] = $1; its[n] = $5; solve[n] = $6; residual[n] = $7; setup[n] = $11; total[n] = $6 + $11; ours = $1 ~ /^Lithe/
      if ($10 != "yes") { its[n] = "not"; residual[n] = "converged"; total[n] = 0; next }
      if (total[n] > highest) highest = total[n]
      if (ours) lithe = total[n]; else if (!best || total[n] < best) best = total[n] }
    END {
      printf "From the assembled matrix to the solution (%s, -ksp_type cg)\n\n%-24s %10s %10s %10s %12s %14s\n", place, "", "set-up, s", "solve, s", "total, s", "iterations", "true residual"
      for (i = 1; i <= n; i++) printf "%-24s %10s %10s %10.4g %12s %14s\n", label[i], setup[i], solve[i], total[i], its[i], residual[i]
      if (!lithe || !best) exit
      printf "\nThe best of PETSc'"'"'s takes %.1f times as long. A picture: %s\n\n", best / lithe, picture
      width = 150 * n + 60
      printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d 420\" font-family=\"sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", width >picture
      text(width / 2, 24, 16, name ", " rows " rows")
      text(width / 2, 44, 13, "seconds from the assembled matrix to the solution")
      for (i = 1; i <= n; i++) if (total[i] > 0) {
        x = 150 * i - 90
        split(label[i], part, ", ")
        h = 260 * setup[i] / highest
        bar(x, 350 - h, h, "#4a7fb5")
        top = 350 - 260 * total[i] / highest
        bar(x, top, 350 - h - top, "#d9822b")
        text(x + 45, top - 8, 14, sprintf("%.2f s", total[i]))
        text(x + 45, 370, 14, part[1])
        text(x + 45, 388, 12, part[2])
      }
      text(width / 2, 411, 12, "below: set-up, above: solve; " place)
      print "</svg>" >picture
    }' "$run/jobs"
esac; fi

if [ -n "$markdown" ]; then
  awk -F'|' -v name="$name" -v rows="$rows" -v nonzeros="$nonzeros" '
    { place = substr($1, 1, 3); if (!(place in mb)) { mb[place] = $3; sp[place] = $4 + 0 }
      printf "| %s | %s | %s | %s | %s | %.3f | %.2f | %s | %s | %s | %s | %s | %s |\n", name, rows, nonzeros, $1, $9, $3 / 1e6, mb[place] / $3, $4, ($4 > 0 && sp[place] > 0 ? sprintf("%.2f", sp[place] / $4) : "-"), $5, $6, $7, ($10 == "yes" ? "yes" : $8) }' "$run/results" >>"$markdown"
fi

# Each type must reach the residual of the first type in the same place
awk -F'|' -v rtol="$rtol" '
  { place = substr($1, 1, 3)
    if (!(place in base)) base[place] = $7
    else if (base[place] == "-") next
    else if ($7 == "-" || $7 + 0 > 10 * (base[place] + 0 > rtol + 0 ? base[place] : rtol)) { printf "demo: the true residual of %s, %s, is far from %s\n", $1, $7, base[place]; bad = 1 } }
  END { exit bad }' "$run/results" >&2 || failed=1
[ "$failed" = 0 ] || say "a solve failed"
exit $failed
