# SPDX-License-Identifier: LGPL-2.1-only
"""Running testbeds: namespaces, changes, probes, status."""
