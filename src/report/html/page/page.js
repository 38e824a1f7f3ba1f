// SPDX-License-Identifier: Apache-2.0
// Entry point: sets up theme, charts and table, and redraws charts when the theme, the width or the
// medium changes.
const themeButton = document.getElementById("theme");
const themes = ["", "light", "dark"];

function applyTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  themeButton.textContent = { "": "Auto", light: "Light", dark: "Dark" }[name];
}

// A page opened from a file may have no storage.
function stored(value) {
  try {
    if (value !== undefined) localStorage.setItem("tench-theme", value);
    return localStorage.getItem("tench-theme") || "";
  } catch {
    return "";
  }
}

const asked = new URLSearchParams(location.hash.slice(1)).get("theme");
applyTheme(themes.includes(asked) ? asked : themes.includes(stored()) ? stored() : "");
themeButton.addEventListener("click", () => {
  const next = themes[(themes.indexOf(document.documentElement.dataset.theme || "") + 1) % themes.length];
  stored(next);
  applyTheme(next);
  redrawDrawn();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawDrawn);

startFigures();
const cellTable = new CellTable(document.getElementById("cells"));

let width = innerWidth;
let waiting;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(waiting);
  waiting = setTimeout(redrawDrawn, 150);
});
// Printing uses the light theme with all details open.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  cellTable.update(() => (cellTable.limit = Infinity), true);
  document.documentElement.dataset.theme = "light";
  drawAll();
});
addEventListener("afterprint", () => { applyTheme(stored()); redrawDrawn(); });

// The name of the current section in the bar.
const links = [...document.querySelectorAll("nav a")];
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const link = links.find((each) => each.hash === "#" + entry.target.id);
    if (!link || !entry.isIntersecting) continue;
    for (const each of links) {
      if (each === link) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
    }
  }
}, { rootMargin: "-20% 0px -70% 0px" });
for (const section of document.querySelectorAll("section")) seen.observe(section);

// For tests: what is drawn, and a function that draws everything.
window.tench = { figures, cellTable, drawAll, report };
