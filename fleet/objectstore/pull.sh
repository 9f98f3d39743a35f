#!/bin/sh
# Copies a dataset from an object store with rclone, so that fclog can read it. Parts
# that others push meanwhile may be missing, but none is there by half: what sessions
# names when it is copied is in the store already. Only a push that takes replaced parts
# away meanwhile can leave some without rows: fclog verify tells, and a pull into a new
# folder mends it.
#
#   pull.sh REMOTE:BUCKET/PATH DATASET
#
# Nothing is taken away in DATASET: after a merge in the store pull into a new folder.
set -eu

if [ $# -ne 2 ]; then
  echo 'use: pull.sh REMOTE:BUCKET/PATH DATASET' >&2
  exit 2
fi
store=${1%/} dataset=$2 rclone=${RCLONE:-rclone}

"$rclone" copy "$store/sessions" "$dataset/sessions"
"$rclone" copy "$store" "$dataset" --exclude '/sessions/**'
