# SPDX-License-Identifier: LGPL-2.1-only
"""Studies: generators of the tables and figures of the pages in docs/ and README.md.

`python -m studies [--draw] [NAME ...]`, or `make studies`. Each study is a file; STUDIES in
`studies.all` lists them. Simulated results are the same on every machine; the pages state which
results depend on the machine that ran the study.
"""
