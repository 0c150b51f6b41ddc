"""What a learner built: which Records hold programs of their own that are right, and how the number of each is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from beowulf.errors import LabError
from beowulf.exercises import gas, heat
from beowulf.figures import Figure, dots, lines, number_text
from beowulf.labs.lab_01 import own_ring, own_trips
from beowulf.labs.lab_04 import own_roundtrip
from beowulf.labs.lab_05 import exchange
from beowulf.labs.lab_06 import own_loop
from beowulf.labs.lab_07 import own_interval, small_writes
from beowulf.labs.lab_08 import first_beowulf, galaxy
from beowulf.labs.lab_09 import stairs
from beowulf.record import Record


@dataclass(frozen=True)
class Shown:
    """What shows that a program works: its best number and what that is of, sentences, and a picture."""

    number: str
    what: str
    says: Sequence[str] = ()
    figure: Figure | None = None


Reader = Callable[[Record], Shown]


def shown(name: str, record: Record) -> Shown:
    """What a Record of this program shows; LabError where the program is not right, or is as it was given."""
    facts = [record.sweep, *(point.facts for point in record.points)]
    wrong = [each.get("why") or each.get("faults") or each.get("right") is False for each in facts]
    given = [point.facts.get("given") for point in record.points if "function" in point.at]
    if (name not in IN_PARTS and any(wrong)) or (given and all(given)):
        raise LabError("The learner has not written it, or it is not right yet.")
    return PROGRAMS[name][1](record)


def source(record: Record) -> list[str]:
    """The lines of the learner's own functions, as far as the Record keeps them."""
    places = [p.facts for p in record.points if {"own", "function", "source"} & p.at.keys()]
    facts = [each for each in (record.sweep, *places) if not each.get("given")]
    texts = [each.get("source") or each.get("text") for each in facts]
    return "\n\n".join(each for each in texts if isinstance(each, str)).splitlines()


def _text(value: float) -> str:
    return number_text(float(f"{value:.3g}"))


def _all(kind: str, what: str, says: Callable[[Record], Sequence[str]] = lambda _: ()) -> Reader:
    """How many Points of a kind there are: of a program that is right, each is."""
    return lambda r: Shown(str(sum(kind in point.at for point in r.points)), what, says(r))


def _heat(column: str, number: str, what: str, *, most: bool = False) -> Reader:
    """The least value, or the `most`, of a column of the heat program's table, and what its row says of it."""

    def read(record: Record) -> Shown:
        table = heat.table(record)
        first = table.sort_values(column, ascending=not most).iloc[0]
        row = {str(name): value for name, value in first.items()}
        best = number.format(_text(row[column]))
        return Shown(best, what.format(**row), heat.lines(record), heat.picture(record))

    return read


def _trips(record: Record) -> Shown:
    found, best = own_trips.table(record), f"{_text(own_trips.middle_us(record))} µs"
    drawn = lines(found, "other", "median", "node", title="Round trips", y_title="median (µs)")
    return Shown(best, "there and back, median of all pairs", own_trips.lines(record), drawn)


def _beside_c(record: Record) -> Shown:
    row, says = own_roundtrip.table(record).iloc[-1], own_roundtrip.lines(record)
    if row["high"] < own_roundtrip.TOO_FAST:
        raise LabError("These times are shorter than the cable allows.")
    what = f"the time of C, for {row['size_bytes']:,.0f} bytes"
    return Shown(f"{row['ratio']:.3g}×", what, says, own_roundtrip.picture(record))


def _gas(record: Record) -> Shown:
    if len(set(gas.bits(record).values())) != 1:
        raise LabError("The gas on several ranks has different bits from that on one.")
    mflops = record.select(result="blast", ranks=gas.RANKS)[0].facts["mflops"]
    return Shown(
        f"{_text(mflops)} MFLOPS", "on four nodes, the same bits as on one", [gas.says(record)]
    )


def _in_1995(record: Record) -> Shown:
    found = first_beowulf.gas(record).reset_index()
    title, last = "My gas on two networks of 1995, simulated", found.iloc[-1]
    drawn = lines(found, "nodes", "two_speed_up", title=title, y_title="times as fast as one")
    what = f"as fast on {last['nodes']:.0f} processors as on one"
    return Shown(f"{last['two_speed_up']:.3g}×", what, figure=drawn)


def _stairs(record: Record) -> Shown:
    took = {name: each.ms for name, each in stairs.found(record).items() if not each.why}
    targets, says = stairs.targets(), [stairs.says(record, name) for name in took]
    met = sum(took[name] <= ms for name, ms in targets.items() if name in took)
    if not met:
        raise LabError("No function meets its target yet.")
    drawn = dots({"mine": took, "target": targets}, title="Collectives", value_title="ms")
    return Shown(f"{met} of {len(targets)}", "targets met, on up to 256 nodes", says, drawn)


_overlap = _heat("gain_percent", "{} %", "of a step's time by overlap (equation 1)")
# By study and variant of their Records, in the order of the labs: a title, and what reads such a Record.
PROGRAMS: dict[str, tuple[str, Reader]] = {
    "A2 own-ring": ("A token round all nodes", _all("call", "tokens came home", own_ring.lines)),
    "A2 own-trips": ("A ping-pong between all nodes", _trips),
    "H2": ("A heated plate", _heat("ns_a_point", "{} ns", "a point of the plate, by {way}")),
    "H3": ("The plate on several nodes", _heat("speed_up", "{}×", "as fast on {ranks} nodes as on one", most=True)),
    "E2 own": ("A round trip in Python", _beside_c),
    "E2 own-nonblocking": ("A non-blocking round trip", _beside_c),
    "H4": ("Three exchanges of rows", _heat("median_ms", "{} ms", "{what}, {way}, rows of {columns} numbers")),
    "D4 exchange": ("An exchange that works meanwhile", lambda r: Shown(
        f"{exchange.gain(r).percent:+.0f} %", "of the time by overlap (equation 1)", [exchange.gain(r).says])),
    "H5 python": ("A step while rows travel", _overlap),
    "H5 c": ("A step while rows travel, in C", _overlap),
    "A10 postcard": ("A postcard, found on the wire", _all("message", "messages, packet by packet")),
    "A12 loop": ("A loop over packets", _all("count", "counts, all right", lambda r: own_loop.lines(r.points))),
    "E7 interval": ("A change with its interval", _all("cycle", "comparisons, all right", own_interval.lines)),
    "L1 letters": ("Letters without a wait", lambda r: Shown(
        f"{_text(1 / small_writes.times(r).median)}×", "as fast as in two writes", (), small_writes.picture(r))),
    "S8 gas": ("A gas on several nodes", _gas),
    "S8 galaxy": ("A galaxy, divided by its work", lambda r: Shown(
        f"{galaxy.function(r)['balance']:.3f}×", "the mean work on the busiest node", [galaxy.says(r)])),
    "S8 first-beowulf": ("The gas on the machine of 1995", _in_1995),
    "S9 stairs": ("A staircase of collectives", _stairs),
}  # fmt: skip
IN_PARTS = ("H2", "H4", "S9 stairs")  # a function that is wrong takes nothing from the others
