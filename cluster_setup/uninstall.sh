#!/usr/bin/env bash
# Lists what the labs have put outside of the checkout, with sizes, and removes it after a question; YES=1 asks nothing.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

home=${HOME:?is not set}
cache=${XDG_CACHE_HOME:-$home/.cache} state=${XDG_STATE_HOME:-$home/.local/state}
unset BEOWULF_STATE # another folder for the cluster is its owner's

if [[ -s $state/beowulf-tuned.jsonl ]]; then
    echo "Knobs of this machine have been changed; $state/beowulf-tuned.jsonl has their earlier values." >&2
    echo "Type '.venv/bin/beowulf tune revert' first." >&2
    exit 1
fi
if [[ -x .venv/bin/beowulf ]]; then .venv/bin/beowulf down; fi

found=()
for each in "$cache/beowulf" "$state"/beowulf{,-*} "$home/.local/lib/wireshark/plugins/mpich_ch3.lua" \
    /usr/lib/*/wireshark/plugins/mpich_ch3.lua; do
    if [[ -e $each && -w ${each%/*} ]]; then found+=("$each"); fi
done
shared=()
for each in .ipython .jupyter .local/share/jupyter .cache/matplotlib .cache/uv; do
    if [[ -e $home/$each ]]; then shared+=("$home/$each"); fi
done

if ((${#found[@]})); then
    echo "The labs have installed this outside of $PWD:"
    du -sh -- "${found[@]}"
    answer=y
    if [[ -z ${YES:-} ]]; then read -r -p "Remove it? [y/N] " answer || answer=n; fi
    if [[ $answer != [yY]* ]]; then
        echo "Nothing was removed."
        exit 1
    fi
    rm -rf -- "${found[@]}"
    echo "It has been removed."
else
    echo "The labs have left nothing outside $PWD."
fi
echo "Debian's packages stay${shared[*]:+, and what other programs share: ${shared[*]}}."
echo "'make distclean' removes .venv and .mpi here; your work is in the folder work."
