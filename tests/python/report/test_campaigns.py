# SPDX-License-Identifier: LGPL-2.1-only
"""Reports of campaigns: compared runs, statements about them, and the contents of a page.

report/test_page.py covers the page in a browser.
"""

import html
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.campaign_files import LATENCY, head
from tests.support.computed_campaigns import PROGRAM, SMALL, done, hosts_or_switches, made
from tests.support.simulated import weft
from weft.base.errors import WeftError
from weft.campaign.file.axes import Point
from weft.campaign.pairs import Reference, pairs
from weft.report.data.axes import Axis, roles
from weft.report.data.compare import outcome
from weft.report.page import measured, page, payload, provenance, sections
from weft.report.page.ranking import ranked
from weft.report.page.sentences import headline, question, verdicts

# ---- Axes ----------------------------------------------------------------------------------------


def test_numbers_and_sizes_are_sorted_and_names_stay() -> None:
    assert Axis.of("bytes", ["1MiB", "4B", "1KiB"]) == Axis("bytes", ("4B", "1KiB", "1MiB"), "size")
    assert Axis.of("switch.slots", ["256", "16"]) == Axis("switch.slots", ("16", "256"), "number")
    assert Axis.of("fabric", ["b", "a", "b"]) == Axis("fabric", ("b", "a"), "name")
    assert Axis.of("ppn", ["4", "", "1"]).values == ("", "1", "4")


def test_maps_are_of_sizes_and_ranks_or_of_what_there_is() -> None:
    size, ranks = Axis.of("bytes", ["4B", "1KiB"]), Axis.of("ranks", ["4", "16"])
    slots, link = Axis.of("switch.slots", ["1", "2"]), Axis.of("link.bandwidth", ["1Gbps", "2Gbps"])
    found = roles([slots, size, link, ranks])
    assert (found.across, found.down) == ("bytes", "ranks")
    assert found.further == ("switch.slots", "link.bandwidth")
    assert (roles([link, slots]).across, roles([link, slots]).down) == (
        "switch.slots",
        "link.bandwidth",
    )
    assert (roles([ranks]).across, roles([ranks]).down) == ("ranks", "fabric")


# ---- Comparisons ---------------------------------------------------------------------------------


def point(offload: str, slots: str = "64", link: str = "1Gbps", again: str = "1") -> dict[str, str]:
    return {
        "offload": offload,
        "switch.slots": slots,
        "link.bandwidth": link,
        "repetition": again,
    }


def test_what_differs_in_offload_alone_is_compared() -> None:
    found = pairs([point("stream"), point("off"), point("off", slots="16"), point("message")])
    assert list(found.of) == [1, None, None, 1]
    assert found.relaxed == ()


def test_what_means_nothing_to_hosts_may_differ_and_is_named() -> None:
    found = pairs([point("stream", slots="16"), point("stream", slots="256"), point("off")])
    assert list(found.of) == [2, 2, None]
    assert found.relaxed == ("switch.slots",)
    again = pairs([point("stream", again="2"), point("off", again="1"), point("off", again="2")])
    assert (list(again.of), again.relaxed) == ([2, None, None], ())


def test_what_hosts_depend_on_is_never_compared() -> None:
    assert list(pairs([point("stream", link="4Gbps"), point("off")]).of) == [None, None]
    other = [{"offload": "stream", "switch.forwarding_latency": "1us"}]
    other.append({"offload": "off", "switch.forwarding_latency": "2us"})
    assert list(pairs(other).of) == [None, None]


def test_a_run_that_is_planned_is_waited_for(tmp_path: Path) -> None:
    def result(one: Point) -> dict[str, Any]:
        return {"state": "missing"} if one["offload"] == "off" else dict(done(1.0, offloaded=1))

    study = made(tmp_path, SMALL, result)
    assert {one.outcome for one in study.compared} == {"missing"}
    assert headline(study) == [
        "On tofino-16, program sum, stream or its baseline has not been run yet."
    ]


@pytest.mark.parametrize(
    ("hosts", "own", "said"), [(2, 1, "faster"), (1, 2, "slower"), (1.004, 1, "same")]
)
def test_nearly_the_same_is_the_same(hosts: float, own: float, said: str) -> None:
    assert outcome(hosts, own) == said


# ---- The sentence --------------------------------------------------------------------------------


def test_the_answer_counts_and_names_both_sides(tmp_path: Path) -> None:
    study = made(tmp_path, SMALL, hosts_or_switches)
    (said,) = headline(study)
    assert said == (
        "On tofino-16, program sum, stream is faster than the hosts (offload = off) in 1 of 6"
        " combinations: at most 3.67 times, for 16 ranks, 1KiB (4.41 µs against 16.2 µs); slower in"
        " 5, mostly with 64KiB or more: at worst it takes 1.98 times as long as the hosts, for 4"
        " ranks, 1MiB (423 µs against 214 µs)."
    )
    (verdict,) = verdicts(study)
    assert (verdict.number("faster"), verdict.number("slower")) == (1, 5)
    assert verdict.best is not None
    assert verdict.best.point["bytes"] == "1KiB"


def test_what_fell_back_failed_and_is_not_there_is_told_apart(tmp_path: Path) -> None:
    def result(one: Point) -> dict[str, Any]:
        if one["offload"] == "off":
            return dict(done(1e-3))
        return {
            ("4", "1KiB"): dict(done(1e-3, reason="one host")),
            ("4", "64KiB"): {"state": "failed", "message": "rank 0 aborted"},
            ("4", "1MiB"): {"state": "missing"},
            ("16", "1KiB"): dict(done(1e-3, calls=0)),
        }.get((str(one["ranks"]), str(one["bytes"])), dict(done(5e-4, offloaded=10)))

    study = made(tmp_path, SMALL, result)
    assert headline(study) == [
        "On tofino-16, program sum, stream is faster than the hosts (offload = off) in 2 of 5"
        " combinations: at most 2.00 times, for 16 ranks, 64KiB (500 µs against 1 ms), and as"
        " much in 1 more; in 1 every call fell back to the hosts because all ranks of the"
        " communicator are on one host; 1 made no collective calls; 1 cannot be compared, as a run"
        " failed or was refused; 1 more has not been run yet."
    ]
    assert "1 failed" in sections.failures(study)
    assert "rank 0 aborted" in sections.failures(study)


def test_where_it_is_slower_is_said_by_the_axis_that_says_it_best(tmp_path: Path) -> None:
    def result(one: Point) -> dict[str, Any]:
        large = one["bytes"] in ("64KiB", "1MiB")
        time_s = 1.0 if one["offload"] == "off" else 2.0 if large else 0.5
        return dict(done(time_s, offloaded=1))

    (said,) = headline(made(tmp_path, SMALL, result))
    assert "slower in 4, all with 64KiB or more: at worst it takes 2.00 times as long" in said


@pytest.mark.parametrize(
    ("change", "result", "said"),
    [
        ("", lambda _: {"state": "missing"}, "has not been run yet"),
        (
            'offload = "stream"',
            lambda _: done(2e-6, offloaded=1),
            "Whether offloading pays off is unknown: the campaign has no run without offloading"
            " (offload = off). Its 6 combinations that came to an end took 2 µs of simulated time.",
        ),
        (
            'offload = "off"',
            lambda _: done(2e-6),
            "has no run with offloading (all have offload = off)",
        ),
        (
            "",
            lambda _: {"state": "refused", "message": "no"},
            "in 0 of 6 combinations; 6 cannot be compared",
        ),
        (
            'offload = "stream"',
            lambda _: {"state": "failed", "message": "no"},
            "No run finished: all 6 combinations that were tried failed or were refused.",
        ),
    ],
)
def test_what_cannot_be_compared_is_said(
    change: str, result: Any, said: str, tmp_path: Path
) -> None:
    text = SMALL.replace('offload = ["stream", "off"]', change) if change else SMALL
    study = made(tmp_path, text, result)
    assert said in " ".join(headline(study))
    assert "<html" in page.render(study)


def test_many_programs_and_fabrics_have_one_sentence_and_a_table(tmp_path: Path) -> None:
    text = SMALL.replace('"tofino-16"', '["tofino-16", "hdr100-8", "tofino-4"]').replace(
        '["stream", "off"]', '["stream", "message", "off"]'
    )

    def result(one: Point) -> dict[str, Any]:
        slow = one["fabric"] == "tofino-4"
        return dict(done(1.0 if one["offload"] == "off" else 2.0 if slow else 0.5, offloaded=1))

    study = made(tmp_path, text, result)
    first, most, least = headline(study)
    assert first.startswith("Over all programs, fabrics and mechanisms, offloading is faster than")
    assert (
        "in 24 of 36 combinations: at most 2.00 times, for sum on tofino-16 by stream, 4" in first
    )
    assert "(500 ms against 1 s), and as much in 23 more; slower in 12" in first
    assert most == (
        "Faster most often: sum on tofino-16 by stream, in 6 of 6; as often sum on tofino-16 by"
        " message; sum on hdr100-8 by stream; sum on hdr100-8 by message."
    )
    assert least == (
        "Faster least often: sum on tofino-4 by message, in 0 of 6; as often sum on tofino-4 by"
        " stream."
    )
    assert sections.verdict_table(study).count("<tr>") == 1 + 6
    assert ranked(study) == [
        "The fastest fabric for sum, each with its fastest mode (stream, message, off), of 6"
        " combinations: tofino-16 and hdr100-8 tie, within 0.5 %, in 6; never tofino-4."
    ]


def test_without_runs_of_the_hosts_fabrics_or_algorithms_are_compared(tmp_path: Path) -> None:
    text = SMALL.replace('"tofino-16"', '["tofino-4", "tofino-16"]').replace(
        'offload = ["stream", "off"]', ""
    )

    def result(one: Point) -> dict[str, Any]:
        return dict(done(1.0 if one["fabric"] == "tofino-4" else 0.5, offloaded=1))

    study = made(tmp_path, text, result)
    assert headline(study) == [
        "Program sum, fabric tofino-16 is faster than fabric tofino-4 in 6 of 6 combinations: at"
        " most 2.00 times, for 4 ranks, 1KiB (500 ms against 1 s), and as much in 5 more.",
        "Whether offloading pays off is unknown: the campaign has no run without offloading to"
        " compare"
        " with.",
    ]
    assert question(study) == "Which fabric is faster"
    assert "fabric tofino-4, the first of its values. The comparison" in sections.basis(study)
    algorithms = SMALL.replace('["stream", "off"]', '"off"') + 'fallback = ["ring", "linear"]\n'
    first, second = headline(made(tmp_path / "algorithms", algorithms, lambda _: done(1.0)))
    assert second.startswith(
        "Whether offloading pays off is unknown: the campaign has no run with "
    )
    assert first == (
        "On tofino-16, program sum, off, fallback linear is as fast as fallback ring, within 0.5 %,"
        " in all of 6 combinations."
    )


# ---- Fabric against fabric -----------------------------------------------------------------------

VENDORS = (
    PROGRAM
    + """
[[runs]]
program = "sum"
fabric = ["hdr100-8", "tofino-16", "star-8"]
ranks = [4, 8]
bytes = ["1KiB", "1MiB"]
offload = ["stream", "off"]
leave_out = [{ fabric = "star-8", offload = "stream" }]
"""
)


def of_vendors(one: Point) -> dict[str, Any]:
    """Return reductions with equal hosts: small ones fastest on SHARP, large ones on a Tofino."""
    if one["offload"] == "off":
        return dict(done(1.0))
    small = one["bytes"] == "1KiB"
    return dict(done({"hdr100-8": 0.25 if small else 0.8, "tofino-16": 0.5}[str(one["fabric"])]))


def test_a_campaign_of_fabrics_says_which_is_the_fastest(tmp_path: Path) -> None:
    study = made(tmp_path, VENDORS, of_vendors)
    assert ranked(study) == [
        "The fastest fabric for sum, each with its fastest mode (stream, off), of 4"
        " combinations: hdr100-8 in 2; tofino-16 in 2; never star-8."
    ]
    assert [one.name for one in study.references] == [
        "the hosts (offload = off)",
        "fabric hdr100-8",
        "fabric tofino-16",
        "fabric star-8",
    ]


def test_a_fabric_that_is_run_in_one_way_is_what_all_ways_of_others_are_compared_with(
    tmp_path: Path,
) -> None:
    study = made(tmp_path, VENDORS + '[report]\nbaseline = { fabric = "star-8" }\n', of_vendors)
    assert study.reference == Reference("fabric", "star-8")
    assert headline(study)[0] == (
        "Program sum, stream, fabric hdr100-8 is faster than fabric star-8 in 4 of 4 combinations:"
        " at most 4.00 times, for 4 ranks, 1KiB (250 ms against 1 s), and as much in 1 more."
    )
    assert len(study.compared) == 16
    said = sections.basis(study)
    assert "The baseline is fabric star-8, as the campaign&#x27;s file says." in said
    assert "no run of fabric star-8 with the same offload, the run with another value" in said
    both = [{"fabric": fabric, "offload": way} for fabric in "ab" for way in ("stream", "off")]
    assert list(pairs(both, Reference("fabric", "a")).of) == [None, None, 0, 1]


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("fabric", '"tofino-16"', "fabric tofino-16"),
        ("offload", '"off"', "the hosts (offload = off)"),
        ("offload", '"stream"', "offload stream"),
        ("ranks", "8", "ranks 8"),
    ],
)
def test_the_file_picks_any_key_as_baseline(
    key: str, value: str, shown: str, tmp_path: Path
) -> None:
    text = VENDORS + f"[report.baseline]\n{key} = {value}\n"
    study = made(tmp_path, text, of_vendors)
    assert study.reference is not None
    assert study.reference.name == shown
    assert study.references[0] == study.reference
    assert len(set(study.references)) == len(study.references)
    assert "<html" in page.render(study)


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        ('"star-8"', "[report] baseline: found 'star-8'; write one key, such as"),
        ("{}", "[report] baseline: found {}; write one key"),
        ('{ fabric = "star-8", offload = "off" }', "write one key"),
        ('{ fabrik = "star-8" }', "no such key in [[runs]]: 'fabrik'; did you mean fabric?"),
        ('{ fabric = "star-9" }', "found fabric = 'star-9'; did you mean star-8?"),
        ('{ fabric = ["star-8"] }', "found fabric = ['star-8']; "),
        ('{ program = "sum" }', "found program, which gives nothing to compare"),
        ('{ "switch.slots" = 64 }', "no such key in [[runs]]: 'switch.slots'"),
    ],
)
def test_a_wrong_baseline_is_refused(baseline: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(WeftError) as caught:
        made(tmp_path, VENDORS + f"[report]\nbaseline = {baseline}\n", of_vendors)
    assert said in str(caught.value)
    with pytest.raises(WeftError, match="no such key; did you mean baseline"):
        made(tmp_path, VENDORS + "[report]\nbase = 1\n", of_vendors)


def test_a_baseline_that_cannot_be_run_is_said(tmp_path: Path) -> None:
    text = (
        VENDORS.replace("leave_out = [", 'leave_out = [{ fabric = "tofino-16" }, ')
        + '[report]\nbaseline = { fabric = "tofino-16" }\n'
    )
    study = made(tmp_path, text, of_vendors)
    assert study.reference is not None
    assert study.reference.hosts
    assert "No combination of fabric tofino-16, the file&#x27;s baseline," in sections.basis(study)


def test_one_combination_is_said_in_one_sentence_with_its_times(tmp_path: Path) -> None:
    text = (
        VENDORS.replace("[4, 8]", "4")
        .replace('["1KiB", "1MiB"]', '"1KiB"')
        .replace('["stream", "off"]', '"off"')
    )
    times = {"hdr100-8": 2e-6, "tofino-16": 4e-6, "star-8": 4.01e-6}
    study = made(tmp_path, text, lambda one: done(times[str(one["fabric"])]))
    assert headline(study)[:2] == [
        "Program sum, off, fabric tofino-16 takes 2.00 times as long as fabric hdr100-8 (4 µs"
        " against 2 µs).",
        "Program sum, off, fabric star-8 takes 2.00 times as long as fabric hdr100-8 (4.01 µs"
        " against 2 µs).",
    ]
    assert ranked(study) == [
        "The fastest fabric for sum: hdr100-8 (2 µs), tofino-16 (4 µs), star-8 (4.01 µs)."
    ]
    last = study.by_baseline[-1]
    assert headline(last)[1].startswith(
        "Program sum, off, fabric tofino-16 is as fast as fabric star-8, within 0.5 % (4 µs against"
    )


DOUBLED = re.compile(r"[.,;:!?…][.,;]|[,;:][:!?]|[,;] [,;.]|\(\)| {2}")


def test_no_punctuation_is_doubled_whatever_texts_end_with(tmp_path: Path) -> None:
    """Sentences embed a campaign's texts, which end with every final punctuation mark here."""
    for end in ("?", ".", "!", "…", ""):
        text = VENDORS.replace('name = "small"', f'name = "small"\ndescription = "Which one{end}"')

        def result(one: Point, end: str = end) -> dict[str, Any]:
            if one["bytes"] == "1MiB":
                return {"state": "failed", "message": f"rank {one['ranks']} aborted{end}"}
            return of_vendors(one)

        study = made(tmp_path / f"end{ord(end or 'x')}", text, result)
        for one in study.by_baseline:
            shown = [sections.about(one), *headline(one), *ranked(one), sections.basis(one)]
            shown += [sections.failures(one), sections.verdict_table(one), sections.made(one)]
            for part in shown:
                said = re.sub(r"<pre>.*?</pre>", "", part, flags=re.DOTALL)
                visible = html.unescape(re.sub(r"<[^>]*>", "\n", said))
                assert DOUBLED.findall(visible) == [], visible


# ---- Measurements --------------------------------------------------------------------------------


def columns_of(fabric: str, *changes: str) -> set[tuple[str, str]]:
    return {(one.check.table, one.check.column) for one in measured.measurements(fabric, changes)}


def test_a_measurement_is_of_the_devices_that_were_measured() -> None:
    osu = ("tofino_osu_allreduce_4x1.csv", "mpitofino_us")
    assert osu in columns_of("tofino-4")
    assert columns_of("tofino-16") == columns_of("tofino-4"), "the same devices, more hosts"
    assert columns_of("tofino-4", "link.bandwidth=100Gbps") == columns_of("tofino-4")
    assert columns_of("tofino-4", "switch.slots=256") == columns_of("tofino-4"), "its own"
    assert columns_of("tofino-4", "link.bandwidth=400Gbps") == set()
    assert columns_of("tofino-4", "switch.slots=16") == set()
    assert columns_of("fat-tree-8") == set()
    assert osu not in columns_of("hdr100-8")


def test_points_are_those_of_the_table() -> None:
    found = measured.measurements("tofino-4", ())
    osu = next(one for one in found if one.check.column == "openmpi_tuned_us")
    first = osu.points[0]
    assert (first.bytes, first.ranks, first.ppn) == (4, 4, 1)
    assert first.time_s == pytest.approx(4.75e-6)
    loop = next(one for one in found if "vs_ranks" in one.check.table)
    assert {(one.ranks, one.ppn) for one in loop.points} == {(2, 1), (3, 1), (4, 1), (8, 2)}
    crowded = next(one for one in measured.measurements("alaska-2", ()) if one.points)
    assert {(one.ranks, one.ppn) for one in crowded.points} == {(64, 32)}


def test_what_is_known_of_a_fabric_is_said_and_what_is_not(tmp_path: Path) -> None:
    text = SMALL + 'link.bandwidth = ["100Gbps", "400Gbps"]\n'
    measured_one, other = provenance.accuracy(made(tmp_path, text, hosts_or_switches))
    assert measured_one.changes == ["link.bandwidth=100Gbps"]
    assert (
        "mpitofino_us of tofino_osu_allreduce_4x1.csv, stream, on tofino-4: the same devices: mean"
        " error at most 1.5 %, worst error at most 4.5 %; fitted to it: base latency and"
        " turnaround, to the even rows of both benchmarks"
    ) in measured_one.known
    assert (other.changes, other.known) == (["link.bandwidth=400Gbps"], ())
    assert "with unknown accuracy" in sections.made(made(tmp_path, text, hosts_or_switches))


def test_sizes_stay_whole_where_times_are_shortened() -> None:
    assert payload._six_digits(1048576.0) == 1048576
    assert payload._six_digits(0.0011106601093481584) == 0.00111066


def test_computation_is_said_to_be_timed_or_not(tmp_path: Path) -> None:
    said = provenance.computation(made(tmp_path, SMALL, hosts_or_switches))
    assert (
        said
        == "Computation took no simulated time (no host_speed): times include communication and"
        " sleep only."
    )
    text = SMALL + 'host_speed = "10Gf"\n'
    said = provenance.computation(made(tmp_path / "timed", text, hosts_or_switches))
    assert said.startswith("In all runs computation was timed on the simulating machine")


# ---- The page ------------------------------------------------------------------------------------


def test_the_same_results_are_the_same_page(tmp_path: Path) -> None:
    first, second = (
        page.render(made(tmp_path / name, SMALL, hosts_or_switches)) for name in ("one", "two")
    )
    assert first == second


HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror='hacked=1'> \" & ü 漢 {{data}}"
)


def hostile(folder: Path) -> str:
    """Return a page whose texts all contain markup or scripts."""
    text = f"""
[campaign]
name = {json.dumps(HOSTILE)}
description = {json.dumps(HOSTILE)}
[programs.sum]
source = "sum.c"
arguments = ["{{bytes:B}}", "{{word}}"]
[[runs]]
program = "sum"
fabric = "tofino-16"
ranks = [4, 16]
bytes = ["1KiB", "1MiB"]
offload = ["stream", "off"]
word = [{json.dumps(HOSTILE)}, "plain"]
"""

    def result(one: Point) -> dict[str, Any]:
        if one["bytes"] == "1MiB" and one["ranks"] == 4:
            return {"state": "failed", "message": HOSTILE}
        return dict(hosts_or_switches(one))

    return page.render(made(folder, text, result))


def test_texts_of_a_campaign_are_nothing_but_texts(tmp_path: Path) -> None:
    text = hostile(tmp_path)
    assert text.count("<script") == text.count("</script>") == 4
    assert "<img" not in text.partition('id="data">')[0]
    assert "<" not in text.partition('id="data">')[2].partition("</script>")[0]
    policy = re.search(r'content="(default-src[^"]*)"', text)
    assert policy is not None
    assert "unsafe-eval" not in policy[1]
    assert "default-src 'none'" in policy[1]


def test_nothing_of_the_page_comes_from_elsewhere(tmp_path: Path) -> None:
    text = page.render(made(tmp_path, SMALL, hosts_or_switches))
    head, _, scripts = text.partition('<script type="application/json"')
    assert re.findall(r"(?:src|href)\s*=", head) == []
    assert "@import" not in head
    assert "url(" not in head
    assert len(scripts) > 500_000, "Vega is in it"


def test_times_that_nobody_can_tell_apart_take_no_room(tmp_path: Path) -> None:
    found = payload.payload(made(tmp_path, SMALL, lambda _: done(1 / 3, offloaded=1)))
    assert found["rows"]["time"] == [0.333333] * 12


def test_waits_of_earlier_versions_are_unknown(tmp_path: Path) -> None:
    study = made(tmp_path, SMALL, hosts_or_switches)
    calls = payload.payload(study)["calls"]
    waits = [time_s / 4 for time_s in calls["mean"]]
    assert calls["wait"] == pytest.approx(waits, rel=1e-5)
    earlier = study.calls.with_columns(mean_wait_s=None)
    unknown = payload.payload(replace(study, calls=earlier))["calls"]
    assert set(unknown["wait"]) == {None}
    assert unknown["mean"] == calls["mean"]


# ---- The command ---------------------------------------------------------------------------------

REAL = (
    head("latency", "real", "latency.c")
    + """
[[runs]]
program = "latency"
fabric = "tofino-4"
ranks = 4
offload = ["stream", "off"]
bytes = ["1KiB", "64KiB"]
switch.slots = [64, 4096]
leave_out = [{ offload = "off", "switch.slots" = 4096 }]
"""
)


def test_a_campaign_is_run_reported_and_each_run_can_be_made_again(tmp_path: Path) -> None:
    (tmp_path / "latency.c").write_bytes(LATENCY.read_bytes())
    file, target = tmp_path / "real.toml", tmp_path / "report.html"
    file.write_text(REAL, encoding="utf-8")
    early = weft("campaign", "report", str(file), "-o", str(target))
    assert early.status == 2
    assert "no run of it has finished yet; weft campaign run" in early.stderr
    assert not target.exists()
    assert weft("campaign", "run", str(file)).status == 1, "4096 slots are more than there are"
    said = weft("campaign", "report", str(file), "-o", str(target))
    assert re.fullmatch(
        rf"{re.escape(str(target))}: 6 combinations, \d+ KiB\nreal: offloading against the"
        r" hosts, 80% intervals: 2 cannot tell; 2 with.*\n",
        said.stdout,
    )
    text = target.read_text(encoding="utf-8")
    assert "On tofino-4, program latency, stream is faster than the hosts (openmpi-5.0) in" in text
    assert "cannot tell in 2" in text
    assert "2 (all with switch.slots 4096) cannot be compared, as a run failed" in text
    assert "channels of 4096 slots need" in text
    again(text, tmp_path)


def again(text: str, folder: Path) -> None:
    """Build the program and repeat the first run as stated on the page, and compare its time."""
    found = re.search(r'id="data">(.*?)</script>', text)
    assert found is not None
    data = json.loads(found[1])
    build = re.search(r"<pre>(weft cc .*?)</pre>", text)
    assert build is not None
    assert weft(*shlex.split(build[1])[1:], cwd=folder).status == 0
    rows, words = data["rows"], data["words"]
    row = next(k for k, state in enumerate(rows["state"]) if state == 0)
    command = shlex.split(f"{words[rows['head'][row]]} {words[rows['tail'][row]]}")
    at = command.index("--")
    made_again = [*command[1:at], "--json", "again.json", *command[at:]]
    assert weft(*made_again, cwd=folder).status == 0
    record = json.loads((folder / "again.json").read_text(encoding="utf-8"))
    assert record["simulated_time_s"] == pytest.approx(rows["time"][row], rel=1e-5)


def test_a_page_that_cannot_be_written_is_said_before_the_work(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(PROGRAM, encoding="utf-8")
    result = weft("campaign", "report", str(file), "-o", str(tmp_path / "no" / "report.html"))
    assert result.status == 2
    assert "there is no directory" in result.stderr
