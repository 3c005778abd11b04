// SPDX-License-Identifier: LGPL-2.1-only
// Chart of the time that faults cost, by the rate of failures. Its rows come with quantiles over seeds.

const inLostTime = (seconds) => (seconds < 0 ? `-${inTime(-seconds)}` : seconds ? inTime(seconds) : "0");

const drawLosses = (changed) => {
  const losses = data.losses;
  if (!losses) return Promise.resolve();
  const kinds = [...new Set(losses.rows.map((one) => one.of))];
  form("losses-bar", own("losses", losses.others, kinds.map((name) => [name, name]), changed));
  const found = losses.rows.filter((one) => one.of === local.losses && one.runs);
  const about = document.getElementById("losses-about");
  if (!found.length) {
    about.textContent = "";
    return instead("losses", "No run with these values has come to an end.");
  }
  const values = found.map((one) => {
    const [smallest, low, median, high, largest] = one.lost;
    const x = losses.across ? `${losses.across} ${one.x}\n` : "";
    const spread = one.runs > 1 ? `\n5 to 95 %: ${inLostTime(low)} to ${inLostTime(high)}\nleast to most: ${inLostTime(smallest)} to ${inLostTime(largest)}` : "";
    return { x: one.x, xi: one.xi, way: one.way, value: median, low, high,
      tip: `${one.way}: ${inLostTime(median)} lost, the median of ${counted(one.runs, "run")}\n${x.trimEnd()}${spread}` };
  });
  const spec = copyOf("losses");
  const names = losses.ways.filter((way) => values.some((one) => one.way === way));
  colours(spec, names);
  marks(spec, names);
  for (const one of channels(spec, "xOffset")) one.scale = { domain: names };
  for (const one of channels(spec, "x")) one.axis = { labelAngle: 0, title: losses.across || null, labelOverlap: true };
  spec.width = Math.max(200, widthOf("losses") - 80);
  spec.height = 240;
  const several = values.some((one) => one.low < one.high) ? " Points are medians over seeds, and lines reach from 5 to 95 per cent of the runs." : "";
  about.textContent = `${losses.meaning}${losses.across ? `, by ${losses.across}` : ""}${kinds.length > 1 ? `, of ${local.losses}` : ""}.${several}`;
  return draw("losses", namesOf(names.map((name, number) => ({ name, number, mark: "point" }))), spec, values, about.textContent);
};
