"""The picture of the studies of the wire: kinds of packets and rates, next to paper A's figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from beowulf import papers
from beowulf.measure.statistics import summary
from beowulf.record import Record
from beowulf.studies.wire_shares import rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from beowulf.figures import Figure

PLACE = ["message_bytes", "protocol", "overlap_bytes"]
SHARES = {
    "long_data_percent": "data segments",
    "short_message_percent": "short messages",
    "ack_only_percent": "only ACK",
    "remote_shell_percent": "ssh",
    "connection_percent": "opening and closing",
    "other_percent": "not TCP",
}
RATES = {"packets_per_s": "packets/s", "mbit_per_s": "Mbit/s"}


def table(record: Record, *wheres: str) -> pd.DataFrame:
    """A row for each place of the sweep: medians over its launches, rates with intervals, paper A's figures.

    `wheres` names the parts of the paper with these figures; an earlier part has priority.
    LabError when no launch was captured to its end.
    """
    import pandas as pd

    made = []
    for at, launches in rows(record).groupby(PLACE, sort=True):
        row: dict[str, Any] = dict(zip(PLACE, at, strict=True)) | {"launches": len(launches)}
        shares = ["data_percent", *SHARES, "tcp_overhead_percent"]
        row |= {str(name): value for name, value in launches[shares].median().items()}
        for name in (each for rate in RATES for each in (rate, f"talking_{rate}")):
            seen = summary(launches[name].to_numpy(), busy=record.busy)
            row |= {name: seen.median, f"{name}_low": seen.low, f"{name}_high": seen.high}
        made.append(row)
    return pd.DataFrame(made).merge(_published(wheres), how="left", on=PLACE)


def _published(wheres: Sequence[str]) -> pd.DataFrame:
    """What paper A prints in these parts, by place.

    Its section V.B does not state how many bytes a long message has; its figures are shown with those of 8192. Where it
    has no Mbit/s, they are computed from the bytes a second.
    """
    printed = papers.table("A-wire").rename(columns={"calls": "protocol"})
    printed["message_bytes"] = printed["message_bytes"].fillna(8192).astype(int)
    printed["mbit_per_s"] = printed["mbit_per_s"].fillna(8e-6 * printed["bytes_per_s"])
    printed = printed.set_index("where").loc[[*wheres]].drop_duplicates(PLACE).set_index(PLACE)
    columns = ["data_percent", "short_message_percent", *RATES]
    return printed[columns].add_prefix("paper_").reset_index()


def drawn(title: str, rate: str, *wheres: str) -> Callable[[Record], Figure]:
    """A function that draws two panels with a row for each conversation: shares of all packets, and a rate of RATES.

    Both show the figures of the parts `wheres` of paper A as well.
    """

    def draw(record: Record) -> Figure:
        from beowulf.figures import Figure, look

        conversations = table(record, *wheres)
        names = [_name(row) for _, row in conversations.iterrows()]
        with look.style():
            drawing, only = look.paper(width=10.4, height=3.2 + 0.42 * len(names))
            only.remove()
            left, right = drawing.subplots(1, 2, sharey=True, width_ratios=(1.2, 1))
            _shares(left, conversations)
            _rate(right, conversations, rate)
            left.xaxis.set_major_formatter(look.number_tick)
            for axes in (left, right):
                axes.grid(axis="y", visible=False)
            drawing.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=2)
            drawing.legend(*right.get_legend_handles_labels(), loc="outside lower right")
            left.set_yticks(range(len(names)), names)
            left.set_ylim(len(names) - 0.4, -0.6)
            look.titles(left, "What the packets were", "share of all packets (%)", "")
            look.titles(right, "How fast they went", f"{RATES[rate]}, median, 95 % interval", "")
            drawing.suptitle(title, x=0.01, ha="left", fontsize=13)
        return Figure(drawing, title, _in_words(conversations, names, rate, title), conversations)

    return draw


def _name(row: pd.Series[Any]) -> str:
    """The label of a conversation."""
    calls = {"nonblocking": "non-blocking"}.get(row["protocol"], row["protocol"])
    return f"{row['message_bytes']:,} B, {calls}, work on {row['overlap_bytes']:,} B"


def _shares(axes: Axes, conversations: pd.DataFrame) -> None:
    from beowulf.figures import look

    start = 0 * conversations["data_percent"]
    for number, (column, label) in enumerate(SHARES.items()):
        how: dict[str, Any] = {"color": look.COLOURS[number], "hatch": look.HATCHES[number]}
        how |= {"left": start, "height": 0.62, "edgecolor": "white", "label": label}
        axes.barh(conversations.index, conversations[column], **how)
        start = start + conversations[column]
    data = conversations["paper_data_percent"]
    both = data + conversations["paper_short_message_percent"]
    _diamonds(axes, data, "paper A: data")
    _diamonds(axes, both, "paper A: with short messages", "white", "black")
    axes.set_xlim(0, 100)


def _diamonds(
    axes: Axes, values: pd.Series[float], label: str, face: str = "black", edge: str = "white"
) -> None:
    """The paper's figures, if there are any."""
    if values.notna().any():
        how: dict[str, Any] = {"color": face, "markeredgecolor": edge, "linestyle": "none"}
        axes.plot(values, values.index, "D", markersize=8, label=label, **how)


def _rate(axes: Axes, conversations: pd.DataFrame, rate: str) -> None:
    from beowulf.figures import look

    kinds = {rate: "whole capture", f"talking_{rate}": "while messages travel"}
    for number, (name, label) in enumerate(kinds.items()):
        middle = conversations[name]
        reach = [middle - conversations[f"{name}_low"], conversations[f"{name}_high"] - middle]
        how: dict[str, Any] = {"fmt": look.MARKERS[number], "color": look.COLOURS[number]}
        how |= {"capsize": 4, "linestyle": "none", "label": label}
        axes.errorbar(middle, conversations.index, xerr=reach, **how)
    _diamonds(axes, conversations[f"paper_{rate}"], "paper A")
    look.long_scale(axes)


def _in_words(conversations: pd.DataFrame, names: list[str], rate: str, title: str) -> str:
    from beowulf.figures.look import number_text

    sentences = []
    for name, row in zip(names, conversations.to_dict("records"), strict=True):
        text = f"{name}: {number_text(row['data_percent'])} % data segments,"
        text += f" {number_text(row[rate])} {RATES[rate]} over the whole capture and"
        text += f" {number_text(row[f'talking_{rate}'])} while messages travel"
        if row[f"paper_{rate}"] == row[f"paper_{rate}"]:
            text += f" (paper A: {number_text(row[f'paper_{rate}'])})"
        sentences.append(text)
    return f"{title}: shares of packets as bars, and rates as points. {'. '.join(sentences)}."
