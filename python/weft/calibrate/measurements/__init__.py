# SPDX-License-Identifier: LGPL-2.1-only
"""Tables of measurements, their samples, and the same measured in a simulation.

Users: api, calibrate/cluster, calibrate/host, calibrate/point_to_point, calibrate/switch, cli,
report, study.
"""
