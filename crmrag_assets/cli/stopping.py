"""Ctrl-C and a signal to end, from the first moment of a command on."""

from __future__ import annotations

import signal
import threading


def stoppable() -> None:
    """Have both raise KeyboardInterrupt.

    A shell starts what is in the background with Ctrl-C ignored, and Dagster would then ignore being ended, too.
    """
    if threading.current_thread() is threading.main_thread():  # no other may say so
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
