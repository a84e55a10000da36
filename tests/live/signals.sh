#!/usr/bin/env bash
# signals.sh MOUNTAUDIT: SIGINT and SIGTERM end a live audit at once with exit 130 and 143, and what was read until then
# is still reported, on standard output and in a file; no child and no temporary file is left. It runs in a mount and a
# network namespace of its own, where the node seems to have an NFS mount of a server that swallows every packet.
set -u
tool=$1

skip() {
  echo "SKIPPED: $*"
  exit 77
}
fail() {
  echo "FAILED: $*"
  exit 1
}

if [ -z "${IN_NAMESPACE:-}" ]; then
  [ "$(id -u)" = 0 ] || skip "namespaces need root"
  command -v ip >/dev/null || skip "ip (iproute2) is not installed"
  unshare -n -m true 2>/dev/null || skip "this container may not make namespaces"
  IN_NAMESPACE=1 exec unshare -n -m --propagation private "$0" "$@"
fi

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tmp"

ip link add out type veth peer name far || fail "no veth pair"
ip addr add 192.0.2.22/24 dev out
for link in lo out far; do ip link set "$link" up || fail "$link does not come up"; done
# To an address that is nobody's: what is sent there is neither answered nor refused.
ip neigh add 192.0.2.110 lladdr 02:00:00:00:00:01 dev out nud permanent || fail "no neighbour entry"

options=rw,vers=4.2,rsize=65536,wsize=65536,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys
options+=,clientaddr=192.0.2.22,local_lock=none,addr=192.0.2.110
printf '%s\n' '22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw' \
  "100 22 0:50 / $scratch/data rw,relatime - nfs4 192.0.2.110:/data $options" >"$scratch/mountinfo"
printf '%s\n' "device 192.0.2.110:/data mounted on $scratch/data with fstype nfs4 statvers=1.1" "	opts:	$options" \
  "	age:	86400" "	RPC iostats version: 1.1  p/v: 100003/4 (nfs)" \
  "	xprt:	tcp 0 0 2 0 0 20000 20000 0 60000 0 24 411 40000" "	per-op statistics" \
  "	        READ: 1000 1000 0 188000 4200000 200 2000 2250 0" >"$scratch/mountstats"
for file in mountinfo mountstats; do
  mount --bind "$scratch/$file" "/proc/1/$file" 2>/dev/null || skip "this kernel lets nothing be laid over /proc/1/$file"
done

# Processes of a session: pid and name, one a line.
session() {
  local stat
  for stat in /proc/[0-9]*/stat; do
    awk -v session="$1" '{ head = $0; sub(/.*\) /, ""); if ($4 == session) print head }' "$stat" 2>/dev/null
  done
}

# A shell starts background jobs with SIGINT ignored, and the program leaves that alone; a session of its own tells its
# children apart.
interrupted() { # what it is doing, signal, status, seconds before it, arguments...
  local what=$1 signal=$2 wanted=$3 pause=$4 start pid status
  shift 4
  rm -f "$scratch/report.json"
  TMPDIR=$scratch/tmp setsid env --default-signal=INT,TERM "$tool" "$@" --report json="$scratch/report.json" \
    >"$scratch/out" 2>"$scratch/err" &
  pid=$!
  sleep "$pause"
  kill -0 "$pid" 2>/dev/null || fail "$what, $signal: it had ended before: $(cat "$scratch/out" "$scratch/err")"
  [ -n "$(session "$pid")" ] || fail "$what, $signal: the session is not seen"
  start=$SECONDS
  kill -"$signal" "$pid"
  wait "$pid"
  status=$?
  [ "$status" = "$wanted" ] || fail "$what, $signal: exit status $status, not $wanted: $(cat "$scratch/err")"
  [ $((SECONDS - start)) -lt 20 ] || fail "$what, $signal: it went on for $((SECONDS - start)) s"
  grep -q 'NOT CHECKED' "$scratch/out" || fail "$what, $signal: no report: $(cat "$scratch/out" "$scratch/err")"
  "$tool" audit --from "$scratch/report.json" --format json --fail-on never >"$scratch/again" ||
    fail "$what, $signal: the JSON report is not whole"
  grep -q '"source": "192.0.2.110:/data"' "$scratch/again" || fail "$what, $signal: the mount is not in the report"
  [ -z "$(session "$pid")" ] || fail "$what, $signal: children are left: $(session "$pid")"
  [ -z "$(ls -A "$scratch/tmp")" ] || fail "$what, $signal: left in TMPDIR: $(ls -A "$scratch/tmp")"
  echo "ok: $what, $signal: exit status $status, reported"
}

for row in INT:130 TERM:143; do
  interrupted "waiting for the second sample" "${row%:*}" "${row#*:}" 5 audit --passive --sample 10m
  interrupted "asking a server" "${row%:*}" "${row#*:}" 5 audit --timeout 5m --deadline 10m --sample 0
done
