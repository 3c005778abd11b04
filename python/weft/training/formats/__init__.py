# SPDX-License-Identifier: LGPL-2.1-only
"""Training traces as workloads: Chakra, PyTorch's Kineto, and SimAI's text.

`reading` detects the format; `chakra`, `kineto` and `simai` each read one format. All readers
except SimAI's, which writes one program for all ranks of a stage, yield operations (`operations`),
which `assembly` checks across ranks and writes as programs.

Users: api, campaign, cli, runs.
"""
