"""The way into a box, for a process that was forked for it: its namespaces, then every privilege away.

Python 3.11 has no names for these calls of Linux, so they are called in the C library.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
from dataclasses import dataclass

# From linux/prctl.h, linux/capability.h and linux/seccomp.h.
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 22, 24, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITIES_3 = 0x20080522
_LAST_CAPABILITY = 63

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Allowance:
    """The limits that the kernel sets for each process of a box."""

    seconds: int
    memory_bytes: int
    file_bytes: int
    processes: int


def join(handle: int, namespaces: int) -> None:
    """Enter the namespaces of the process behind a pidfd; a fork of ours is then in its PID namespace too."""
    _call("setns", _libc.setns(handle, namespaces))


def end_with_parent() -> None:
    """Be killed when the parent ends."""
    _prctl(_PR_SET_PDEATHSIG, 9)


def close_memory() -> None:
    """Let no other process of this account look into this one's memory, or at what it has open."""
    _prctl(_PR_SET_DUMPABLE, 0)


def drop_privileges(uid: int, allowance: Allowance) -> None:
    """Become the account `uid` (0: we are an ordinary one already) that can gain nothing any more, within limits."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)  # most do not exist
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    header = struct.pack("=Ii", _CAPABILITIES_3, 0)
    _call("capset", _libc.capset(header, bytes(24)))
    _limit(allowance)
    _refuse_calls()
    # The grader sees how much memory is taken; changing the account had hidden that.
    _prctl(_PR_SET_DUMPABLE, 1)
    if uid and os.geteuid() == 0:
        raise PermissionError("this process is root still")


def _limit(allowance: Allowance) -> None:
    # Address space that is only reserved counts, so what is there already is added.
    with open("/proc/self/statm") as statm:
        reserved = int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    for name, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, allowance.seconds),
        (resource.RLIMIT_AS, reserved + allowance.memory_bytes),
        (resource.RLIMIT_FSIZE, allowance.file_bytes),
        (resource.RLIMIT_NPROC, allowance.processes),
        (resource.RLIMIT_NOFILE, 512),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        _, hard = resource.getrlimit(name)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(name, (most, most))


# ---------------------------------------------------------------- calls of Linux that no notebook needs

# What makes memory that nothing counts, namespaces, kernel code; what reads other processes. The numbers are those of
# the kernel's tables for the two machines that the labs know.
_REFUSED = {
    "x86_64": {
        *(29, 64, 68, 101, 155, 165, 166, 167, 168, 175, 176, 246, 248, 249, 250, 272, 298),
        *(300, 304, 308, 310, 311, 313, 319, 320, 321, 323, 425, 426, 427, 428, 429, 430, 431),
        *(432, 433, 434, 438, 442, 447),
    },
    "aarch64": {
        *(39, 40, 41, 97, 104, 105, 106, 117, 186, 190, 194, 217, 218, 219, 224, 225, 241, 262),
        *(265, 268, 270, 271, 273, 279, 280, 282, 294, 425, 426, 427, 428, 429, 430, 431, 432),
        *(433, 434, 438, 442, 447),
    },
}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_SOCKET = {"x86_64": 41, "aarch64": 198}
_CLONE3 = 435
_FAMILIES = (
    1,
    2,
    10,
    16,
)  # UNIX, INET, INET6, NETLINK; sockets of a virtual machine would lead out
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_X32 = 0x40000000
# linux/filter.h: load a word, jump when equal, when at least, when a bit is set; give the answer.
_LOAD, _EQUAL, _AT_LEAST, _BIT, _ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16


def _refuse_calls() -> None:
    machine = platform.machine()
    with open("/proc/self/status") as status:
        if machine not in _REFUSED or "Seccomp:" not in status.read():
            return  # the namespaces and the limits hold without it
    program = _filter(machine)
    code = ctypes.create_string_buffer(program, len(program))
    words = struct.pack("HP", len(program) // 8, ctypes.addressof(code))
    wanted = ctypes.create_string_buffer(words, len(words))
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(wanted))


def _filter(machine: str) -> bytes:
    lines: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, _ARCHITECTURE[machine]),
        (_ANSWER, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]

    def answer(jump: int, value: int, says: int) -> None:
        lines.append((jump, 0, 1, value))
        lines.append((_ANSWER, 0, 0, says))

    if machine == "x86_64":
        answer(_AT_LEAST, _X32, _REFUSE | _ENOSYS)
    for number in sorted(_REFUSED[machine]):
        answer(_EQUAL, number, _REFUSE | _EPERM)
    answer(
        _EQUAL, _CLONE3, _REFUSE | _ENOSYS
    )  # the C library then uses clone, whose flags a filter can check
    lines += [
        (_EQUAL, 0, 4, _CLONE[machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_BIT, 0, 1, 0x10000000),
        (_ANSWER, 0, 0, _REFUSE | _EPERM),
        (_ANSWER, 0, 0, _ALLOW),
        (_EQUAL, 0, len(_FAMILIES) + 2, _SOCKET[machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
    ]
    for place, family in enumerate(_FAMILIES):
        lines.append((_EQUAL, len(_FAMILIES) - place, 0, family))
    lines.append((_ANSWER, 0, 0, _REFUSE | _EAFNOSUPPORT))
    lines.append((_ANSWER, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def _prctl(option: int, value: int, more: int = 0) -> None:
    arguments = [ctypes.c_ulong(each) for each in (value, more, 0, 0)]
    _call("prctl", _libc.prctl(option, *arguments))


def _call(name: str, result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
