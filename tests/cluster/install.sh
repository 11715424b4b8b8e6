#!/usr/bin/env bash
# Install Slurm and what the tests need beside it, from Debian's packages. Needs root.
set -euo pipefail
packages=(munge slurmctld slurmd slurm-client libfaketime faketime)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends "${missing[@]}"
