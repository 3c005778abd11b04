# SPDX-License-Identifier: LGPL-2.1-only
"""One run of a program: what is asked for, SimGrid's part, the record, and what is shown of it."""
