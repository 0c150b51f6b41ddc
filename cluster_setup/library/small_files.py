#!/usr/bin/python3
"""An Ansible module: small text files of a node, all in one go, each written whole or left alone.

Ansible's own copy takes two runs of Python on the node for each file.
"""

from __future__ import annotations

import os
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
"""


def holds(path: str, text: str) -> bool:
    """Whether the file is as it shall be."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read() == text and os.stat(path).st_mode & 0o777 == 0o644
    except (OSError, UnicodeDecodeError):
        return False


def write(module: AnsibleModule, path: str, text: str) -> None:
    """Write a file aside, then put it in place; where something is mounted over it, into its place."""
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=module.tmpdir)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    module.atomic_move(aside, path, unsafe_writes=True)
    os.chmod(path, 0o644)


def main() -> None:
    """Write what is not there, and say what that was."""
    module = AnsibleModule(
        argument_spec={"files": {"type": "dict", "required": True}}, supports_check_mode=True
    )
    files = module.params["files"]
    written = [path for path, text in files.items() if not holds(path, text)]
    if not module.check_mode:
        try:
            for path in written:
                write(module, path, files[path])
        except OSError as error:
            module.fail_json(msg=f"{error.filename or 'a file'}: {error.strerror}")
    module.exit_json(changed=bool(written), written=written)


if __name__ == "__main__":
    main()
