"""Does a bare machine become ready, and does it hear a sentence where it cannot?

The bootstrap runs here in a copy of the checkout, on a machine that is made up: its PATH holds a
Python, a pip and an apt-get that only write down how they were called.
"""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ["installer", "lab", "setup", "hub", "site", "test", "modern"]
BORROWED = (
    "bash env cat cut sha256sum sed tail grep dirname mkdir touch rm cp flock tee chmod sh readlink"
)

FAKE_PYTHON = r"""#!/bin/bash
echo "python $*" >>"$CALLS"
case "$*" in
*"sys.version_info < (3, 11)"*) exit "${TOO_OLD:-0}" ;;
*"import venv, ensurepip"*) exit "${NO_VENV:-0}" ;;
*platform.python_version*) echo "${VERSION:-3.11.7}" ;;
*WHEEL_PKG_DIR*) echo "${WHEEL:-}" ;;
*sys.prefix*) echo "3.11 $(cd "$(dirname "$0")/.." && pwd -P)" ;;
"-m venv"*) mkdir -p "${!#}/bin" && cp "$0" "${!#}/bin/python" ;;
*"pip config list"*) echo "global.index-url='${INDEX:-}'" ;;
*" install "*)
    if [[ $* == *installer.lock ]]; then
        cp "$FAKE_UV" .venv/bin/uv
    fi
    [[ -z $PIP_SAYS ]] || { echo "$PIP_SAYS"; exit 1; } ;;
esac
"""
FAKE_UV = """#!/bin/bash
echo "uv $* index=$UV_DEFAULT_INDEX cache=$UV_CACHE_DIR" >>"$CALLS"
[[ -z $UV_SAYS ]] || { echo "$UV_SAYS"; exit 1; }
exit "${UV_FAILS:-0}"
"""
FAKE_APT = '#!/bin/bash\necho "apt-get $*" >>"$CALLS"\necho "$APT_SAYS"\nexit 100\n'
FAKE_STAT = '#!/bin/bash\necho "${FREE_MB:-9000} 1000000"\n'
FAKE_ID = '#!/bin/bash\n[[ $1 == -u ]] && echo "${FAKE_UID:-0}" || echo someone\n'
FAKE_UNAME = '#!/bin/bash\necho "${SYSTEM:-Linux}"\n'
FAKE_MAKE = '#!/bin/bash\necho "make $*" >>"$CALLS"\n'


class Machine:
    """A made-up machine with a checkout on it."""

    def __init__(self, home: Path) -> None:
        self.bin, self.checkout, self.calls_file = home / "bin", home / "checkout", home / "calls"
        self.bin.mkdir()
        for name in BORROWED.split():
            (self.bin / name).symlink_to(shutil.which(name) or name)
        self.command("python3", FAKE_PYTHON)
        self.command("fake-uv", FAKE_UV)
        self.command("id", FAKE_ID)
        self.command("make", FAKE_MAKE)
        self.command("uname", FAKE_UNAME)
        self.command("stat", FAKE_STAT)
        for folder in ("cluster_setup", "requirements"):
            shutil.copytree(ROOT / folder, self.checkout / folder)
        shutil.copy(ROOT / "pyproject.toml", self.checkout)
        self.needs("lab", "sh")

    def command(self, name: str, text: str) -> None:
        """Put a command into its PATH."""
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def needs(self, group: str, tool: str) -> None:
        """Make `tool` the only one that the labs, or the tests, want."""
        line = f"{tool}\t{tool}-package\t{group}\tproves a point\n"
        (self.checkout / "cluster_setup" / "packages.tsv").write_text(line)

    def bootstrap(self, group: str = "lab", *, code: int = 0, **circumstances: str) -> str:
        """Run it, with new notes of what it calls; what it says."""
        self.calls_file.write_text("")
        done = subprocess.run(
            [self.bin / "bash", self.checkout / "cluster_setup" / "bootstrap.sh", group],
            env={
                "PATH": str(self.bin),
                "CALLS": str(self.calls_file),
                "FAKE_UV": str(self.bin / "fake-uv"),
                **circumstances,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    @property
    def calls(self) -> str:
        """What was called in the last run, a line each."""
        return self.calls_file.read_text()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def pins(name: str) -> dict[str, str]:
    """Each `package==version` of a lock (with its marker, if any) and the rest of its line."""
    text = (ROOT / "requirements" / f"{name}.lock").read_text()
    lines = re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", "").splitlines()
    return {
        pin.strip(): rest for pin, _, rest in (line.partition(" --hash") for line in lines if line)
    }


def wanted(name: str) -> set[str]:
    """The packages that a .in file asks for by name."""
    lines = (ROOT / "requirements" / f"{name}.in").read_text().splitlines()
    found = (re.match(r"[A-Za-z][\w.-]*", line) for line in lines)
    return {match[0].lower().replace("_", "-") for match in found if match}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_all_that_was_asked_for_with_a_hash_and_names_no_address(name: str) -> None:
    found = pins(name)
    assert wanted(name) <= {pin.partition("==")[0] for pin in found}
    for pin, hashes in found.items():
        assert re.match(r"[a-z0-9][a-z0-9.-]*==[\w.]+( ;|$)", pin), pin
        assert hashes.count("sha256:") >= 1, pin
    text = (ROOT / "requirements" / f"{name}.lock").read_text()
    assert not re.search(r"://|--index|--extra-index|--find-links|--trusted|^-|@ | /", text, re.M)


def test_the_tests_use_the_very_packages_that_a_learner_gets() -> None:
    assert pins("lab").keys() <= pins("test").keys()


def test_the_five_papers_can_be_cited() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    papers = [reference["notes"] for reference in citation["references"]]
    assert papers == [f"Paper {letter}" for letter in "ABCDE"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])


@pytest.mark.parametrize(
    ("circumstances", "sentence"),
    [
        ({"SYSTEM": "Darwin"}, "the labs run on Linux, and this is Darwin."),
        ({"TOO_OLD": "1", "VERSION": "3.9.2"}, "python3 is 3.9.2"),
        ({"NO_VENV": "1"}, "without its venv module"),
        ({"group": "everything"}, "Say lab, setup, hub, site, test or vm."),
        ({"PIP_SAYS": "Failed to establish a new connection"}, "Check that this machine reaches its Python package"),
        ({"PIP_SAYS": "[Errno 28] No space left on device", "UV_FAILS": "1"}, "The disk is full"),
        ({"UV_SAYS": "No space left on device (os error 28)"}, "The disk is full"),
        (
            {"PIP_SAYS": "ProxyError", "https_proxy": "http://ada:secret@proxy.invalid:3128"},
            "(network, the proxy 'http://proxy.invalid:3128', 'pip config list')",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)  # fmt: skip
def test_what_is_in_the_way_is_a_sentence_and_the_next_run_repairs(
    machine: Machine, circumstances: dict[str, str], sentence: str
) -> None:
    said = machine.bootstrap(code=1, **circumstances)
    assert sentence in said
    assert "trying with pip" not in said or "UV_FAILS" in circumstances
    assert "secret" not in said
    assert "'vagrant up'" in said or "SYSTEM" not in circumstances
    machine.bootstrap()


@pytest.mark.parametrize("name", ["my labs", "my$labs", "my:labs"])
def test_a_folder_in_which_mpich_cannot_work_is_refused_before_anything_is_installed(
    machine: Machine, name: str
) -> None:
    machine.checkout = machine.checkout.rename(machine.checkout.with_name(name))
    assert f"because that path contains '{name[2]}'." in machine.bootstrap(code=1)
    assert machine.calls == ""


def test_python_finds_the_checkout_in_a_locale_without_the_letters_of_its_name() -> None:
    """The installer writes the checkout's whole name, which Python reads in the encoding of the locale."""
    files = [file for each in site.getsitepackages() for file in Path(each).glob("_beowulf*.pth")]
    found = [(file.parent / file.read_text().strip()).resolve() for file in files]
    assert found == [ROOT]
    assert all(file.read_text().isascii() for file in files)
    assert str(ROOT) not in files[0].read_text()


def test_a_bare_machine_becomes_ready_and_a_second_run_installs_nothing(machine: Machine) -> None:
    machine.command("unshare", "#!/bin/bash\nexit 0\n")
    assert "namespaces" not in machine.bootstrap()  # which are allowed
    for called in (
        "uv pip install",
        "--require-hashes --no-deps --only-binary :all: -r requirements/lab.lock",
        "--no-deps --no-build-isolation -e .",
        "requirements/modern.lock",
        "make -s programs",
    ):
        assert called in machine.calls
    assert machine.bootstrap() == ""
    assert not re.search("venv|pip|uv", machine.calls.replace("sys.prefix", ""))


@pytest.mark.parametrize(
    ("unshare", "said"),
    [
        ("echo 'unshare: Operation not permitted' >&2; exit 1", "unshare: Operation not permitted"),
        ("kill -SYS $$", "a filter of system calls kills unshare"),
    ],
)
def test_where_namespaces_are_forbidden_a_learner_hears_so_before_anything_is_installed(
    machine: Machine, unshare: str, said: str
) -> None:
    machine.command("unshare", f'#!/bin/bash\necho unshare >>"$CALLS"\n{unshare}\n')
    heard = machine.bootstrap()
    assert f"forbids the namespaces that nodes are made of ({said})" in heard
    assert "sudo" not in heard
    assert machine.calls.startswith("unshare\n")
    assert "uv pip install" in machine.calls
    assert heard.index("'local'") < heard.index("installing")


def test_a_machine_that_is_ready_for_more_is_ready_for_less_and_not_the_other_way(
    machine: Machine,
) -> None:
    machine.bootstrap("lab")
    machine.bootstrap("setup")
    assert "requirements/setup.lock" in machine.calls
    machine.bootstrap("lab")
    assert "pip install" not in machine.calls
    machine.bootstrap("test")
    machine.bootstrap("setup")
    assert "pip install" not in machine.calls


def test_the_pip_that_comes_with_python_installs_uv_without_being_installed_first(
    machine: Machine,
) -> None:
    machine.command("python3", FAKE_PYTHON.replace('"python $*"', '"python $* by=$PYTHONPATH"'))
    machine.bootstrap(WHEEL="/wheels/pip-23-py3-none-any.whl")
    assert "-m venv --without-pip .venv" in machine.calls
    assert re.search(r"-m pip .*installer\.lock by=/wheels/pip-23", machine.calls)
    assert re.search(r"-m venv --without-pip .mpi/modern by=$", machine.calls, re.MULTILINE)
    assert "pip" in wanted("lab")


def test_a_changed_lock_is_installed_into_the_environment_that_stands(machine: Machine) -> None:
    machine.bootstrap()
    with (machine.checkout / "requirements" / "lab.lock").open("a") as lock:
        lock.write("# changed\n")
    machine.bootstrap()
    assert "requirements/lab.lock" in machine.calls
    assert "-m venv" not in machine.calls


def test_a_disk_without_room_is_named_before_anything_is_installed(machine: Machine) -> None:
    said = machine.bootstrap(code=1, FREE_MB="300")
    assert "the Python packages need 1000 MB, and 300 MB are free in" in said
    assert "venv" not in machine.calls
    machine.bootstrap()
    machine.bootstrap(FREE_MB="300")  # what is installed already needs no room


@pytest.mark.parametrize("home", ["mine", "not a folder", ""])
def test_what_is_downloaded_is_kept_at_home_if_that_can_be_written(
    machine: Machine, tmp_path: Path, home: str
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "not a folder").touch()
    machine.bootstrap(**({"HOME": str(tmp_path / home)} if home else {}))
    kept = tmp_path / "mine" / ".cache" / "beowulf" if home == "mine" else "build/cache"
    assert re.search(rf"cache=\S*{kept}/uv$", machine.calls, re.MULTILINE)


def test_a_python_path_of_others_is_not_for_the_bootstrap(machine: Machine) -> None:
    seen = '"python $* path=$PYTHONPATH home=$PYTHONHOME"'
    machine.command("python3", FAKE_PYTHON.replace('"python $*"', seen))
    machine.bootstrap(PYTHONPATH="/foreign", PYTHONHOME="/foreign")
    assert "path= home=" in machine.calls
    assert "foreign" not in machine.calls
    command = (machine.checkout / ".venv" / "bin" / "beowulf").read_text()
    assert "unset PYTHONPATH PYTHONHOME" in command


@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        ("E: Failed to fetch http://x/y.deb  Could not connect", "no mirror of Debian's packages"),
        ("E: Unable to locate package no-such-tool-package", "no mirror of Debian's packages"),
        (
            "Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 42 (packagekitd)",
            "another program is installing packages, process 42 (packagekitd).",
        ),
        ("E: Unable to acquire the dpkg frontend lock", "another program is installing packages."),
        ("E: dpkg was interrupted, you must manually run", "Type 'sudo dpkg --configure -a'"),
        ("E: You don't have enough free space in /var", "the disk is too full"),
        ("E: something else", "apt-get could not install them."),
    ],
)
def test_why_apt_get_could_not_install_is_a_sentence(
    machine: Machine, says: str, sentence: str
) -> None:
    machine.needs("lab", "no-such-tool")
    machine.command("apt-get", FAKE_APT)
    said = machine.bootstrap(code=1, APT_SAYS=says)
    assert sentence in said
    assert "then run the same command again" in said
    assert "make -s programs" not in machine.calls


def test_python_s_packages_are_installed_beside_debian_s(machine: Machine) -> None:
    machine.needs("lab", "no-such-tool")
    # Debian's side ends only when Python's has begun.
    machine.command(
        "apt-get",
        "#!/bin/bash\n[[ $* == *install* ]] || exit 0\n"
        'until grep -q "uv pip" "$CALLS"; do sleep 0.1; done\n'
        'printf "#!/bin/sh" >"${0%/*}/no-such-tool"; chmod 755 "${0%/*}/no-such-tool"\n',
    )
    (machine.bin / "sleep").symlink_to(shutil.which("sleep") or "sleep")
    said = machine.bootstrap()
    debian, python = (
        said.index("installing no-such-tool-package"),
        said.index("requirements/lab.lock"),
    )
    assert debian < python
    assert "make -s programs" in machine.calls


def test_what_python_s_side_cannot_do_ends_it(machine: Machine) -> None:
    machine.needs("lab", "no-such-tool")
    machine.command(
        "apt-get",
        '#!/bin/bash\nprintf "#!/bin/sh" >"${0%/*}/no-such-tool"; chmod 755 "${0%/*}/no-such-tool"\n',
    )
    said = machine.bootstrap(code=1, PIP_SAYS="No space left on device")
    assert "The disk is full" in said
    assert "make -s programs" not in machine.calls


def test_where_uv_cannot_install_pip_does(machine: Machine) -> None:
    machine.bootstrap(UV_FAILS="1")
    hashed = "--require-hashes --no-deps .*requirements/lab.lock"
    for installed in (hashed, "-e .", "requirements/modern.lock"):
        assert re.search(rf"python -m pip .*{installed}", machine.calls)


def test_an_index_that_pip_was_configured_with_is_used(machine: Machine) -> None:
    machine.bootstrap(INDEX="https://index.invalid/simple")
    assert "index=https://index.invalid/simple" in machine.calls


def test_a_checkout_that_was_moved_or_whose_python_is_gone_gets_a_new_environment(
    machine: Machine,
) -> None:
    machine.bootstrap()
    machine.checkout = machine.checkout.rename(machine.checkout.with_name("elsewhere"))
    machine.bootstrap()
    assert "-m venv .venv" in machine.calls
    assert "-e ." in machine.calls
    (machine.checkout / ".venv" / "bin" / "python").unlink()
    machine.bootstrap()
    assert "-m venv .venv" in machine.calls


def test_an_environment_of_somebody_else_is_left_alone(machine: Machine) -> None:
    mine = machine.checkout / ".venv" / "precious"
    mine.parent.mkdir()
    mine.touch()
    assert "mv .venv" in machine.bootstrap(code=1)
    assert mine.exists()


def test_a_newer_python_beside_an_old_one_is_found(machine: Machine) -> None:
    machine.command("python3.12", FAKE_PYTHON)
    machine.command("python3", FAKE_PYTHON.replace("${TOO_OLD:-0}", "1"))
    machine.bootstrap()


def test_without_privileges_the_administrators_line_is_given(machine: Machine) -> None:
    machine.needs("lab", "no-such-tool")
    machine.command("apt-get", FAKE_APT)
    said = machine.bootstrap(code=1, FAKE_UID="1000")
    assert "no-such-tool (proves a point)" in said
    assert "apt-get install --no-install-recommends no-such-tool-package" in said
    assert "apt-get" not in machine.calls


def test_another_distribution_gets_the_list_of_tools(machine: Machine) -> None:
    machine.needs("lab", "no-such-tool")
    said = machine.bootstrap(code=1)
    assert "no-such-tool (proves a point)" in said
    assert "not a Debian or Ubuntu machine" in said


@pytest.mark.parametrize(("group", "needed"), [("test", "test"), ("lab", "suites")])
def test_without_a_tool_that_only_some_need_it_goes_on_and_asks_once(
    machine: Machine, group: str, needed: str
) -> None:
    machine.needs(needed, "no-such-tool")
    machine.command("apt-get", FAKE_APT)
    assert "going on without no-such-tool-package" in machine.bootstrap(group)
    assert "apt-get install" in machine.calls
    machine.bootstrap(group)
    assert "apt-get" not in machine.calls
    if group == "lab":  # the tests have a mark of their own: what they lack is still asked for
        machine.needs("test", "no-such-tool")
        machine.bootstrap("test")
        assert "apt-get install" in machine.calls


def test_a_first_make_lab_leaves_the_suites_for_when_jupyterlab_answers(machine: Machine) -> None:
    table = machine.checkout / "cluster_setup" / "packages.tsv"
    table.write_text("new-tool\tpackage-a\tlab\twhy\nno-b\tpackage-b\tsuites\twhy\n")
    brings = f'[[ $1 == install ]] && printf "#!/bin/sh\\n" >{machine.bin}/new-tool\nchmod +x {machine.bin}/new-tool\n'
    machine.command("apt-get", FAKE_APT.replace("exit 100\n", brings))
    later = machine.checkout / "build" / "suites-later"
    machine.bootstrap("first")
    assert "package-b" not in machine.calls
    assert later.exists()
    # `beowulf lab` then does this; what was not had in the background is asked for once more, by the next run.
    machine.command("apt-get", FAKE_APT)
    assert "going on without package-b" in machine.bootstrap("suites")
    assert not later.exists()
    assert "uv" not in machine.calls
    machine.bootstrap("first")
    assert "package-b" in machine.calls
    assert not later.exists()
    machine.bootstrap("first")
    assert "package-b" not in machine.calls


@pytest.mark.parametrize(("answer", "removed"), [("", False), ("y\n", True)])
def test_uninstall_lists_what_is_outside_of_the_checkout_and_removes_it_if_it_may(
    tmp_path: Path, answer: str, removed: bool
) -> None:
    ours = [".cache/beowulf/uv/a", ".local/lib/wireshark/plugins/mpich_ch3.lua"]
    theirs = [".cache/another/a", ".ipython/a", ".local/lib/wireshark/plugins/theirs.lua"]
    for name in (*ours, *theirs):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(5000))
    # Not that of the machine on which the tests run.
    script = (ROOT / "cluster_setup" / "uninstall.sh").read_text().replace("/usr/lib", "/nowhere")
    copy = tmp_path / "checkout" / "cluster_setup" / "uninstall.sh"
    copy.parent.mkdir(parents=True)
    copy.write_text(script)
    done = subprocess.run(
        ["bash", copy],
        input=answer,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert re.search(rf"^[\d.]+K\t{tmp_path}/.cache/beowulf$", done.stdout, re.MULTILINE)
    assert ("It has been removed." in done.stdout) == removed == (done.returncode == 0)
    assert [(tmp_path / name).exists() for name in ours] == [not removed] * len(ours)
    assert all((tmp_path / name).exists() for name in theirs)
    assert (f"share: {tmp_path}/.ipython." in done.stdout) == removed


def test_uninstall_keeps_what_says_how_knobs_of_this_machine_were(tmp_path: Path) -> None:
    kept = tmp_path / "beowulf-tuned.jsonl"
    kept.write_text("{}\n")
    done = subprocess.run(
        ["bash", ROOT / "cluster_setup" / "uninstall.sh"],
        env={**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "YES": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "beowulf tune revert" in done.stderr
    assert kept.exists()
