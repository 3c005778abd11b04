# SPDX-License-Identifier: LGPL-2.1-only
"""Studies: what makes the tables and figures of the pages in docs/ and README.md.

`python -m studies [--draw] [NAME ...]`, or `make studies`. A file is a study, and STUDIES of the
package `studies.all` names them all. What is simulated is the same on every machine; what is
measured on the machine that runs the study says so on its page.
"""
