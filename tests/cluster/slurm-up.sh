#!/usr/bin/env bash
# Start a Slurm of one node (munged, slurmctld, slurmd) on loopback, without systemd or cgroups.
# All state is under $1. Prints what to evaluate in the shell that uses it. It keeps no
# accounting; SLURM_MIN_JOB_AGE, SLURM_NODE_CPUS and SLURM_NODE_MEMORY_MB change the defaults.
set -euo pipefail
root=${1:?usage: slurm-up.sh FOLDER}
mkdir -p "$root"/{munge,ctld,d,log,bin}
root=$(readlink -f "$root")
host=$(hostname -s)
user=$(id -un)
cpus=${SLURM_NODE_CPUS:-$(nproc)}
memory=${SLURM_NODE_MEMORY_MB:-$(awk '/MemTotal/{print int($2/1024*0.9)}' /proc/meminfo)}
chmod 711 "$root" "$root/munge"
[ -s "$root/munge/key" ] || head -c 128 /dev/urandom >"$root/munge/key"
chmod 400 "$root/munge/key"
munged --force --num-threads=2 --key-file="$root/munge/key" --socket="$root/munge/sock" \
  --pid-file="$root/munge/munged.pid" --log-file="$root/munge/munged.log" \
  --seed-file="$root/munge/seed"
cat >"$root/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$root/munge/sock
CredType=cred/munge
SlurmctldPort=${SLURM_CTLD_PORT:-16817}
SlurmdPort=${SLURM_D_PORT:-16818}
StateSaveLocation=$root/ctld
SlurmdSpoolDir=$root/d
SlurmctldPidFile=$root/ctld/slurmctld.pid
SlurmdPidFile=$root/d/slurmd.pid
SlurmctldLogFile=$root/log/slurmctld.log
SlurmdLogFile=$root/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill,UsePss
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
MinJobAge=${SLURM_MIN_JOB_AGE:-3600}
KillWait=5
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$root/log/jobcomp.txt
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory Feature=tested State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP DefMemPerCPU=256
CONF
# The executor's job step strips SLURM_CONF from the srun inside a job; give it back.
printf '#!/bin/sh\nSLURM_CONF=%s exec %s "$@"\n' "$root/slurm.conf" "$(command -v srun)" \
  >"$root/bin/srun"
chmod +x "$root/bin/srun"
export SLURM_CONF="$root/slurm.conf"
slurmctld -i -f "$SLURM_CONF"
slurmd -f "$SLURM_CONF"
state=
for _ in $(seq 60); do
  state=$(sinfo -h -o %T 2>/dev/null || true)
  [ "$state" = idle ] && break
  sleep 0.5
done
if [ "$state" != idle ]; then
  echo "the node is '$state'" >&2
  tail -n 20 "$root"/log/slurm*.log >&2
  exit 1
fi
printf 'export SLURM_CONF=%q PATH=%q:"$PATH"\n' "$SLURM_CONF" "$root/bin"
