# Starts daemons of Slurm, those in $AGAIN once more if they run; by hand where there is no systemd. $DAEMONS: which.
# shellcheck shell=sh
set -e
service() { if [ "$1" = munged ]; then echo munge; else echo "$1"; fi; }
stop() {
    pkill -x "$1" || return 0
    for _ in $(seq 100); do
        pgrep -x "$1" >/dev/null || return 0
        sleep 0.1
    done
    pkill -KILL -x "$1" || true
}
by_hand() {
    case $1 in
    munged)
        install -d -o munge -g munge -m 755 /run/munge
        runuser -u munge -- munged
        ;;
    slurmctld)
        install -d -o slurm -g slurm -m 755 /var/lib/slurm/slurmctld /var/log/slurm
        slurmctld
        ;;
    slurmd)
        install -d -m 755 /var/lib/slurm/slurmd
        install -d -o slurm -g slurm -m 755 /var/log/slurm
        slurmd
        ;;
    esac
}
PATH=$PATH:/usr/sbin:/sbin
for daemon in $DAEMONS; do
    case " $AGAIN " in
    *" $daemon "*) ;;
    *) if pgrep -x "$daemon" >/dev/null; then continue; fi ;;
    esac
    if [ -d /run/systemd/system ]; then
        systemctl enable --quiet "$(service "$daemon")"
        systemctl restart "$(service "$daemon")"
    else
        stop "$daemon"
        by_hand "$daemon" </dev/null >/dev/null
    fi
done
