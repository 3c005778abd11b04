# SPDX-License-Identifier: LGPL-2.1-only
"""Time until senders give up, compared with the time until routing avoids a failure.

A message that a failure cuts ends its job if all retries of its sender come before routing has
converged, and before the failure is repaired.
"""

from weft.base.units import format_seconds


def retry_span_s(timeout_s: float, backoff: float, retries: int) -> float:
    """Return the time from a cut until its sender gives up: the sum of its timeouts."""
    if backoff == 1:
        return timeout_s * (retries + 1)
    return float(timeout_s * (backoff ** (retries + 1) - 1) / (backoff - 1))


def gives_up_first(span_s: float, detection_s: float, convergence_s: float) -> str:
    """Return a warning if senders give up before routing has converged, else an empty text."""
    routing_s = detection_s + convergence_s
    if routing_s <= span_s:
        return ""
    return (
        f"senders give up {format_seconds(span_s)} after a failure (recovery.timeout, backoff,"
        f" retries), before routing avoids it after {format_seconds(routing_s)}"
        " (recovery.detection + recovery.convergence): a failure that lasts longer ends each job"
        " whose messages it cuts"
    )
