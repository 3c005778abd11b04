# SPDX-License-Identifier: LGPL-2.1-only
"""Single run of a program: request, checks, launch, outcome, record and presentation.

Users: api, calibrate, campaign, cli, fabric, iterations, report, schemas,
study.
"""
