# Waits until the controller has heard of $NODES; fails with those that it has not.
# shellcheck shell=sh
set -- ""
for _ in $(seq 120); do
    if seen=$(sinfo --noheader --Node --nodes="$NODES" --format='%N %T' 2>/dev/null); then
        set -- "$(printf '%s\n' "$seen" | awk '$2 ~ /unknown|down|[*]$/ { print $1 }' | sort -u | paste -s -d ' ')"
        if [ -n "$seen" ] && [ -z "$1" ]; then exit 0; fi
    else
        set -- "the controller itself"
    fi
    sleep 0.5
done
echo "Slurm is set up, but does not hear of ${1:-any node}: see /var/log/slurm there." >&2
exit 1
