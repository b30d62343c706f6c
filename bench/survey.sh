#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# The survey of the article of tutorials/migration on two GPUs: a run that is killed after 40 s, the same command again,
# and pictures from the journals. RUN: `run` of a complex bundle (make bundle); OUT: a folder for results. Everything
# ends within LIMIT seconds. Files: migration.txt, survey.gif, survey.png, survey.png.json.gz (numbers of the sections),
# and groups.png (who did what when, in the second run)
set -u
: "${OUT:?a folder for results}"
run=${RUN:?run of a bundle} n=${NP:-2} limit=${LIMIT:-250} first=${FIRST:-40} draw=${DRAW:-40}
device=${DEVICE--dm_vec_type cuda -dm_mat_type vcrs}
survey=${SURVEY:--model overthrust -n 301,301,187 -spacing 3.333 -smooth 60 -mute 80 -ricker 15 -frequencies 2,30,2 -shots 55 -shot_spacing 18.367 -depth 10 -receiver_spacing 18.367 -receiver_depth 20}
begin=$(date +%s)
since() { echo $(($(date +%s) - begin)); }
log=$OUT/migration.txt
say() { echo "## $(since) s: $*" | tee -a "$log"; }
free() { df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print int($4 / 1048576) }'; }
work=/tmp/migration-run
[ "$(free /dev/shm)" -lt 24 ] || work=/dev/shm/migration-run
rm -rf "$work"
mkdir -p "$work" "$OUT"
cd "$work" || exit 1
say "journals in $work, $(free .) GiB free"
nvidia-smi --query-gpu=name,driver_version,memory.used --format=csv,noheader 2>/dev/null | tee -a "$log"
nproc | sed 's/$/ cores/' | tee -a "$log"

# the data of a picture come back, too; without matplotlib those of a short movie as well
frames=24
python=${PYTHON:-python3}
$python -c 'import matplotlib' 2>/dev/null || { frames=5; say "no matplotlib"; }
cat >keep.sh <<EOF
#!/bin/sh
case \$2 in *.png.json) gzip -c "\$2" >"$OUT/\$(basename "\$2").gz" ;; *) [ $frames = 24 ] || gzip -c "\$2" >"$OUT/\$(basename "\$2").gz" ;; esac
exec $python "\$@"
EOF
chmod +x keep.sh
all="$survey $device -movie $work/survey.gif -journal $work/j -journal_keep"

# a process and its descendants
family()
{
  cat /proc/[0-9]*/stat 2>/dev/null | sed 's/(.*)/x/' | awk -v root="$1" '{ parent[$1] = $4 } END { for (p in parent) { for (q = p; q in parent && q != root; q = parent[q]); if (q == root) print p } }'
}
# begun SECONDS OPTIONS: a run, killed with all its processes after so many seconds
begun()
{
  seconds=$1
  shift
  # shellcheck disable=SC2086
  $run mpiexec -n "$n" migration $all "$@" -progress >>"$log" 2>&1 &
  pid=$!
  until=$(($(date +%s) + seconds))
  while [ "$(date +%s)" -lt $until ] && kill -0 $pid 2>/dev/null; do sleep 0.5; done
  if kill -0 $pid 2>/dev/null; then
    # shellcheck disable=SC2046
    kill -9 $pid $(family $pid) 2>/dev/null
    wait $pid 2>/dev/null
    say "killed with all its processes by kill -9, after $seconds s"
    return 137
  fi
  wait $pid
}
sizes() { ls -l "$work" | awk '/ j\./ { n++; s += $5 } END { printf "%d journals of %.2f GB in all\n", n, s / 1e9 }' | tee -a "$log"; }

say "first run, $n groups"
begun "$first" -movie_frames 1
say "exit status $?"
sizes
say "second run: the same command"
export PYTHON=$work/keep.sh
begun $((limit - draw - $(since))) -movie_frames 1 -picture "$work/groups.png"
say "exit status $?"
sizes
say "image and movie of the journals"
# shellcheck disable=SC2086
timeout -s KILL $((limit + 30 - $(since))) $run migration $all -journal_only -movie_frames $frames -picture "$work/survey.png" >>"$log" 2>&1
say "exit status $?"
cp -f groups.png survey.png survey.gif "$OUT/" 2>/dev/null
ls -l "$OUT" | tee -a "$log"
say "hashes of the sums: the second run's and the journals' are the same if it ended:"
grep 'hash of the sums' "$log"
say "end"
rm -rf "$work"
