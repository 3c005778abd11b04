// SPDX-License-Identifier: LGPL-2.1-only
// Charts of iterations of training: parts of the time, rates, and timelines.

const training = data.training;
const doneIterations = () => chosenAndHosts([layout.across, layout.down]).filter((row) => trains(row) && stateOf(row) === "done");
const iterationName = (row) => inWords(row) || valueOf(row, "program");

const drawParts = () => {
  const found = doneIterations().filter((row) => training.times[row]);
  const about = document.getElementById("parts-about");
  if (!found.length) {
    about.textContent = "";
    tabulate("parts", [], []);
    return instead("parts", "No iteration with these values has come to an end.");
  }
  const shown = found.slice(0, MOST_BARS());
  const names = training.parts.filter((_, pi) => shown.some((row) => training.times[row][pi] > 0));
  const values = shown.flatMap((row, wi) =>
    names.map((part, pi) => {
      const value = training.times[row][training.parts.indexOf(part)];
      return { who: iterationName(row), wi, part, pi, value,
        tip: `${iterationName(row)}\n${part}: ${inTime(value)}, ${inPercent(value / rows.time[row])} of ${inTime(rows.time[row])}` };
    }),
  );
  const spec = copyOf("parts");
  colours(spec, names);
  const more = found.length > MOST_BARS() ? ` ${found.length - MOST_BARS()} more: choose values above.` : "";
  about.textContent = `Mean time of the ranks by what they do: they compute, or else communicate (exposed, by kind of group), or else wait for other ranks (the bubbles of a pipeline), or else have nothing to do.${more}`;
  tabulate("parts", ["iteration", ...names, "total"], shown.map((row) => [iterationName(row), ...names.map((part) => inTime(training.times[row][training.parts.indexOf(part)])), inTime(rows.time[row])]));
  fitBars(spec, values, widthOf("parts"));
  return draw("parts", namesOf(names.map((name, number) => ({ name, number, mark: "bar" }))), spec, values, about.textContent);
};

const RATES = [
  ["mfu", "MFU", "Model FLOPs utilisation: fraction of the GPUs' peak rate that the model uses", inPercent, "%"],
  ["tokens", "tokens per second and GPU", "Tokens per second and GPU", digits, "~s"],
  ["exposed", "exposed communication", "Fraction of the time in communication that no computation hides", inPercent, "%"],
  ["waiting", "waiting", "Fraction of the time in which ranks wait for other ranks", inPercent, "%"],
];
const rateOf = (row, name) => (name === "exposed" || name === "waiting" ? rows[name][row] / rows.time[row] : rows[name][row]);

const drawRates = (changed) => {
  const what = own("rates", "shown", RATES.map(([name, said]) => [name, said]), changed);
  const [parts, some] = narrowed("rates", doneIterations(), ["program", "fabric", ...openAxes()].filter((name) => ![layout.across, reference?.axis].includes(name)), changed);
  const [name, said, meaning, shown, format] = RATES.find(([one]) => one === local.rates);
  const found = some.filter((row) => rows[name][row] !== null);
  form("rates-bar", [...what, ...parts]);
  const about = document.getElementById("rates-about");
  if (!found.length) {
    about.textContent = "";
    tabulate("rates", [], []);
    return instead("rates", "No iteration with these values has come to an end.");
  }
  const values = [...grouped(found, (row) => `${lineName(row)}\n${keyOf(row, layout.across)}`).values()].map((group) => {
    const rates = group.map((row) => rateOf(row, name));
    const [row] = group;
    const spread = group.length > 1 ? `\nmean of ${counted(group.length, "run")}, ${shown(least(rates))} to ${shown(most(rates))}` : "";
    return { x: shownValue(valueOf(row, layout.across)), xi: keyOf(row, layout.across), way: lineName(row), value: mean(rates), low: least(rates), high: most(rates),
      tip: `${lineName(row)}: ${shown(mean(rates))}\n${layout.across} ${shownValue(valueOf(row, layout.across))}${spread}` };
  });
  const bars = new Set(values.map((one) => one.xi)).size === 1;
  const spec = copyOf(bars ? "use_bars" : "use");
  const names = [...new Set(values.map((one) => one.way))];
  colours(spec, names);
  marks(spec, names);
  tabulate("rates", ["iterations", layout.across, said], values.map((one) => [one.way, one.x, shown(one.value)]));
  if (bars) {
    for (const one of values) Object.assign(one, { who: one.way, wi: names.indexOf(one.way) });
    fitBars(spec, values, widthOf("rates"));
    for (const one of channels(spec, "x")) one.axis = { format, title: said, tickCount: 5 };
  } else {
    for (const one of channels(spec, "x")) one.axis = { labelAngle: 0, title: layout.across, labelOverlap: true };
    for (const one of channels(spec, "y")) one.axis = { format, title: said };
    spec.width = Math.max(200, widthOf("rates") - 76);
    spec.height = 220;
  }
  const band = values.some((one) => one.low < one.high) ? ` ${bars ? "Thin lines" : "Bands"} are from the least to the most of several runs.` : "";
  about.textContent = `${meaning}, ${bars ? `${layout.across} ${values[0].x}` : `by ${layout.across}`}.${band}`;
  const legend = bars ? [] : namesOf(names.map((name, number) => ({ name, number, mark: "line" })));
  return draw("rates", legend, spec, values, about.textContent);
};

// Equal neighbours among the columns of a rank, as [letter, first, end].
const stretchesOf = (columns) => {
  const found = [];
  [...columns].forEach((letter, at) => {
    if (found.length && found.at(-1)[0] === letter) found.at(-1)[2] = at + 1;
    else found.push([letter, at, at + 1]);
  });
  return found;
};

const drawTimeline = (changed) => {
  const found = Object.keys(training.pictures).map(Number);
  form("timeline-bar", own("timeline", "iteration", found.map((row) => [row, iterationName(row)]), changed));
  const about = document.getElementById("timeline-about");
  if (!found.length) {
    about.textContent = "";
    return instead("timeline", "No iteration has a picture: their programs are too long, or none has come to an end.");
  }
  const row = Number(local.timeline);
  const { names, ranks } = training.pictures[row];
  const width = rows.time[row] / ranks[0][1].length;
  const values = ranks.flatMap(([rank, columns], ri) =>
    stretchesOf(columns).map(([letter, first, end]) => {
      const use = names[letter.charCodeAt(0) - "a".charCodeAt(0)];
      return { rank: `rank ${rank}`, ri, use, begin: first * width, end: end * width, tip: `rank ${rank}, ${use}\n${inTime(first * width)} to ${inTime(end * width)}` };
    }),
  );
  const spec = copyOf("timeline");
  // Colours are those of the parts.
  const known = training.parts.concat(names.filter((name) => !training.parts.includes(name)));
  const used = names.map((name) => known.indexOf(name));
  colours(spec, names, used);
  spec.width = Math.max(160, widthOf("timeline") - 80);
  spec.height = { step: 22 };
  about.textContent = `The first rank of each pipeline stage (of at most 16), in ${ranks[0][1].length} columns of ${inTime(width)}. A column shows one use of its time; uses shorter than a column have as many columns as their share.`;
  return draw("timeline", namesOf(names.map((name, at) => ({ name, number: used[at], mark: "bar" }))), spec, values, about.textContent);
};
