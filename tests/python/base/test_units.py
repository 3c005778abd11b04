# SPDX-License-Identifier: LGPL-2.1-only
"""Human-readable sizes and times."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.base.errors import WeftError, suggestion
from weft.base.units import (
    UNITS,
    format_seconds,
    format_size,
    parse_duration,
    parse_size,
    parse_sizes,
    plural,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4", 4), ("64B", 64), ("1KiB", 1024), ("1 kB", 1000), ("2MiB", 2 << 20), ("3MB", 3_000_000)],
)
def test_a_size_is_a_number_and_a_unit(text: str, size: int) -> None:
    assert parse_size(text) == size


@given(st.integers(1, 9000), st.sampled_from(sorted(UNITS)))
def test_every_unit_multiplies(number: int, unit: str) -> None:
    assert parse_size(f"{number}{unit}") == number * UNITS[unit]


@pytest.mark.parametrize("text", ["", "B", "-4", "0", "1.5KiB", "1K", "1kib", "4 B B", "1e3"])
def test_what_is_no_size_is_named_with_what_is_allowed(text: str) -> None:
    with pytest.raises(WeftError, match=r"size: found '.*'; allowed .* KiB") as error:
        parse_size(text)
    assert f"'{text}'" in str(error.value)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("4:32", [4, 8, 16, 32]),
        ("4:31", [4, 8, 16]),
        ("12:50", [12, 24, 48]),
        ("1KiB:4KiB", [1024, 2048, 4096]),
        ("8:8", [8]),
        ("4,1KiB,4", [4, 1024]),
        ("4:16,12,64", [4, 8, 16, 12, 64]),
    ],
)
def test_sizes_are_ranges_that_double_and_lists(text: str, sizes: list[int]) -> None:
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize("text", ["", "4,", "8:4", "4:8:16", ":", "4:", "a:b"])
def test_what_is_no_list_of_sizes_is_refused(text: str) -> None:
    with pytest.raises(WeftError, match=r"^sizes?: found"):
        parse_sizes(text)


@given(st.integers(1, 1 << 30), st.integers(0, 1 << 30))
def test_a_range_doubles_from_its_first_size_and_stays_within(first: int, more: int) -> None:
    sizes = parse_sizes(f"{first}:{first + more}")
    assert sizes[0] == first
    assert all(b == 2 * a for a, b in pairwise(sizes))
    assert sizes[-1] <= first + more < 2 * sizes[-1]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (22 << 20, "22 MiB"),
        (3 << 50, "3072 TiB"),
    ],
)
def test_sizes_are_shown_in_the_unit_that_suits_them(size: int, text: str) -> None:
    assert format_size(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ns"),
        (5e-9, "5 ns"),
        (7.8079e-6, "7.81 us"),
        (999.4e-6, "999 us"),
        (0.02, "20 ms"),
        (1.5, "1.5 s"),
        (4000, "4000 s"),
    ],
)
def test_times_are_shown_in_the_unit_that_suits_them(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_counts_carry_their_noun() -> None:
    assert [plural(n, "rank") for n in (0, 1, 4096)] == ["0 ranks", "1 rank", "4,096 ranks"]
    assert [plural(2, noun) for noun in ("switch", "entry")] == ["2 switches", "2 entries"]


def test_a_near_word_is_suggested_and_else_all_are_listed() -> None:
    assert suggestion("rbd", ["rdb", "lr"]) == "did you mean rdb?"
    assert suggestion("xyz", ["rdb", "lr"]) == "allowed are rdb, lr"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("2h", 7200), ("1.5 d", 129_600), ("1w", 604_800), ("500us", 5e-4)],
)
def test_a_duration_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "2", "h", "2 hours", "-1d", "1e3s"])
def test_what_is_no_duration_has_no_seconds(text: str) -> None:
    assert parse_duration(text) is None
