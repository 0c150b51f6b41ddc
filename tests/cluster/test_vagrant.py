"""Is the Vagrantfile one that its providers know, and are VMs found that `vagrant` tells of?

Vagrant itself is not installed by us: what it says is played by a script here, and the file is read as text. Where it
is installed, it is asked too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from beowulf import paths
from beowulf.cluster.machines import vagrant
from beowulf.cluster.namespaces.links import BURST_BYTES
from beowulf.errors import LabError
from tests.simulated_pcs import CARD, NETWORK, hall, learner_at

FILE = paths.root() / "Vagrantfile"
BOX = paths.root() / "cluster_setup" / "box"
CONFIG = """\
Host node00
  HostName 127.0.0.1
  User vagrant
  Port 2222
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking no
  PasswordAuthentication no
  IdentityFile "/home/ada/beowulf labs/.vagrant/machines/node00/virtualbox/private_key"
  IdentitiesOnly yes
  LogLevel FATAL

Host node01
  HostName 127.0.0.1
  User vagrant
  Port 2200
  IdentityFile /home/ada/key
"""


def test_our_box_holds_every_package_that_the_setting_up_of_node00_names() -> None:
    asked = re.search(r'wanted="(.*)"', FILE.read_text())
    assert asked
    table = (paths.root() / "cluster_setup" / "packages.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in table if not line.startswith("#")]
    held = {row[1] for row in rows if row[2] == "lab"}
    held |= {
        line.partition("#")[0].strip() for line in (BOX / "packages.txt").read_text().splitlines()
    }
    assert set(asked[1].split()) <= held


def test_every_variable_of_the_vagrantfile_is_explained_with_its_default() -> None:
    text = FILE.read_text()
    head = text.partition("\n\n")[0]
    read = dict(re.findall(r'ENV\.fetch\("(\w+)", "([^"]*)"\)', text))
    assert set(read) == set(re.findall(r"ENV\W+(?:fetch\W+)?(BEOWULF_\w+)", text))
    for name, default in read.items():
        assert re.search(rf"^#   {name} .* {re.escape(default)}$", head, re.MULTILINE), name


def test_the_rates_and_bursts_are_those_of_a_cluster_on_one_machine() -> None:
    bursts = dict(re.findall(r'"(\w+)" => (\d+)', FILE.read_text()))
    assert {name: int(text) for name, text in bursts.items() if name != "off"} == BURST_BYTES


# Vagrant asks each provider whether it is there before it checks what it is given.
VBOXMANAGE = "#!/bin/sh\necho 7.0.20r163906\n"


@pytest.mark.nightly
@pytest.mark.parametrize("provider", ["virtualbox", "libvirt", "parallels", "vmware_desktop"])
def test_vagrant_takes_the_file_for_each_provider_that_is_installed(
    provider: str, tmp_path: Path
) -> None:
    if not shutil.which("vagrant"):
        pytest.skip("vagrant is not installed")
    shutil.copy(FILE, tmp_path)
    (tmp_path / "VBoxManage").write_text(VBOXMANAGE)
    (tmp_path / "VBoxManage").chmod(0o755)
    done = subprocess.run(
        ["vagrant", "validate"],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "VAGRANT_HOME": str(tmp_path / "home"),
            "VAGRANT_DEFAULT_PROVIDER": provider,
            "VAGRANT_CHECKPOINT_DISABLE": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if f"The provider '{provider}' could not be found" in done.stdout:
        pytest.skip(f"vagrant has no plugin for {provider} here")
    assert done.returncode == 0, done.stdout
    assert "validated successfully" in done.stdout


def _play(folder: Path, states: dict[str, str], *, end: str = "", config: str = CONFIG) -> None:
    """Write a `vagrant` that knows these VMs into a folder."""
    rows = "".join(f"1700000000,{name},state,{state}\n" for name, state in states.items())
    (folder / "status").write_text(rows)
    (folder / "config").write_text(config)
    script = f"""#!/bin/sh
case $1 in
status) cat {folder}/status ;;
ssh-config) shift; echo "$@" > {folder}/asked; cat {folder}/config ;;
esac
{end}
"""
    (folder / "vagrant").write_text(script)
    (folder / "vagrant").chmod(0o755)


def test_the_vms_are_those_of_vagrants_own_ssh_config() -> None:
    first, second = vagrant.parse(CONFIG)
    found = (first.name, first.host, first.port, first.user)
    assert found == ("node00", "127.0.0.1", 2222, "vagrant")
    assert first.key.endswith("beowulf labs/.vagrant/machines/node00/virtualbox/private_key")
    assert "StrictHostKeyChecking=no" in first.options
    assert "LogLevel=FATAL" not in first.options  # else nobody would say why a login fails
    assert (second.port, second.options, second.address) == (2200, (), "")


def test_a_vm_that_was_destroyed_by_hand_is_named_and_the_others_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _play(tmp_path, {"node02": "not_created", "node01": "running", "node00": "running"})
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    machines, troubles = vagrant.read()
    assert [machine.name for machine in machines] == ["node00", "node01"]
    assert (tmp_path / "asked").read_text().split() == ["node00", "node01"]
    assert list(troubles) == ["node02"]
    assert "not created" in troubles["node02"]
    assert "vagrant up node02" in troubles["node02"]


@pytest.mark.parametrize(
    ("states", "end", "said"),
    [
        (
            {"node01": "poweroff", "node00": "poweroff"},
            "",
            "node00 is poweroff.*node01 is poweroff",
        ),
        ({}, "echo 'No usable default provider' >&2; exit 1", "No usable default provider"),
        (None, "", "vagrant is not installed"),
    ],
    ids=["all off", "it complains", "none"],
)
def test_where_vagrant_has_no_vms_the_reason_is_named(
    states: dict[str, str] | None,
    end: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if states is not None:
        _play(tmp_path, states, end=end)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin" if states is not None else str(tmp_path))
    with pytest.raises(LabError, match=said):
        vagrant.read()


MOVED = "ip address del {old}/24 dev {card} && ip address add {new}/24 dev {card}"


@pytest.mark.cluster
@pytest.mark.nightly
def test_a_vm_that_comes_back_with_another_address_is_found_again(
    namespaces_work: None, tmp_path: Path
) -> None:
    with hall(2) as pcs, learner_at(pcs, tmp_path) as learner:
        learner.environment["PATH"] = f"{tmp_path}:{os.environ['PATH']}"
        addresses = {name: pcs.address(name) for name in pcs.names}

        def play() -> None:
            config = "\n".join(
                f"Host {name}\n  HostName {address}\n  User root\n  IdentityFile {pcs.folder}/key\n"
                "  UserKnownHostsFile /dev/null\n  StrictHostKeyChecking no\n"
                for name, address in addresses.items()
            )
            _play(tmp_path, dict.fromkeys(pcs.names, "running"), config=config)

        play()
        # Nobody has set these VMs up; they can be logged in to all the same.
        learner("up", "--target", "vagrant", code=1)
        assert "debian-node01" in learner("ssh", "node01", "hostname")
        old, addresses["node01"] = addresses["node01"], f"{NETWORK}.99"
        pcs.at("node01", MOVED.format(new=addresses["node01"], old=old, card=CARD))
        play()
        assert "debian-node01" not in learner("ssh", "node01", "hostname", code=None)
        said = learner("up", code=1)
        assert "node01 does not answer" not in said
        assert "debian-node01" in learner("ssh", "node01", "hostname")
        assert re.search(r"node01 .*up", learner("status"))
