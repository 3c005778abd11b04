# SPDX-License-Identifier: LGPL-2.1-only
"""Training of language models on GPUs: one iteration as programs of ranks, from a model's sizes.

Users: api, campaign, cli, iterations, report, runs, schemas, study.
"""
