#!/usr/bin/env bash
# Can nodes be made of namespaces here? Tries what `beowulf up` begins with, by util-linux alone, so that it can be
# asked before anything is installed. Exit code 1: they cannot, and one line on stderr says what refused it; 2: there is
# no unshare to ask.
set -uo pipefail
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"

ulimit -c 0 # a killed process leaves no file here
killed=159 # 128 and the number of the signal SIGSYS: a filter of system calls kills the process that asks
user=()
[[ $(id -u) == 0 ]] || user=(--user --map-root-user)
# The mounts of a node (beowulf/cluster/namespaces/boot.py); they are gone when this shell ends.
node='mount -t tmpfs -o mode=755 beowulf-run /run && mount -t devpts -o newinstance,ptmxmode=0666 beowulf-pts /dev/pts'

type -P unshare >/dev/null || {
    echo "unshare is missing" >&2
    exit 2
}
said=$(
    # The first shell is there to report the signal that has ended unshare, which is nothing for a reader.
    bash --norc -c '"$@"; exit $?' ask unshare "${user[@]}" \
        --net --uts --mount --pid --ipc --fork --kill-child --mount-proc \
        bash --norc -c "$node" 2>&1 </dev/null
)
code=$?
[[ $code == 0 ]] && exit 0
if [[ $code == "$killed" ]]; then
    said="a filter of system calls kills unshare"
fi
printf '%s\n' "${said:-unshare ended with $code}" | tail -n 1 >&2
exit 1
