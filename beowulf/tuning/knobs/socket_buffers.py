"""How much of a connection the kernel keeps at each end."""

from __future__ import annotations

from beowulf.errors import UsageError
from beowulf.tuning.knob import facts, number
from beowulf.tuning.knobs.files import Files

LEAST_BYTES, MOST_BYTES = 4096, 1 << 30  # less is raised by the kernel
KERNEL = "the kernel's own"
# Linux remembers of each peer how soon packets got lost, and begins the next connection accordingly: without
# tcp_no_metrics_save, one setting would suffer from the losses of the one before it.
FORGETFUL = "the kernel's own, and no memory of peers"

# Before a size: of what is sent alone, and receivers keep their own. After a pause TCP would begin with ten segments
# again. It would cut them off the piece that it has, and that piece would take as many more, however small the buffer.
SEND = "send-"


class SocketBuffers(Files):
    """How many bytes of a connection wait in a node, in each direction."""

    name = "socket-buffers"
    title = "socket buffers (tcp_rmem, tcp_wmem)"
    what = "How many bytes of a connection the kernel keeps until they are acknowledged, or read."
    why = "No more than a buffer is ever under way: a small one makes a long message wait for acknowledgements."
    here = "The same as on a PC: each node has its own. The kernel's own sizes grow with the connection."
    elsewhere = "On PCs and VMs: `sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem`; a program: SO_SNDBUF, SO_RCVBUF."
    paper = "Paper A leaves another size of MPI's buffer space to future research (study A13)."
    values = (KERNEL, "8192", "65536", "1048576", f"{SEND}32768")
    tuned = KERNEL
    shows = "8192"
    relaunch = True
    files = tuple(
        f"/proc/sys/net/ipv4/{name}"
        for name in ("tcp_rmem", "tcp_wmem", "tcp_no_metrics_save", "tcp_slow_start_after_idle")
    )
    lacking = "this kernel has no tcp_rmem"

    def accepted(self, value: str) -> str:
        if value == KERNEL:
            raise UsageError(
                "Only the log knows which sizes are the kernel's own.",
                "`beowulf tune revert` puts them back.",
            )
        if value == FORGETFUL:
            return value
        which = SEND if value.startswith(SEND) else ""
        size = number(self.name, value.removeprefix(SEND), LEAST_BYTES, MOST_BYTES, "bytes")
        return f"{which}{size}"

    def value(self, state: str) -> str:
        files = {file.rpartition("/")[2]: text.split() for file, text in facts(state).items()}
        received, sent = ({*files[name][1:]} for name in ("tcp_rmem", "tcp_wmem"))
        if len(sent) == 1:
            return f"{'' if received == sent else SEND}{sent.pop()}"
        return FORGETFUL if files["tcp_no_metrics_save"] == ["1"] else KERNEL

    def set(self, value: str, place: str) -> str:
        lines = ["cd /proc/sys/net/ipv4", "echo 1 >tcp_no_metrics_save"]
        if value != FORGETFUL:
            size = value.removeprefix(SEND)
            names = ["tcp_rmem", "tcp_wmem"]
            if value.startswith(SEND):
                names.remove("tcp_rmem")
                lines.append("echo 0 >tcp_slow_start_after_idle")
            three = f"{min(LEAST_BYTES, int(size))} {size} {size}"
            lines += [f"echo {three} >{name}" for name in names]
        return "\n".join(lines)
