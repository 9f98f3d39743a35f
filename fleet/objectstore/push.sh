#!/bin/sh
# Copies a dataset to an object store with rclone, in an order in which whoever reads
# there at any moment sees whole parts only: rows count once the file of their part
# in sessions is there.
#
#   push.sh DATASET REMOTE:BUCKET/PATH
#
# The store becomes a copy of the dataset. Where several machines push datasets of
# their own to one place, say so, and nothing is taken away there:
#
#   KEEP=1 push.sh DATASET REMOTE:BUCKET/PATH
#
# Run it while no import runs. RCLONE names the program if it is not on the path.
set -eu

if [ $# -ne 2 ]; then
  echo 'use: push.sh DATASET REMOTE:BUCKET/PATH' >&2
  exit 2
fi
dataset=$1 store=${2%/} rclone=${RCLONE:-rclone}
sync=sync
[ -z "${KEEP:-}" ] || sync=copy

# 1. New rows, none of which counts yet. What imports note for themselves stays here.
"$rclone" copy "$dataset" "$store" --exclude '/_*/**' --exclude '/sessions/**'
# 2. The new parts count, and then the replaced ones no more.
"$rclone" "$sync" "$dataset/sessions" "$store/sessions"
# 3. What no session needs any more goes.
[ -n "${KEEP:-}" ] || "$rclone" sync "$dataset" "$store" --exclude '/_*/**' --exclude '/sessions/**'
