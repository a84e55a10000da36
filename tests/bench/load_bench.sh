#!/usr/bin/env bash
# load_bench.sh PROGRAM [ROUNDS [SECONDS]]: starts nfs-ganesha, rpcbind and tgt in namespaces of their own on loopback and measures
# the engines of `latency` against them. Root; build_fio.sh makes the fio that FIO may name.
set -uo pipefail
program=$(readlink -f "$1")
rounds=${2:-5} seconds=${3:-1}
for need in ganesha.nfsd rpcbind tgtd tgtadm iscsi-perf unshare ip; do
  command -v "$need" >/dev/null || { echo "SKIPPED: $need is not installed"; exit 77; }
done
dir=$(mktemp -d)
export dir program rounds seconds
unshare -n -m --propagation private bash -c '
  set -uo pipefail
  mount -t tmpfs tmpfs /run && mkdir -p /run/ganesha && ip link set lo up
  mkdir -p "$dir/export" "$dir/recovery"
  head -c 64M /dev/urandom >"$dir/export/file"
  head -c 64M /dev/urandom >"$dir/lun"
  cat >"$dir/conf" <<CONF
NFS_CORE_PARAM { NFS_Port = 20490; MNT_Port = 20491; NLM_Port = 20492; Rquota_Port = 20493; Protocols = 3,4; Enable_NLM = false;
  Enable_RQUOTA = false; Enable_UDP = false; Plugins_Dir = "/usr/lib/x86_64-linux-gnu/ganesha"; mount_path_pseudo = true; }
NFSV4 { Graceless = true; Minor_Versions = 0,1,2; RecoveryRoot = "$dir/recovery"; Slot_Table_Size = 128; }
NFS_KRB5 { Active_krb5 = false; }
EXPORT { Export_Id = 1; Path = $dir/export; Pseudo = /export; Protocols = 3,4; Access_Type = RW; Squash = No_Root_Squash;
  SecType = sys; FSAL { Name = VFS; } }
CONF
  rpcbind -f & rpcbind_pid=$!
  sleep 0.3
  ganesha.nfsd -F -f "$dir/conf" -L "$dir/log" -p "$dir/pid" & ganesha_pid=$!
  export TGT_IPC_SOCKET="$dir/tgt"
  tgtd -f -C 7 -t 4 --iscsi portal=127.0.0.1:3260 >/dev/null 2>&1 & tgt_pid=$!
  sleep 1
  tgtadm -C 7 --lld iscsi --op new --mode target --tid 1 -T iqn.2024-01.test:disk
  tgtadm -C 7 --lld iscsi --op new --mode logicalunit --tid 1 --lun 1 -b "$dir/lun"
  tgtadm -C 7 --lld iscsi --op bind --mode target --tid 1 -I ALL
  "$program" 127.0.0.1:20490 20491 "/export/file" 127.0.0.1:3260 iqn.2024-01.test:disk 1 "$rounds" "$seconds"
  status=$?
  for pid in $ganesha_pid $rpcbind_pid; do kill "$pid" 2>/dev/null; done
  sleep 2
  for pid in $ganesha_pid $tgt_pid $rpcbind_pid; do kill -9 "$pid" 2>/dev/null; done
  exit $status'
status=$?
rm -rf "$dir"
exit $status
