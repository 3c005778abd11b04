# SPDX-License-Identifier: LGPL-2.1-only
"""Several jobs in one run: file, placement, launch and output.

Users: api, campaign, cli, fabric, schemas, study.
"""
