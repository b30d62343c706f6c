#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# Runs clang-tidy on C sources, one per core at a time; any finding is a failure. Usage, in the source folder:
# tidy.sh CLANG_TIDY CC FLAGS -- FILE... The cache folder keeps hashes of preprocessed clean files, which are
# not checked again.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/lithe/tidy
mkdir -p "$cache"

if [ "$1" = --one ]; then
  tidy=$2 cc=$3 flags=$4 file=$5
  # shellcheck disable=SC2086
  hash=$({ cat .clang-tidy; "$tidy" --version; $cc $flags -E "$file"; } 2>/dev/null | sha1sum | cut -d ' ' -f 1)
  [ ! -f "$cache/$hash" ] || exit 0
  # shellcheck disable=SC2086
  if "$tidy" --quiet --warnings-as-errors='*' "$file" -- $flags 2>"$cache/log.$$"; then
    touch "$cache/$hash"
    rm -f "$cache/log.$$"
  else
    cat "$cache/log.$$"
    rm -f "$cache/log.$$"
    exit 1
  fi
  exit 0
fi

tidy=$1 cc=$2
shift 2
flags=
while [ "$1" != -- ]; do
  flags="$flags $1"
  shift
done
shift
printf '%s\n' "$@" | xargs -P "$(nproc 2>/dev/null || echo 1)" -n 1 sh build-aux/tidy.sh --one "$tidy" "$cc" "$flags"
