#!/usr/bin/env bash
# no_packets.sh MOUNTAUDIT SAMPLES [MOUNTAUDIT-STATIC]: an audit of a tree, a facts document or a pasted text sends no packet and looks up
# no name. It runs in a network namespace of its own, with an address, a default route and a name server that are
# there to be tried; every counter of packets must stand still.
set -u
tool=$1 samples=$2 static=${3:-}

skip() {
  echo "SKIPPED: $*"
  exit 77
}
fail() {
  echo "FAILED: $*"
  exit 1
}

if [ -z "${IN_NAMESPACE:-}" ]; then
  [ "$(id -u)" = 0 ] || skip "a network namespace needs root"
  command -v ip >/dev/null || skip "ip (iproute2) is not installed"
  unshare -n -m true 2>/dev/null || skip "this container may not make a network namespace"
  IN_NAMESPACE=1 exec unshare -n -m --propagation private "$0" "$@"
fi

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
ip link add out type veth peer name far || fail "no veth pair"
# Without it the kernel itself sends IPv6 autoconfiguration; an attempt over IPv6 shows as "no route" instead.
echo 1 >/proc/sys/net/ipv6/conf/out/disable_ipv6 2>/dev/null
echo 1 >/proc/sys/net/ipv6/conf/far/disable_ipv6 2>/dev/null
ip addr add 192.0.2.22/24 dev out
for link in lo out far; do ip link set "$link" up || fail "$link does not come up"; done
ip route add default via 192.0.2.1 || fail "no default route"
printf 'nameserver 192.0.2.53\noptions timeout:1 attempts:1\n' >"$scratch/resolv.conf"
mount --bind "$scratch/resolv.conf" /etc/resolv.conf || fail "resolv.conf cannot be covered"

# Packets per link, and what the protocols tried to send.
counters() {
  awk 'NR > 2 { print $1, $2, $3, $10, $11 }' /proc/net/dev
  grep -E '^(Ip|Icmp|Tcp|Udp|UdpLite):' /proc/net/snmp
  grep -E '^(Ip6OutRequests|Ip6OutNoRoutes|Udp6OutDatagrams|Icmp6OutMsgs) ' /proc/net/snmp6 2>/dev/null
}

silent() { # name, arguments...
  local name=$1 before status
  shift
  before=$(counters)
  timeout 60 "$tool" "$@" >"$scratch/out" 2>"$scratch/err"
  status=$?
  [ "$status" -le 1 ] || fail "$name: exit status $status: $(cat "$scratch/err")"
  [ -s "$scratch/out" ] || fail "$name: printed nothing"
  sleep 0.1
  [ "$(counters)" = "$before" ] || fail "$name: sent packets: $(diff <(echo "$before") <(counters))"
  echo "ok: $name"
}

for tree in "$samples"/trees/*/; do
  tree=${tree%/}
  name=$(basename "$tree")
  silent "$name by --root" audit --root "$tree"
  silent "$name by collect --root" collect --root "$tree"
  cp "$scratch/out" "$scratch/facts.json"
  silent "$name by --from" audit --from "$scratch/facts.json"
  silent "$name by --input mountinfo and mountstats" audit --input mountinfo="$tree/proc/1/mountinfo" \
    --input mountstats="$tree/proc/1/mountstats"
  # /proc/mounts of the same node, as it would be pasted.
  awk '{ for (i = 7; $i != "-"; i++); print $(i + 2), $5, $(i + 1), $6 "," $(i + 3), 0, 0 }' \
    "$tree/proc/1/mountinfo" >"$scratch/mounts"
  silent "$name by --input mounts" audit --input mounts="$scratch/mounts"
done

# A node whose servers are known by name only: there is nothing to ask without a look-up.
named=$scratch/named
mkdir -p "$named/proc/1" "$named/proc/sys/kernel" "$named/etc"
echo named-node.example.net >"$named/proc/sys/kernel/hostname"
options=rw,vers=4.2,rsize=65536,wsize=65536,hard,proto=tcp,timeo=600,retrans=2,sec=sys,local_lock=none
cat >"$named/proc/1/mountinfo" <<END
22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
100 22 0:50 / /mnt/a rw,relatime - nfs4 nas-1.example.net:/a $options
101 22 0:51 / /mnt/b rw,relatime - nfs4 nas-2:/b $options
END
cat >"$scratch/named.mounts" <<END
nas-1.example.net:/a /mnt/a nfs4 $options 0 0
nas-2:/b /mnt/b nfs4 $options 0 0
END
cat >"$named/etc/fstab" <<END
nas-1.example.net:/a /mnt/a nfs4 hard 0 0
nas-2:/b /mnt/b nfs4 hard 0 0
nas-3.example.net:/c /mnt/c nfs vers=3,mountaddr=nas-4.example.net 0 0
END
printf '%s\n' "nas-1.example.net:/a on /mnt/a type nfs4 ($options)" >"$scratch/named.mount-l"
by_name() { # which executable
  silent "servers by name by --root, $1" audit --root "$named"
  grep -q 'nas-1' "$scratch/out" || fail "servers by name, $1: the report does not name them: $(cat "$scratch/out")"
  silent "servers by name by collect --root, $1" collect --root "$named"
  cp "$scratch/out" "$scratch/facts.json"
  silent "servers by name by --from, $1" audit --from "$scratch/facts.json"
  for input in mounts mount-l; do
    silent "servers by name by --input $input, $1" audit --input "$input=$scratch/named.$input"
  done
  silent "servers by name by --input fstab too, $1" audit --input "mounts=$scratch/named.mounts" \
    --input "fstab=$named/etc/fstab"
}
by_name "the executable"
if [ -n "$static" ] && [ -x "$static" ]; then
  tool=$static by_name "the static executable"
else
  echo "not tried: the static executable is not built (cmake --build build --target static)"
fi

# Last, since the kernel goes on about these for seconds: the counters do see what they are there for.
control() { # what, its protocol, command...
  local what=$1 before
  before=$(counters | grep "^$2")
  timeout 5 "${@:3}" >/dev/null 2>&1
  [ "$(counters | grep "^$2")" != "$before" ] || fail "the counters do not see $what"
}
control "a datagram" Udp: bash -c 'echo x >/dev/udp/192.0.2.110/2049'
control "a connection attempt" Tcp: timeout 1 bash -c 'echo x >/dev/tcp/192.0.2.110/2049'
control "a name look-up" Udp: getent ahosts nas-1.example.net
echo "ok: the counters see a datagram, a connection attempt and a name look-up"
