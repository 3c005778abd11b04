// SPDX-License-Identifier: LGPL-2.1-only
// Human-readable numbers with units.

const digits = (value) => {
  if (value === 0) return "0";
  if (Math.abs(value) >= 999.5) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
};
const inTime = (seconds) => {
  if (seconds === null || seconds === undefined) return "";
  if (seconds === 0) return "0 s";
  for (const [factor, unit] of [[1e9, "ns"], [1e6, "µs"], [1e3, "ms"]])
    if (seconds * factor < 999.5) return `${digits(seconds * factor)} ${unit}`;
  return `${digits(seconds)} s`;
};
const inBytes = (bytes) => {
  let value = bytes;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (value < 1024) return `${digits(value)} ${unit}`;
    value /= 1024;
  }
  return `${digits(value)} TiB`;
};
const inTimes = (ratio) => `${ratio >= 99.95 ? digits(ratio) : ratio.toPrecision(3)}×`;
const inInterval = (ends) => ends.map((end) => inTimes(end).slice(0, -1)).join(" to ");
const inPercent = (part) => (part === null || part === undefined ? "" : `${digits(part * 100)} %`);
const counted = (number, noun) => `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
// Appends a full stop unless the sentence already ends with punctuation.
const ended = (said) => (/[.!?…:]$/.test(said) ? said : `${said}.`);
// Wraps a name at a maximum line length, between words if possible.
const wrapped = (name, most) => {
  const lines = [""];
  for (const word of name.split(/(?<=[ ,:/])/)) {
    if ((lines.at(-1) + word.trimEnd()).length > most && lines.at(-1)) lines.push("");
    lines[lines.length - 1] += word;
    while (lines.at(-1).trimEnd().length > most) lines.push(lines.splice(-1, 1, lines.at(-1).slice(0, most))[0].slice(most));
  }
  return lines.map((line) => line.trim()).filter((line) => line).join("\n");
};
const byName = (a, b) => a.localeCompare(b, "en", { numeric: true });
// Letters for long names of fabrics and programs, so that the names of bars stay short; the key is below the chart.
const LONG_NAME = 16;
const letters = new Map();
for (const axis of axes.filter(({ name, values }) => ["program", "fabric"].includes(name) && values.length > 1))
  for (const value of axis.values) if (value.length > LONG_NAME) letters.set(value, String.fromCharCode(65 + (letters.size % 26)) + (letters.size > 25 ? Math.floor(letters.size / 26) : ""));
const shortName = (value) => letters.get(value) ?? value;
const keyOfNames = (found) => {
  const used = [...new Set(found.flatMap((row) => ["fabric", "program"].map((name) => valueOf(row, name))))].filter((name) => letters.has(name));
  return used.length ? [element("p", `Key: ${used.map((name) => `${letters.get(name)} is ${name}`).join(", ")}.`, { class: "quiet" })] : [];
};
const listed = (parts) => parts.filter((part) => part).join(", ");

// A combination in words: all keys that vary in the campaign, except those in `but`.
const inWords = (row, but = []) =>
  listed(
    axes
      .filter((axis) => axis.values.length > 1 && !but.includes(axis.name) && !(data.training?.only && axis.name === "ranks") && valueOf(row, axis.name))
      .map((axis) => `${axis.name} ${valueOf(row, axis.name)}`),
  );
const metricName = (metric = layout.metric) => {
  if (metric === "time") return data.training?.only ? "an iteration" : "the whole program";
  if (metric === "collectives") return "time in collectives";
  return `one call of ${metric.slice("call:".length)}`;
};
const modeName = (mode) => (mode === OFF ? `hosts alone (${data.library || OFF})` : mode);
const reasonOf = (row) => {
  const reason = word(rows.reason[row]);
  return data.reasons[reason] ?? reason;
};
