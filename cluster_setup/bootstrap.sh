#!/usr/bin/env bash
# Prepares this machine for the labs: Debian packages, .venv, .mpi/modern, and our own C parts.
#
#   cluster_setup/bootstrap.sh lab     what a learner needs (the default)
#   cluster_setup/bootstrap.sh first   that; on a bare machine without the suites, which no early lab needs
#   cluster_setup/bootstrap.sh suites  the suites: `beowulf lab` runs this once JupyterLab answers, if they were left out
#   cluster_setup/bootstrap.sh setup   that, and what `beowulf setup` needs
#   cluster_setup/bootstrap.sh hub     what a learner needs, and JupyterHub, which serves a class
#   cluster_setup/bootstrap.sh site    what a learner needs, and Sphinx, which builds the documents as a site
#   cluster_setup/bootstrap.sh test    all of that, and what the tests need
#   cluster_setup/bootstrap.sh vm      that, and what makes and runs VMs
#
# It may be run at any time: it leaves alone what is there, and repairs what is missing, half made or broken.
# BEOWULF_PYTHON names the Python to use where several are installed.
set -euo pipefail
unset PYTHONPATH PYTHONHOME # they would put foreign packages before those of .venv
export LC_ALL=C.UTF-8       # for the words of apt-get and others that are looked for below

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
cd -- "$root"
group=${1:-lab}
needed_mb=1000 # .venv and what is downloaded for it
log=build/bootstrap.log
packages_stamp=.venv/.beowulf-packages # says which packages are in .venv; absent while they are being installed
project_stamp=.venv/.beowulf-project   # says which pyproject.toml the editable install was made from, and by which script
modern_stamp=.mpi/modern/.beowulf-packages

say() { printf 'bootstrap: %s\n' "$*"; }

fail() { # what happened, then what to try, a line each
    printf 'bootstrap: %s\n' "$@" >&2
    exit 1
}

# Before anything that other systems lack.
[[ $(uname -s) == Linux ]] || fail "the labs run on Linux, and this is $(uname -s)." \
    "Four virtual machines provide it: install Vagrant and VirtualBox, type 'vagrant up', and read docs/learner.md, 'Windows and macOS'."

# What MPICH's own scripts do not quote (beowulf/paths.py), and what ends a word of PATH.
if [[ $root =~ [[:space:]\"\$\`:] ]]; then
    fail "MPICH cannot work in $root, because that path contains '${BASH_REMATCH[0]}'." \
        "Move the checkout to a folder without it, then run the same command again."
fi

# Runs a phase quietly, shows how long it took, and keeps what it wrote in the log.
phase() { # sentence, command...
    local sentence=$1 started=$SECONDS
    shift
    printf 'bootstrap: %s ... ' "$sentence"
    if "$@" >"$log" 2>&1 </dev/null 9>&-; then
        printf '%d s\n' $((SECONDS - started))
    else
        printf 'failed after %d s\n' $((SECONDS - started))
        return 1
    fi
}

is_complete() { # stamp, wanted contents
    [[ -r $1 && $(<"$1") == "$2" ]]
}

digest() { cat -- "$@" | sha256sum | cut -c 1-64; }

# ---------------------------------------------------------------- Python

find_python() {
    local candidate seen="" candidates=(python3 python3.14 python3.13 python3.12 python3.11)
    [[ -n ${BEOWULF_PYTHON:-} ]] && candidates=("$BEOWULF_PYTHON")
    for candidate in "${candidates[@]}"; do
        "$candidate" -c '' 2>/dev/null || continue
        seen+="${seen:+, }$candidate is $("$candidate" -c 'import platform; print(platform.python_version())')"
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || continue
        if ! "$candidate" -c 'import venv, ensurepip' 2>/dev/null; then
            seen+=" without its venv module"
            continue
        fi
        python=$candidate
        return
    done
    fail "the labs need Python 3.11 or newer with its venv module; here ${seen:-there is no Python 3}." \
        "Debian 12, Ubuntu 24.04 and newer provide it: sudo apt-get install python3 python3-venv"
}

# Prints version and prefix of a virtual environment's Python; nothing when it cannot even start.
identity() {
    "$1/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2], sys.prefix)' 2>/dev/null || true
}

# What the stamp of .venv has to say when group $1 is in it. It names the place, since a virtual environment
# that was copied elsewhere still points to its old place, and the Python, since an upgrade takes it away.
wanted_packages() {
    printf '%s %s %s' "$1" "$(digest "requirements/$1.lock")" "$(identity .venv)"
}

packages_are_complete() {
    local larger enough
    # Each group contains those before it, at the same versions.
    case $group in
    lab) enough="lab setup hub site test" ;;
    setup) enough="setup test" ;;
    hub) enough="hub test" ;;
    site) enough="site test" ;;
    *) enough=$group ;;
    esac
    for larger in $enough; do
        is_complete $packages_stamp "$(wanted_packages "$larger")" && return
    done
    return 1
}

# An environment that is whole and at home, though its packages may be those of an older lock.
environment_is_sound() {
    local who
    who=$(identity .venv)
    [[ -n $who && -r $packages_stamp && $(<$packages_stamp) == *" $who" && -x .venv/bin/uv ]]
}

modern_is_complete() { is_complete $modern_stamp "$(digest requirements/modern.lock) $(identity .mpi/modern)"; }

project_is_complete() { is_complete $project_stamp "$(digest pyproject.toml cluster_setup/bootstrap.sh)"; }

# In place of the one that an installer makes: what a module system or ROS sets would bring its packages before ours, or
# a Python that has none of them. What `beowulf` starts then does not have it either.
COMMAND=$(
    cat <<'END'
#!/bin/sh
''':'
unset PYTHONPATH PYTHONHOME
file=$0
[ ! -L "$0" ] || file=$(readlink -f -- "$0")
exec "${file%/*}/python" "$0" "$@"
'''
import sys

from beowulf.cli import main

sys.exit(main())
END
)

# The proxy that the environment names, without a password.
proxy() {
    local named=${https_proxy:-${HTTPS_PROXY:-${all_proxy:-${ALL_PROXY:-${http_proxy:-}}}}}
    [[ -z $named ]] || printf ", the proxy '%s'" "${named/\/\/*@//\/}"
}

explain_pip_failure() {
    local advice="Run the same command again; if it fails in the same way, the whole output is in $log."
    if grep -qi 'no space left' "$log"; then
        advice="The disk is full: free about 2 GB here and in your temporary folder, then run the same command again."
    elif grep -qi 'do not match the hashes' "$log"; then
        advice="A package is not the one that was locked: your package index or a proxy changed it. It was not installed."
    elif grep -qiE 'resolution|connect|timed out|timeout|proxy|socks|ssl|unreachable|no matching distribution' "$log"; then
        advice="Check that this machine reaches its Python package index (network$(proxy), 'pip config list'), then run the same command again."
    fi
    tail -n 2 "$log" | sed 's/^/    /' >&2
    fail "this step could not be finished, and nothing half installed will be used." "$advice"
}

# What was downloaded is kept for other clones in a folder of ours; here, where a home has no room or cannot be written.
choose_cache() {
    local home=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}} cache=$root/build/cache
    if [[ -n $home ]] && mkdir -p "$home/beowulf" 2>/dev/null && [[ -w $home/beowulf ]] &&
        (($(free_mb "$home/beowulf") >= needed_mb)); then
        cache=$home/beowulf
    fi
    export UV_CACHE_DIR=${UV_CACHE_DIR:-$cache/uv} PIP_CACHE_DIR=${PIP_CACHE_DIR:-$cache/pip}
}

free_mb() {
    local blocks size
    read -r blocks size < <(stat -f -c '%a %S' -- "$1")
    echo $((blocks * size / 1000000))
}

# A disk that fills up while packages are installed costs minutes.
look_for_room() {
    local free
    free=$(free_mb .)
    ((free >= needed_mb)) || fail "the Python packages need $needed_mb MB, and $free MB are free in $root." \
        "Free some space there, or put the checkout on another disk; then run the same command again."
}

# The pip of .venv installs into both environments. Until .venv has one, the pip that Python's venv module brings along
# runs from its wheel: to install it first takes longer than all that it then does.
pip_wheel=""
# A lock is complete; Debian 12's pip looks for what packages want beside it, and then misses hashes.
LOCKED=(--require-hashes --no-deps --only-binary :all:)
pip() { PYTHONPATH=$pip_wheel .venv/bin/python -m pip "$@"; }

find_pip() {
    pip_wheel=$("$python" -c '
import ensurepip, pathlib, sysconfig
places = (sysconfig.get_config_var("WHEEL_PKG_DIR"), pathlib.Path(ensurepip.__file__).parent / "_bundled")
wheels = [str(wheel) for place in places if place for wheel in pathlib.Path(place).glob("pip-*.whl")]
print("".join(wheels[:1]))')
}

pip_install() { # sentence, environment, arguments of pip install...
    local sentence=$1 environment=$2
    shift 2
    phase "$sentence" pip --python "$environment" --no-input --disable-pip-version-check \
        install --progress-bar off "$@" || explain_pip_failure
}

# uv does not read pip's settings: in a closed network it needs settings that say where the index is and which certificates count.
uv_install() ( # environment, arguments of uv pip install...
    settings=$(pip config list 2>/dev/null)
    setting() { sed -n "s/^[^=]*\.$1='\(.*\)'\$/\1/p" <<<"$settings" | tail -n 1; }
    index=$(setting index-url) certificates=$(setting cert)
    [[ -n $index ]] && export UV_DEFAULT_INDEX=$index
    [[ -n $certificates ]] && export SSL_CERT_FILE=$certificates
    # A proxy that looks into TLS is known to the system's store only.
    [[ -e /etc/ssl/certs/ca-certificates.crt ]] && export UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS:-1}
    export UV_HTTP_RETRIES=1
    # Python keeps what it compiles at the first import, unless a setting forbids it: then this is the only moment.
    compile=() && [[ -n ${PYTHONDONTWRITEBYTECODE:-} ]] && compile=(--compile-bytecode)
    exec .venv/bin/uv pip install --no-progress --python "$1" "${compile[@]}" "${@:2}"
)

uv_could_not() {
    if grep -qi 'no space left' "$log"; then explain_pip_failure; fi
    tail -n 2 "$log" | sed 's/^/    /' >&2
    say "uv could not do it here; trying with pip, which takes longer"
}

make_environment() {
    rm -rf .venv
    find_python
    find_pip
    mkdir .venv && touch .venv/.beowulf
    local without=()
    [[ -n $pip_wheel ]] && without=(--without-pip)
    phase "making .venv with $("$python" --version)" "$python" -m venv "${without[@]}" .venv || {
        tail -n 5 "$log" | sed 's/^/    /' >&2
        fail "the virtual environment could not be made." \
            "Check the disk space, and that the Debian package python3-venv is installed."
    }
    pip_install "installing uv, which installs the rest" .venv \
        "${LOCKED[@]}" -r requirements/installer.lock
}

install_packages() {
    if [[ ! -d .venv ]]; then
        make_environment
    elif [[ ! -e .venv/.beowulf ]]; then
        # Ours carries this mark from its first moment on; without it the environment is someone else's.
        fail ".venv was not made by this script, so it is left alone." \
            "Move it away and run the same command again: mv .venv .venv-mine"
    elif ! environment_is_sound; then
        say "the virtual environment is unfinished or was moved, or its Python is gone: making it again"
        make_environment
    fi
    rm -f $packages_stamp
    local sentence="installing the Python packages of requirements/$group.lock"
    local arguments=(.venv "${LOCKED[@]}" -r "requirements/$group.lock")
    phase "$sentence" uv_install "${arguments[@]}" || {
        uv_could_not
        make_environment
        pip_install "$sentence" "${arguments[@]}"
    }
    pip_wheel="" # pip itself is among them
    wanted_packages "$group" >$packages_stamp
}

install() { # sentence, environment, arguments that uv and pip understand alike...
    phase "$1" uv_install "${@:2}" || {
        uv_could_not
        pip_install "$@"
    }
}

# An editable install: .venv holds a path to this checkout, so what is edited here is what runs.
install_project() {
    local file
    rm -f $project_stamp
    install "installing beowulf from this checkout" .venv --no-deps --no-build-isolation -e .
    own .venv/bin/beowulf "$COMMAND"
    chmod 755 .venv/bin/beowulf
    # Python reads this in the encoding of the locale, which may lack letters of this folder's name.
    for file in .venv/lib/python3.*/site-packages/_beowulf_labs.pth; do
        if [[ -e $file ]]; then own "$file" ../../../..; fi
    done
    # It unsets PYTHONHOME itself.
    grep -qs '^unset PYTHONPATH' .venv/bin/activate || echo 'unset PYTHONPATH' >>.venv/bin/activate
    digest pyproject.toml cluster_setup/bootstrap.sh >$project_stamp
}

own() { # file, text; the one that was installed may be a link into uv's cache
    rm -f "$1"
    printf '%s\n' "$2" >"$1"
}

# The modern MPICH is for learners too: it takes 2 seconds and 30 MB, and `beowulf up --mpi modern` is then
# never the command that has to download something in the middle of a lab.
install_modern() {
    rm -rf .mpi/modern
    mkdir -p .mpi
    # Without a pip of its own: uv and pip of .venv serve both.
    phase "making .mpi/modern" .venv/bin/python -m venv --without-pip .mpi/modern ||
        fail "the virtual environment .mpi/modern could not be made; is the disk full?"
    install "installing the modern MPICH of requirements/modern.lock" .mpi/modern \
        "${LOCKED[@]}" -r requirements/modern.lock
    echo "$(digest requirements/modern.lock) $(identity .mpi/modern)" >$modern_stamp
}

# ---------------------------------------------------------------- Debian packages

has_tool() {
    case $1 in
    /*) [[ -e $1 ]] ;;
    *) PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin type -P "$1" >/dev/null ;;
    esac
}

# Fills missing_tools, and missing_packages with what brings them, for group $1.
look_for_tools() {
    local tool package its_group why
    missing_tools=() missing_packages=()
    while IFS=$'\t' read -r tool package its_group why; do
        [[ $tool == \#* || $its_group != "$1" ]] && continue
        has_tool "$tool" && continue
        missing_tools+=("$tool ($why)")
        [[ " ${missing_packages[*]} " == *" $package "* ]] || missing_packages+=("$package")
    done <cluster_setup/packages.tsv
}

# Sets as_root to the words to put before a command; fails where there is no way to become root.
become_root() {
    if [[ $(id -u) == 0 ]]; then
        as_root=(env)
    elif type -P sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
        as_root=(sudo env)
        say "the next command installs them as root; sudo may ask for your password:"
        say "  sudo apt-get install --no-install-recommends ${missing_packages[*]}"
        sudo true
    else
        return 1
    fi
}

list_is_new=no # of what apt knows: once in a run is enough
guard=/usr/sbin/policy-rc.d
guard_mark="# put here by the bootstrap.sh of beowulf-labs while it installs openssh-server"

as_root=(env)
remove_guard() {
    if grep -qs "^$guard_mark" $guard; then "${as_root[@]}" rm -f $guard; fi
}

# Installing openssh-server starts a server that listens to the world. The labs start their own, inside the cluster
# only, so the start is refused while apt works and not wanted at the next boot either. So with Slurm, for tests.
apt_install() {
    local new_server=no new_queue=no
    [[ " ${missing_packages[*]} " == *" openssh-server "* ]] && new_server=yes
    [[ " ${missing_packages[*]} " == *" munge "* ]] && new_queue=yes
    remove_guard
    if [[ $new_server$new_queue == *yes* && ! -e $guard ]]; then
        printf '#!/bin/sh\n%s\nexit 101\n' "$guard_mark" | "${as_root[@]}" tee $guard >/dev/null
        "${as_root[@]}" chmod 755 $guard
    fi
    if [[ $list_is_new == no ]]; then
        list_is_new=yes
        phase "reading the list of Debian packages" "${as_root[@]}" apt-get update -qq ||
            say "the list could not be updated; using the existing one"
    fi
    phase "installing ${missing_packages[*]}" "${as_root[@]}" DEBIAN_FRONTEND=noninteractive \
        LC_ALL=C.UTF-8 apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120 "${missing_packages[@]}" || return 1
    remove_guard
    if [[ $new_queue == yes ]] && type -P systemctl >/dev/null; then
        "${as_root[@]}" systemctl disable munge.service slurmd.service slurmctld.service >>"$log" 2>&1 || true
    fi
    if [[ $new_server == yes ]]; then
        if type -P systemctl >/dev/null; then
            "${as_root[@]}" systemctl disable --now ssh.service ssh.socket >>"$log" 2>&1 ||
                "${as_root[@]}" systemctl disable ssh.service ssh.socket >>"$log" 2>&1 || true
        fi
        say "openssh-server is installed but not started: the labs run their own sshd, inside the cluster only"
    fi
}

explain_apt_failure() {
    local holder
    holder=$(sed -n 's/.*held by process \([0-9]* ([^)]*)\).*/, process \1/p' "$log" | tail -n 1)
    tail -n 5 "$log" | sed 's/^/    /' >&2
    if grep -qE 'Could not get lock|Unable to (acquire|lock)' "$log"; then
        fail "another program is installing packages$holder." \
            "Wait until it has ended, then run the same command again."
    elif grep -q 'dpkg was interrupted' "$log"; then
        fail "apt-get was interrupted while it was installing something else." \
            "Type 'sudo dpkg --configure -a', then run the same command again."
    elif grep -qE "No space left|enough free space" "$log"; then
        fail "the disk is too full for Debian's packages." "Free some space, then run the same command again."
    elif grep -qE 'ailed to fetch|Unable to (fetch|locate)|no installation candidate' "$log"; then
        fail "no mirror of Debian's packages answers, or none has them." \
            "Check the network$(proxy), /etc/apt/sources.list and 'apt-get update', then run the same command again."
    fi
    fail "apt-get could not install them." "Fix the problem that $log reports, then run the same command again."
}

# Without these nothing works, so it ends here where they cannot be had.
install_tools() { # group
    look_for_tools "$1"
    ((${#missing_tools[@]})) || return 0
    say "these tools are missing:"
    printf 'bootstrap:   %s\n' "${missing_tools[@]}"
    type -P apt-get >/dev/null || fail \
        "this is not a Debian or Ubuntu machine, so they cannot be installed from here." \
        "Install them with this machine's own package manager and run the same command again."
    become_root || fail \
        "installing them needs root, and sudo is not available here. Give this line to an administrator:" \
        "  apt-get install --no-install-recommends ${missing_packages[*]}"
    apt_install || explain_apt_failure
    look_for_tools "$1"
    ((${#missing_tools[@]} == 0)) || fail "apt-get succeeded, but these tools are still missing:" \
        "${missing_tools[@]}" "Please report this with the name of your distribution."
}

# The labs and the tests run without these too and leave out what needs them, so nothing here is fatal, and what
# could not be had once is not asked for again before `make clean` or `beowulf doctor --fix`.
install_optional_tools() { # group
    look_for_tools "$1"
    ((${#missing_tools[@]})) || return 0
    [[ -e build/went-without-$1 ]] && return 0
    local why=""
    if [[ ${missing_packages[*]} == chromium ]] && grep -qs '^ID=ubuntu' /etc/os-release; then
        why="Ubuntu has it only as a snap, which cannot see this checkout"
    elif ! type -P apt-get >/dev/null || ! become_root || ! apt_install; then
        why="installation was not possible here"
    fi
    [[ -z $why ]] && return 0
    say "going on without ${missing_packages[*]}: $why. Whatever needs this says so, and its tests are skipped"
    # In the background nobody can be asked for a password; the next run asks.
    [[ $group == suites ]] || touch "build/went-without-$1"
}

# ---------------------------------------------------------------- where namespaces are forbidden

# Asked before anything is installed, so that nobody waits for what this machine cannot run.
look_for_namespaces() {
    local refused
    refused=$(bash cluster_setup/namespaces.sh 2>&1) || [[ $? == 2 ]] && return 0
    say "this machine or container forbids the namespaces that nodes are made of ($refused)."
    say "The labs open on the kind 'local' instead: four ranks on this machine, for labs 02 and 03, parts of 04, 05, 08" \
        "and 09, and the programming in all labs; 'beowulf up --target simulated' computes what a cable would do, and Records" \
        "of a full run are given for what only a cluster can show."
    local switch=apparmor_restrict_unprivileged_userns
    if [[ $(id -u) != 0 && $(cat "/proc/sys/kernel/$switch" 2>/dev/null) == 1 ]]; then
        say "Ubuntu forbids them to ordinary users. For real nodes press Ctrl-C, then type 'sudo sysctl kernel.$switch=0', and the" \
            "same command again."
    else
        say "'.venv/bin/beowulf doctor' says how namespaces can be allowed."
    fi
}

# ---------------------------------------------------------------- the way through

later=build/suites-later # is there while the suites are left to `beowulf lab`
first=no
if [[ $group == first ]]; then first=yes group=lab; fi
[[ $group == lab || $group == suites || $group == setup || $group == hub || $group == site || $group == test || $group == vm ]] ||
    fail "there is no group '$group'." "Say lab, setup, hub, site, test or vm."
vm=no
if [[ $group == vm ]]; then vm=yes group=test; fi # no Python packages of its own
if [[ ! -w . ]]; then
    packages_are_complete && modern_is_complete && project_is_complete && exit 0
    fail "$(id -un) cannot write to $root, and .venv in it is not complete." \
        "Clone the repository into a folder of your own."
fi
[[ $group != test ]] || needed_mb=1500
[[ $group == suites ]] || environment_is_sound || look_for_room
mkdir -p build || fail "the folder $root/build cannot be made; is the disk full?"

# Two of us at once would spoil each other's work. The lock goes when this process does, however it ends.
exec 9>build/bootstrap.lock
flock -n 9 || {
    say "another bootstrap is running here; waiting until it ends"
    flock 9
}

python_side() {
    packages_are_complete || install_packages
    project_is_complete || install_project
    modern_is_complete || install_modern
}

# Where Debian's packages are missing, too, both are installed side by side: what this side prints is shown afterwards.
side="" side_says=build/bootstrap-python.txt
finish() {
    [[ -z $side ]] || kill -- "-$side" 2>/dev/null || true # a process group of its own
    remove_guard
}
trap finish EXIT
trap 'exit 130' INT TERM

begin_python_side() {
    look_for_tools lab
    ((${#missing_packages[@]})) || return 0
    say "the Python packages are being installed at the same time"
    set -m
    { log=build/bootstrap-python.log; python_side; } >$side_says 2>&1 </dev/null &
    side=$!
    set +m
}

finish_python_side() {
    if [[ -z $side ]]; then
        python_side
        return
    fi
    tail -n +1 -s 0.2 --pid="$side" -f $side_says
    wait "$side" || exit 1
    side=""
}

[[ $group == lab || $group == test ]] && look_for_namespaces
if [[ $group != suites ]]; then
    choose_cache
    begin_python_side
    install_tools lab
fi
if [[ $vm == yes ]]; then install_tools vm; fi
if [[ $first == yes && ($list_is_new == yes || -e $later) ]]; then
    touch $later
else
    rm -f $later
    install_optional_tools suites
fi
[[ $group != suites ]] || exit 0
if [[ $group == test ]]; then
    install_optional_tools test
    install_optional_tools slurm
fi
finish_python_side
make -s programs 9>&- || fail "this project's own C parts could not be compiled; the compiler's messages are above." \
    "Check that 'gcc --version' works, then run the same command again."
