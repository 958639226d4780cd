"""The way to a server that may be away for a while."""
import time
from typing import Any, Callable, Dict, Optional

from hypertune import errors
from hypertune.client import Client

_PAUSE, _LONGEST_PAUSE = 0.1, 1.0  # seconds between questions to a dead server


class Line:
    """Asks the server of a client, for up to `patience` seconds."""

    def __init__(self, client: Client, patience: float):
        self.client = client
        self._patience = patience

    def patiently(self, ask: Callable[[], Any],
                   was_done: Callable[[], Any] = lambda: None) -> Any:
        """Asks until the server is there. `was_done` returns whether a question
        whose answer was lost had its effect."""
        deadline = time.monotonic() + self._patience
        pause = _PAUSE
        while True:
            try:
                return ask()
            except errors.Unavailable:
                if time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            try:
                done = was_done()
            except errors.Unavailable:
                continue
            if done is not None:
                return done

    def call(self, method: str, path: str, body: Any = None,
              query: Optional[Dict[str, Any]] = None) -> Any:
        """For questions that may be repeated."""
        return self.patiently(lambda: self.client._transport.call(
            method, path, body, query))
