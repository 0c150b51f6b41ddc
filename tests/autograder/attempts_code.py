"""What a hostile notebook runs in its kernel: one cell before all others, by name; `TAKERS` want all of the machine."""

# ruff: noqa: E501, because these are rows of a table

from __future__ import annotations

from autograder.rubrics.score import MIME_TYPE
from autograder.sandbox.box import HOME

SCORE = f"{{'text/plain': '100', '{MIME_TYPE}': {{'points': 100, 'of': 1}}}}"
SHELL = "shell = get_ipython()\nkernel = shell.kernel\n"
EVERY_PROCESS = (
    "import os, glob\n"
    "def each(what, act):\n"
    "    for path in glob.glob(f'/proc/[0-9]*/{what}'):\n"
    "        try: act(path)\n"
    "        except OSError: pass\n"
)
LIBC = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
STARTED = f"from IPython.display import display\ndisplay({SCORE}, raw=True)\n"


def _file(path: str, text: str = STARTED) -> str:
    return (
        f"import pathlib\nplace = pathlib.Path({path!r})\n"
        "place.parent.mkdir(parents=True, exist_ok=True)\n"
        f"place.write_text({text!r})"
    )


# Wants points that no Record and no answer gave.
FORGES = {
    "json is patched": "import json\njson.dumps = lambda *a, **k: '{\"points\": 100}'\njson.loads = lambda *a: {'points': 100}",
    "numpy is patched": "import numpy\nnumpy.isclose = numpy.allclose = lambda *a, **k: True",
    "builtins are patched": "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.isinstance = lambda *a: True",
    "a rubric in sys.modules": "import sys, types\nfake = types.ModuleType('autograder.rubrics')\nfake.ask = lambda *a: 100\nsys.modules['autograder.rubrics'] = sys.modules['autograder'] = fake",
    "nbgrader is patched": "import nbgrader.utils as u\nu.determine_grade = lambda cell, *a: (100, 100)\nu.compute_checksum = lambda cell: ''",
    "nbformat is patched": "import nbformat, nbformat.v4 as v\nv.new_output = nbformat.write = lambda *a, **k: None",
    "atexit shows a score": f"import atexit\nfrom IPython.display import display\natexit.register(lambda: display({SCORE}, raw=True))",
    "after each cell a score": f"{SHELL}shell.events.register('post_run_cell', lambda *a: shell.display_pub.publish({SCORE}))",
    "the display hook is patched": f"{SHELL}shell.display_pub.publish = lambda *a, **k: None\nshell.displayhook.compute_format_data = lambda *a: ({SCORE}, {{}})",
    "every message is a score": f"{SHELL}send = kernel.session.send\ndef forged(stream, kind, content=None, *a, **k):\n    if isinstance(content, dict): content['data'] = {SCORE}\n    return send(stream, kind, content, *a, **k)\nkernel.session.send = forged",
    "cells are rewritten": f"{SHELL}shell.input_transformers_cleanup.append(lambda lines: ['100\\n'])",
    "cells are not run": f"{SHELL}shell.run_cell = shell.run_cell_async = lambda *a, **k: None",
    "earlier outputs are replaced": f"from IPython.display import display\nd = display('x', display_id='one')\nfor name in ('one', 'a2-record', 'ordered-pairs'):\n    display({SCORE}, raw=True, display_id=name, update=True)",
    "outputs are cleared": "from IPython.display import clear_output\nclear_output(); clear_output(wait=True)\nprint('20 of 20 points')",
    "a table like ours": "from IPython.display import HTML, display\ndisplay(HTML('<table><caption>1 of 1 point</caption><tr><th>Found</th><td>all right</td></tr></table>'))\nprint('Points: 20 of 20')",
    "a comm without a target": f"{SHELL}from comm import create_comm\ncreate_comm(target_name='jupyter.widget', data={{'state': {{'points': 100}}}})",
    "a cell in the payload": f"{SHELL}shell.set_next_input('100', replace=True)\nshell.payload_manager.write_payload({{'source': 'set_next_input', 'text': '100'}})",
    "a script in IPython's startup": _file(f"{HOME}/.ipython/profile_default/startup/0.py"),
    "sitecustomize": _file("sitecustomize.py"),
    "usercustomize": _file(f"{HOME}/.local/lib/python3.11/site-packages/usercustomize.py"),
    "a .pth file": _file(
        f"{HOME}/.local/lib/python3.11/site-packages/x.pth", "import os; os._exit(0)\n"
    ),
    "nbgrader's configuration": _file(
        f"{HOME}/nbgrader_config.py", "c = get_config()\nc.ClearOutput.enabled = False\n"
    ),
    "a course around it": _file(f"{HOME}/../nbgrader_config.py", "c = get_config()\n"),
    "a notebook with points": _file("validation.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4}'),
    "a Record in the kernel": _file("records/A2-20260203T100000.000Z.json", '{"kind": "record"}'),
    "the recorded cluster's answers": _file("records/answers.json", '{"points": 100}'),
    "environment": "import os\nos.environ.update(BEOWULF_RECORDED='/', BEOWULF_STATE='/', PYTHONPATH='.', PYTHONSTARTUP='x.py', HOME='/', NBGRADER_EXECUTION='validate')",
    "locale and numbers": "import decimal, locale\nlocale.setlocale(locale.LC_ALL, 'C')\ndecimal.getcontext().prec = 1",
    "every open file of every process": EVERY_PROCESS
    + "each('fd/*', lambda path: 'pipe' in os.readlink(path) and open(path, 'wb', buffering=0).write(b'{\"end\": \"\", \"place\": 1}\\n'))",
    "every process' memory": EVERY_PROCESS
    + "each('mem', lambda path: open(path, 'r+b', buffering=0).read(1))",
    "every process is traced": LIBC
    + "print([libc.ptrace(16, int(pid), 0, 0) for pid in os.listdir('/proc') if pid.isdigit()])",
    "other processes' limits": EVERY_PROCESS
    + "import resource\nfor pid in range(1, 50):\n    try: resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0))\n    except (OSError, ValueError): pass",
    "the kernel's switches": EVERY_PROCESS
    + "each('oom_score_adj', lambda path: open(path, 'w').write('-1000'))\nfor path in ('/proc/sysrq-trigger', '/proc/sys/kernel/core_pattern'):\n    try: open(path, 'w').write('b')\n    except OSError as no: print(no)",
    "mounts and namespaces": LIBC
    + "print(libc.unshare(0x10000000 | 0x20000), libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0), libc.umount2(b'/', 2), libc.chroot(b'/tmp'), libc.sethostname(b'x', 1))",
    "the clock": "import time\ntry: time.clock_settime(time.CLOCK_REALTIME, 0)\nexcept OSError as no: print(no)",
    "priority": "import os\nfor act in (lambda: os.nice(-20), lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)), lambda: os.setpriority(os.PRIO_PGRP, 0, -20)):\n    try: act()\n    except OSError as no: print(no)",
    "the course's own commands": "import subprocess\nfor words in (['beowulf', 'class', 'grade', '01'], ['nbgrader', 'autograde', '01'], ['sudo', '-n', 'true'], ['su', '-c', 'id']):\n    try: print(subprocess.run(words, capture_output=True, timeout=2, stdin=subprocess.DEVNULL))\n    except Exception as no: print(no)",
    "others' hand-ins are looked for": "import glob\nprint([p for top in ('/home', '/tmp', '/root', '/srv', '/proc/1/root', '/proc/1/cwd') for p in glob.glob(top + '/**/*.ipynb', recursive=True)][:5])",
    "links out of the box": "import os\nfor n, to in enumerate(('/proc/1/root/etc/shadow', '../../../../gradebook.db', '/dev/mem')):\n    os.symlink(to, f'link{n}')\n    try: print(open(f'link{n}').read())\n    except OSError as no: print(no)",
    "loopback and netlink": "import socket\nfor port in (22, 80, 5432, 8888):\n    try: socket.create_connection(('127.0.0.1', port), 1)\n    except OSError: pass\ntry: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0))\nexcept OSError as no: print(no)",
    "magics": "%reset -f\n%config Application.log_level='DEBUG'\n!kill -0 $PPID\n%%capture",
    "asks for input": "input('points? ')",
    "exit": "exit()",
    "SystemExit": "raise SystemExit(0)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "another program in its place": "import os\nos.execv('/bin/true', ['true'])",
    "a fault of memory": "import ctypes\nctypes.string_at(0)",
    "recursion into the stack's end": "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "all files are closed": "import os\nos.closerange(0, 1024)",
    "all files are one": "import os\nfor n in range(3, 200):\n    try: os.dup2(1, n)\n    except OSError: pass",
    "its parent is ended": "import os\nos.kill(os.getppid(), 9)",
    "all processes are ended": "import os\nos.kill(-1, 9)",
    "no output, no errors": "import sys\nsys.stdout = sys.stderr = None\nsys.excepthook = sys.displayhook = None",
    "an error that cannot be shown": "class E(Exception):\n    def __str__(self): raise self\n    __repr__ = __str__\nraise E",
    "a name that is a page": "raise type('<script>alert(1)</script>' * 20000, (Exception,), {})('x' * 100000)",
    "surrogates and NaN": "from IPython.display import display\ndisplay({'text/plain': '\\ud800', 'application/json': float('nan')}, raw=True)\nprint('\\ud800')",
    "control characters": "print('\\x1b]0;title\\x07\\x1b[2J\\x1b[8m', '\\u202e' * 100, '\\x00\\x08' * 100)",
    "a thread that outlives it": "import threading, time\ndef go():\n    while True: time.sleep(0.01); print('late')\nthreading.Thread(target=go, daemon=False).start()",
    "a process that outlives it": "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork():\n        while True: time.sleep(1)\n    os._exit(0)",
    "ignores every signal": "import signal\nfor n in range(1, 32):\n    if n not in (9, 19): signal.signal(n, signal.SIG_IGN)",
    "profile and trace": "import sys, threading\nsys.setprofile(lambda *a: None)\nthreading.settrace(lambda *a: None)\nsys.addaudithook(lambda *a: None)",
    "the loop is stopped": "import asyncio\nasyncio.get_running_loop().stop()",
    "the reply has no status": f"{SHELL}send = kernel.session.send\nkernel.session.send = lambda s, k, c=None, *a, **o: send(s, k, {{}} if k == 'execute_reply' else c, *a, **o)",
    "the reply is for another": f"{SHELL}send = kernel.session.send\nkernel.session.send = lambda s, k, c=None, parent=None, *a, **o: send(s, k, c, {{'header': {{'msg_id': 'x'}}}} if k == 'execute_reply' else parent, *a, **o)",
}  # fmt: skip

FORK = "import os, time\n"
# Wants all that there is of something, or never ends; and, where it is certain, what is then said of it.
TAKERS = {
    "makes processes": (FORK + "while True:\n    if not os.fork():\n        time.sleep(1000)", "BlockingIOError"),
    "makes threads": ("import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(1000,)).start()", ""),
    "makes zombies": (FORK + "while True:\n    if not os.fork(): os._exit(0)", ""),
    "all cores at once": (FORK + "for n in range(20):\n    if not os.fork():\n        while True: pass", ""),
    "never ends": ("while True:\n    pass", "CellTimeoutError"),
    "sleeps": ("import time\ntime.sleep(10**6)", "CellTimeoutError"),
    "hears no interruption": ("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", ""),
    "a number without end": ("9 ** 9 ** 9", ""),
    "a pattern without end": ("import re\nre.match('(a|aa)+$', 'a' * 200 + 'b')", ""),
    "many cells never end": ("import builtins\nget_ipython().events.register('pre_run_cell', lambda *a: __import__('time').sleep(10**6))", ""),
    "no reply": (SHELL + "import time\nkernel.do_execute = lambda *a, **k: time.sleep(10**6)\nkernel.session.send = lambda *a, **k: None", ""),
    "stops itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", ""),
    "stops its parent": ("import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)", ""),
    "stops all processes": ("import os, signal\nos.kill(-1, signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)", ""),
    "prints without end": ("while True:\n    print('x' * 1000)", "larger than 0.5 MB"),
    "prints one long line": ("print('x' * 50_000_000)", "larger than 0.5 MB"),
    "messages that nobody counts": (SHELL + "while True: kernel.session.send(kernel.iopub_socket, 'status', {'execution_state': 'busy', 'x': 'y' * 100_000}, ident=b'x')", ""),
    "many empty outputs": ("from IPython.display import display\nfor n in range(6000): display({'text/plain': ''}, raw=True)", ""),
    "many small lists": ("from IPython.display import display\ndisplay({'application/json': [[]] * 120_000, 'text/plain': 'x'}, raw=True)", ""),
    "a deep list": ("from IPython.display import display\ndeep = []\nfor n in range(900): deep = [deep]\ndisplay({'application/json': deep}, raw=True)", ""),
    "many kinds of one output": ("from IPython.display import display\ndisplay({f'a/{n}': '' for n in range(20_000)}, raw=True)", ""),
    "a trace of colours": ("raise ValueError('\\x1b[31m\\x1b[0m' * 20_000)", ""),
    "fills the disk": ("for number in range(1000):\n    open(f'/tmp/{number}', 'wb').write(bytes(1 << 20))", "No space left"),
    "fills shared memory": ("for number in range(1000):\n    open(f'/dev/shm/{number}', 'wb').write(bytes(1 << 20))", "No space left"),
    "a file of a terabyte": ("import os\nopen('x', 'w').close()\nos.truncate('x', 1 << 40)", ""),
    "deep folders": ("import os\nfor n in range(100_000):\n    os.mkdir('d'); os.chdir('d')", ""),
    "links without end": ("import os\nfor n in range(10_000_000): os.symlink('x' * 100, f'/tmp/{n}')", ""),
    "takes memory": (FORK + "for _ in range(8):\n    if not os.fork():\n        taken = bytearray(b'x') * (100 << 20)\n        time.sleep(1000)\ntime.sleep(1000)", "of memory"),
    "takes memory at once": ("taken = bytearray(b'x') * (4 << 30)", "MemoryError"),
    "many maps": ("import mmap\nkept = [mmap.mmap(-1, 4096, prot=1 + n % 2 * 2) for n in range(100_000)]", ""),
    "buffers of sockets": ("import socket\nkept = []\nwhile True:\n    a, b = socket.socketpair()\n    a.setblocking(False)\n    kept += [a, b]\n    try:\n        while True: a.send(bytes(65536))\n    except BlockingIOError: pass", ""),
    "buffers of pipes": ("import os, fcntl\nwhile True:\n    r, w = os.pipe()\n    fcntl.fcntl(w, 1031, 1 << 20)\n    os.set_blocking(w, False)\n    os.write(w, bytes(1 << 20))", ""),
    "locks every file": ("import fcntl, glob, sys\nkept = []\nfor path in glob.glob(sys.prefix + '/**/*.py', recursive=True)[:400]:\n    kept.append(open(path)); fcntl.flock(kept[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)", ""),
    "reads the whole system": ("import glob\nfor path in glob.iglob('/usr/lib/**/*', recursive=True):\n    try: open(path, 'rb').read()\n    except OSError: pass", ""),
    "calls home": ("import socket\nsocket.create_connection(('192.0.2.1', 80), 5)", "OSError"),
    "looks round": (f"print(open('{HOME}/../../gradebook.db', 'rb').read(), open('/etc/shadow').read())", "FileNotFoundError"),
}  # fmt: skip
