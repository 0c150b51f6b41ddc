"""A figure to drag: sliders in a notebook over the numbers that it is drawn with; with one given, it is plain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from importlib.util import find_spec
from inspect import signature
from typing import Any

from beowulf.figures.look import Figure, number_text, titled

Drawing = Callable[..., Figure]


@dataclass
class Draggable(Figure):
    """A figure with sliders over it; a page that is only read shows it as it was first drawn."""

    widget: Any

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return {**self.widget._repr_mimebundle_(), **super()._repr_mimebundle_()}


def draggable(
    read: Callable[[Any, str], Any], cell: str, **values: Sequence[Any]
) -> Callable[[Drawing], Drawing]:
    """Let a function draw what `read` finds, with sliders over `values`; `read` may ask a learner to run a `cell`."""

    def made(draw: Drawing) -> Drawing:
        @wraps(draw)
        def drawn(of: Any, **given: Any) -> Figure:
            from IPython.core.getipython import get_ipython

            known = partial(draw, read(of, cell))
            figure, shell = known(**given), type(get_ipython()).__name__
            if given or shell != "ZMQInteractiveShell" or not find_spec("ipywidgets"):
                return figure
            from ipywidgets import SelectionSlider, interactive

            sliders = {
                name: SelectionSlider(
                    options=[(n if isinstance(n, str) else number_text(n), n) for n in numbers],
                    value=signature(draw).parameters[name].default,
                    description=titled(name),
                    continuous_update=False,  # it is drawn again when the slider rests
                    style={"description_width": "11em"},
                    layout={"width": "36em"},
                )
                for name, numbers in values.items()
            }
            widget = interactive(lambda **each: known(**each), {"auto_display": True}, **sliders)
            return Draggable(**vars(figure), widget=widget)

        return drawn

    return made
