"""Which machines does an inventory mean, and what is wrong with one that means none?"""

from __future__ import annotations

from pathlib import Path

import pytest

from beowulf import paths
from beowulf.cluster.machines import inventory
from beowulf.errors import UsageError

TWO = """
all:
  vars: {ansible_user: ada}
  hosts:
    node00: {ansible_host: 192.168.1.10}
    node01: {ansible_host: 192.168.1.11, ansible_port: 2222}
"""


def test_the_machines_come_in_the_order_of_the_inventory_with_their_variables() -> None:
    first, second = inventory.parse(TWO)
    assert (first.name, first.host, first.port, first.user) == ("node00", "192.168.1.10", 22, "ada")
    assert (second.name, second.port, second.address) == ("node01", 2222, "192.168.1.11")


def test_a_group_hands_its_variables_down_and_the_innermost_one_counts() -> None:
    text = """
all:
  vars: {ansible_user: ada, ansible_port: 22}
  children:
    old:
      vars: {ansible_user: bob}
      hosts:
        pc1: {ansible_host: 10.0.0.1}
        pc2: {ansible_host: 10.0.0.2, ansible_user: eve}
"""
    assert [machine.user for machine in inventory.parse(text)] == ["bob", "eve"]


@pytest.mark.parametrize(
    ("variables", "address", "second"),
    [
        ("pc.example.org, beowulf_address: 10.0.0.7", "10.0.0.7", ""),
        ("127.0.0.1, ansible_port: 2200", "", ""),  # forwarded, it is no address in the cluster
        ("192.168.1.10, beowulf_second: 192.168.2.10", "192.168.1.10", "192.168.2.10"),
    ],
)
def test_the_addresses_in_the_cluster_may_be_others_than_that_for_logins(
    variables: str, address: str, second: str
) -> None:
    first, other = inventory.parse(TWO.replace("192.168.1.10}", f"{variables}}}"))
    assert (first.host, first.address) == (variables.partition(",")[0], address)
    assert (first.second, other.second) == (second, "")


def test_a_file_that_is_far_too_long_for_an_inventory_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "pcs.yml").write_text("#" * (inventory.LARGEST_BYTES + 1))
    with pytest.raises(UsageError, match="larger than 1 MB"):
        inventory.read(tmp_path / "pcs.yml")


def test_the_example_is_an_inventory_of_four_machines() -> None:
    machines = inventory.read(paths.root() / "cluster_setup" / "inventory.example.yml")
    assert [machine.name for machine in machines] == ["node00", "node01", "node02", "node03"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TWO + "    node00: {ansible_host: 192.168.1.12}\n", "names node00 twice (line 7)"),
        (TWO.replace("192.168.1.11, ansible_port: 2222", "192.168.1.10"), "the same address"),
        (TWO.replace("node01", "node[01:03]"), "not a valid name"),
        (TWO.replace("2222", "70000"), "not a port"),
        (TWO.replace("192.168.1.10", "'{{ address }}'"), "a template"),
        (TWO.replace("ansible_port: 2222", "ansible_password: secret"), "passwords are not used"),
        (TWO.replace("ansible_port: 2222", "beowulf_address: 10.0.0.300"), "not an IPv4 address"),
        (TWO.replace("ansible_port: 2222", "beowulf_slurmm: true"), "mean beowulf_slurm."),
        (TWO.replace("ansible_port: 2222", "beowulf_xyzzy: 1"), "is not a setting"),
        (TWO.replace("ansible_port: 2222", "beowulf_rate: fast"), "one of 10mbit, 100mbit, 1gbit"),
        (TWO.replace("hosts", "machines"), "which is not part of an inventory"),
        (TWO.replace("    node01", "    #"), "has 1 machine;"),
        ("all: [node00, node01]", "where hosts, vars and children are expected"),
        ("all: {hosts: {node00", "is not YAML"),
        ("node00 ansible_host=192.168.1.10\n", "where groups are expected"),
        (
            TWO.replace("ada", '"ada\\n  ProxyCommand id"'),
            r"ansible_user is 'ada\n  ProxyCommand id'",
        ),
        (TWO.replace("192.168.1.11", "-oProxyCommand=id"), "which ssh cannot use"),
        (TWO.replace("ansible_port: 2222", 'ansible_ssh_common_args: "\'"'), "arguments for ssh"),
        (TWO.replace("vars:", "vars: &a").replace("node00:", "node00: *a #"), "an alias (line 5)"),
        (TWO.replace("ada", "2026-13-45"), "is not YAML: month must be"),
        (TWO + "    [node02]: {}\n", "a name that is not text (line 7)"),
        ("a: " + "[" * 5_000 + "]" * 5_000, "is nested too deeply"),
        ("a: " * 5_000, "is not YAML"),
        (TWO.replace("2222", "x" * 5_000), f"'{'x' * 59}…, which is not a port"),
    ],
)
def test_what_cannot_be_an_inventory_is_refused_with_a_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        inventory.parse(text, "pcs.yml")
    assert said in str(refused.value)
