"""Following a study from a notebook or a terminal."""
import sys
from typing import TYPE_CHECKING, Any, Union

from hypertune.summary import Summary

if TYPE_CHECKING:
    from hypertune.study import Study


def _notebook_display() -> Any:
    """IPython's display() when a notebook is there to show things, or None.

    IPython is never imported for this: a notebook has done so."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is None:
        return None
    from IPython.display import display
    return display


class Watch:
    """Shows a study while it changes: one output, updated in place at most
    once a second, in a notebook; else a line for each change on stdout."""

    def __init__(self, study: "Study"):
        self._study = study
        self._handle: Any = None
        self._line = ""

    def __enter__(self) -> "Watch":
        self._show(self._study.summary())
        return self

    def __exit__(self, *_: Any) -> None:
        """The display stays as it is; so does the study."""

    def until_done(self, timeout: Union[None, str, float] = None) -> str:
        """Shows the study until its end; returns its last state.

        `timeout` in seconds or as "2h"; TimeoutError after that.
        """
        return self._study.wait(timeout, self._show)

    def _show(self, summary: Summary) -> None:
        line = str(summary)
        if line == self._line:
            return
        self._line = line
        if self._handle is not None:
            self._handle.update(summary)
            return
        display = _notebook_display()
        if display is None:
            print(line, flush=True)
        else:
            self._handle = display(summary, display_id=True)
