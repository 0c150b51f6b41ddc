"""How much of a core the programs of a node get."""

from __future__ import annotations

from beowulf.tuning.knob import Knob

PERIOD_US = 10_000
ALL = "all"

# A node's own /sys has no control groups, so they are mounted as long as these lines run. The group of a node is named
# by its process namespace, so nodes of two clusters have two.
GROUP = r"""namespace=$(readlink /proc/self/ns/pid)
name=beowulf-$(hostname)-${namespace//[!0-9]/}
controllers=$(grep -oP '^[1-9]\d*:\K[^:]*\bcpu\b[^:]*' /proc/self/cgroup || true)
if [ ! "${folder:-}" ]; then
    how="-t cgroup2"
    [ ! "$controllers" ] || how="-t cgroup -o $controllers"
    folder=$(mktemp -d)
    mount $how beowulf $folder || { rmdir $folder; echo "this user may not make control groups"; exit 1; }
    trap 'umount -l $folder; rmdir $folder' EXIT
fi
group=$folder/$name
if [ ! "$controllers" ] && ! grep -qw cpu $folder/cgroup.subtree_control; then
    echo +cpu >$folder/cgroup.subtree_control
fi
move() { # each process of this node, and those that it starts meanwhile, into a group
    for process in /proc/[0-9]*; do echo ${process#/proc/} >$1/cgroup.procs || true; done 2>/dev/null
}
"""
LOOK = r"""if [ ! -d $group ]; then
    echo all
elif [ ! "$controllers" ]; then
    read -r quota period <$group/cpu.max
    echo $((100 * quota / period))
else
    echo $((100 * $(<$group/cpu.cfs_quota_us) / $(<$group/cpu.cfs_period_us)))
fi"""
# A process that ends is in its group until it is gone.
DISSOLVE = r"""if [ -d $group ]; then
    for try in {1..400}; do
        move $folder
        ! rmdir $group 2>/dev/null || break
        sleep 0.05
    done
    [ ! -d $group ] || { echo "the control group $name does not get empty" >&2; exit 1; }
fi"""


class CpuShare(Knob):
    """A control group, version 1 or 2, in which all processes of a node are."""

    name = "cpu-share"
    title = "share of a core (control groups)"
    what = (
        "So many per cent of a core the programs of a node get together, in every 10 milliseconds."
    )
    why = "A node that computes slower lets all others wait, wherever they wait for each other."
    here = (
        "Nodes of this machine share its cores. Without root there are no control groups to make."
    )
    elsewhere = "PCs and VMs differ by their processors: take slower ones."
    paper = "Paper B's four PCs had four unlike processors, and the paper does not look at what that does."
    only_local = True
    values = (ALL, "50", "25")
    tuned = ALL
    shows = "25"
    numbers = (10, 100, "per cent")  # the kernel takes no less than a millisecond of a period

    def look(self, place: str) -> str:
        return GROUP + LOOK

    def set(self, value: str, place: str) -> str:
        if value == ALL:
            return GROUP + DISSOLVE
        quota = int(value) * PERIOD_US // 100
        return f"""{GROUP}mkdir -p $group
if [ ! "$controllers" ]; then
    echo {quota} {PERIOD_US} >$group/cpu.max
else
    echo {PERIOD_US} >$group/cpu.cfs_period_us
    echo {quota} >$group/cpu.cfs_quota_us
fi
move $group"""
