"""Clusters for tests, each with an end."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from running import PATIENCE_S, Beowulf

from autograder import sandbox
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces import supervisor
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.desk import doctor
from beowulf.measure import machine_queue

CHECK = doctor.namespaces()
# Why no cluster of namespaces can be made here; empty where it can.
NONE_CAN_BE_MADE = (
    f"namespaces are needed, and cannot be made here: {CHECK.found}" if not CHECK.well else ""
)


def pytest_configure() -> None:
    """Hear Ctrl-C and a closed window even where a script or nohup started this: what tests start inherits it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # The same examples in every run, however long one of them takes on a busy machine.
    hypothesis.settings.register_profile(
        "same",
        derandomize=True,
        deadline=None,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
    hypothesis.settings.load_profile("same")


def pytest_sessionstart() -> None:
    """Collecting makes many objects and no garbage; looking for some takes a sixth of its time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Of what was collected none becomes garbage."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The lab that waits a minute first, then files that boot clusters, open pages or grade: none is left for the end.

    Where no cluster can be booted, what needs one is skipped, with the reason.
    """
    if NONE_CAN_BE_MADE:
        for item in items:
            if any(item.get_closest_marker(name) for name in ("cluster", "rootless")):
                item.add_marker(pytest.mark.skip(reason=NONE_CAN_BE_MADE))
    long = {
        item.path
        for item in items
        if item.path.parent.name == "autograder"
        or any(item.get_closest_marker(name) for name in ("cluster", "rootless", "browser"))
    }
    items.sort(key=lambda item: (item.path.name != "test_every_lab.py", item.path not in long))


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Let files be written when the system likes: a power cut in the middle of a test costs nobody a Record."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_cluster_where_there_can_be_none() -> Iterator[None]:
    """Where namespaces are forbidden, skip what makes a cluster of them, or a box, in this process."""

    def start(*_: object) -> None:
        pytest.skip(NONE_CAN_BE_MADE)

    with pytest.MonkeyPatch.context() as patch:
        if NONE_CAN_BE_MADE:
            patch.setattr(supervisor, "start", start)
            patch.setattr(sandbox, "_run", start)
        yield


@pytest.fixture(scope="session", autouse=True)
def own_line() -> Iterator[None]:
    """Let the tests of one process wait for each other, and not for another user of this machine."""
    folder = tempfile.mkdtemp(prefix="beowulf-line-")
    Path(folder).chmod(0o1777)  # some tests are other users
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(machine_queue.VARIABLE, folder)
        yield
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def no_watcher_of_pyshark() -> Iterator[None]:
    """Undo what pyshark leaves in this process: a watcher of a closed loop, by which no other loop starts a program."""
    yield
    if sys.version_info < (3, 14):  # which has none
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            asyncio.set_child_watcher(None)


@pytest.fixture(scope="session")
def namespaces_work() -> None:
    """Skip what needs namespaces where none can be made, and say why."""
    if NONE_CAN_BE_MADE:
        pytest.skip(NONE_CAN_BE_MADE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, in which a test opens pages."""
    path = shutil.which("chromium")
    if not path:
        pytest.skip("there is no Chromium on this machine: `make test` installs it on Debian.")
    from playwright.sync_api import expect, sync_playwright

    patience_ms = PATIENCE_S * 1000
    with sync_playwright() as playwright:
        expect.set_options(timeout=patience_ms)
        opened = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"], timeout=patience_ms
        )
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of it."""
    opened = browser.new_page(viewport={"width": 1400, "height": 1000})
    opened.set_default_timeout(PATIENCE_S * 1000)
    yield opened
    opened.close()


@pytest.fixture
def beowulf(tmp_path: Path, namespaces_work: None) -> Iterator[Beowulf]:
    """A learner without a cluster; whatever the test boots is taken down."""
    learner = Beowulf(tmp_path / "state", tmp_path)
    yield learner
    learner.end()


@pytest.fixture(scope="session")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, namespaces_work: None
) -> Iterator[NamespaceCluster]:
    """One cluster of four nodes for all tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("shared") / "state"
    yield namespaces.up(ClusterConfig(), folder=folder)
    namespaces.down(folder=folder)


@pytest.fixture
def at_cluster(cluster: NamespaceCluster, tmp_path: Path) -> Beowulf:
    """A learner, in a folder of their own, whose cluster is the shared one."""
    return Beowulf(cluster.folder, tmp_path)


# What is mounted for one command alone: `tmpfs:SIZE:FOLDER`, `hide:FILE`, `move:FROM:TO`, then the command.
PRIVATELY = """
while :; do
    case $1 in
    tmpfs:*) IFS=: read -r _ size folder <<<"$1"; mount -t tmpfs -o size="$size" tmpfs "$folder" ;;
    move:*) IFS=: read -r _ from to <<<"$1"; mount --bind "$from" "$to" ;;
    hide:*) mount --bind /dev/null "${1#hide:}" ;;
    *) exec "$@" ;;
    esac || exit 99
    shift
done
"""


@pytest.fixture
def private_mounts(namespaces_work: None) -> tuple[str, ...]:
    """The words before a command that is to see other mounts than this machine."""
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return ("unshare", *user, "--mount", "bash", "--norc", "-c", PRIVATELY, "privately")
