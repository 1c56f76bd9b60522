#!/bin/sh
# Installs wrk and nginx where they are missing.
missing=""
command -v wrk >/dev/null || missing="$missing wrk"
command -v nginx >/dev/null || missing="$missing nginx-light"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "npm run bench needs$missing. Only root on Debian or Ubuntu may install them here: apt-get install$missing" >&2
  exit 1
fi
# Runlevel 1: the nginx service does not start.
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
apt-get update -q && apt-get install -y -q --no-install-recommends $missing
