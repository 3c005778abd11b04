# SPDX-License-Identifier: LGPL-2.1-only
"""A single run of a program: request, checks, launch, outcome, record, and its presentation.

Users: api, calibrate, campaign, cli, fabric, iterations, report, schemas,
study.
"""
