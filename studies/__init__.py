# SPDX-License-Identifier: LGPL-2.1-only
"""Studies: generators of the tables and figures of the pages in docs/ and README.md.

`python -m studies [--draw] [NAME ...]`, or `make studies`. A file is a study, and STUDIES of the
package `studies.all` lists them all. Simulated results are the same on every machine; pages state
which results were measured on the machine that ran the study.
"""
