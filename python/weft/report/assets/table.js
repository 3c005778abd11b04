// SPDX-License-Identifier: LGPL-2.1-only
// Searchable and sortable table of all runs, with the command that reproduces each.

// On a phone each run is a separate block.
const PAGE = () => (innerWidth > 640 ? 50 : 5);
const runs = { words: "", chosen: false, sort: "", falling: false, page: 0, open: new Set() };

// Axes and states that are alike in all rows are in the caption, not in columns.
const isTelling = (axis) => axis.values.length > 1;
const columns = () => [
  { name: "state", only: new Set(rows.state).size > 1, cell: (row) => stateOf(row), order: (row) => rows.state[row] },
  ...axes.filter(isTelling).map((axis) => ({ name: axis.name, cell: (row) => valueOf(row, axis.name), order: (row) => keyOf(row, axis.name) })),
  { name: "simulated time", number: true, cell: (row) => inTime(rows.time[row]), order: (row) => rows.time[row] },
  gainColumn(`times as fast as ${reference?.said || reference?.value}`, isCompared, (row) => rows.reference[row], baseline),
  gainColumn(`times as fast as ${overBest?.reference.said}`, overBest !== null, bestOf, overBest),
  { name: "MFU", number: true, only: Boolean(data.training), order: (row) => rows.mfu[row], cell: (row) => inPercent(rows.mfu[row]) },
  ...["computation", "exposed", "waiting"].map((name) => ({ name, number: true, only: Boolean(data.training), order: (row) => rows[name][row], cell: (row) => inTime(rows[name][row]) })),
  { name: "in collectives", number: true, only: !data.training?.only, order: (row) => partOf(row), cell: (row) => inPercent(partOf(row)) },
  { name: "offloaded", number: true, only: !data.training?.only, order: (row) => rows.offloaded[row],
    cell: (row) => (rows.calls[row] === null || trains(row) ? "" : `${rows.offloaded[row]} of ${rows.calls[row]}`) },
  { name: "busiest link", number: true, only: !data.training?.only, order: (row) => rows.busiest[row],
    cell: (row) => inPercent(rows.busiest[row]) },
].filter((column) => column.only !== false);
const gainColumn = (name, only, otherOf, of) => {
  const gain = (row) => speedUpOver(otherOf(row), row, "time");
  const shown = (row) => [inTimes(gain(row)), ...(intervalOf(row, of, "time") ? [`(${inInterval(intervalOf(row, of, "time"))})`] : [])].join(" ");
  return { name, number: true, only, order: gain, cell: (row) => (gain(row) === null ? "" : shown(row)) };
};
const partOf = (row) => (rows.time[row] && rows.collectives[row] !== null ? rows.collectives[row] / rows.time[row] : null);

let texts = null;
const textOf = (row) => {
  texts ??= everyRow.map((one) =>
    [stateOf(one), outcomeOf(one), ...axes.map((axis) => valueOf(one, axis.name)), rows.run[one], word(rows.message[one])].join("\n").toLowerCase());
  return texts[row];
};

const listedRows = () => {
  const wanted = runs.words.toLowerCase().split(/\s+/).filter((one) => one);
  const from = runs.chosen ? chosenAndHosts([layout.across, layout.down]) : everyRow;
  const found = from.filter((row) => wanted.every((one) => textOf(row).includes(one)));
  const column = columns().find((one) => one.name === runs.sort);
  if (!column) return found;
  const order = new Map(found.map((row) => [row, column.order(row)]));
  const sign = runs.falling ? -1 : 1;
  return found.sort((a, b) => {
    const [x, y] = [order.get(a), order.get(b)];
    if (x === null || y === null) return (x === null) - (y === null) || a - b;
    return sign * (x < y ? -1 : x > y ? 1 : 0) || a - b;
  });
};

const headOf = () => {
  const top = element("tr");
  for (const column of columns()) {
    const sorted = runs.sort === column.name ? (runs.falling ? "descending" : "ascending") : "none";
    const head = element("th", "", { scope: "col", "aria-sort": sorted });
    const arrow = { none: "", ascending: " ▲", descending: " ▼" }[sorted];
    const button = element("button", column.name + arrow, { type: "button", "data-column": column.name });
    button.addEventListener("click", () => {
      runs.falling = runs.sort === column.name && !runs.falling;
      runs.sort = column.name;
      runs.page = 0;
      drawTable();
      document.querySelector(`#runs [data-column="${CSS.escape(column.name)}"]`)?.focus();
    });
    head.append(button);
    top.append(head);
  }
  top.append(element("th", "how", { scope: "col" }));
  const head = element("thead");
  head.append(top);
  return head;
};

const commandOf = (row) => `${word(rows.head[row])} ${word(rows.tail[row])}`.trim();

const rowOf = (row) => {
  const line = element("tr");
  for (const column of columns()) {
    const text = column.cell(row);
    const kind = column.number ? "number" : text.length > LONG_NAME ? "long" : "";
    line.append(element("td", text, { "data-head": column.name, ...(kind ? { class: kind } : {}) }));
  }
  const button = element("button", runs.open.has(row) ? "hide" : "show", {
    type: "button", "aria-expanded": String(runs.open.has(row)), "aria-label": `How run ${rows.run[row]} was made`, "data-row": row,
  });
  button.addEventListener("click", () => {
    runs.open.has(row) ? runs.open.delete(row) : runs.open.add(row);
    drawTable();
    document.querySelector(`#runs [data-row="${row}"]`)?.focus();
  });
  const cell = element("td");
  cell.append(button);
  line.append(cell);
  return line;
};
const moreOf = (row) => {
  const line = element("tr", "", { class: "more" });
  const cell = element("td", "", { colspan: columns().length + 1 });
  cell.append(element("pre", commandOf(row)));
  const link = word(rows.link[row]);
  cell.append(element("p", `Run ${rows.run[row]}${link ? `; its busiest link is ${link}` : ""}.`));
  if (word(rows.message[row])) cell.append(element("p", `${stateOf(row)}: ${word(rows.message[row])}`));
  if (outcomeOf(row) === "fell back") cell.append(element("p", ended(`Every call fell back: ${reasonOf(row)}`)));
  const other = rows.reference[row];
  if (bestOf(row) >= 0) cell.append(element("p", `Compared with run ${rows.run[bestOf(row)]} as well: the best of all algorithms.`));
  if (other >= 0) cell.append(element("p", ended(`Compared with run ${rows.run[other]}: ${inWords(other)}`)));
  line.append(cell);
  return line;
};

const pages = (number) => {
  const last = Math.max(0, Math.ceil(number / PAGE()) - 1);
  runs.page = Math.min(runs.page, last);
  const step = (label, page, disabled) => {
    const button = element("button", label, { type: "button" });
    button.disabled = disabled;
    button.addEventListener("click", () => {
      runs.page = page;
      drawTable();
    });
    return button;
  };
  const parts = [
    step("first", 0, runs.page === 0), step("back", runs.page - 1, runs.page === 0),
    element("span", `page ${runs.page + 1} of ${last + 1}`),
    step("on", runs.page + 1, runs.page === last), step("last", last, runs.page === last),
  ];
  document.getElementById("runs-pages").replaceChildren(...(last ? parts : []));
};

const alike = () => {
  const same = axes.filter((axis) => !isTelling(axis) && axis.values[0]).map((axis) => `${axis.name} ${axis.values[0]}`);
  return same.length ? ` All with ${same.join(", ")}.` : "";
};

const drawTable = () => {
  const found = listedRows();
  pages(found.length);
  const shown = found.slice(runs.page * PAGE(), (runs.page + 1) * PAGE());
  const table = element("table");
  const body = element("tbody");
  for (const row of shown) {
    body.append(rowOf(row));
    if (runs.open.has(row)) body.append(moreOf(row));
  }
  table.append(headOf(), body);
  document.getElementById("runs").replaceChildren(table);
  const of = found.length < data.n ? ` of ${data.n.toLocaleString("en-US")}` : "";
  const part = found.length > PAGE() ? `; rows ${runs.page * PAGE() + 1} to ${runs.page * PAGE() + shown.length} are listed` : "";
  document.getElementById("runs-about").textContent = `${counted(found.length, "combination")}${of}${part}.${alike()}`;
};

const tableControls = () => {
  const box = element("label", "search (words of any column, or of a message)");
  const input = element("input", "", { type: "search", size: 34, "aria-label": "Search the runs" });
  input.addEventListener("input", () => {
    Object.assign(runs, { words: input.value, page: 0 });
    drawTable();
  });
  box.append(input);
  const only = select("of", [["all", "all runs"], ["chosen", "what is chosen above"]], "all", (value) => {
    Object.assign(runs, { chosen: value === "chosen", page: 0 });
    drawTable();
  });
  form("runs-bar", [box, only]);
};
