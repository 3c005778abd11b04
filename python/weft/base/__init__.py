# SPDX-License-Identifier: LGPL-2.1-only
"""What everything else stands on: errors, units, files read and written, processes, figures."""
