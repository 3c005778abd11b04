# SPDX-License-Identifier: LGPL-2.1-only
"""Training of language models on GPUs: the rank programs of one iteration of a model.

Users: api, campaign, cli, iterations, report, runs, schemas, study.
"""
