# SPDX-License-Identifier: LGPL-2.1-only
"""Several runs beside each other: benches, comparisons, checks, forwarding; the demonstration.

Users: api, campaign, cli, report.
"""
