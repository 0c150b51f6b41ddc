"""Is each machine that cannot be set up named with its own reason, and left as it was, while the others are set up?"""

from __future__ import annotations

import os

import pytest
from running import Beowulf

from tests.simulated_pcs import hall

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(os.geteuid() != 0, reason="a PC with a root of its own needs root"),
]
# All that setting up could have begun with.
TOUCHED = """
cat /etc/hosts /etc/hostname; hostname
ls -A /opt /root/.ssh /home/ada/.ssh /etc/ssh /etc/ssh/ssh_config.d /etc/profile.d
ls -ld /opt/beowulf 2>&1; cat /root/.ssh/authorized_keys /home/ada/.ssh/authorized_keys
"""


@pytest.mark.nightly
def test_bad_machines_are_named_and_left_alone_and_the_others_are_set_up(
    tmp_path_factory: pytest.TempPathFactory, namespaces_work: None
) -> None:
    here = tmp_path_factory.mktemp("l")  # sockets of ssh want a short name
    with hall(5) as pcs:
        learner = Beowulf(here / "s", here, pcs.enter)
        try:
            pcs.at("node02", "mount -t tmpfs -o size=20m tmpfs /opt")
            users = {"node01": "ada", "node04": "nobody-known"}
            hosts = {
                name: f"ansible_host: {pcs.address(name)}, ansible_user: {user}"
                for name, user in users.items()
            }
            file = pcs.inventory(here / "pcs.yml", **hosts)
            known = (pcs.folder / "known_hosts").read_text().splitlines()
            stranger = pcs.address("node03")
            kept = [line for line in known if not line.startswith(f"{stranger} ")]
            (pcs.folder / "known_hosts").write_text("\n".join(kept) + "\n")
            before = {name: pcs.at(name, TOUCHED) for name in pcs.names}
            said = learner("setup", file, code=1)
            assert "node00: write /etc/hosts" in said or "; write /etc/hosts" in said
            assert "node01: ada may not become root on it without a password" in said
            assert "node02: its disk is full: 2" in said
            assert "node03: it shows a host key that this machine does not know yet" in said
            assert "node04: it does not let nobody-known in" in said
            for name in pcs.names[1:]:
                assert pcs.at(name, TOUCHED) == before[name], name
            assert pcs.at("node00", "cat /etc/hostname").strip() == "node00"
            said = learner("up", "--target", file, code=1)
            assert "1 of 5 nodes" in said
            assert "node02 has not been set up as a node." in said
        finally:
            learner("down", code=None)
            learner.end()
