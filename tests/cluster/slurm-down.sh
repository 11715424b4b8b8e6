#!/usr/bin/env bash
# Stop what slurm-up.sh started under $1, by its pid files. A zombie counts as gone.
set -u
root=${1:?usage: slurm-down.sh FOLDER}
alive() {
  local state
  [ -s "$1" ] && state=$(awk '{print $3}' "/proc/$(cat "$1" 2>/dev/null)/stat" 2>/dev/null) &&
    [ -n "$state" ] && [ "$state" != Z ]
}
for file in "$root"/d/slurmd.pid "$root"/ctld/slurmctld.pid "$root"/munge/munged.pid; do
  alive "$file" || continue
  pid=$(cat "$file")
  kill "$pid" 2>/dev/null
  for _ in $(seq 20); do
    alive "$file" || break
    sleep 0.25
  done
  if alive "$file"; then kill -9 "$pid" 2>/dev/null; fi
done
exit 0
