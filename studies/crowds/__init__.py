# SPDX-License-Identifier: LGPL-2.1-only
"""Cost and error of crowds of messages: docs/crowds.md."""
