"""What can a learner's notebook do in the box, and what can it not?"""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from ordinary import ada, give
from running import PATIENCE_S, wait_until

from autograder.rubrics.score import MIME_TYPE
from autograder.sandbox import box as sandbox
from autograder.sandbox import execution, kernel
from autograder.sandbox.box import Box, Limits
from autograder.sandbox.kernel import Ran
from beowulf import paths
from beowulf.errors import LabError
from tests.gold import hand_ins

# Long where nothing is to end by it, so that a busy machine spoils nothing.
LIMITS = Limits(cell_s=120, notebook_s=240, memory_bytes=1 << 30, disk_bytes=32 << 20)


@pytest.fixture(scope="module", autouse=True)
def _sandbox_works(sandboxed: None) -> None:
    """All of these need one."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What was handed in."""
    made = tmp_path / "handed-in"
    (made / "records").mkdir(parents=True)
    (made / "records" / "A2.json").write_text('{"study": "A2"}')
    return made


def run(folder: Path, *cells: str, **limits: Any) -> Ran:
    return kernel.shared().run(dict(enumerate(cells)), folder, replace(LIMITS, **limits))


def printed(ran: Ran, place: int = 0) -> str:
    """What a cell printed, or the error that ended it."""
    outputs = ran.outputs[place]
    return "".join(
        out.get("text", "") or f"{out.get('ename')}: {out.get('evalue')}" for out in outputs
    )


def said(folder: Path, code: str, **limits: Any) -> str:
    """What one cell prints, whose run comes to its end."""
    ran = run(folder, code, **limits)
    assert ran.reason == ""
    return printed(ran)


# ---------------------------------------------------------------- what works as in any kernel


def test_an_honest_notebook_has_its_outputs_its_records_and_its_pictures(folder: Path) -> None:
    ran = run(
        folder,
        "import os, json\nfrom pathlib import Path\nprint(os.getcwd(), os.environ['BEOWULF_RECORDED'])",
        "json.loads(Path('records/A2.json').read_text())['study']",
        "import matplotlib.pyplot as plt, pandas as pd\nplt.plot([1, 2]); plt.show()",
        "pd.DataFrame({'a': [1]})",
        "from IPython.display import display\nshown = display('before', display_id=True)",
        "shown.update('after'); Path('made').write_text('here'); Path('made').read_text()",
        "",
        "1 / 0",
    )
    assert ran.reason == ""
    assert printed(ran, 0) == f"{sandbox.HOME} {sandbox.RECORDED}\n"
    assert ran.outputs[1][0]["data"]["text/plain"] == "'A2'"
    assert ran.outputs[2][-1]["data"]["image/png"]
    assert "<table" in ran.outputs[3][0]["data"]["text/html"]
    assert ran.outputs[4][0]["data"]["text/plain"] == "'after'"
    assert ran.outputs[5][0]["data"]["text/plain"] == "'here'"
    assert ran.outputs[7][0]["ename"] == "ZeroDivisionError"
    assert ran.counts[7] == 7


def test_tshark_knows_our_dissector_there(folder: Path) -> None:
    # A field that it does not know is an error of tshark's; a capture without packets shows none.
    empty = "d4c3b2a1020004000000000000000000ffff000001000000"
    (folder / "records" / "empty.pcap").write_bytes(bytes.fromhex(empty))
    code = """
        import subprocess
        from beowulf.packets.dissector import tshark_words
        words = [*tshark_words("records/empty.pcap"), "-Y", "mpich.tag == 1"]
        done = subprocess.run(words, capture_output=True, text=True)
        print(done.returncode, done.stdout, done.stderr)
    """
    assert said(folder, dedent(code)).startswith("0 ")


def test_two_runs_share_nothing(folder: Path) -> None:
    leave = "import builtins, json, pathlib\nbuiltins.left = json.left = 1\npathlib.Path('/tmp/left').touch()"
    look = "import builtins, json, os\nprint(hasattr(builtins, 'left'), hasattr(json, 'left'), os.listdir('/tmp'))"
    run(folder, leave)
    first, second, rest = said(folder, look).split(maxsplit=2)
    assert (first, second, "left" in rest) == ("False", "False", False)


def test_each_run_draws_numbers_of_its_own(folder: Path) -> None:
    draw = "import numpy, random\nprint(numpy.random.random(), random.random())"
    assert len({*said(folder, draw).split(), *said(folder, draw).split()}) == 4


# ---------------------------------------------------------------- what is out of reach


LOOK_ROUND = """
import os
shown = []
for place in {places!r}:
    shown += [place] if os.path.exists(place) else []
for top, folders, names in os.walk('/', onerror=lambda _: None):
    folders[:] = [name for name in folders if os.path.join(top, name) not in ['/proc', '/usr', *{prefixes!r}]]
    shown += [os.path.join(top, name) for name in [*names, *folders] if name in {names!r}]
print(shown)
"""


def test_no_gradebook_no_rubric_no_source_and_no_account_is_on_its_disk(folder: Path) -> None:
    hidden = [paths.root() / name for name in ("autograder", "notebooks", "tests", ".git")]
    hidden += [folder, Path("/etc/shadow"), Path("/etc/ssh"), Path("/var/lib"), Path("/sys")]
    look = LOOK_ROUND.format(
        places=[str(path) for path in hidden],
        prefixes=[sys.prefix, sys.base_prefix],
        names=["gradebook.db", "nbgrader_config.py", "rubrics", "course.key", "submitted"],
    )
    assert said(folder, look) == "[]\n"


TRY_TO_WRITE = """
import os
written = []
for place in {places!r}:
    try:
        with open(os.path.join(place, 'written-by-a-learner'), 'w') as file:
            file.write('x')
        written.append(place)
    except OSError:
        pass
print(written)
"""


def test_it_writes_only_where_everything_is_gone_with_it(folder: Path) -> None:
    closed = ["/", "/usr", "/etc", "/dev", "/proc", "/home", "/opt"]
    closed += [sys.prefix, str(paths.root()), str(paths.root() / "beowulf")]
    attempts = TRY_TO_WRITE.format(places=[*closed, "/tmp", "/dev/shm", sandbox.HOME])
    assert said(folder, attempts) == f"['/tmp', '/dev/shm', '{sandbox.HOME}']\n"
    assert not Path("/tmp/written-by-a-learner").exists()
    assert [path.name for path in folder.iterdir()] == ["records"]


CONNECT = """
import socket
for address in {addresses!r}:
    try:
        socket.create_connection(tuple(address), 5)
        print('connected')
    except OSError:
        print('refused')
for family in (socket.AF_UNIX, 40):
    try:
        other = socket.socket(family)
        other.connect({abstract!r} if family == socket.AF_UNIX else (2, 22))
        print('connected')
    except OSError:
        print('refused')
"""


def test_no_socket_leads_out(folder: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
    ):
        name = f"\0beowulf-{os.getpid()}"
        local.bind(name)
        local.listen()
        here = server.getsockname()
        addresses = [here, ("192.0.2.1", 80)]
        assert (
            said(folder, CONNECT.format(addresses=addresses, abstract=name)).split()
            == ["refused"] * 4
        )


WHO = """
import os, re
status = open('/proc/self/status').read()
print(os.getuid() != 0, len([name for name in os.listdir('/proc') if name.isdigit()]) < 10)
for name in ('NoNewPrivs', 'CapEff', 'CapPrm', 'CapBnd'):
    print(int(re.search(name + r':.(\\w+)', status)[1], 16))
try:
    os.setuid(0)
    print('root')
except OSError:
    print('nobody')
"""


def test_it_is_not_root_and_sees_no_process_but_its_own(folder: Path) -> None:
    assert said(folder, WHO).split() == ["True", "True", "1", "0", "0", "0", "nobody"]


CALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, arguments in {'unshare': (0x10000000,), 'memfd_create': (b'x', 0), 'shmget': (0, 1 << 20, 0o1600),
                        'ptrace': (0, 0, 0, 0)}.items():
    print(libc[name](*arguments))
"""


def test_calls_that_no_notebook_needs_are_refused(folder: Path) -> None:
    if "Seccomp:" not in Path("/proc/self/status").read_text():
        pytest.skip("this kernel filters no calls")
    assert said(folder, CALLS).split() == ["-1"] * 4


PARENT = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for what in ('mem', 'fd/1', 'environ', 'maps'):
    try:
        open(f'/proc/{os.getppid()}/{what}', 'rb')
        print('open')
    except PermissionError:
        print('closed')
pidfd = libc.syscall(434, os.getppid(), 0)
print(pidfd, libc.syscall(438, pidfd, 1, 0), libc.syscall(438, 1, 1, 0), ctypes.get_errno())
"""


def test_what_reports_the_run_lets_nobody_into_its_memory_and_its_files(folder: Path) -> None:
    if "Seccomp:" not in Path("/proc/self/status").read_text():
        pytest.skip("this kernel filters no calls")
    assert said(folder, PARENT).split() == ["closed"] * 4 + ["-1", "-1", "-1", "1"]


# ---------------------------------------------------------------- what is taken without end


def test_a_fork_bomb_ends_at_so_many_processes(folder: Path) -> None:
    bomb = (
        "import os, time\nfor n in range(10_000):\n    if not os.fork():\n        time.sleep(1000)"
    )
    ran = run(folder, bomb, "print('still here')", processes=60)
    assert "BlockingIOError" in printed(ran)  # from Python 3.12 on, after a warning about fork
    assert printed(ran, 1) == "still here\n"


@pytest.mark.parametrize("pictures", [False, True])
def test_our_own_pictures_are_drawn_only_where_the_course_asks(
    folder: Path, pictures: bool
) -> None:
    folder = folder.with_name("of-lab-01")
    hand_ins("01-validation")["perfect"].write(folder)
    ran = run(
        folder,
        "from beowulf.figures.look import paper, Figure\nimport pandas as pd",
        "Figure(paper()[0], 'A title', 'What it shows.', pd.DataFrame({'a': [1]}))",
        "from pathlib import Path\nfrom beowulf import picture\nfrom beowulf.record import Record",
        "(drawn := picture(Record.load(next(Path('records').glob('A2-2*.json')))))",
        "drawn.table",
        pictures=pictures,
    )
    (output,) = ran.outputs[1]
    assert output["data"]["text/plain"] == "What it shows."
    assert ("image/png" in output["data"]) is pictures
    shown, table = ran.outputs[3], ran.outputs[4]
    assert ("image/png" in shown[0]["data"]) is pictures
    assert ("not drawn in grading" in shown[0]["data"]["text/plain"]) is not pictures
    assert (
        "node00" in table[0]["data"]["text/plain"]
    )  # it is made for anyone who asks for its table


def test_a_loop_without_end_is_interrupted_and_the_next_cell_runs(folder: Path) -> None:
    ran = run(folder, "while True: pass", "print('next')", cell_s=8)
    assert "KeyboardInterrupt" in printed(ran)
    assert "CellTimeoutError" in printed(ran)
    assert printed(ran, 1) == "next\n"
    assert execution.is_out_of_time(ran)
    assert not execution.is_out_of_time(run(folder, "1 / 0"))


@pytest.mark.nightly
def test_what_hears_no_interruption_is_ended_with_its_reason(folder: Path) -> None:
    deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    ran = run(folder, deaf, "print('never')", cell_s=1)
    assert "CellTimeoutError" in ran.reason
    assert execution.is_out_of_time(ran)
    assert "never" not in json.dumps(ran.outputs)


@pytest.mark.parametrize("code", ["while True: print('x' * 1000)", "print('x' * 50_000_000)"])
def test_output_without_end_is_cut_and_ends_the_run(folder: Path, code: str) -> None:
    ran = run(folder, "print('first')", code, "print('never')", output_bytes=200_000)
    assert printed(ran, 0) == "first\n"
    assert "larger than 0.2 MB" in printed(ran, 1)
    assert "larger than 0.2 MB" in ran.reason
    # The kernel may have begun with it while the output was still on its way.
    assert [out["output_type"] for out in ran.outputs.get(2, [])] in ([], ["error"])
    assert len(json.dumps(ran.outputs)) < 1_000_000


def test_memory_has_an_end_for_one_process_and_for_many(folder: Path) -> None:
    one = "taken = bytearray(2 << 30)"
    assert said(folder, one).startswith("MemoryError")
    many = (
        "import os, time\nfor n in range(5):\n    if not os.fork():\n"
        "        taken = bytearray(b'x') * (200 << 20)\n        time.sleep(1000)\ntime.sleep(1000)"
    )
    ran = run(folder, many, memory_bytes=600 << 20)
    assert "more than 600 MiB of memory" in ran.reason


SHARE = """
import mmap, os, time
for n in range(2):
    if not os.fork():
        shared = mmap.mmap(-1, 400 << 20)
        for place in range(0, 400 << 20, 4096):
            shared[place] = 1
        time.sleep(1000)
time.sleep(1000)
"""


def test_memory_that_processes_could_share_is_counted(folder: Path) -> None:
    assert "more than 700 MiB of memory" in run(folder, SHARE, memory_bytes=700 << 20).reason


HOARD = """
import os, socket, time
for n in range(8):
    if not os.fork():
        kept = [socket.socketpair() for _ in range(220)]
        time.sleep(1000)
time.sleep(1000)
"""


def test_what_the_kernel_may_keep_for_sockets_is_counted(folder: Path) -> None:
    assert "of memory" in run(folder, HOARD, memory_bytes=400 << 20).reason


def test_empty_files_take_memory_too(folder: Path) -> None:
    many = "import os\nfor n in range(10_000_000):\n    os.mknod(f'/tmp/{n}')"
    assert "of memory" in run(folder, many, memory_bytes=300 << 20).reason


LIFT = """
import resource
for name in ('CPU', 'AS', 'NPROC', 'FSIZE', 'NOFILE', 'CORE'):
    which = getattr(resource, 'RLIMIT_' + name)
    try:
        resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print('lifted')
    except (ValueError, OSError):
        print('held' if resource.getrlimit(which)[1] != resource.RLIM_INFINITY else 'none')
"""


def test_no_limit_can_be_lifted_from_inside(folder: Path) -> None:
    assert said(folder, LIFT).split() == ["held"] * 6


def test_a_process_that_computes_without_end_is_ended_by_the_kernel() -> None:
    code = (
        "from autograder.sandbox import enter\n"
        "enter.drop_privileges(0, enter.Allowance(1, 1 << 30, 1 << 20, 1000))\n"
        "while True: pass"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=PATIENCE_S)
    assert -done.returncode in (signal.SIGXCPU, signal.SIGKILL), done.stderr


def test_what_it_leaves_running_ends_with_its_box(folder: Path) -> None:
    seconds = f"98765.{os.getpid()}"
    leave = f"import subprocess\nsubprocess.Popen(['sleep', '{seconds}'], start_new_session=True)\nprint('left')"
    assert said(folder, leave) == "left\n"

    def runs() -> bool:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                found.append(path.read_bytes())
        return any(seconds.encode() in words for words in found)

    wait_until(lambda: not runs(), "what the notebook left running has ended")


def test_its_disk_has_an_end(folder: Path) -> None:
    fill = "for n in range(10):\n    with open(f'{n}', 'wb') as file: file.write(bytes(10 << 20))"
    assert "No space left" in said(folder, fill)


# ---------------------------------------------------------------- ends and lies


def test_a_kernel_that_ends_itself_loses_only_what_comes_after(folder: Path) -> None:
    ran = run(folder, "print('first')", "import os\nos._exit(0)", "print('never')")
    assert printed(ran, 0) == "first\n"
    assert "Kernel died" in ran.reason
    assert 2 not in ran.outputs


def test_who_ends_all_processes_ends_only_its_own_run(folder: Path) -> None:
    ran = run(folder, "import os\nos.kill(os.getppid(), 9)")
    assert "ended from within" in ran.reason
    ran = run(folder, "import os, signal\nos.kill(-1, signal.SIGKILL)")
    assert ran.reason
    assert said(folder, "print('well')") == "well\n"


def test_who_stops_what_reports_the_run_gains_no_time_by_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        kernel, "GRACE_S", 3600.0
    )  # pytest's own time-out ends a run that would gain it
    stop = "import os, signal\nprint('first')\nos.kill(os.getppid(), signal.SIGSTOP)"
    # So long that the first cell has run, however busy the machine is.
    ran = run(folder, "print('first')", stop, cell_s=10, notebook_s=10)
    assert "ran longer than 10 s" in ran.reason
    assert execution.is_out_of_time(ran)
    assert printed(ran, 0) == "first\n"


LIE = """
import glob, os
for path in glob.glob(f'/proc/{os.getppid()}/fd/*') + glob.glob('/proc/self/fd/*'):
    try:
        if 'pipe' in os.readlink(path):
            with open(path, 'wb', buffering=0) as file:
                file.write(b'{"refused": "there is no sandbox"}\\n[1]\\n' + b'[' * 100_000 + b'\\n')
    except OSError:
        pass
"""


def test_nobody_inside_can_claim_that_there_is_no_sandbox(folder: Path) -> None:
    ran = run(folder, "print('first')", LIE, "print('last')")
    assert printed(ran, 0) == "first\n"
    assert said(folder, "print('well')") == "well\n"


def test_what_comes_out_is_taken_for_anybodys_writing() -> None:
    score = {MIME_TYPE: {"points": 100}, "text/plain": "100"}
    kept = execution.clean(
        [
            {"output_type": "display_data", "data": score, "metadata": {"x": 1}},
            {
                "output_type": "display_data",
                "data": {"application/json": float("nan"), "a": "\ud800"},
            },
            {"output_type": "stream", "name": "../x", "text": 7},
            {"output_type": "error", "ename": [], "traceback": [1, "line"]},
            {"output_type": "script"},
            "text",
        ]
    )
    assert [out.get("data") for out in kept[:2]] == [{"text/plain": "100"}, {"a": "?"}]
    assert (kept[2].name, kept[2].text, kept[3].traceback) == ("stdout", "", ["", "line"])
    assert len(kept) == 4
    assert execution.clean({"a": 1}) == []


# ---------------------------------------------------------------- where there is no sandbox


def test_without_bubblewrap_nothing_is_run_and_a_message_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "BWRAP", "no-such-bwrap")
    with pytest.raises(
        LabError, match=r"is missing .*not run without it.*apt-get install bubblewrap"
    ):
        run(folder, "print('never')")


def test_where_bubblewrap_cannot_work_its_own_words_are_printed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    forbidden = tmp_path / "bwrap"
    forbidden.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    forbidden.chmod(forbidden.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sandbox, "BWRAP", str(forbidden))
    with pytest.raises(LabError, match="No permissions to create new namespace"):
        run(folder, "print('never')")


def test_a_course_that_the_box_would_show_is_refused() -> None:
    with pytest.raises(LabError, match="can read while it is graded"):
        sandbox.refuse_if_shown(paths.root() / "labs" / "course")


AS_ADA = """
from pathlib import Path
from autograder.sandbox import kernel
from autograder.sandbox.box import Limits
folder = Path('handed-in')
folder.mkdir()
cells = {0: "import os\\nprint(os.getuid(), os.path.exists('/etc/shadow'))",
         1: "import os, time\\nfor n in range(1000):\\n    if not os.fork(): time.sleep(1000)"}
ran = kernel.shared().run(cells, folder, Limits(processes=60))
print(repr(ran.reason), ran.outputs[0][0]['text'].split(), ran.outputs[1][-1]['ename'])
"""


@pytest.fixture
def ordinary() -> Iterator[Any]:
    with ada() as learner:
        give(learner)
        yield learner


@pytest.mark.rootless
def test_an_instructor_who_is_an_ordinary_user_has_the_same_box(
    namespaces_work: None, ordinary: Any
) -> None:
    line = ordinary.python(AS_ADA).split("\n")[-2]
    assert line == f"'' ['{ordinary.uid}', 'False'] BlockingIOError"


def test_the_memory_of_a_box_is_seen_from_outside(folder: Path) -> None:
    with Box(LIMITS) as box:
        assert 0 < box.used_bytes() < 64 << 20
