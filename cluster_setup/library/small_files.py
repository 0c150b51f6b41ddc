#!/usr/bin/python3
"""An Ansible module: small text files of a node, all in one go, each written whole or left alone.

Ansible's own copy takes two runs of Python on the node for each file.
"""

from __future__ import annotations

import os
import pwd
import tempfile

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: small_files
short_description: Small text files, all in one go
options:
  files:
    description: What each file shall hold, by its path.
    type: dict
    required: true
  mode:
    description: Who may do what with each of them; who may read a script, which begins with #!, may also run it.
    type: str
    default: "0644"
  owner:
    description: Whose they are; left as it is when nobody is named.
    type: str
"""


def holds(path: str, text: str, mode: int, owner: str) -> bool:
    """Whether the file is as it shall be."""
    try:
        state = os.stat(path)
        theirs = not owner or pwd.getpwnam(owner).pw_uid == state.st_uid
        with open(path, "rb") as file:
            return theirs and state.st_mode & 0o777 == mode and file.read() == text.encode()
    except FileNotFoundError:
        return False


def of(text: str, mode: int) -> int:
    """The mode of a file with this text."""
    return mode | (mode & 0o444) >> 2 if text.startswith("#!") else mode


def write(module: AnsibleModule, path: str, text: str, mode: int, owner: str) -> None:
    """Write a file aside, then put it in place; where something is mounted over it, into its place."""
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=module.tmpdir)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    if owner:
        os.chown(aside, pwd.getpwnam(owner).pw_uid, -1)
    os.chmod(aside, mode)
    module.atomic_move(aside, path, unsafe_writes=True)
    # An old file's own mode and owner have come back with the move.
    os.chmod(path, mode)
    if owner:
        os.chown(path, pwd.getpwnam(owner).pw_uid, -1)


def main() -> None:
    """Write what is not there, and say what that was."""
    module = AnsibleModule(
        argument_spec={
            "files": {"type": "dict", "required": True},
            "mode": {"type": "str", "default": "0644"},
            "owner": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    files, owner = module.params["files"], module.params["owner"]
    plain = int(module.params["mode"], 8)
    modes = {path: of(text, plain) for path, text in files.items()}
    written = [path for path in files if not holds(path, files[path], modes[path], owner)]
    if not module.check_mode:
        try:
            for path in written:
                write(module, path, files[path], modes[path], owner)
        except OSError as error:
            module.fail_json(msg=f"{error.filename or 'a file'}: {error.strerror}")
    module.exit_json(changed=bool(written), written=written)


if __name__ == "__main__":
    main()
