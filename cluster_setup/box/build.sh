#!/usr/bin/env bash
# Makes a Vagrant box for libvirt from Debian's packages: a Debian 12 with all that a node needs, and with this checkout's
# own Python packages and MPICH, so that `vagrant up` has nothing to download.
#
#   cluster_setup/box/build.sh FILE.box     makes it: 4 minutes, 5 GB beside the file meanwhile
#   cluster_setup/box/build.sh --digest     says what it would be made from: another digest, another box
#
# Needs root, the network, and the Debian packages of the group vm in cluster_setup/packages.tsv.
set -euo pipefail
export LC_ALL=C.UTF-8 PATH=$PATH:/usr/sbin:/sbin

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
suite=bookworm
disk_gb=6

fail() { # what happened, then what to try, a line each
    printf 'box: %s\n' "$@" >&2
    exit 1
}

phase() { # sentence, command...
    local sentence=$1 started=$SECONDS
    shift
    printf 'box: %s ... ' "$sentence"
    if "$@" >>"$log" 2>&1 </dev/null; then
        printf '%d s\n' $((SECONDS - started))
    else
        printf 'failed after %d s\n' $((SECONDS - started))
        tail -n 5 "$log" | sed 's/^/    /' >&2
        fail "the box could not be made." \
            "Check the network and the disk, then run the same command again; the whole output is in $log."
    fi
}

packages() { # those of a node, by the playbook's own list, and those that make a VM of it
    awk -F '\t' '$1 !~ /^#/ && ($3 == "lab" || $3 == "suites") { print $2 }' "$root/cluster_setup/packages.tsv"
    sed 's/[[:space:]]*#.*//; /^$/d' "$here/packages.txt"
}

digest() {
    {
        packages
        cd "$root"
        find cluster_setup/box -type f ! -name packages.txt | sort | xargs cat
        cat cluster_setup/bootstrap.sh pyproject.toml requirements/{installer,setup,modern}.lock
        cat beowulf/cluster/machines/setup.py cluster_setup/roles/programs/files/install.sh
    } | sha256sum | cut -c 1-16
}

debian() { # docs and drivers of hardware that no VM has would be half of it
    local without=() path
    for path in /usr/share/{doc,man,info,locale} '/lib/modules/*/kernel/sound' \
        '/lib/modules/*/kernel/drivers/'{gpu,media,iio,infiniband,bluetooth,isdn,staging,scsi,usb,net/wireless} \
        '/lib/modules/*/kernel/net/'{wireless,mac80211,bluetooth,rfkill}; do
        without+=("--dpkgopt=path-exclude=$path/*")
    done
    mmdebstrap --mode=root --variant=minbase --format=directory "${without[@]}" --aptopt='Acquire::Retries "3"' \
        --include="$(packages | sort -u | paste -sd ,)" --essential-hook="cp -r '$here/files/.' \"\$1\"" $suite "$tree"
}

inside() { # what of this machine's settings leads to the packages is lent to the tree meanwhile
    local checkout=$tree/home/vagrant/beowulf-labs
    mkdir -p "$checkout"
    tar -C "$root" --exclude=./.venv --exclude=./.mpi --exclude=./build --exclude=./.git --exclude=./.vagrant \
        --exclude=./work --exclude='./.*_cache' --exclude=__pycache__ -c . | tar -C "$checkout" -x
    cp "$box/key.pub" "$tree/box-key.pub"
    cat /etc/resolv.conf >"$tree/etc/resolv.conf"
    mount -t proc proc "$tree/proc"
    mount --rbind /dev "$tree/dev"
    mount --bind /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/ca-certificates.crt"
    [[ ! -e /etc/pip.conf ]] || install -m 644 /etc/pip.conf "$tree/etc/pip.conf"
    chroot "$tree" bash --norc -s <"$here/inside.sh"
    rm -f "$tree/etc/pip.conf"
    umount -l "$tree/etc/ssl/certs/ca-certificates.crt" "$tree/dev" "$tree/proc"
}

disk() {
    cp "$tree"/boot/vmlinuz-* "$box/vmlinuz"
    cp "$tree"/boot/initrd.img-* "$box/initrd.img"
    rm -rf "${tree:?}"/boot/* "$tree"/var/cache/apt/*.bin "$tree"/var/lib/apt/lists/*
    # The files' extended attributes come along, such as the right of ping.
    mke2fs -q -t ext4 -m 0 -E lazy_itable_init=0 -d "$tree" "$work/disk" ${disk_gb}G
    qemu-img convert -f raw -O qcow2 -c -o compression_type=zstd -W -m 4 "$work/disk" "$box/box.img"
}

packed() {
    printf '{"provider": "libvirt", "format": "qcow2", "virtual_size": %d}\n' $disk_gb >"$box/metadata.json"
    cp "$here/Vagrantfile" "$box"
    rm "$box/key.pub"
    tar -C "$box" -cf "$work/packed" .
    mv "$work/packed" "$file"
}

[[ ${1:-} == --digest ]] && digest && exit
(($# == 1)) || fail "say where the box is to be written: cluster_setup/box/build.sh FILE.box"
file=$(realpath -m -- "$1")
log=$file.log

if [[ -z ${BEOWULF_BOX_INSIDE:-} ]]; then
    [[ $(id -u) == 0 ]] || fail "making a box needs root: other users' files have to be written into it." \
        "Put sudo before the command."
    for tool in mmdebstrap qemu-img mke2fs; do
        type -P $tool >/dev/null || fail "$tool is missing." "cluster_setup/bootstrap.sh vm installs it."
    done
    mkdir -p "$(dirname -- "$file")"
    free_gb=$(df --output=avail -B 1G "$(dirname -- "$file")" | tail -n 1)
    ((free_gb >= 6)) || fail "$(dirname -- "$file") has $free_gb GB left, and making a box takes 6." "Free some."
    work=$(mktemp -d "$file.XXXXXX")
    # What is mounted and started here goes with this namespace, however it ends; the files go then too.
    BEOWULF_BOX_INSIDE=$work unshare --mount --pid --fork --kill-child --mount-proc "${BASH_SOURCE[0]}" "$file" &
    trap 'kill -KILL $! 2>/dev/null && wait $! 2>/dev/null; rm -rf --one-file-system "$work"' EXIT
    trap 'exit 130' INT TERM HUP
    wait $!
    exit
fi

work=$BEOWULF_BOX_INSIDE tree=$work/tree box=$work/box
mkdir "$box"
: >"$log"
ssh-keygen -q -t ed25519 -N '' -C 'a box of beowulf-labs' -f "$box/key"
phase "fetching and installing Debian's packages" debian
phase "installing the labs' own packages in it" inside
phase "making a disk of it" disk
phase "packing the box" packed
rm -f "$log"
