# SPDX-License-Identifier: LGPL-2.1-only
"""One run of a program: request, checks, launch, outcome, record, and what is shown of it.

Users: api, calibrate, campaign, cli, fabric, report, study.
"""
