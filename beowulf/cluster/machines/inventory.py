"""Which machines a cluster is made of: read from an inventory as Ansible writes it in YAML.

    all:
      vars: {ansible_user: ada}
      hosts:
        node00: {ansible_host: 192.168.1.10}
        node01: {ansible_host: 192.168.1.11}

The first machine is the master. Groups below `children` may hold machines and variables too. What Ansible knows beyond
that (patterns, templates, aliases, passwords) is refused with a sentence, so that Ansible and we never understand two
things.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
import shlex
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from beowulf.cluster.common.config import RATES
from beowulf.errors import UsageError

FEWEST, MOST = 2, 64
LARGEST_BYTES, LONGEST_SHOWN = 1_000_000, 60
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
# What ssh's settings, in which each has a line, can hold: a user or a host, and the file of a key.
WORD, LINE = re.compile(r"[^\s\x00-\x1f\"-][^\s\x00-\x1f\"]*"), re.compile(r"[^\x00-\x1f\"]+")
SECRETS = ("ansible_password", "ansible_ssh_pass", "ansible_become_password", "ansible_become_pass")
OWN, SECOND = "beowulf_address", "beowulf_second"  # addresses in the cluster
# The other settings; docs/clusters.md explains each. Ansible itself would not mind a misspelt one.
WISHES = (
    *(OWN, SECOND, "beowulf_rate", "beowulf_checkout"),
    *("beowulf_jupyterlab", "beowulf_jupyterlab_address", "beowulf_jupyterlab_port"),
    *("beowulf_hub", "beowulf_hub_instructor", "beowulf_hub_course", "beowulf_hub_roster"),
    *("beowulf_hub_cluster", "beowulf_hub_address", "beowulf_hub_port"),
    *("beowulf_hub_certificate", "beowulf_hub_key"),
    *("beowulf_slurm", "beowulf_slurm_minutes"),
)
EXAMPLE = "cluster_setup/inventory.example.yml shows how one looks."


@dataclass(frozen=True)
class Machine:
    """One machine: its name in the cluster, how ssh reaches it from here, and its address on the cluster's network."""

    name: str
    host: str  # a name or an address
    port: int = 22
    user: str = ""  # empty: as ssh would choose
    key: str = ""  # the file of the private key; empty: as ssh would choose
    options: tuple[str, ...] = ()  # more words for ssh
    address: str = ""  # IPv4; empty: the address with which the machine was set up
    second: str = ""  # its address on a second network, if it has one
    through: tuple[str, ...] = ()  # what starts a command there in place of ssh, such as srun


def read(path: Path) -> list[Machine]:
    """The machines of an inventory, the master first; UsageError for what is not an inventory."""
    with path.open("rb") as file:
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise UsageError(f"{path} is larger than {LARGEST_BYTES // 10**6} MB.", EXAMPLE)
    return parse(content.decode(errors="replace"), str(path))


def parse(text: str, where: str = "the inventory") -> list[Machine]:
    """The machines of an inventory's text; `where` names it in sentences."""
    try:
        groups = yaml.load(text, Loader=_Strict)
    except RecursionError:
        raise UsageError(f"{where} is nested too deeply.", EXAMPLE) from None
    except (yaml.YAMLError, ValueError) as error:  # the latter of a day or a number that is none
        why = shortened(" ".join(str(error).split()), 300)
        raise UsageError(f"{where} is not YAML: {why}.", EXAMPLE) from None
    settings_by_name: dict[str, dict[str, Any]] = {}
    for name, settings in _hosts(groups, {}, where):
        settings_by_name[name] = {**settings_by_name.get(name, {}), **settings}
    machines = [_machine(name, settings, where) for name, settings in settings_by_name.items()]
    if not FEWEST <= len(machines) <= MOST:
        raise UsageError(
            f"{where} has {len(machines)} machine{'s' * (len(machines) != 1)}; a cluster has {FEWEST} to {MOST}.",
            EXAMPLE,
        )
    _refuse_same(machines, where)
    return machines


def _hosts(
    groups: object, inherited: Mapping[str, Any], where: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every machine with its variables: those of its groups, the innermost first, and its own."""
    for group, inside in _mapping(groups, f"{where}", "groups").items():
        at = f"{where}, group {quoted(group)}"
        inside = _mapping(inside, f"{at},", "hosts, vars and children")
        if unknown := sorted(set(inside) - {"hosts", "vars", "children"}):
            raise UsageError(
                f"{at}, has {quoted(unknown[0])}, which is not part of an inventory.",
                "A group holds hosts, vars and children.",
            )
        settings = {**inherited, **_mapping(inside.get("vars"), f"{at}: vars", "names")}
        for name, own in _mapping(inside.get("hosts"), f"{at}: hosts", "names").items():
            yield name, {**settings, **_mapping(own, f"{where}, {quoted(name)}", "variables")}
        yield from _hosts(inside.get("children"), settings, where)


def _mapping(value: object, where: str, of: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UsageError(f"{where} holds {quoted(value)} where {of} are expected.", EXAMPLE)
    return {str(name): each for name, each in value.items()}


def quoted(value: object) -> str:
    """A value of the inventory in a sentence, on one line and not long."""
    return shortened(repr(value))


def shortened(text: str, longest: int = LONGEST_SHOWN) -> str:
    """At most so many letters of a text."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def _machine(name: str, settings: Mapping[str, Any], where: str) -> Machine:
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{where} has the machine {quoted(name)}, which is not a valid name.",
            "A name has only small letters, digits and hyphens: node00, for example.",
        )
    for setting in SECRETS:
        if setting in settings:
            raise UsageError(
                f"{where} has a password for {name}, but passwords are not used here.",
                f"`ssh-copy-id` puts your key on {name}; sudo has to work without a password there.",
            )
    for setting, value in settings.items():
        if setting.startswith(("ansible_", "beowulf_")) and "{{" in str(value):
            raise UsageError(
                f"{where}, {name}: {quoted(setting)} is a template.", "Write what it stands for."
            )
        if setting.startswith("beowulf_") and setting not in WISHES:
            near = difflib.get_close_matches(setting, WISHES, 1)
            raise UsageError(
                f"{where}, {name}: {quoted(setting)} is not a setting.",
                f"Perhaps you mean {near[0]}." if near else "docs/clusters.md lists the settings.",
            )
    rate = settings.get("beowulf_rate", False)
    if rate and rate not in RATES:  # YAML takes a bare `off` for no
        raise UsageError(
            f"{where}, {name}: beowulf_rate is {quoted(rate)}; it must be one of {', '.join(RATES)}."
        )
    host = str(settings.get("ansible_host", name))
    own, second = (_address(settings, each, f"{where}, {name}") for each in (OWN, SECOND))
    more = f"{settings.get('ansible_ssh_common_args', '')} {settings.get('ansible_ssh_extra_args', '')}"
    key = str(settings.get("ansible_ssh_private_key_file", ""))
    port = settings.get("ansible_port", 22)
    if not isinstance(port, int) or not 1 <= port <= 65535:
        raise UsageError(f"{where}, {name}: ansible_port is {quoted(port)}, which is not a port.")
    user = str(settings.get("ansible_user", ""))
    for setting, text, form in (
        ("ansible_host", host, WORD),
        ("ansible_user", user, WORD),
        ("ansible_ssh_private_key_file", key, LINE),
    ):
        if text and not form.fullmatch(text):
            raise UsageError(f"{where}, {name}: {setting} is {quoted(text)}, which ssh cannot use.")
    try:
        options = shlex.split(more)
    except ValueError as error:
        raise UsageError(f"{where}, {name}: {error} in the arguments for ssh.") from None
    return Machine(
        name=name,
        host=host,
        port=port,
        user=user,
        key=str(Path(key).expanduser()) if key else "",
        options=tuple(options),
        address=own or (host if _is_address(host) and not host.startswith("127.") else ""),
        second=second,
    )


def _address(settings: Mapping[str, Any], name: str, where: str) -> str:
    text = str(settings.get(name, ""))
    if text and not _is_address(text):
        raise UsageError(f"{where}: {name} is {quoted(text)}, which is not an IPv4 address.")
    return text


def _is_address(text: str) -> bool:
    try:
        return bool(ipaddress.IPv4Address(text))
    except ValueError:
        return False


def _refuse_same(machines: list[Machine], where: str) -> None:
    """Two names for one machine would measure a cable that is not there."""
    owners: dict[str, str] = {}
    for machine in machines:
        for place in (f"{machine.host}:{machine.port}", machine.address, machine.second):
            if place and owners.setdefault(place, machine.name) != machine.name:
                raise UsageError(
                    f"{where} gives {owners[place]} and {machine.name} the same address: {place}."
                )


class _Strict(yaml.SafeLoader):
    """Reads plain data. Refuses a mapping that has a name twice, where YAML would silently keep the last one, and
    aliases, with which a short text stands for gigabytes.
    """

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise UsageError(
                f"The inventory has an alias (line {self.line + 1}).", "Write what it stands for."
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        names: set[str] = set()
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise UsageError(f"The inventory has a name that is not text (line {line}).")
            if key.value in names:
                raise UsageError(f"The inventory names {shortened(key.value)} twice (line {line}).")
            names.add(key.value)
        return super().construct_mapping(node, deep)
