# SPDX-License-Identifier: LGPL-2.1-only
"""Traces of training as workloads: Chakra's, those of PyTorch's Kineto, and SimAI's text.

`reading` detects the format; `chakra`, `kineto` and `simai` read one each. All but SimAI's, which
has one program for all ranks of a stage, yield operations (`operations`), which `assembly` checks
across ranks and writes as programs.

Users: api, campaign, cli, runs.
"""
