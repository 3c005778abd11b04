// SPDX-License-Identifier: LGPL-2.1-only
// Maps: gain from offloading over two axes, one map per program and fabric.

// Labels of cells without a number, and their meanings.
const SHORT = { "fell back": "fell back", "no collectives": "no calls", failed: "failed", missing: "not run", alone: "no baseline" };
const SAID = {
  "fell back": "every call fell back to the hosts",
  "no calls": "no collective was called",
  failed: "a run failed or was refused",
  "not run": "not run yet",
  get "no baseline"() {
    return `no run of ${reference?.name ?? "another value"} to compare with`;
  },
};

// Outcome of a gain whose interval contains 1; known only for the time of the whole program.
const UNSURE = "cannot tell";
const isUnsure = (row, of = baseline) => layout.metric === "time" && data.outcomes[of.rows.outcome[row]] === UNSURE;

const panelOf = (row, shown = (name) => name) => {
  const placed = [layout.across, layout.down];
  const names = ["program", "fabric"].filter((name) => !placed.includes(name));
  const [program, fabric] = ["program", "fabric"].map((name) => (names.includes(name) ? shown(valueOf(row, name)) : ""));
  const on = program && fabric ? `${program} on ${fabric}` : program || fabric;
  const further = axes.filter((axis) => choice[axis.name] === EACH && !placed.includes(axis.name));
  const values = further.map((axis) => `, ${axis.name} ${shownValue(valueOf(row, axis.name))}`).join("");
  const said = `${modeOf(row)}${isCompared ? against(row) : ""}${values}`.replace(/^, /, "");
  return on && said ? `${on}: ${said}` : on + said;
};

const against = (row) => {
  const said = reference.said || reference.value;
  if (isHosts || ["fabric", "offload"].includes(reference.axis)) return ` against ${said}`;
  return `, ${reference.axis} ${sideOf(row)} against ${said}`;
};

// Rows of the maps: those with a baseline, or all if nothing is compared.
const mapRows = () =>
  chosenRows([layout.across, layout.down]).filter(
    (row) => (!isCompared || !isReference(row)) && (!bestRows.has(row) || reference?.axis === "fallback"),
  );

const whyNot = (row) => {
  if (!isCompared) return stateOf(row) === "missing" ? "missing" : "failed";
  return rows.reference[row] < 0 ? "alone" : outcomeOf(row);
};
const isMeasured = (row) =>
  isCompared ? ["faster", "same", "slower", UNSURE].includes(outcomeOf(row)) && speedUp(row) !== null : timeOf(row) !== null;

// Interval around those of all gains; a gain without one counts with its value.
const endsOf = (found) => {
  if (!isCompared || !found.some((row) => intervalOf(row))) return null;
  const ends = found.map((row) => intervalOf(row) ?? [speedUp(row), speedUp(row)]);
  return [least(ends.map(([low]) => low)), most(ends.map(([, high]) => high))];
};

const cellOf = (found) => {
  const good = found.filter(isMeasured);
  const first = found[0];
  const cell = {
    panel: panelOf(first), pi: first,
    x: shownValue(valueOf(first, layout.across)), xi: keyOf(first, layout.across),
    y: shownValue(valueOf(first, layout.down)), yi: keyOf(first, layout.down),
  };
  if (!good.length) {
    const short = SHORT[whyNot(first)] ?? "no calls";
    return { ...cell, log: null, label: short, ink: theme().quiet, tip: `${cellHead(found)}\n${emptyTip(first, short)}` };
  }
  const value = isCompared ? Math.exp(mean(good.map((row) => Math.log(speedUp(row))))) : mean(good.map((row) => timeOf(row)));
  cell.unsure = isCompared && good.every((row) => isUnsure(row));
  const label = isCompared ? inTimes(value) : inTime(value);
  const overs = isCompared ? good.map((row) => speedUpOver(bestOf(row), row)).filter((one) => one !== null) : [];
  cell.overBest = overs.length ? inTimes(Math.exp(mean(overs.map(Math.log)))) : "";
  cell.ends = endsOf(good);
  cell.interval = cell.ends ? inInterval(cell.ends) : "";
  // Cells that say nothing have the colour of no gain.
  const log = cell.unsure ? 0 : Math.log2(value);
  return { ...cell, value, log, label: cell.unsure ? `${label}?` : label, tip: `${cellHead(found)}\n${goodTip(good, found, label)}` };
};
const cellHead = (found) => {
  const repeated = found.length > 1 ? axes.map((axis) => axis.name).filter((name) => valuesIn(found, name).length > 1) : [];
  return `${panelOf(found[0])}\n${inWords(found[0], [...repeated, "program", "fabric", "offload"])}`;
};
const emptyTip = (row, short) => {
  if (short === SHORT["fell back"]) return `${SAID[short]}${reasonOf(row) ? `: ${reasonOf(row)}` : ""}`;
  if (short === SHORT.failed) return `${SAID[short]}: ${word(rows.message[row]) || word(rows.message[rows.reference[row]] ?? -1)}`;
  return SAID[short];
};
const goodTip = (good, found, label) => {
  const lines = [];
  if (good.length === 1) {
    const [row] = good;
    if (isCompared) {
      lines.push(`${label.slice(0, -1)} times as fast as ${reference.name}, ${metricName()}${leftOpen(row)}:`);
      lines.push(`${inTime(timeOf(row))} (${sideOf(row)}) against ${inTime(timeOf(rows.reference[row]))} (${reference.said || reference.value})`);
      const over = speedUpOver(bestOf(row), row);
      if (over !== null) {
        const open = leftOpen(row, overBest);
        lines.push(`${inTimes(over).slice(0, -1)} times as fast as ${overBest.reference.name}${open}: against ${inTime(timeOf(bestOf(row)))}`);
      }
    } else lines.push(`${label}, ${metricName()}`);
    if (trains(row) && rows.mfu[row] !== null) lines.push(`MFU ${inPercent(rows.mfu[row])}`);
    if (!trains(row)) lines.push(`${rows.offloaded[row]} of ${counted(rows.calls[row], "call")} of collectives offloaded`);
    if (rows.partly[row]) lines.push("a part of the calls of one collective fell back");
  } else {
    const values = good.map((row) => (isCompared ? speedUp(row) : timeOf(row)));
    const shown = isCompared ? inTimes : inTime;
    const kind = isCompared ? "geometric mean" : "mean";
    if (isCompared && good.some((row) => isUnsure(row))) lines.push(`${UNSURE} in ${good.filter((row) => isUnsure(row)).length} of them`);
    lines.push(`${label}: ${kind} of ${counted(good.length, "combination")}, ${shown(least(values))} to ${shown(most(values))}${around(good)}`);
  }
  if (good.length < found.length) lines.push(`${found.length - good.length} more fell back, failed or are not there`);
  return lines.join("\n");
};

const around = (found) => (endsOf(found) ? `, in intervals of ${inInterval(endsOf(found))}` : "");
const leftOpen = (row, of = baseline) => {
  const interval = intervalOf(row, of);
  if (!interval) return "";
  const beyond = word(of.rows.beyond[row] ?? -1);
  return `, ${inInterval(interval)}${isUnsure(row, of) ? `, ${UNSURE}` : ""}${beyond ? ` (not measured: ${beyond})` : ""}`;
};
const cellsOf = (found) => [...grouped(found, (row) => `${panelOf(row)}\n${keyOf(row, layout.across)}\n${keyOf(row, layout.down)}`).values()].map(cellOf);

// Saturation of the colours in log2: gains and losses beyond a factor of 4 look the same.
const MOST_LOG = 2;
const scaleOf = (cells) => {
  const logs = cells.map((cell) => cell.log).filter((log) => log !== null);
  const { diverging, rising } = theme();
  const span = Math.min(MOST_LOG, Math.max(0.5, most(logs.map(Math.abs))));
  const domain = isCompared ? [-span, -span / 2, 0, span / 2, span] : [least(logs), most(logs)];
  return { type: "linear", domain, range: isCompared ? diverging : rising, clamp: true, interpolate: "rgb" };
};
const ink = (cell, { domain }) => {
  const { strong, weak } = theme();
  const middle = isCompared ? 0 : (domain[0] + domain.at(-1)) / 2;
  const far = isCompared ? Math.abs(cell.log) > domain.at(-1) * 0.6 : cell.log > middle;
  return far ? strong : weak;
};
const legendOf = ({ domain, range }) => {
  const box = element("div", "", { class: "legend scale", "aria-hidden": "true" });
  const strip = element("span", "", { class: "strip" });
  strip.style.background = `linear-gradient(to right, ${range.join(", ")})`;
  const [low, high] = [2 ** domain[0], 2 ** domain.at(-1)];
  const [first, last] = isCompared ? [`${inTimes(low)} or less: slower`, `faster: ${inTimes(high)} or more`] : [inTime(low), inTime(high)];
  box.append(element("span", first), strip, element("span", last));
  return box;
};

const MAPS_HEIGHT = 400;
const fit = (spec, cells, room, lines) => {
  const nx = new Set(cells.map((cell) => cell.xi)).size;
  const ny = new Set(cells.map((cell) => cell.yi)).size;
  const beside = 40 + 7.2 * most(cells.map((cell) => cell.y.length));
  const step = Math.max(8, Math.min(84, (room - beside) / nx));
  spec.width = { step };
  spec.height = { step: Math.max(15, Math.min(32, (MAPS_HEIGHT / lines - 70) / ny)) };
  const long = most(cells.map((cell) => cell.x.length)) * 7.4 > step;
  for (const one of channels(spec, "x")) one.axis = { labelAngle: long ? -50 : 0, title: layout.across, labelOverlap: true };
  for (const one of channels(spec, "y")) one.axis = { title: layout.down, labelOverlap: true };
  // Numbers that do not fit appear only in the tooltip and the table.
  return cells.map((cell) => {
    const short = cell.label.replace("×", "");
    const label = [cell.label, short].find((one) => one.length * 6.4 < step) ?? "";
    return { ...cell, label };
  });
};
const widest = (cells) => 58 + new Set(cells.map((cell) => cell.xi)).size * 50 + 7.2 * most(cells.map((cell) => cell.y.length));

const drawMap = () => {
  const found = mapRows();
  const all = cellsOf(found);
  const panels = grouped(all, (cell) => cell.panel);
  say(found, [...panels]);
  const more = [["interval", "interval"], ["overBest", "over best of all algorithms"]].filter(([name]) => all.some((cell) => cell[name]));
  tabulate("map", ["map", layout.down, layout.across, isCompared ? "times as fast" : metricName(), ...more.map(([, head]) => head)],
    all.map((cell) => [cell.panel, cell.y, cell.x, cell.log === null ? SAID[cell.label] : cell.label, ...more.map(([name]) => cell[name] ?? "")]));
  if (!all.length) return instead("map", "There is nothing with these values; choose others.");
  const scale = scaleOf(all);
  if (isSingle([...panels])) return drawBars(found, [...panels].map(([, [cell]]) => cell));
  const shown = [...panels].slice(0, mostPanels());
  const room = widthOf("map");
  const common = commonPart(shown.map(([name]) => name));
  const head = common ? [element("h3", common.replace(/[,: ]+$/, ""))] : [];
  const titleOf = (name) => name.slice(common.length).replace(/^[,: ]+/, "");
  const columns = Math.max(1, Math.min(shown.length, Math.floor(room / Math.max(260, Math.min(620, widest(all))))));
  const grid = element("div", "", { class: "maps" });
  grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  const charts = shown.map(([name, cells]) => {
    const spec = copyOf("map");
    for (const one of channels(spec, "color")) one.scale = scale;
    for (const cell of cells) if (cell.log !== null) cell.ink = ink(cell, scale);
    const box = element("div");
    const place = element("div");
    const title = titleOf(name);
    if (title) box.append(element("h4", title));
    box.append(place);
    grid.append(box);
    return [place, spec, fit(spec, cells, room / columns - 20, Math.ceil(shown.length / columns)), `${name}: ${layout.down} by ${layout.across}`];
  });
  const legend = all.some((cell) => cell.log !== null) ? [legendOf(scale)] : [];
  return drawAllOf("map", [...head, ...legend, grid], charts);
};
// Maps with a single cell each become a bar chart.
const isSingle = (panels) => panels.every(([, cells]) => cells.length === 1);
const mostRanked = () => (innerWidth > 640 ? 30 : 12);
// Names of bars without their common parts; each of them starts with its program or fabric.
const namesOfBars = (cells) => {
  const names = cells.map((cell) => panelOf(cell.pi, shortName));
  const common = commonPart(names);
  const tails = names.map((name) => name.slice(common.length).replace(/^[,: ]+/, ""));
  const tail = tails.length > 1 ? commonTail(tails) : "";
  return [common.replace(/[,: ]+$/, ""), tails.map((name) => name.slice(0, name.length - tail.length) || " "), tail.trim()];
};
const commonTail = (names) => {
  let end = 0;
  while (end < names[0].length && names.every((name) => name.at(-1 - end) === names[0].at(-1 - end))) end += 1;
  const tail = names[0].slice(names[0].length - end);
  return tail.includes(" against ") ? tail.slice(tail.indexOf(" against ")) : "";
};
const drawRanked = (id, kind, found, cells, about) => {
  const spec = copyOf(kind);
  if (!isCompared) spec.layer = spec.layer.filter((layer) => layer.encoding?.x?.datum !== 1);
  const { diverging, names: colours, quiet } = theme();
  const fillOf = ({ value, unsure }) => (!isCompared ? colours[0] : unsure ? quiet : outcomeFill(value, diverging, quiet));
  const ranked = [...cells].sort((a, b) => (b.value ?? 0) - (a.value ?? 0)).slice(0, mostRanked());
  const [common, names, tail] = namesOfBars(ranked);
  const values = ranked.map((cell, wi) => {
    const [low, high] = cell.ends ?? [cell.value ?? 0, cell.value ?? 0];
    return { ...cell, who: names[wi], wi, value: cell.value ?? 0, low, high, end: Math.max(high, cell.value ?? 0), fill: cell.value ? fillOf(cell) : quiet };
  });
  fitBars(spec, values, widthOf(id));
  // Leave room for the label of the longest bar.
  const longest = Math.max(most(values.map((one) => one.end)), isCompared ? 1 : 0) || 1;
  const reach = (longest * spec.width) / Math.max(50, spec.width - 60);
  const title = isCompared ? `times as fast${tail ? ` as ${tail.replace("against ", "")}` : ""}` : metricName();
  const axis = isCompared ? { title, tickCount: 5 } : { title, tickCount: 5, labelExpr: specs.latency_bars.layer[0].encoding.x.axis.labelExpr };
  for (const one of channels(spec, "x")) Object.assign(one, { scale: { domain: [0, reach] }, axis, title });
  const parts = common ? [element("h3", common)] : [];
  return draw(id, parts, spec, values, about).then(() => document.getElementById(id).append(...keyOfNames(found)));
};
const drawBars = (found, cells) => drawRanked("map", "map_bars", found, cells, document.getElementById("map-about").textContent);

// Ranking of all programs, fabrics and modes over the combinations that the maps show.
const drawRanking = () => {
  const found = mapRows();
  const panels = [...grouped(found.filter(isMeasured), (row) => panelOf(row)).values()];
  const figure = document.getElementById("ranking").parentElement;
  const cells = panels.map((some) => {
    const values = some.map((row) => (isCompared ? speedUp(row) : timeOf(row)));
    const value = isCompared ? Math.exp(mean(values.map(Math.log))) : mean(values);
    const shown = isCompared ? inTimes : inTime;
    const unsure = isCompared && some.every((row) => isUnsure(row));
    return { pi: some[0], value, ends: endsOf(some) ?? [least(values), most(values)], unsure, label: `${shown(value)}${unsure ? "?" : ""}`,
      tip: `${panelOf(some[0])}\n${shown(value)}: ${isCompared ? "geometric mean" : "mean"} of ${counted(some.length, "combination")}, ${shown(least(values))} to ${shown(most(values))}${around(some)}` };
  });
  figure.hidden = cells.length < 3 || isSingle([...grouped(cellsOf(found), (cell) => cell.panel)]);
  if (figure.hidden) return Promise.resolve();
  const more = cells.length > mostRanked() ? ` The ${mostRanked()} largest of ${cells.length}.` : "";
  const lines = panels.flat().some((row) => endsOf([row])) ? "span the intervals of all combinations" : "from the least to the most";
  const unsure = cells.some((cell) => cell.unsure) ? ` “?”: ${UNSURE}, all intervals contain 1.` : "";
  const about = `${isCompared ? "Geometric means" : "Means"} over the combinations of each row, the largest first; lines ${lines}.${unsure}${more}`;
  document.getElementById("ranking-about").textContent = about;
  return drawRanked("ranking", "ranking", found, cells, about);
};
const outcomeFill = (value, diverging, quiet) => (Math.abs(value - 1) <= 0.005 ? quiet : diverging[value > 1 ? 3 : 1]);
// Common prefix of all map names, up to a separator.
const commonPart = (names) => {
  if (names.length === 1) return names[0];
  let end = 0;
  while (end < names[0].length && names.every((name) => name[end] === names[0][end])) end += 1;
  return names[0].slice(0, Math.max(0, names[0].slice(0, end).lastIndexOf(", "), names[0].slice(0, end).lastIndexOf(": ")));
};

const say = (found, panels) => {
  const numbers = isCompared ? countsOf(found, baseline) : "";
  const best = overBest && found.length ? `; against the best of all algorithms: ${countsOf(found, overBest)}` : "";
  const fixed = axes.filter((axis) => oneOf(axis.name)).map((axis) => `${axis.name} ${shownValue(axis.values[choice[axis.name]])}`);
  const of = fixed.length ? ` with ${fixed.join(", ")}` : "";
  document.getElementById("chosen").textContent = `Shown: ${counted(found.length, "combination")}${of}${numbers ? `: ${numbers}` : ""}${best}.`;
  const left = panels.length - (isSingle(panels) ? mostRanked() : mostPanels());
  const more = left > 0 ? ` ${left} more ${isSingle(panels) ? "bars" : "maps"}: choose a program or fabric.` : "";
  const placed = isSingle(panels) ? "" : layout.across === layout.down ? ` by ${layout.across}` : ` by ${layout.across} (left to right) and ${layout.down} (top to bottom)`;
  const legend = isCompared
    ? `How many times as fast as ${reference.name}: ${metricName()}${placed}. Above 1 (blue) it is faster, below 1 (orange) slower.`
    : `Mean of ${metricName()}${placed}.`;
  const unsure = isCompared && found.some((row) => isUnsure(row)) ? ` “?”: ${UNSURE}, the interval contains 1.` : "";
  const shorts = [...new Set(found.filter((row) => !isMeasured(row)).map((row) => SHORT[whyNot(row)] ?? "no calls"))];
  const grey = shorts.length ? ` Grey: ${shorts.map((short) => `“${short}” ${SAID[short]}`).join("; ")}.` : "";
  document.getElementById("map-about").textContent = legend + unsure + grey + more;
};
const countsOf = (found, of) =>
  data.outcomes
    .map((name, k) => [found.filter((row) => of.rows.outcome[row] === k).length, name])
    .filter(([number]) => number)
    .map(([number, name]) => `${number.toLocaleString("en-US")} ${NAMED[name] ?? name}`)
    .join(", ");
const NAMED = { same: "the same within 0.5 %", failed: "failed or refused", missing: "not run yet", "no collectives": "without collectives" };
