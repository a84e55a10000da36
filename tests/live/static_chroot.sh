#!/usr/bin/env bash
# static_chroot.sh MOUNTAUDIT MOUNTAUDIT-STATIC TREE: the static executable needs no shared library and audits a tree
# in an otherwise empty root as an unprivileged user, with the same report as the ordinary one.
set -u
tool=$1 static=$2 tree=$3

skip() {
  echo "SKIPPED: $*"
  exit 77
}
fail() {
  echo "FAILED: $*"
  exit 1
}

[ -x "$static" ] || skip "mountaudit-static is not built (cmake --build build --target static)"
ldd "$static" 2>&1 | grep -q 'not a dynamic executable' || fail "it wants shared libraries: $(ldd "$static" 2>&1)"
[ "$(id -u)" = 0 ] || skip "chroot needs root"

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cp "$static" "$scratch/mountaudit"
cp -r "$tree" "$scratch/node"
chmod -R a+rX "$scratch"

chroot --userspec=65534:65534 "$scratch" /mountaudit audit -v --root /node >"$scratch/inside" 2>"$scratch/err"
status=$?
[ "$status" -le 1 ] || fail "exit status $status: $(cat "$scratch/err")"
# The head of the report, up to the duration, names the root and may take more than a line: -v, for without it that line would
# be taken from the rest.
body() { sed '1,/ s$/d'; }
diff <("$tool" audit -v --root "$tree" | body) <(body <"$scratch/inside") ||
  fail "the report differs from that of $tool"
[ "$(body <"$scratch/inside" | wc -l)" -gt 3 ] || fail "the report is empty: $(cat "$scratch/inside")"
echo "ok: $(wc -l <"$scratch/inside") lines"
