// SPDX-License-Identifier: LGPL-2.1-only
// Charts below the maps: time per call, breakdown of the time, utilisation of the network.

const MOST_BARS = () => (innerWidth > 640 ? 24 : 8);

const lineName = (row) => {
  if (bestRows.has(row)) return "hosts alone (best of all algorithms)";
  if (trains(row)) return (isHosts ? valueOf(row, "collectives") : sideOf(row)) || valueOf(row, "program");
  const several = axisNamed("fallback") && !oneOf("fallback") && axisNamed("fallback").values.length > 1;
  const side = isHosts || reference.axis === "offload" ? "" : `, ${sideOf(row)}`;
  return modeName(modeOf(row)) + (side || (several && valueOf(row, "fallback") ? ` (${valueOf(row, "fallback")})` : ""));
};

// Selectors of a section that shows one value at a time where the maps show all.
const narrowed = (place, found, names, changed) => {
  const parts = [];
  let some = found;
  for (const name of names) {
    const options = valuesIn(some, name);
    parts.push(...own(`${place}-${name}`, name, options, changed, usual(name, options, some)));
    if (axisNamed(name)) some = some.filter((row) => keyOf(row, name) === Number(local[`${place}-${name}`]));
  }
  return [parts, some];
};
// Algorithms of the hosts are drawn as lines of one chart, not as charts of their own.
const openAxes = () => baseline.further.filter((name) => choice[name] === EACH && name !== "fallback");
// Initial values: the number of ranks that was measured, or the largest; for other axes, a value with host runs.
const usual = (name, options, found) => {
  if (name === "ranks") {
    const measured = new Set(found.filter(isOnMeasured).map((row) => valueOf(row, "ranks")));
    return (options.findLast(([, value]) => measured.has(value)) ?? options.at(-1))?.[0];
  }
  return options.some(([value]) => value === baseline.defaults[name]) ? baseline.defaults[name] : options[0]?.[0];
};

const isOnMeasured = (row) => {
  const points = (data.measured[rows.variant[row]] ?? []).flatMap((one) => one.points);
  return points.some(([, ranks, ppn]) => ranks === Number(valueOf(row, "ranks")) && ppn === rows.ppn[row]);
};

// Ticks of a time axis: 1, 2 and 5 per decade, or 1 only if there are more than three decades.
const timeTicks = (low, high) => {
  const powers = [];
  for (let k = Math.floor(Math.log10(low)); 10 ** k <= high; k += 1) powers.push(k);
  const steps = powers.length > 3 ? [1] : [1, 2, 5];
  const ticks = powers.flatMap((k) => steps.map((step) => step * 10 ** k)).filter((value) => value >= low && value <= high);
  return ticks.length > 1 ? ticks : [low / 0.8, high / 1.25];
};
const sizeTicks = (sizes, room) => {
  const sorted = [...sizes].sort((a, b) => a - b);
  if (sorted.length <= room / 60) return sorted;
  const ticks = [];
  for (let size = 1; size <= sorted.at(-1); size *= 4) if (size >= sorted[0]) ticks.push(size);
  return ticks.filter((_, k) => k % Math.ceil(ticks.length / (room / 60)) === 0);
};

// ---- Latency

const latencyAxes = () => ["program", "fabric", ...openAxes(), "ranks"].filter((name) => name !== reference?.axis);
const latencyControls = (changed) => {
  const found = chosenAndHosts([layout.across, layout.down]).filter((row) => stateOf(row) === "done" && callsOf(row).length);
  const [parts, some] = narrowed("latency", found, [...latencyAxes()], changed);
  const there = new Set(some.flatMap((row) => callsOf(row).map((call) => word(calls.collective[call]))));
  const collectives = collectivesByTime().filter((name) => there.has(name)).map((name) => [name, name]);
  parts.push(...own("latency-collective", "collective", collectives, changed));
  form("latency-bar", parts);
  return some;
};

// Points of the lines: mean call times of one collective, by way and message size.
const latencyPoints = (found) => {
  const entries = found.flatMap((row) =>
    callsOf(row)
      .filter((call) => word(calls.collective[call]) === local["latency-collective"])
      .map((call) => {
        const way = word(calls.way[call]);
        const fellBack = way.startsWith("hosts:") && modeOf(row) !== OFF;
        return { row, call, size: calls.size[call], way: lineName(row) + (fellBack ? ", fell back to the hosts" : ""), by: way };
      }),
  );
  return [...grouped(entries, (one) => `${one.way}\n${one.size}`).values()].map((some) => {
    const times = some.map((one) => calls.mean[one.call]);
    const waits = some.map((one) => calls.wait[one.call]);
    const wait = waits.includes(null) ? null : mean(waits); // null: records of earlier versions
    const waited = wait === null ? "" : `\nof this, ${inTime(wait)} before the last rank enters`;
    const [{ size, way, row }] = some;
    const ways = [...new Set(some.map((one) => one.by))].slice(0, 4);
    const spread = some.length > 1 ? `\nmean of ${counted(some.length, "run")}, ${inTime(least(times))} to ${inTime(most(times))}` : "";
    const tipText = `${way}: ${inTime(mean(times))} a call${waited}\n${local["latency-collective"]} of ${inBytes(size)}, ${counted(Number(valueOf(row, "ranks")), "rank")}\nby ${ways.join(", ")}${spread}`;
    return { size, x: inBytes(size), xi: size, time: mean(times), wait, low: least(times), high: most(times), way, measured: false, tip: tipText };
  });
};

// Measured points of the displayed fabrics with the same number of ranks.
const measuredPoints = (found, ways) => {
  const points = new Map();
  for (const row of found)
    for (const one of data.measured[rows.variant[row]] ?? []) {
      if (one.collective !== local["latency-collective"]) continue;
      for (const [size, ranks, ppn, time] of one.points) {
        if (ranks !== Number(valueOf(row, "ranks")) || ppn !== rows.ppn[row]) continue;
        const key = `${one.label}\n${size}`;
        const known = points.get(key);
        if (known && ways.includes(known.mode)) continue;
        const tipText = `${one.label}: ${inTime(time)} a call\n${one.collective} of ${inBytes(size)}, ${ranks} ranks, ${ppn} a host\nmeasured, data/${one.table}; the devices of ${one.fabric}`;
        points.set(key, { size, x: inBytes(size), xi: size, time, way: one.label, mode: one.mode, measured: true, tip: tipText });
      }
    }
  return [...points.values()];
};

const drawLatency = (changed) => {
  const found = latencyControls(changed);
  const simulated = latencyPoints(found);
  const lines = [...new Set(simulated.map((one) => one.way))].sort(byName);
  const bars = new Set(simulated.map((one) => one.size)).size === 1;
  const real = measuredPoints(found, lines).filter((one) => !bars || one.size === simulated[0].size);
  const values = [...simulated, ...real].filter((one) => one.time > 0);
  const about = document.getElementById("latency-about");
  if (!values.length) {
    about.textContent = "";
    tabulate("latency", [], []);
    return instead("latency", "No run with these values has come to an end, or none calls collectives whose times are known.");
  }
  const sizes = new Set(values.map((one) => one.size));
  const byNumber = !bars && !sizes.has(0);
  const spec = copyOf(bars ? "latency_bars" : byNumber ? "latency" : "latency_by");
  const names = [...lines, ...new Set(real.map((one) => one.way))];
  const modes = new Map(real.map((one) => [one.way, one.mode]));
  const numbers = names.map((name, k) => (modes.has(name) && lines.includes(modes.get(name)) ? lines.indexOf(modes.get(name)) : k));
  colours(spec, names, numbers);
  marks(spec, names);
  const room = widthOf("latency");
  if (bars) {
    for (const one of values) Object.assign(one, { who: one.way, wi: names.indexOf(one.way), value: one.time });
    fitBars(spec, values, room);
  } else {
    spec.width = byNumber || room < 900 ? Math.max(200, room - 90) : { step: 80 };
    spec.height = 300;
    const low = least(values.map((one) => one.low ?? one.time)) * 0.8;
    const high = most(values.map((one) => one.high ?? one.time)) * 1.25;
    for (const one of channels(spec, "y")) {
      one.scale = { type: "log", domain: [low, high], nice: false };
      if (one.axis) one.axis.values = timeTicks(low, high);
    }
    if (byNumber) for (const one of channels(spec, "x")) one.axis.values = sizeTicks(sizes, spec.width);
  }
  const legend = bars ? [] : namesOf(names.map((name, k) => ({ name, number: numbers[k], shape: k, mark: modes.has(name) ? "open" : "line" })));
  const of = latencyAxes().filter((name) => axisNamed(name)).map((name) => `${name} ${shownValue(axisNamed(name).values[Number(local[`latency-${name}`])])}`);
  const band = simulated.some((one) => one.low < one.high) ? ` ${bars ? "Thin lines" : "Bands"} are from the least to the most of several runs.` : "";
  const marksSaid = real.length ? ` Open ${bars ? "bars" : "marks"} are measured on real devices.` : " Nothing of this was measured on real devices: no table of data/ is of this collective, with these devices and as many ranks.";
  const axesSaid = bars ? `of ${values[0].x}, ${of.join(", ")}` : `by its message, ${of.join(", ")}; both axes are logarithmic`;
  const waits = " The time of a rank in a call includes its wait for ranks that enter the call later; tooltips and the table state it apart.";
  about.textContent = `Mean simulated time of one rank in one call of ${local["latency-collective"]} ${axesSaid}.${waits}${band}${marksSaid}`;
  tabulate("latency", ["way", "message", "mean time of a call", "before the last rank", "measured"], values.map((one) => [one.way, one.x, inTime(one.time), inTime(one.wait ?? null), one.measured ? "yes" : "no"]));
  return draw("latency", legend, spec, values, about.textContent);
};

// ---- Shares

const PARTS = ["in collectives", "in other MPI calls", "outside MPI"];

const sharesOf = (row) => {
  const total = rows.time[row];
  const inside = Math.min(total, Math.max(rows.mpi[row], rows.collectives[row]));
  return [rows.collectives[row], Math.max(0, inside - rows.collectives[row]), Math.max(0, total - inside)].map((part) => part / total);
};

const drawShares = () => {
  const found = chosenAndHosts([layout.across, layout.down]).filter((row) => stateOf(row) === "done" && rows.time[row] > 0 && rows.collectives[row] !== null && rows.mpi[row] !== null);
  const about = document.getElementById("shares-about");
  const fabrics = valuesIn(found, "fabric").length > 1 && reference?.axis !== "fabric";
  const name = (row) => `${shortName(valueOf(row, "program"))}${fabrics ? ` on ${shortName(valueOf(row, "fabric"))}` : ""}: ${lineName(row)}`;
  const bars = [...grouped(found, name)].sort(([a], [b]) => byName(a, b));
  if (!bars.length) {
    about.textContent = "";
    tabulate("shares", [], []);
    return instead("shares", "No run with these values has come to an end.");
  }
  const values = bars.slice(0, MOST_BARS()).flatMap(([who, some], wi) => {
    const shares = some.map(sharesOf);
    return PARTS.map((part, pi) => {
      const share = mean(shares.map((one) => one[pi]));
      const range = some.length > 1 ? `, ${inPercent(least(shares.map((one) => one[pi])))} to ${inPercent(most(shares.map((one) => one[pi])))}` : "";
      return { who, wi, part, pi, share, tip: `${who}\n${inPercent(share)} ${part}\nof ${counted(some.length, "run")}${range}` };
    });
  });
  const spec = copyOf("shares");
  colours(spec, PARTS);
  const more = bars.length > MOST_BARS() ? ` ${bars.length - MOST_BARS()} more: choose a program or fabric.` : "";
  about.textContent = `Fraction of the simulated time that ranks spend in collectives, in other MPI calls, and outside MPI; mean of ${counted(found.length, "run")}, each counting the same.${more}`;
  tabulate("shares", ["runs", "part", "share"], values.map((one) => [one.who, one.part, inPercent(one.share)]));
  fitBars(spec, values, widthOf("shares"));
  const parts = namesOf(PARTS.map((name, number) => ({ name, number, mark: "bar" })));
  return draw("shares", parts, spec, values, about.textContent).then(() => document.getElementById("shares").append(...keyOfNames(found)));
};

// ---- Use of links and switches

const USED = [
  ["busiest", "busiest link", "Part of the simulated time for which its bytes fill the busiest link of a run", inPercent],
  ["mean", "mean of all links", "The same, mean of all links of the fabric", inPercent],
  ["slots", "slots used at most", "The most slots that were used at a time in any switch", digits],
];

const drawUse = (changed) => {
  const what = own("use", "shown", USED.map(([name, said]) => [name, said]), changed);
  const ended = chosenAndHosts([layout.across, layout.down]).filter((row) => stateOf(row) === "done");
  const [parts, some] = narrowed("use", ended, ["program", "fabric", ...openAxes()].filter((name) => ![layout.across, reference?.axis].includes(name)), changed);
  let found = some;
  const [column, label, meaning, shown] = USED.find(([name]) => name === local.use);
  found = found.filter((row) => rows[column][row] !== null);
  form("use-bar", [...what, ...parts]);
  const about = document.getElementById("use-about");
  if (!found.length) {
    about.textContent = "";
    tabulate("use", [], []);
    return instead("use", "No run with these values has come to an end.");
  }
  const values = [...grouped(found, (row) => `${lineName(row)}\n${keyOf(row, layout.across)}`).values()].map((some) => {
    const used = some.map((row) => rows[column][row]);
    const [row] = some;
    const link = column === "busiest" && some.length === 1 ? `\nlink ${word(rows.link[row])}` : "";
    const spread = some.length > 1 ? `\nmean of ${counted(some.length, "run")}, ${shown(least(used))} to ${shown(most(used))}` : "";
    return { x: shownValue(valueOf(row, layout.across)), xi: keyOf(row, layout.across), way: lineName(row), value: mean(used), low: least(used), high: most(used),
      tip: `${lineName(row)}: ${shown(mean(used))}\n${layout.across} ${shownValue(valueOf(row, layout.across))}${link}${spread}` };
  });
  const bars = new Set(values.map((one) => one.xi)).size === 1;
  const spec = copyOf(bars ? "use_bars" : "use");
  const names = [...new Set(values.map((one) => one.way))].sort(byName);
  colours(spec, names);
  marks(spec, names);
  const room = widthOf("use");
  const format = column === "slots" ? "~s" : "%";
  tabulate("use", ["runs", layout.across, USED.find(([name]) => name === column)[1]], values.map((one) => [one.way, one.x, shown(one.value)]));
  if (bars) {
    for (const one of values) Object.assign(one, { who: one.way, wi: names.indexOf(one.way) });
    fitBars(spec, values, room);
    for (const one of channels(spec, "x")) one.axis = { format, title: label, tickCount: 5 };
  } else {
    for (const one of channels(spec, "x")) one.axis = { labelAngle: 0, title: layout.across, labelOverlap: true };
    for (const one of channels(spec, "y")) one.axis = { format, title: label };
    spec.width = Math.max(200, room - 76);
    spec.height = 220;
  }
  const band = values.some((one) => one.low < one.high) ? ` ${bars ? "Thin lines" : "Bands"} are from the least to the most of several runs.` : "";
  about.textContent = `${meaning}, ${bars ? `${layout.across} ${values[0].x}` : `by ${layout.across}`}.${band}`;
  const legend = bars ? [] : namesOf(names.map((name, number) => ({ name, number, mark: "line" })));
  return draw("use", legend, spec, values, about.textContent);
};
