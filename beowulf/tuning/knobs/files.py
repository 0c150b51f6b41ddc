"""Knobs that are files of the kernel: what is read there can be written there."""

from __future__ import annotations

from beowulf.tuning.knob import Knob, facts


class Files(Knob):
    """A knob whose state is what some files hold."""

    files: tuple[str, ...]  # patterns of the shell
    lacking: str  # why there may be none of them

    def look(self, place: str) -> str:
        return f"""shopt -s nullglob
files=({" ".join(self.files)})
any=
for file in "${{files[@]}}"; do
    [ -e "$file" ] || continue
    echo "$file=$(<$file)"
    any=yes
done
[ "$any" ] || {{ echo "{self.lacking}"; exit 1; }}"""

    def back(self, state: str, place: str) -> str:
        return "\n".join(f"echo {value} >{file}" for file, value in facts(state).items())

    def value(self, state: str) -> str:
        held = list(dict.fromkeys(facts(state).values()))
        return held[0] if len(held) == 1 else "unlike: " + ", ".join(held)

    def set(self, value: str, place: str) -> str:
        return f"for file in {' '.join(self.files)}; do echo {value} >$file; done"
