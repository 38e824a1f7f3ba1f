// SPDX-License-Identifier: Apache-2.0
// The charts of one section: tabs, a selection, the rendering and its exports. Only the selection's
// parameters, the title, the theme and the width are put into a specification, as
// `tench report --figures` does.
const figures = [];

function themeName() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

// Vega-Lite fits a single view to a width; panels need explicit widths.
function fit(spec, width) {
  if (spec.concat) {
    const columns = Math.max(1, Math.min(3, spec.concat.length, Math.floor(width / 320)));
    spec.columns = columns;
    const names = 84;
    for (const panel of spec.concat) panel.width = Math.floor((width - 10 - (columns - 1) * spec.spacing.column) / columns) - names;
  } else if (spec.vconcat) {
    for (const panel of spec.vconcat) panel.width = Math.max(160, width - 78);
  } else {
    // Views without autosize need room for the axis labels.
    spec.width = spec.autosize ? width : Math.max(160, width - 120);
  }
  const narrow = width < 520;
  spec.config.legend.columns = narrow ? 2 : 4;
  return spec;
}

class Figure {
  constructor(root, charts) {
    this.root = root;
    this.charts = charts;
    this.chart = charts[0];
    this.choice = 0;
    this.tabs = element("div", { class: "tabs", role: "tablist" });
    this.pick = element("select", { "aria-label": "What to draw" });
    this.detail = element("select", { "aria-label": "Against what" });
    this.canvas = element("div", { class: "canvas", id: `canvas-${root.dataset.section}`, role: "tabpanel" });
    this.caption = element("figcaption");
    const tools = element("div", { class: "tools" },
      ...["svg", "png"].map((kind) => element("button", { type: "button", onclick: () => this.export(kind) }, kind.toUpperCase())));
    for (const chart of charts) {
      this.tabs.append(element("button", {
        type: "button", role: "tab", "aria-controls": this.canvas.id, onclick: () => this.show(chart), onkeydown: (event) => this.walk(event),
      }, chart.tab));
    }
    this.pick.addEventListener("change", () => this.choose(this.chart.choices.findIndex((c) => c.title === this.pick.value)));
    this.detail.addEventListener("change", () => this.choose(Number(this.detail.value)));
    root.append(element("figure", {}, element("div", { class: "bar" }, this.tabs, this.pick, this.detail, tools), this.canvas, this.caption));
    this.tabs.hidden = charts.length < 2;
    this.select(this.chart);
  }

  walk(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = (this.charts.indexOf(this.chart) + step + this.charts.length) % this.charts.length;
    this.show(this.charts[next]);
    this.tabs.children[next].focus();
  }

  select(chart) {
    const before = this.chart.choices[this.choice];
    this.chart = chart;
    [...this.tabs.children].forEach((tab, i) => {
      tab.setAttribute("aria-selected", this.charts[i] === chart);
      tab.tabIndex = this.charts[i] === chart ? 0 : -1;
    });
    const titles = [...new Set(chart.choices.map((choice) => choice.title))];
    this.pick.replaceChildren(...titles.map((title) => element("option", { value: title }, title)));
    this.pick.hidden = titles.length < 2;
    // Keeps the selected network across tabs.
    const same = chart.choices.findIndex((choice) => choice.title === before.title);
    this.mark(same < 0 ? 0 : same);
  }

  mark(index) {
    this.choice = index;
    const { title } = this.chart.choices[index];
    this.pick.value = title;
    this.caption.textContent = [this.chart.choices[index].note, this.chart.caption].filter(Boolean).join(" ");
    const details = this.chart.choices.map((choice, i) => [choice, i]).filter(([choice]) => choice.title === title && choice.detail);
    this.detail.replaceChildren(...details.map(([choice, i]) => element("option", { value: i }, choice.detail)));
    this.detail.value = String(index);
    this.detail.hidden = details.length < 2;
  }

  show(chart) {
    this.select(chart);
    return this.draw();
  }

  choose(index) {
    this.mark(index);
    return this.draw();
  }

  spec() {
    const spec = structuredClone(this.chart.spec);
    const choice = this.chart.choices[this.choice];
    for (const parameter of spec.params) {
      if (parameter.name in choice.parameters) parameter.value = choice.parameters[parameter.name];
    }
    if (choice.title) spec.title = choice.detail ? { text: choice.title, subtitle: choice.detail } : { text: choice.title };
    if (choice.x_title) for (const layer of spec.layer) layer.encoding.x.title = choice.x_title;
    spec.config = structuredClone(report.themes[themeName()]);
    spec.datasets = { [spec.data.name]: rowsOf(spec.data.name) };
    return fit(spec, Math.max(280, this.canvas.clientWidth || 640));
  }

  async draw() {
    const turn = (this.turn = (this.turn || 0) + 1);
    const spec = this.spec();
    // Level 1: errors only.
    const result = await vegaEmbed(this.canvas, spec, { renderer: "svg", actions: false, mode: "vega-lite", logLevel: 1 });
    if (turn !== this.turn) return;
    this.view = result.view;
    const label = [this.chart.tab, this.chart.choices[this.choice].title].filter(Boolean).join(": ");
    const svg = this.canvas.querySelector("svg");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
  }

  name() {
    const { title, detail } = this.chart.choices[this.choice];
    return fileName(this.chart.id, title, detail);
  }

  async export(kind) {
    if (kind === "svg") return save(this.name() + ".svg", new Blob([await this.view.toSVG()], { type: "image/svg+xml" }));
    const canvas = await this.view.toCanvas(2);
    canvas.toBlob((blob) => save(this.name() + ".png", blob), "image/png");
  }
}

// Charts are drawn when they approach the viewport, so that a long report opens fast. Printing draws
// all of them.
function startFigures() {
  if (typeof vegaEmbed === "undefined") return;
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const figure = figures.find((each) => each.root === entry.target);
      if (entry.isIntersecting && !figure.drawn) figure.drawn = figure.draw();
    }
  }, { rootMargin: "400px" });
  for (const root of document.querySelectorAll(".charts")) {
    const charts = report.charts.filter((chart) => chart.section === root.dataset.section);
    const figure = new Figure(root, charts);
    figures.push(figure);
    near.observe(root);
  }
}

function drawAll() {
  return Promise.all(figures.map((figure) => (figure.drawn = figure.draw())));
}

function redrawDrawn() {
  for (const figure of figures) if (figure.drawn) figure.drawn = figure.draw();
}
