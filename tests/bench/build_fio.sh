#!/usr/bin/env bash
# build_fio.sh DIR: fetches the distribution's source of fio with a source list of its own (the machine's lists stay as
# they are) and builds it with the engines nfs and libiscsi. Prints the path of the program. Debian; a minute.
set -euo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)
if [ -x "$dir/fio/fio" ]; then echo "$dir/fio/fio"; exit 0; fi
. /etc/os-release
mkdir -p "$dir/lists/partial"
# From where this machine takes its packages.
archive=$(apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
  awk -v release="$VERSION_CODENAME" '$1 == release && $2 == "main" { print $3; exit }')
[ -n "$archive" ] || { echo "build_fio.sh: apt knows no archive of $VERSION_CODENAME main" >&2; exit 1; }
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $VERSION_CODENAME main" \
  >"$dir/sources.list"
apt=(apt-get -q -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/lists"
  -o APT::Get::List-Cleanup=0 -o APT::Sandbox::User=root)
cd "$dir"
{
  "${apt[@]}" update
  "${apt[@]}" source --download-only fio
  rm -rf fio
  dpkg-source --no-check -x fio_*.dsc fio
  cd fio
  ./configure --enable-libnfs --enable-libiscsi --disable-native
  grep -E 'CONFIG_(LIBNFS|LIBISCSI)=y' config-host.mak
  make -j2
} >"$dir/log" 2>&1 || { tail -5 "$dir/log" >&2; exit 1; }
echo "$dir/fio/fio"
