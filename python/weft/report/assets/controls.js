// SPDX-License-Identifier: LGPL-2.1-only
// Selectors, which update the choice and invoke a callback.

const select = (label, options, chosen, changed) => {
  const long = Math.max(...options.map(([, text]) => String(text).length)) > 16;
  const box = element("label", label, long ? { class: "long" } : {});
  const list = element("select", "", { "aria-label": label });
  for (const [value, text] of options) list.append(element("option", text, { value }));
  list.value = String(chosen);
  list.addEventListener("change", () => changed(list.value));
  box.append(list);
  return box;
};
const form = (id, parts) => {
  const bar = document.getElementById(id);
  const focused = bar.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  bar.onsubmit = (event) => event.preventDefault();
  bar.replaceChildren(...parts);
  bar.hidden = !parts.length;
  if (focused) [...bar.querySelectorAll("select, input")].find((one) => one.getAttribute("aria-label") === focused)?.focus();
};

const differing = () => axes.filter((axis) => axis.values.length > 1 && !data.fixed.includes(axis.name));
const labelled = (axis, but = []) =>
  axis.values.map((value, k) => [k, shownValue(value)]).filter(([k]) => !but.includes(axis.values[k]));

// Controls of the whole page.
const axisControl = (axis, changed) => {
  const all = apart.includes(axis.name) ? [[ALL, "all"]] : [[EACH, "each, a map of its own"], [ALL, isCompared ? "geometric mean" : "mean"]];
  return select(axis.name, [...all, ...labelled(axis, axis.name === reference?.axis && isCompared ? [reference.value] : [])], choice[axis.name], (value) => {
    choice[axis.name] = Number(value);
    changed();
  });
};
const mapAxis = (label, name, changed) => {
  const free = differing().filter((axis) => !data.repeats.includes(axis.name) && axis.name !== "offload" && axis.name !== reference?.axis);
  const other = name === "across" ? "down" : "across";
  const options = free.map((axis) => [axis.name, axis.name]);
  if (!options.some(([value]) => value === layout[name])) options.unshift([layout[name], layout[name]]);
  return select(label, options, layout[name], (value) => {
    const before = layout[name];
    if (layout[other] === value) layout[other] = before;
    layout[name] = value;
    // Axes on the map show all of their values; an axis that leaves it shows one.
    for (const placed of [layout.across, layout.down]) choice[placed] = ALL;
    const kept = ["program", "fabric"].includes(before) || [layout.across, layout.down].includes(before);
    if (!kept && axisNamed(before)) choice[before] = baseline.defaults[before] ?? 0;
    changed();
  });
};
const baselineControl = (changed) => {
  const options = data.baselines.map((one, number) => [number, one.reference?.name]);
  if (options.length < 2) return [];
  return [
    select("baseline", options, data.baselines.indexOf(baseline), (value) => {
      compareWith(Number(value));
      drawTable();
      changed();
    }),
  ];
};
const bar = (changed) => {
  const placed = [layout.across, layout.down];
  const free = differing().filter((axis) => !placed.includes(axis.name) && !data.repeats.includes(axis.name));
  const parts = free.filter((axis) => !isCompared || panelValues(axis).length > 1);
  const metrics = [["time", `time of ${metricName("time")}`], ...(data.training?.only ? [] : [["collectives", "time in collectives"]])];
  for (const name of collectivesByTime()) metrics.push([`call:${name}`, `mean time of one call of ${name}`]);
  form("bar", [
    ...baselineControl(changed),
    ...parts.map((axis) => axisControl(axis, changed)),
    ...(metrics.length < 2 ? [] : [select(isCompared ? "compared" : "shown", metrics, layout.metric, (value) => {
      layout.metric = value;
      changed();
    })]),
    ...(differing().length > 1 ? [mapAxis("left to right", "across", changed), mapAxis("top to bottom", "down", changed)] : []),
  ]);
};

// Selector of a single section, with one chosen value among those of the rows.
const local = {};
const own = (name, label, options, changed, fallback = options[0]?.[0]) => {
  if (!options.some(([value]) => String(value) === String(local[name]))) local[name] = fallback;
  if (options.length < 2) return [];
  return [
    select(label, options, local[name], (value) => {
      local[name] = value;
      changed();
    }),
  ];
};
const valuesIn = (found, name) => {
  const axis = axisNamed(name);
  if (!axis) return [[0, ""]];
  const there = new Set(found.map((row) => keyOf(row, name)));
  return axis.values.map((value, k) => [k, shownValue(value)]).filter(([k]) => there.has(k));
};
