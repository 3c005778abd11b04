"""Calibration: parameters of fabric files, fitted to tables of measurements."""
