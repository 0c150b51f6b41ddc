# Ends Slurm on a machine and forgets its queue; munge gets back the key that was there before.
# shellcheck shell=sh
PATH=$PATH:/usr/sbin:/sbin
if [ -d /run/systemd/system ]; then
    systemctl disable --quiet --now slurmd slurmctld 2>/dev/null
fi
pkill -x 'slurmd|slurmctld|slurmstepd'
for _ in $(seq 100); do
    pgrep -x 'slurmd|slurmctld|slurmstepd' >/dev/null || break
    sleep 0.1
done
pkill -KILL -x 'slurmd|slurmctld|slurmstepd'
set -e
if grep -qs '^# Written by' /etc/slurm/cgroup.conf; then rm -f /etc/slurm/cgroup.conf; fi
rm -rf /var/lib/slurm/slurmctld /var/lib/slurm/slurmd /etc/slurm/slurm.conf /etc/munge/munge.key
if [ -e /etc/munge/munge.key.before ]; then mv /etc/munge/munge.key.before /etc/munge/munge.key; fi
if [ -d /run/systemd/system ]; then
    if [ -e /etc/munge/munge.key ]; then systemctl restart munge; else systemctl disable --quiet --now munge; fi
else
    pkill -x munged || true
fi
