"""Runs a command as in a container that forbids namespaces: `python tests/forbidden.py [--kill|--no-mount] COMMAND...`.

As Docker starts one: root keeps 14 capabilities, and a filter of system calls (seccomp) refuses to mount and to make or
enter namespaces. With `--kill` the filter kills the process that asks; with `--no-mount` namespaces may be made, and
only mounts are refused. An ordinary user keeps what they have, and gets the filter.

Python's own library is enough, so that any Python runs it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from pathlib import Path

USAGE = "python tests/forbidden.py [--kill|--no-mount] COMMAND..."
# What Docker's documentation lists as the capabilities that a container has, by their numbers in linux/capability.h.
CAPABILITIES = {
    **{"chown": 0, "dac_override": 1, "fowner": 3, "fsetid": 4, "kill": 5},
    **{"setgid": 6, "setuid": 7},
    **{"setpcap": 8, "net_bind_service": 10, "net_raw": 13, "sys_chroot": 18, "mknod": 27},
    **{"audit_write": 29, "setfcap": 31},
}
# By processor: its number for audit, and the numbers of the system calls whose numbers differ.
PROCESSORS = {
    "x86_64": (
        0xC000003E,
        {"mount": 165, "umount2": 166, "pivot_root": 155, "unshare": 272, "setns": 308, "clone": 56},
    ),
    "aarch64": (
        0xC00000B7,
        {"mount": 40, "umount2": 39, "pivot_root": 41, "unshare": 97, "setns": 268, "clone": 220},
    ),
}  # fmt: skip
CLONE3 = 435
# open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr
NEW_MOUNTS = (428, 429, 430, 431, 432, 433, 442)
NAMESPACE_FLAGS = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET

# From linux/prctl.h, linux/seccomp.h and linux/bpf_common.h.
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 24, 38, 22, 2
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER, PROCESSOR, FIRST_ARGUMENT = 0, 4, 16  # where struct seccomp_data has them
CAPABILITIES_V3 = 0x20080522

libc = ctypes.CDLL(None, use_errno=True)


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def instructions(variant: str) -> bytes:
    """The filter as the kernel reads it: instructions of 8 bytes, each a code, two jumps and a number."""
    number, calls = PROCESSORS[platform.machine()]
    refused = [calls[name] for name in ("mount", "umount2", "pivot_root")] + [*NEW_MOUNTS]
    if variant != "--no-mount":
        refused += [calls["unshare"], calls["setns"]]
    answer = KILL if variant == "--kill" else REFUSE | errno.EPERM
    program = [
        *[(LOAD, 0, 0, PROCESSOR), (EQUAL, 1, 0, number), (RETURN, 0, 0, ALLOW)],
        (LOAD, 0, 0, NUMBER),
    ]
    for call in refused:
        program += [(EQUAL, 0, 1, call), (RETURN, 0, 0, answer)]
    if variant != "--no-mount":
        # Its flags are behind a pointer, which no filter can follow: so a program tries clone next.
        program += [(EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, REFUSE | errno.ENOSYS)]
        program += [(EQUAL, 0, 3, calls["clone"]), (LOAD, 0, 0, FIRST_ARGUMENT)]
        program += [(ANY_BIT, 0, 1, NAMESPACE_FLAGS), (RETURN, 0, 0, answer)]
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *each) for each in program)


def _prctl(option: int, *arguments: object) -> None:
    padded = [*arguments, *[0] * (4 - len(arguments))]
    words = [ctypes.c_ulong(each) if isinstance(each, int) else each for each in padded]
    if libc.prctl(option, *words) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def confine(variant: str = "") -> None:
    """Give up, for this process and all that it starts, what such a container has not."""
    code = instructions(variant)
    made = ctypes.byref(_Filter(len(code) // 8, code))
    try:
        _prctl(PR_SET_SECCOMP, MODE_FILTER, made)
    except PermissionError:  # an ordinary user, or root in such a container
        _prctl(PR_SET_NO_NEW_PRIVS, 1)
        _prctl(PR_SET_SECCOMP, MODE_FILTER, made)
    if os.geteuid() != 0:
        return
    kept = set(CAPABILITIES.values())
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    for capability in range(last + 1):
        if capability not in kept:
            _prctl(PR_CAPBSET_DROP, capability)
    mask = sum(1 << capability for capability in kept)
    header = struct.pack("=Ii", CAPABILITIES_V3, 0)
    # Effective, permitted and inheritable: the lower 32 bits, then the upper ones.
    if libc.capset(header, struct.pack("=6I", mask, mask, 0, 0, 0, 0)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def main(words: list[str]) -> None:
    """Confine this process, then become the command."""
    variant = words.pop(0) if words[:1] in (["--kill"], ["--no-mount"]) else ""
    if not words or words[0].startswith("-"):
        sys.exit(f"usage: {USAGE}")
    confine(variant)
    try:
        os.execvp(words[0], words)
    except OSError as error:
        sys.exit(f"{words[0]}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
