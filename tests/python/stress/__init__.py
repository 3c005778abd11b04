# SPDX-License-Identifier: LGPL-2.1-only
"""Random runs with a sanitized libweft.so: `make stress`, and a sample in the tests.

Each run draws a program, a fabric and options: jobs, faults, background traffic, routing, every
mechanism and fallback, `--compare`, `--record` with a replay, or the same run twice. The programs
check their results themselves. Findings are wrong output, crashes, hangs, sanitizer reports,
undocumented exit statuses or outcomes, and records that differ for the same seed.
"""
