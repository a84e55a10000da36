#!/usr/bin/env bash
# latency.sh MOUNTAUDIT: `latency` against nfs-ganesha and tgt on loopback, in namespaces of their own: reads and writes over every
# protocol, what is refused, what is left after a signal, a crash and the death of the server.
set -uo pipefail
program=$1
skip() { echo "SKIPPED: $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip "needs root for namespaces"
for need in ganesha.nfsd rpcbind tgtd tgtadm unshare ip; do
  command -v "$need" >/dev/null || skip "$need is not installed"
done
unshare -n -m true 2>/dev/null || skip "namespaces are not allowed here"
if [ "${2:-}" != inside ]; then
  exec unshare -n -m --propagation private "$0" "$program" inside
fi

dir=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; done
  wait 2>/dev/null
  rm -rf "$dir"
}
trap cleanup EXIT
failed=0
ok() { echo "ok: $1"; }
bad() { echo "FAILED: $1"; sed 's/^/    /' "$dir/out"; failed=1; }
# run NAME WANTED_EXIT WORDS ARGUMENT...
run() {
  local name=$1 wanted=$2 words=$3
  shift 3
  timeout 60 "$program" latency --passes 1 --ramp 0s "$@" >"$dir/out" 2>&1
  local code=$?
  if [ "$code" = "$wanted" ] && grep -q -- "$words" "$dir/out"; then ok "$name"; else bad "$name (exit $code)"; fi
}
files() { find "$dir/export" -mindepth 1 -printf '%f '; }
only_file() { if [ "$(files)" = "file " ]; then ok "$1"; else ls "$dir/export" >"$dir/out"; bad "$1"; fi; }

mount -t tmpfs tmpfs /run && mkdir -p /run/ganesha && ip link set lo up
mkdir -p "$dir/export" "$dir/recovery"
head -c 8M /dev/urandom >"$dir/export/file"
cat >"$dir/conf" <<CONF
NFS_CORE_PARAM { NFS_Port = 20490; MNT_Port = 20491; NLM_Port = 20492; Rquota_Port = 20493; Protocols = 3,4; Enable_NLM = false;
  Enable_RQUOTA = false; Enable_UDP = false; Plugins_Dir = "/usr/lib/x86_64-linux-gnu/ganesha"; mount_path_pseudo = true; }
NFSV4 { Graceless = true; Minor_Versions = 0,1,2; RecoveryRoot = "$dir/recovery"; Slot_Table_Size = 16; }
NFS_KRB5 { Active_krb5 = false; }
EXPORT { Export_Id = 1; Path = $dir/export; Pseudo = /export; Protocols = 3,4; Access_Type = RW; Squash = No_Root_Squash;
  SecType = sys; FSAL { Name = VFS; } }
CONF
rpcbind -f & pids+=($!)
sleep 0.5
ganesha.nfsd -F -f "$dir/conf" -L "$dir/log" -p "$dir/pid" & ganesha=$! pids+=($!)
export TGT_IPC_SOCKET="$dir/tgt"
tgtd -f -C 7 -t 2 --iscsi portal=127.0.0.1:3260 >/dev/null 2>&1 & pids+=($!)
tries=0
until grep -q "NFS SERVER INITIALIZED" "$dir/log" 2>/dev/null; do sleep 0.1; [ $((++tries)) -lt 150 ] || { cat "$dir/log"; exit 1; }; done
tgt() { tgtadm -C 7 --lld iscsi "$@"; }
until tgt --mode sys --op show >/dev/null 2>&1; do sleep 0.05; done
tgt --op new --mode target --tid 1 -T iqn.2024-01.test:disk
head -c 4M /dev/urandom >"$dir/full"
truncate -s 4M "$dir/empty"
tgt --op new --mode logicalunit --tid 1 --lun 1 -b "$dir/full"
tgt --op new --mode logicalunit --tid 1 --lun 2 -b "$dir/empty"
tgt --op bind --mode target --tid 1 -I ALL
nfs=nfs://127.0.0.1:20490/export
lun=iscsi://127.0.0.1:3260/iqn.2024-01.test:disk

run "NFS without consent: one GETATTR at a time" 0 "getattr" --seconds 200ms $nfs/file
run "NFS NULL" 0 "null" --seconds 200ms --pattern null $nfs
for version in 3 4.0 4.1 4.2; do
  run "NFSv$version READ, depth 1 and 8, 1 and 2 connections" 0 "nfs$version x2" --allow-load --nfs-version $version --seconds 200ms \
    --depth 1,8 --connections 1,2 $nfs/file
done
run "NFSv4.2: the slots of the session limit the depth, and that is told" 0 "at most 16 requests" --allow-load --nfs-version 4.2 \
  --seconds 200ms --depth 64 $nfs/file
for version in 3 4.1; do
  run "NFSv$version mix of reads and writes on a file of its own" 0 "randrw 4 KiB 70:30" --allow-write /export --nfs-version $version \
    --mix 70:30 --size 2M --depth 4 --seconds 200ms $nfs
  only_file "... which is gone"
done
run "NFS 64 KiB sequential, open loop" 0 "open loop at 200/s" --allow-load --pattern read --block 64k --rate 200 --seconds 500ms $nfs/file
run "an old file is not written to" 1 "was there before" --allow-write /export/file --mix 50:50 --seconds 200ms $nfs/file

run "iSCSI without consent: one TEST UNIT READY at a time" 0 "tur" --seconds 200ms $lun/1
run "iSCSI NOP" 0 "nop" --pattern nop --seconds 200ms $lun/1
run "iSCSI READ, 1 and 2 sessions" 0 "iscsi x2" --allow-load --depth 1,8 --connections 1,2 --seconds 200ms $lun/1
run "a LUN that holds data is not written to" 1 "not written to" --allow-write $lun/1 --pattern randwrite --seconds 200ms $lun/1
for size in 4k 128k; do
  run "an empty LUN is, with requests of $size" 0 "randwrite" --allow-write $lun/2 --pattern randwrite --block $size --depth 4 \
    --seconds 200ms $lun/2
done
sleep 0.2
if tgt --op show --mode target | grep -q "Initiator: iqn"; then tgt --op show --mode target >"$dir/out"; bad "no session is left"; else ok "no session is left"; fi

"$program" latency --allow-write . --mix 50:50 --size 2M --depth 4 --passes 1 --seconds 30s $nfs >"$dir/out" 2>&1 & pid=$!
sleep 2
if [ "$(files | wc -w)" = 2 ]; then ok "its file is there while it runs"; else bad "its file is there while it runs"; fi
kill -TERM $pid
wait $pid
code=$?
if [ $code = 143 ] && grep -q "PARTIAL: stopped by a signal" "$dir/out"; then ok "a signal: what was measured is told"; else bad "a signal (exit $code)"; fi
only_file "... and no file is left"

"$program" latency --allow-write . --mix 50:50 --size 2M --depth 4 --passes 1 --seconds 30s $nfs >"$dir/out" 2>&1 & pid=$!
sleep 2
kill -KILL $pid
wait $pid 2>/dev/null
for _ in $(seq 50); do [ "$(files)" = "file " ] && break; sleep 0.1; done
only_file "after SIGKILL no file is left either"

"$program" latency --allow-load --depth 4 --passes 1 --seconds 20s $nfs/file >"$dir/out" 2>&1 & pid=$!
sleep 2
kill -KILL $ganesha
wait $pid
code=$?
if [ $code = 1 ] && grep -q "PARTIAL: closed" "$dir/out"; then ok "the server dies: partial results are kept and named"; else bad "the server dies (exit $code)"; fi
exit $failed
