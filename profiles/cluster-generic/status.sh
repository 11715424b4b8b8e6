#!/usr/bin/env bash
# Print running, success or failed for Slurm job $1, with or without an accounting database.
answer=$(scontrol -o show job "$1" 2>&1)
state=$(sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' <<<"$answer")
if [ -z "$state" ]; then
  case "$answer" in
    *"Invalid job id"*) state=$(sacct -X -n -P -o State -j "$1" 2>/dev/null | head -n 1) ;;
    *) state=UNREACHABLE ;;   # the controller is busy or restarting: ask again later
  esac
fi
case "$state" in
  COMPLETED) echo success ;;
  PENDING | CONFIGURING | RUNNING | COMPLETING | SUSPENDED | REQUEUED | REQUEUE_HOLD | RESIZING | \
    STOPPED | SIGNALING | STAGE_OUT | UNREACHABLE) echo running ;;
  *) echo failed ;;
esac
