# SPDX-License-Identifier: LGPL-2.1-only
"""Tables of measurements, samples taken from them, and simulations of the same benchmarks.

Users: api, calibrate/cluster, calibrate/host, calibrate/point_to_point, calibrate/switch, cli,
report, study.
"""
