"""Checks the functions of heat.py on the ranks of an MPI program, then measures them. It need not be changed.

    mpiexec -n 4 python run_heat.py exchange --ways in_turns,nonblocking --columns 100,1000 --passes 10

It prints a line of JSON for each sample. A function that gives something wrong, fails, or does not come to its end
ends the run, with a line that names the rank and what is wrong. What each task does is in heat_tasks.py.
"""

import argparse
import importlib.util
import json
import linecache
import os
import random
import sys
import threading
import time
import traceback
from pathlib import Path

from heat_tasks import TASKS
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
CLOCK = MPI.Wtime  # whatever heat.py does to the name
RANK, RANKS = WORLD.Get_rank(), WORLD.Get_size()
NODE = MPI.Get_processor_name()
STOPPED = 7  # how the program ends when a function is wrong
HEARD_S = 1.0  # until what was printed is passed on: then mpiexec may end all ranks
LOOK_EVERY_S = 0.1
MOST_TEXT = 20_000  # letters that heat.py may print

# Results go where standard output went; what heat.py prints goes to standard error.
RESULTS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def tell(kind, *, flush=True, **values):
    """One line of JSON from this rank; samples are kept back until a pass is over, not to wake mpiexec meanwhile."""
    RESULTS.write(json.dumps({"kind": kind, **values}) + "\n")
    if flush:
        RESULTS.flush()


def stop(function, at, **facts):
    """End all ranks, because something is wrong; others get a moment to say the same of themselves."""
    tell("check", function=function, right=False, rank=RANK, node=NODE, **at, **facts)
    time.sleep(HEARD_S if RANK == 0 else 2 * HEARD_S)
    if threading.current_thread() is threading.main_thread():
        WORLD.Abort(STOPPED)  # others may be waiting inside of MPI
    os._exit(STOPPED)


class Watch(threading.Thread):
    """Ends all ranks when an operation takes too long; each says in which line of heat.py it is then."""

    def __init__(self, file):
        super().__init__(daemon=True)
        self.file, self.main = str(file), threading.get_ident()
        self.until, self.doing = None, None

    def run(self):
        """Look at the clock now and then."""
        while True:
            time.sleep(LOOK_EVERY_S)
            until, doing = self.until, self.doing
            if until and time.monotonic() > until:
                number, text = self.line(sys._current_frames()[self.main])
                stop(doing.function, doing.at, hangs=True, line=number, text=text)

    def line(self, frame):
        """The innermost line of heat.py, its number and its text; 0 where the function has come to its end."""
        while frame and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        number = frame.f_lineno if frame else 0
        return number, linecache.getline(self.file, number).strip() if number else ""


class Harness:
    """The functions of heat.py, called and timed with care."""

    def __init__(self, file, limit_s):
        self.file, self.limit_s = Path(file).resolve(), limit_s
        self.watch = Watch(self.file)
        self.watch.start()
        self.names = self.read()

    def read(self):
        """What heat.py defines."""
        made = importlib.util.spec_from_file_location("heat", self.file)
        module = importlib.util.module_from_spec(made)
        try:
            made.loader.exec_module(module)
        except BaseException as problem:
            stop("heat.py", {}, why=self.what(problem))
        return vars(module)

    def call(self, name, at, *arguments):
        """What a function of heat.py gives; all ranks end when it raises something."""
        try:
            return self.names[name](*arguments)
        except BaseException as problem:
            stop(name, at, why=self.what(problem))

    def what(self, problem):
        """What a function raised, and in which line of heat.py."""
        steps = traceback.extract_tb(problem.__traceback__)
        lines = [step.lineno for step in steps if step.filename == str(self.file)]
        where = f" in line {lines[-1]}" if lines else ""
        return f"{type(problem).__name__}{where}: {problem}"

    def timed(self, operation, count=1):
        """The seconds of the slowest rank for an operation, `count` times; what it gives is checked."""
        operation.ready()
        self.watch.doing = operation
        self.watch.until = time.monotonic() + self.limit_s
        WORLD.Barrier()
        began = CLOCK()
        for _ in range(count):
            given = operation.go()
        seconds = WORLD.allreduce(CLOCK() - began, MPI.MAX)
        fault = operation.fault(given)
        wrong = WORLD.allreduce(bool(fault), MPI.LOR)
        self.watch.until = None
        if wrong:
            self.agree(operation, fault)
        return seconds

    def agree(self, operation, fault):
        """End all ranks; the first of those that found a fault says so."""
        faults = WORLD.allgather(fault)
        if next(rank for rank, each in enumerate(faults) if each) == RANK:
            stop(operation.function, operation.at, why=fault)
        time.sleep(3 * HEARD_S)
        os._exit(STOPPED)


class Limited:
    """The standard output of heat.py, up to some length."""

    def __init__(self, stream):
        self.stream, self.left = stream, MOST_TEXT

    def write(self, text):
        """Write a text, cut where it is too much."""
        cut, had = text[: self.left], self.left
        self.left = max(0, self.left - len(text))
        self.stream.write(cut)
        if had and not self.left:
            self.stream.write(f"\n{NODE}: heat.py prints more than {MOST_TEXT:,} letters.\n")
        return len(text)

    def flush(self):
        """Write what is still held."""
        self.stream.flush()


def arguments():
    """What the words after the program's name ask for."""

    def numbers(text):
        return [int(each) for each in text.split(",")]

    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("task", choices=TASKS)
    reader.add_argument("--heat", default=str(Path(__file__).with_name("heat.py")))
    reader.add_argument("--with", action="append", help="a file that this program needs")
    reader.add_argument("--ways", type=lambda text: text.split(","), default=["nonblocking"])
    reader.add_argument("--rows", type=numbers, default=[402])
    reader.add_argument("--columns", type=numbers, default=[1000])
    reader.add_argument("--limit", type=float, default=20.0, help="seconds, of a sample")
    reader.add_argument("--sample-ms", type=float, default=2.0, help="about the least of a sample")
    for name, otherwise in (("steps", 10), ("passes", 0), ("seed", 1), ("most", 0)):
        reader.add_argument(f"--{name}", type=int, default=otherwise)
    return reader.parse_args()


def main():
    """Check, then go round all operations in a new order each pass."""
    asked = arguments()
    sys.stdout = Limited(sys.stdout)
    harness = Harness(asked.heat, asked.limit)
    operations = list(TASKS[asked.task](harness, asked, tell))
    hosts = WORLD.gather(NODE)
    patient = WORLD.reduce(int(os.environ.get("BEOWULF_POLLING") == "patient"))
    if RANK == 0:
        about = {"program": "run_heat.py", "task": asked.task, "ranks": RANKS, "hosts": hosts}
        about |= {"patient_ranks": patient, "clock_resolution_s": MPI.Wtick(), "seed": asked.seed}
        about["mpi_library"] = MPI.Get_library_version().split("\n")[0]
        tell("about", **about, samples=asked.passes * len(operations))
    for each in operations if asked.passes else ():
        if each.warm_up:
            once = harness.timed(each)
            if each.steps == 1:
                each.count = max(1, round(asked.sample_ms / 1e3 / once))
    order = list(operations)
    for number in range(asked.passes):
        random.Random(asked.seed * 1_000_003 + number).shuffle(order)
        for each in order:
            seconds = harness.timed(each, each.count)
            sample = {"quantity": each.quantity, **each.at, "repetitions": each.count * each.steps}
            if RANK == 0:
                tell("sample", flush=False, **sample, seconds=seconds, **{"pass": number})
        RESULTS.flush()
    if RANK == 0:
        tell("end")


if __name__ == "__main__":
    main()
