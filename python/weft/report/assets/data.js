// SPDX-License-Identifier: LGPL-2.1-only
// Data of the page in columns: `rows` has an entry per combination, `calls` one per collective of a run.

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const data = read("data");
const specs = read("specs");
const { axes, rows, calls, words } = data;
// Pseudo-values of an axis: all values together, or each with its own map.
const ALL = -1;
const EACH = -2;
const OFF = "off";

const axisNumber = (name) => axes.findIndex((axis) => axis.name === name);
const axisNamed = (name) => axes[axisNumber(name)];
const keyOf = (row, name) => {
  const number = axisNumber(name);
  return number < 0 ? 0 : rows.keys[number][row];
};
const valueOf = (row, name) => {
  const axis = axisNamed(name);
  return axis ? axis.values[keyOf(row, name)] : "";
};
const shownValue = (value) => value || "(none)";
const trains = (row) => rows.trains[row] === 1;
const modeOf = (row) => (trains(row) ? "" : axisNumber("offload") < 0 ? data.offload : valueOf(row, "offload"));
const stateOf = (row) => data.states[rows.state[row]];
const outcomeOf = (row) => (rows.outcome[row] < 0 ? "" : data.outcomes[rows.outcome[row]]);
const word = (number) => (number < 0 ? "" : words[number]);
const isReference = (row) => reference !== null && valueOf(row, reference.axis) === reference.value;
// Runs with the hosts' fastest algorithms serve as a baseline only and cannot be chosen.
const bestRows = new Set(data.best);
const sideOf = (row) => (isHosts ? modeOf(row) : valueOf(row, reference.axis));
const everyRow = Array.from({ length: data.n }, (_, row) => row);
const panelValues = (axis) => axis.values.filter((value) => axis.name !== reference?.axis || value !== reference.value);
const oneOf = (name) => choice[name] !== ALL && choice[name] !== EACH;

// Baseline: all runs are compared with those that have the reference's value of its axis.
let baseline, reference, isHosts, isCompared, apart, overBest;
// Chosen values by axis; positions of axes on the maps, and the compared time.
const choice = {};
const layout = { metric: "time" };
// Maximum number of maps for axes with a map per value.
const MOST_PANELS = 12;
const mostPanels = () => (innerWidth > 640 || print.on ? MOST_PANELS : 3);
const compareWith = (number) => {
  baseline = data.baselines[number];
  reference = baseline.reference;
  overBest = baseline.overBest === null ? null : data.baselines[baseline.overBest];
  isHosts = reference === null || reference.hosts;
  Object.assign(rows, baseline.rows);
  isCompared = rows.reference.some((other) => other >= 0);
  apart = [...new Set(["program", "fabric", "offload", ...(reference ? [reference.axis] : [])])];
  for (const axis of axes) choice[axis.name] = baseline.defaults[axis.name] ?? ALL;
  let panels = apart.reduce((product, name) => product * Math.max(1, axisNamed(name) ? panelValues(axisNamed(name)).length : 1), 1);
  for (const name of baseline.further)
    if (panels * axisNamed(name).values.length <= MOST_PANELS) {
      panels *= axisNamed(name).values.length;
      choice[name] = EACH;
    }
  Object.assign(layout, { across: baseline.across, down: baseline.down });
  for (const part of document.querySelectorAll("[data-baseline]")) part.hidden = part.dataset.baseline !== String(number);
  document.getElementById("h-answer").textContent = baseline.question;
};
compareWith(0);

// Rows with the chosen values, ignoring the axes in `but`.
const chosenRows = (but = []) => {
  const wanted = axes
    .map((axis, number) => [number, choice[axis.name], axis.name])
    .filter(([, , name]) => oneOf(name) && !but.includes(name));
  return everyRow.filter((row) => wanted.every(([number, value]) => rows.keys[number][row] === value));
};

// The same rows, and the host runs that they are compared with.
const chosenAndHosts = (but = []) => {
  const found = new Set(chosenRows(but));
  for (const row of [...found]) {
    if (rows.reference[row] >= 0) found.add(rows.reference[row]);
    if (bestOf(row) >= 0) found.add(bestOf(row));
  }
  return [...found].sort((a, b) => a - b);
};

const callsByRun = new Map();
calls.id.forEach((id, call) => {
  if (!callsByRun.has(id)) callsByRun.set(id, []);
  callsByRun.get(id).push(call);
});
const callsOf = (row) => callsByRun.get(rows.id[row]) ?? [];
const collectivesByTime = () => {
  const spent = new Map();
  calls.id.forEach((_, call) => {
    const name = word(calls.collective[call]);
    const offloaded = !word(calls.way[call]).startsWith("hosts:");
    // Offloaded collectives come first, as they are the subject of the page.
    spent.set(name, (spent.get(name) ?? 0) + calls.mean[call] * calls.calls[call] * (offloaded ? 1e6 : 1));
  });
  return [...spent.keys()].sort((a, b) => spent.get(b) - spent.get(a));
};

// Compared time of a run in seconds; null if it has none.
const timeOf = (row, metric = layout.metric) => {
  if (stateOf(row) !== "done") return null;
  if (metric === "time" || metric === "collectives") return rows[metric][row];
  const found = callsOf(row).filter((call) => `call:${word(calls.collective[call])}` === metric);
  const number = found.reduce((sum, call) => sum + calls.calls[call], 0);
  return number ? found.reduce((sum, call) => sum + calls.mean[call] * calls.calls[call], 0) / number : null;
};
// The corresponding run with the hosts' fastest algorithms; -1 if there is none.
const bestOf = (row) => overBest?.rows.reference[row] ?? -1;
const speedUpOver = (other, row, metric = layout.metric) => {
  const hosts = other < 0 ? null : timeOf(other, metric);
  const own = timeOf(row, metric);
  return hosts && own ? hosts / own : null;
};
const speedUp = (row, metric = layout.metric) => speedUpOver(rows.reference[row], row, metric);
// Interval of a gain; known only for the time of the whole program.
const intervalOf = (row, of = baseline, metric = layout.metric) => (metric === "time" && of.rows.interval[row]) || null;

const grouped = (items, keyOfItem) => {
  const groups = new Map();
  for (const item of items) {
    const key = keyOfItem(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
};
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
