# SPDX-License-Identifier: LGPL-2.1-only
"""The command line: each file parses one command and calls the API."""
