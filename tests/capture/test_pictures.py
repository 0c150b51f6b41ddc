"""Do the pictures of packets show what is in the capture, in their sentence and their table too?"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from runs import Run
from test_flows import A, B, Talk, opened

from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.packets.ladder import ladder
from beowulf.packets.mpi_messages import messages
from beowulf.packets.pictures import bytes_over_time


def is_drawn(figure: Figure, folder: Path) -> None:
    image, text, table = figure.save(folder / "picture.png")
    assert image.stat().st_size > 5000
    assert text.read_text().startswith(figure.alt)
    assert table.read_text().startswith(figure.table.columns[0])


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.drawing.axes[0].texts if text.get_text()]


def _sent_once(table: pd.DataFrame) -> pd.DataFrame:
    """Without what TCP sent twice because a busy machine acknowledged late."""
    return table[~table["what"].str.endswith("retransmitted")]


@pytest.mark.cluster
def test_a_ladder_of_an_eager_message_has_its_segments(whole: Run, tmp_path: Path) -> None:
    figure = ladder(whole.file, tag=1006)  # 1448 bytes: with the header, two segments
    is_drawn(figure, tmp_path)
    forth = figure.table[(figure.table["direction"] == "forth") & (figure.table["kind"] == "data")]
    assert list(_sent_once(forth)["what"]) == ["Eager: header, 1,368 bytes", "80 bytes"]
    assert "1,448 bytes, tag 1006: eager" in figure.title
    assert figure.table["time_us"].is_monotonic_increasing
    with pytest.raises(LabError, match="No message with tag 4711"):
        ladder(whole.file, tag=4711)
    with pytest.raises(LabError, match="There is no message 99999"):
        ladder(whole.file, 99999)


@pytest.mark.cluster
def test_a_ladder_of_a_rendezvous_asks_and_is_cleared_before_the_data(
    whole: Run, tmp_path: Path
) -> None:
    found = messages(whole.file)
    row = found[found["bytes"] == 1 << 20].iloc[0]
    figure = ladder(whole.file, int(row.name), names={row["src"]: "left", row["dst"]: "right"})
    is_drawn(figure, tmp_path)
    data = _sent_once(figure.table[figure.table["kind"] != "ack"])
    assert list(data["what"][:2]) == ["Request to send: header", "Clear to send: header"]
    assert list(data["direction"][:3]) == ["forth", "back", "forth"]
    assert data["what"].iloc[2].startswith("Rendezvous data: header")
    assert len(data) >= row["segments"] + 1
    assert any(word.startswith("… ") for word in words(figure))
    assert "left, on the left, to" in figure.alt
    assert "right, on the right" in figure.alt
    assert len(words(figure)) < 50


def test_what_was_retransmitted_is_marked_and_in_the_legend_whichever_direction_it_went(
    tmp_path: Path,
) -> None:
    talk = opened()
    for number in range(20):
        talk.send(A, B, 1001 + number * 100, b"x" * 100)
    talk.send(B, A, 5001, b"y" * 50).send(B, A, 5001, b"y" * 50, after_ms=200)
    path = talk.write(tmp_path)
    figure = bytes_over_time(path, names={A[0]: "node00"})
    is_drawn(figure, tmp_path)
    assert figure.table["again"].sum() == 1
    assert "node00:40001 to 10.0.0.2:40002: 2,000 bytes, nothing retransmitted." in figure.alt
    assert "10.0.0.2:40002 to node00:40001: 50 bytes, 1 segments retransmitted." in figure.alt
    (legend,) = figure.drawing.legends
    assert [text.get_text() for text in legend.get_texts()].count("retransmitted") == 1
    is_drawn(bytes_over_time(Talk().write(tmp_path)), tmp_path)  # of nothing
