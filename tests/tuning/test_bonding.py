"""Do two cards become one, and two again exactly as they were, whatever goes wrong in between?"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from beowulf.tuning.knobs import find

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(os.geteuid() != 0, reason="a network of its own needs root"),
]

# Two cards, in a network of their own. Not every kernel has bonds; a bridge takes the cards in the same way.
TWO_CARDS = """set -e
ip link set lo up
for card in eth0 second-card; do
    ip link add $card type veth peer name to-$card
    ip link set to-$card up
    ip link set $card mtu 1400 up
done
ip address add 10.9.0.8/24 brd 10.9.0.255 dev eth0
ip address add 10.9.2.8/24 dev second-card
ip address add 10.9.3.8/24 dev second-card
ip route add default via 10.9.0.1 dev eth0 metric 7
cat >state <<'END'
{look}
END
whole() {{ ip -4 address | sed 's/^[0-9]*: //; /valid_lft/d'; ip route; cat /proc/sys/net/ipv4/tcp_reordering; }}
{steps}
"""
BRIDGE = ("type bond mode balance-rr miimon 100", "type bridge")


def two_cards(tmp_path: Path, steps: str) -> str:
    look = find("bonding").look("node00").partition("[ -e /sys/module")[0] + "echo bond=off\ntheirs"
    words = ["unshare", "--net", "bash", "--norc", "-c", TWO_CARDS.format(look=look, steps=steps)]
    environment = {
        **os.environ,
        "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
        "SSH_CONNECTION": "-",
    }
    done = subprocess.run(
        words,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def joined() -> str:
    return find("bonding").set("on", "node00").replace(*BRIDGE)


@pytest.mark.nightly
def test_two_cards_become_one_with_the_addresses_of_both_and_are_parted_again(
    tmp_path: Path,
) -> None:
    read = "bash -eu state >now; whole >before\n"
    first = two_cards(tmp_path, f"{read}cat now before")
    state = first.partition("eth0: ")[0].partition("lo: ")[0]
    assert "address second 10.9.3.8/24" in state
    assert "route first default via 10.9.0.1" in state
    back = find("bonding").back(state, "node00")
    (tmp_path / "join").write_text(joined())
    (tmp_path / "part").write_text(back)
    steps = "bash --norc -eu <join; whole >bonded; bash --norc -eu <part; whole >after; cat bonded; diff before after"
    bonded = two_cards(tmp_path, read + steps)
    for address in ("10.9.0.8/24 brd 10.9.0.255", "10.9.2.8/24", "10.9.3.8/24"):
        assert f"{address} scope global" in bonded
    assert "default via 10.9.0.1 dev beowulf-bond metric 7" in bonded
    assert "scope global eth0" not in bonded
    assert bonded.endswith("127\n")


@pytest.mark.nightly
def test_cards_that_cannot_be_joined_are_left_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "join").write_text(joined().replace("    give beowulf-bond\n", "    false\n"))
    steps = "whole >before; ! bash --norc -eu <join; whole >after; diff before after; echo same"
    assert two_cards(tmp_path, steps).endswith("same\n")


def test_a_login_over_a_card_that_would_be_bonded_is_not_cut_off(tmp_path: Path) -> None:
    (tmp_path / "join").write_text(joined())
    login = "SSH_CONNECTION='10.9.0.77 5000 10.9.0.8 22'"
    steps = f"whole >before; ! {login} bash --norc -eu <join 2>said; whole >after; diff before after; cat said"
    assert "the login from 10.9.0.77 comes by one of its two cards" in two_cards(tmp_path, steps)
