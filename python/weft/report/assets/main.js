// SPDX-License-Identifier: LGPL-2.1-only
// Draws the page, and redraws parts that change.

const drawCharts = () => Promise.all([drawMap(), drawRanking(), ...ofPrograms(), ...ofTraining(), drawLosses(drawLossesAgain)]);
const ofPrograms = () => (training?.only ? [] : [drawLatency(drawLatencyAgain), drawShares(), drawUse(drawUseAgain)]);
const ofTraining = () => (training ? [drawParts(), drawRates(drawRatesAgain), drawTimeline(drawTimelineAgain)] : []);
const drawRatesAgain = () => drawRates(drawRatesAgain);
const drawTimelineAgain = () => drawTimeline(drawTimelineAgain);
const drawLatencyAgain = () => drawLatency(drawLatencyAgain);
const drawUseAgain = () => drawUse(drawUseAgain);
const drawLossesAgain = () => drawLosses(drawLossesAgain);
const drawAll = () => {
  bar(drawAll);
  if (runs.chosen) drawTable();
  return drawCharts();
};
const paintPage = () => {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  drawCharts();
};

document.documentElement.dataset.theme = isDark() ? "dark" : "light";
document.documentElement.classList.add("ready");
document.getElementById("theme").addEventListener("change", paintPage);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paintPage);
// Printed pages use the light theme and the width of the paper.
addEventListener("beforeprint", () => {
  print.on = true;
  paintPage();
});
addEventListener("afterprint", () => {
  print.on = false;
  paintPage();
});
let width = innerWidth;
let waiting = 0;
addEventListener("resize", () => {
  if (innerWidth === width || print.on) return;
  width = innerWidth;
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    drawTable();
    drawCharts();
  }, 150);
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape") tip.hidden = true;
});
addEventListener("scroll", () => (tip.hidden = true), { passive: true });

tableControls();
drawTable();
drawAll().then(() => {
  performance.mark("drawn");
  document.documentElement.classList.add("drawn");
});
