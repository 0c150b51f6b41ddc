"""Do four VMs of the Vagrantfile become a cluster on which the labs run, and does nothing of them stay?

The tests are in order: each goes on with the VMs of the one before. `make vm-test` runs them, and nothing else does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from box import NAME
from jupyter import Jupyter
from person import IDLE, PICTURES, Person
from running import PATIENCE_S, wait_until
from virtual import ADDRESSES, NODES, Vms, say, vms

from beowulf import paths
from beowulf.labs.lab_06 import a10_short_messages as a10
from beowulf.labs.lab_06 import wire_picture
from beowulf.record import Record
from beowulf.studies import known

pytestmark = [pytest.mark.vm, pytest.mark.timeout(3600)]
LAB = paths.root() / "labs" / "01-validation"
THROTTLED_US = 10_000


@pytest.fixture(scope="module")
def four() -> Iterator[Vms]:
    """Four VMs, from `vagrant up` on."""
    with vms() as found:
        found.vagrant("up")
        yield found


@pytest.fixture(autouse=True)
def announce(request: pytest.FixtureRequest) -> None:
    say(request.node.name.removeprefix("test_").replace("_", " "))


def test_vagrant_up_leaves_a_cluster(four: Vms) -> None:
    said = four.learner("up", "--target", "vagrant")
    assert "4 nodes of vagrant can be used: node00, node01, node02, node03." in said


def test_every_node_knows_all_names_and_gives_its_own_the_clusters_address(four: Vms) -> None:
    ask = f"hostname; for name in {' '.join(NODES)}; do getent ahostsv4 $name | head -n 1; done"
    for node, said in _everywhere(four, dict.fromkeys(NODES, ask)).items():
        words = said.split()
        assert words[0] == node
        found = dict(zip(words[3::3], words[1::3], strict=True))
        assert found == ADDRESSES, node


def test_every_node_lets_every_other_in(four: Vms) -> None:
    others = {node: [name for name in NODES if name != node] for node in NODES}
    ask = {
        node: f"for name in {' '.join(names)}; do ssh -n $name hostname; done"
        for node, names in others.items()
    }
    found = _everywhere(four, ask)
    assert {node: said.split() for node, said in found.items()} == others


def test_mpi_greets_from_four_nodes_and_a_token_comes_round(four: Vms) -> None:
    said = four.learner("run", "-n", "4", LAB / "hello.c")
    assert sorted(said.splitlines()) == [f"rank {n} of 4 on {NODES[n]}" for n in range(4)]
    assert "the token came home after 4 hops" in four.learner("run", "-n", "4", LAB / "ring.c")


def test_the_mpi_is_the_classic_one_and_not_debians(four: Vms) -> None:
    said = four.learner(
        "ssh", "node00", "mpichversion; which mpiexec; dpkg -l | grep -c mpich || true"
    )
    assert re.search(r"^MPICH Version:\s+3\.4\.3", said, re.MULTILINE)
    assert said.split()[-2:] == ["/opt/beowulf/programs/bin/mpiexec", "0"]


def plain(said: str) -> Any:
    """The data in what a command with --json said; its warnings, say of a clock, come with it in these tests."""
    start = re.search(r"^[\[{]", said, re.MULTILINE)
    assert start, said
    return json.JSONDecoder().raw_decode(said, start.start())[0]


def test_lab_01s_studies_hold(four: Vms) -> None:
    listed = re.search(r"^studies = (.*)$", (LAB / "lab.toml").read_text(), re.MULTILINE)
    assert listed
    for study in json.loads(listed[1]):
        if study in known():  # A1 is `vagrant up` itself
            say(f"  study {study}")
            verdicts = plain(four.learner("study", study, "--quick", "--json"))
            assert {verdict["outcome"] for verdict in verdicts} == {"holds"}, verdicts


def test_jupyterlab_answers_on_the_master(four: Vms) -> None:
    ask = "curl -s -o /dev/null -w %{http_code} $(/opt/beowulf/bin/jupyterlab --address)"
    wait_until(
        lambda: four.learner("ssh", "node00", ask, code=None).endswith("200"),
        "JupyterLab answers",
    )


def test_home_and_a_lab_work_in_a_browser_on_the_host(four: Vms) -> None:
    from playwright.sync_api import expect

    PICTURES.mkdir(parents=True, exist_ok=True)
    address = four.learner("ssh", "node00", "/opt/beowulf/bin/jupyterlab --address").split()[-1]
    with four.browser() as browser:
        page = browser.new_page()
        wait_until(lambda: _opens(page, address), "the browser sees JupyterLab", PATIENCE_S)
        say("  the home page is there")
        expect(page.locator("#sentence")).to_contain_text("The cluster is of the kind ssh")
        page.screenshot(path=str(PICTURES / "vm-home.png"))
        page.get_by_role("link", name=re.compile("Lab 01")).first.click()
        expect(page.frame_locator("#handout").locator("h1")).to_contain_text("Lab 01")
        say("  the handout is there")
        notebook = page.frame_locator("#notebook")
        # Before the kernel has started, JupyterLab calls it idle as well, and asks which kernel is to run a cell.
        expect(notebook.locator(".jp-Toolbar-kernelName")).to_have_text(re.compile("Python 3"))
        expect(notebook.locator(IDLE).first).to_be_visible()
        say("  the notebook is there, and a kernel")
        cell = notebook.locator(".jp-CodeCell").first
        Person(four.learner, Jupyter("", ""), browser, page, four.checkout).run(cell)
        expect(cell).to_contain_text(f"ssh {' '.join(NODES)}")
        say("  the first cell has run")
        page.screenshot(path=str(PICTURES / "vm-lab.png"))


def _opens(page: Any, address: str) -> bool:
    """Whether the browser gets the page yet; `vagrant ssh` takes its time to bring the port."""
    from playwright.sync_api import Error

    try:
        return bool(page.goto(address).ok)
    except Error:
        return False


def test_packets_are_captured_on_all_nodes(four: Vms) -> None:
    words = ("capture", "-o", "ring.pcapng", "--where", "nodes", "-n", "4", "--", LAB / "ring.c")
    assert "(0 dropped" in four.learner(*words)
    for node in NODES:
        ask = ("packets", "ring.pcapng", "--messages", "--json", "--at", node)
        assert plain(four.learner(*ask)), node


def test_a_study_of_lab_06_captures_the_whole_wire(four: Vms) -> None:
    words = ("study", "A10", "--quick", "--records", "wire")
    four.learner(*words, code=None, timeout_s=3 * PATIENCE_S)  # thousands of messages, emulated
    [file] = (four.learner.here / "wire").glob("A10-*.json")
    record = Record.load(file)
    assert record.complete, record.warnings
    assert len(wire_picture.table(record)) >= len(
        a10.TALKS
    )  # every conversation of the study is in it
    assert record.captures
    assert all((file.parent / each["file"]).stat().st_size for each in record.captures)


def test_a_change_of_the_interrupt_throttle_is_seen(four: Vms) -> None:
    said = _card(four, "node01", "ethtool -i CARD | sed -n 's/^driver: //p'")
    assert said.split() == ["e1000e"]
    prompt = max(_interrupts_per_s(four) for _ in range(3))
    four.learner("tune", "apply", "moderation", str(THROTTLED_US), "--unmeasured")
    held_back = _interrupts_per_s(four)
    four.learner("tune", "revert")
    say(f"  {prompt:.0f} interrupts a second, throttled {held_back:.0f}")
    # An emulated card does not keep strictly to its hundred interrupts a second.
    assert 3 * held_back < prompt


def test_the_cluster_is_whole_again_after_halt_and_up(four: Vms) -> None:
    four.learner("down")
    four.vagrant("halt")
    said = four.learner("up", "--target", "vagrant", code=1)
    assert all(f"The VM {node} is shutoff" in said for node in NODES)
    four.vagrant("up")
    assert "4 nodes of vagrant can be used" in four.learner("up", "--target", "vagrant")
    assert "the token came home after 4 hops" in four.learner("run", "-n", "4", LAB / "ring.c")
    for node in NODES:
        assert _card(four, node, "tc qdisc show dev CARD root").split()[1] == "tbf"


def test_destroy_leaves_nothing(four: Vms) -> None:
    four.learner("down")
    assert len(four.domains()) > len(NODES)
    four.vagrant("destroy", "--force")
    assert four.domains() == []
    assert "qemu" not in four.room.run("ps", "-e", "-o", "comm=")
    assert "not created" in four.learner("up", "--target", "vagrant", code=1)
    assert [*(four.room.folder / "images").glob(f"*{NAME}*")]  # the box, which is not a VM's


def _everywhere(four: Vms, lines: dict[str, str]) -> dict[str, str]:
    """What each node's line of shell prints there, all at the same time."""
    with ThreadPoolExecutor(len(lines)) as beside:
        jobs = {
            node: beside.submit(four.learner, "ssh", node, line) for node, line in lines.items()
        }
        return {node: job.result() for node, job in jobs.items()}


def _card(four: Vms, node: str, script: str) -> str:
    """What root's shell prints on a node, with CARD for the card in the cluster."""
    find = f"card=$(ip -o -4 address show to {ADDRESSES[node]}/32 | awk '{{ print $2 }}')\n"
    return four.at(node, find + re.sub(r"\bCARD\b", "$card", script))


def _interrupts_per_s(four: Vms) -> float:
    """How often node00's card interrupts while node01 answers a thousand packets as fast as it can."""
    count = "awk -v name=CARD-rx-0 '$NF == name { print $2 }' /proc/interrupts"
    flood = (
        f"ping -f -l 20 -c 1000 -q {ADDRESSES['node01']} | sed -n 's/.*time \\([0-9]*\\)ms/\\1/p'"
    )
    before, elapsed_ms, after = map(
        int, _card(four, "node00", f"{count}\n{flood}\n{count}").split()
    )
    return 1000 * (after - before) / elapsed_ms
