// SPDX-License-Identifier: LGPL-2.1-only
// Draws charts and tooltips in the current theme; campaign data is never parsed as HTML.

const THEMES = {
  light: {
    ink: "#1b1f24", quiet: "#57606a", line: "#d8dee4", ground: "#ffffff",
    diverging: ["#8f3b00", "#e08b45", "#f1f1ef", "#5a9bd4", "#084c8d"],
    rising: ["#f1f1ef", "#084c8d"], strong: "#ffffff", weak: "#1b1f24",
    // Colour-blind-safe palette of Okabe and Ito, as in weft's other figures.
    names: ["#0072b2", "#d55e00", "#009e73", "#b8568f", "#b57a00", "#3d8fbf", "#555555"],
  },
  dark: {
    ink: "#e6edf3", quiet: "#9da7b1", line: "#2d3540", ground: "#0f1318",
    diverging: ["#ffb46b", "#a8622a", "#2b323b", "#2f6fae", "#8cc8ff"],
    rising: ["#2b323b", "#8cc8ff"], strong: "#0b0e12", weak: "#e6edf3",
    names: ["#56b4e9", "#e69f00", "#2fbf97", "#e29ac6", "#f0e442", "#8fb8ff", "#bbbbbb"],
  },
};
// Marks as paths between -1 and 1, shared by charts and legends.
const SHAPES = [
  "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z", "M-0.9,-0.9H0.9V0.9H-0.9Z", "M0,-1L1,0.8H-1Z", "M0,-1.2L1,0L0,1.2L-1,0Z",
  "M-1,-0.4H-0.4V-1H0.4V-0.4H1V0.4H0.4V1H-0.4V0.4H-1Z", "M0,1L-1,-0.8H1Z", "M1,0L-0.8,1V-1Z", "M-1,0L0.8,-1V1Z",
  "M-1,-1L0,-0.4L1,-1V0.4L0,1L-1,0.4Z", "M-1,-0.5H1V0.5H-1Z",
];
const DASHES = [[1, 0], [7, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 2], [1, 3]];
const print = { on: false };

const isDark = () => {
  if (print.on) return false;
  const asked = document.getElementById("theme").value;
  return asked === "dark" || (asked === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
};
const theme = () => THEMES[isDark() ? "dark" : "light"];

const config = () => {
  const { ink, quiet, line, names } = theme();
  const font = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', Arial, sans-serif";
  return {
    background: "transparent", font, view: { stroke: line },
    axis: { labelColor: quiet, titleColor: quiet, gridColor: line, domainColor: line, tickColor: line,
      labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 260 },
    legend: { labelColor: ink, titleColor: ink, labelFontSize: 12, symbolSize: 110, symbolOpacity: 1 },
    range: { category: names }, text: { color: ink }, rule: { color: quiet }, mark: { aria: false },
  };
};

const tip = document.getElementById("tip");
const placeTip = (event) => {
  const box = tip.getBoundingClientRect();
  const left = event.clientX + 14 + box.width > innerWidth ? event.clientX - 14 - box.width : event.clientX + 14;
  const top = event.clientY + 14 + box.height > innerHeight ? event.clientY - 14 - box.height : event.clientY + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
};
const showTip = (_handler, event, _item, value) => {
  const said = value && typeof value === "object" ? Object.values(value).join("\n") : value;
  tip.hidden = !said;
  tip.textContent = said ?? "";
  if (said) placeTip(event);
};

// Redraw functions by chart, called when the theme or the width changes.
const views = new Map();
const turns = new Map();
// `ast` interprets chart expressions, so the page's policy need not allow eval.
const OPTIONS = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, hover: true, logLevel: 1 };
const embed = async (place, spec, values, description) => {
  const full = { ...spec, datasets: { rows: values }, config: config(), description, autosize: { type: "pad" } };
  return vegaEmbed(place, full, { ...OPTIONS, tooltip: showTip });
};
// Inserts charts into the page once all are drawn, unless a newer drawing has started.
const drawAllOf = async (id, parts, charts) => {
  const turn = (turns.get(id) ?? 0) + 1;
  turns.set(id, turn);
  const made = await Promise.all(charts.map(([place, ...rest]) => embed(place, ...rest)));
  if (turns.get(id) !== turn) return made.forEach((one) => one.finalize());
  views.get(id)?.forEach((one) => one.finalize());
  views.set(id, made);
  document.getElementById(id).replaceChildren(...parts);
};
const draw = (id, legend, ...chart) => {
  const place = element("div");
  return drawAllOf(id, [...legend, place], [[place, ...chart]]);
};
const instead = (id, said) => drawAllOf(id, [element("p", said)], []);
const widthOf = (id) => (print.on ? 660 : document.getElementById(id).clientWidth || 600);

// All encodings of a channel in a specification, including nested ones.
const channels = (spec, name) => {
  const inside = [...(spec.layer ?? []), ...(spec.spec ? [spec.spec] : [])];
  const own = spec.encoding?.[name] ? [spec.encoding[name]] : [];
  return [...own, ...inside.flatMap((one) => channels(one, name))];
};
const colours = (spec, names, chosen = names.map((_, k) => k)) => {
  const range = chosen.map((k) => theme().names[k % theme().names.length]);
  for (const one of channels(spec, "color")) one.scale = { domain: names, range };
};
const marks = (spec, names, numbers = names.map((_, k) => k)) => {
  for (const one of channels(spec, "shape")) one.scale = { domain: names, range: numbers.map((k) => SHAPES[k % SHAPES.length]) };
  for (const one of channels(spec, "strokeDash")) {
    one.scale = { domain: names, range: numbers.map((k) => DASHES[k % DASHES.length]) };
  }
};
// Legend in HTML, with room for names of any length. Each entry has a name, the index of its colour, and a `mark`
// for its appearance in the chart: `line` (with points), `point`, `open` points, or `bar`.
const keyOfMark = (number, mark, shape) => {
  const colour = theme().names[number % theme().names.length];
  const drawn = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const key = drawn("svg", { width: 36, height: 14, viewBox: "0 0 36 14", "aria-hidden": "true", "data-mark": mark });
  const hollow = { fill: "none", stroke: colour, "stroke-width": 2 };
  if (mark === "bar") key.append(drawn("rect", { x: 11, y: 1, width: 14, height: 12, fill: colour }));
  if (mark === "line") {
    const dashes = DASHES[number % DASHES.length].join(" ");
    key.append(drawn("path", { d: "M0,7H36", ...hollow, "stroke-dasharray": dashes }));
  }
  if (mark !== "bar") {
    const size = mark === "open" ? 5 : 4;
    const place = { d: SHAPES[shape % SHAPES.length], transform: `translate(18,7) scale(${size})`, "vector-effect": "non-scaling-stroke" };
    key.append(drawn("path", mark === "open" ? { ...place, ...hollow } : { ...place, fill: colour }));
  }
  return key;
};
const namesOf = (entries) => {
  const list = element("ul", "", { class: "legend names" });
  for (const { name, number, mark, shape = number } of entries) {
    const entry = element("li");
    entry.append(keyOfMark(number, mark, shape), element("span", name));
    list.append(entry);
  }
  return [list];
};
// Sizes a bar chart: names are wrapped, and bars fill the remaining width. Vega centres the first line of a label
// instead of the whole label, so all names are padded to equally many lines and shifted up by half of them.
const LINE = 14;
const fitBars = (spec, values, room) => {
  const characters = Math.max(12, Math.min(44, Math.floor((room * 0.45) / 7)));
  const names = new Map(values.map((one) => [one.who, wrapped(one.who, characters).split("\n")]));
  const lines = most([...names.values()].map((name) => name.length));
  const above = (name) => Array(Math.floor((lines - name.length) / 2)).fill(" ");
  for (const one of values) one.who = [...above(names.get(one.who)), ...names.get(one.who)].join("\n");
  spec.width = Math.max(110, room - 24 - 7 * most([...names.values()].flat().map((line) => line.length)));
  spec.height = { step: Math.max(26, 10 + (LINE + 1) * lines) };
  for (const one of channels(spec, "y")) if (one.axis) one.axis.labelOffset = (-LINE * (lines - 1)) / 2;
};
const copyOf = (name) => structuredClone(specs[name]);

// Numbers of a chart as a table, for accessibility and for exact values.
const MOST_SHOWN = 400;
const tabulate = (id, heads, lines) => {
  const details = document.getElementById(`${id}-table`);
  const fill = () => {
    if (!details.open) return;
    details.querySelector("div").replaceChildren(tableOf(heads, lines.slice(0, MOST_SHOWN)));
    details.querySelector("summary").textContent =
      lines.length > MOST_SHOWN ? `These numbers as a table: ${MOST_SHOWN} of ${lines.length}` : "These numbers as a table";
  };
  details.ontoggle = fill;
  fill();
};
const element = (tag, text = "", attributes = {}) => {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};
const tableOf = (heads, lines) => {
  const table = element("table");
  const top = element("tr");
  heads.forEach((head) => top.append(element("th", head, { scope: "col" })));
  const body = element("tbody");
  for (const line of lines) {
    const row = element("tr");
    line.forEach((cell, k) => row.append(element("td", cell, { "data-head": heads[k] })));
    body.append(row);
  }
  const head = element("thead");
  head.append(top);
  table.append(head, body);
  const scroll = element("div", "", { class: "scroll stacked" });
  scroll.append(table);
  return scroll;
};
