// SPDX-License-Identifier: Apache-2.0
// The full table: sortable by any column, filterable by words and values, saved as CSV. Rows are
// created for the visible part only, a few hundred at a time.
const significant = (digits) => (value) => (value === null ? "" : Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits }));

function duration(ns) {
  if (ns === null) return "";
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) if (ns >= size) return `${significant(3)(ns / size)} ${unit}`;
  return `${significant(3)(ns)} ns`;
}

function size(bytes) {
  if (bytes === null) return "";
  return bytes >= 2 ** 30 ? `${significant(3)(bytes / 2 ** 30)} GiB` : `${significant(3)(bytes / 2 ** 20)} MiB`;
}

const percent = (value) => `${significant(2)(value * 100)} %`;
const ratio = (value) => (value < 10 ? value.toFixed(2) : significant(3)(value));
// The end of an interval; as in the terminal, small ones have one digit more.
const bound = (value) => (value < 0.1 ? value.toFixed(3) : ratio(value));

// Zero means the default of the data set or the network.
const own = (value) => (value === 0 ? "" : String(value));

// [key, title, format (numbers only), always shown]. The first column stays in view.
const tableColumns = [
  ["series", "worker", null, true], ["rank", "#", String, true], ["role", "role", null], ["version", "version", null], ["machine", "machine", null],
  ["network", "network", null, true], ["data", "data", null], ["device", "device", null], ["threads_used", "threads", String], ["batch", "batch", String, true],
  ["precision", "precision", null], ["phase", "phase", null, true], ["input", "input", null], ["images", "images", own], ["labels", "labels", own],
  ["length", "length", own], ["lr", "lr", String], ["momentum", "momentum", String], ["weight_decay", "weight decay", String],
  ["seed", "seed", String], ["tuned", "tuned", null], ["data_threads", "data threads", String], ["prefetch", "prefetch", String], ["optimizer", "optimizer", null], ["lr_policy", "lr policy", null], ["isa_limit", "ISA limit", null], ["image_ns", "time/image", duration, true], ["ratio", "× best", ratio, true], ["ratio_low", "95 %", ratio], ["verdict", "verdict", null],
  ["images_per_s", "images/s", significant(4), true], ["step_ns", "time/step", duration, true], ["gflops_per_s", "GFLOP/s", significant(4)],
  ["loading_ns", "load/image", duration], ["exposed_ns", "input/image", duration], ["end_to_end_ns", "end to end", duration],
  ["p50_ns", "p50", duration], ["p90_ns", "p90", duration], ["p99_ns", "p99", duration], ["parity_error", "parity error", significant(2)],
  ["memory_bytes", "peak memory", size, true], ["cpus", "CPUs", significant(3)], ["gpu_use", "GPU use", significant(3)], ["image_energy_j", "energy/image, J", significant(3)], ["energy_j", "energy of a run, J", significant(4)],
  ["steal_share", "stolen CPU", percent], ["throttled_share", "throttled CPU", percent], ["start_ns", "start", duration], ["build_ns", "build", duration], ["to_first_step_ns", "to first step", duration],
  ["tune_ns", "tuning", duration], ["pays_after", "pays after steps", String], ["settings", "settings", null],
  ["spread", "spread", (value) => `±${significant(2)(value * 100)} %`], ["loss", "loss", significant(4)], ["loss_step", "at step", String], ["steps", "steps", String, true], ["rounds", "rounds", String, true], ["outcome", "outcome", null, true],
  ["runs_ok", "ok runs", String], ["flags", "flags", null], ["reason", "reason", null],
];
const filterColumns = ["series", "machine", "network", "data", "device", "threads_used", "batch", "precision", "phase", "outcome"];

class CellTable {
  constructor(root) {
    this.root = root;
    this.rows = rowsOf("cells");
    this.numbers = new Map(this.rows.map((row, i) => [row, i]));
    this.rounds = rowsOf("rounds");
    const varies = (key, format) => this.rows.some((row) => row[key] !== this.rows[0][key] && row[key] !== "" && (format || row[key] !== null));
    this.columns = tableColumns.filter(([key, , format, always]) => this.rows.length > 0 && (always || varies(key, format)));
    this.sort = { key: null, down: false };
    this.words = "";
    this.wanted = {};
    this.limit = 200;
    this.build();
    this.refresh();
  }

  build() {
    const search = element("input", { type: "search", placeholder: "Filter by words", "aria-label": "Filter by words" });
    search.addEventListener("input", () => this.update(() => (this.words = search.value)));
    const choices = filterColumns.map((key) => this.choice(key)).filter(Boolean);
    this.count = element("span", { class: "soft", role: "status" });
    const csv = element("button", { type: "button", onclick: () => save("tench-cells.csv", new Blob([this.csv()], { type: "text/csv" })) }, "CSV");
    this.head = element("tr");
    for (const [key, title, format] of this.columns) {
      this.head.append(element("th", { "data-key": key, class: format ? "" : "left", scope: "col" },
        element("button", { type: "button", onclick: () => this.update(() => this.sortBy(key)) }, title)));
    }
    this.body = element("tbody");
    this.more = element("button", { type: "button", class: "more", onclick: () => this.update(() => (this.limit += 500), true) }, "Show more");
    this.root.append(
      element("div", { class: "bar" }, search, ...choices, this.count, element("div", { class: "tools" }, csv)),
      element("div", { class: "wide tall", tabindex: "0", role: "region", "aria-label": "All cells" }, element("table", { class: "cells" }, element("thead", {}, this.head), this.body)), this.more);
  }

  choice(key) {
    const values = [...new Set(this.rows.map((row) => row[key]))];
    if (values.length < 2) return null;
    values.sort((a, b) => (typeof a === "number" ? a - b : String(a).localeCompare(String(b))));
    const title = tableColumns.find((column) => column[0] === key)[1];
    const select = element("select", { "aria-label": title, "data-filter": key }, element("option", { value: "" }, `${title}: all`),
      ...values.map((value) => element("option", { value: JSON.stringify(value) }, String(value))));
    select.addEventListener("change", () => this.update(() => (this.wanted[key] = select.value === "" ? undefined : JSON.parse(select.value))));
    return select;
  }

  update(change, keepLimit) {
    change();
    if (!keepLimit) this.limit = 200;
    this.refresh();
  }

  sortBy(key) {
    this.sort = { key, down: this.sort.key === key ? !this.sort.down : false };
  }

  // Missing values sort last in both directions.
  matching() {
    const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = this.rows.filter((row) => {
      for (const [key, value] of Object.entries(this.wanted)) if (value !== undefined && row[key] !== value) return false;
      if (words.length === 0) return true;
      const text = this.columns.map(([key]) => row[key]).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const { key, down } = this.sort;
    if (!key) return rows;
    const empty = (value) => value === null || value === "";
    const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    return rows.sort((a, b) => {
      if (empty(a[key]) || empty(b[key])) return empty(a[key]) - empty(b[key]);
      return down ? compare(b[key], a[key]) : compare(a[key], b[key]);
    });
  }

  refresh() {
    const rows = this.matching();
    this.count.textContent = rows.length === this.rows.length ? `${rows.length} cells` : `${rows.length} of ${this.rows.length} cells`;
    this.body.replaceChildren(...rows.slice(0, this.limit).flatMap((row) => this.rowElements(row)));
    this.more.hidden = rows.length <= this.limit;
    for (const head of this.head.children) {
      const sorted = head.dataset.key === this.sort.key;
      if (sorted) head.setAttribute("aria-sort", this.sort.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }

  rowElements(row) {
    const cells = this.columns.map(([key, , format]) => {
      if (key === "runs_ok") return element("td", {}, `${row.runs_ok} / ${row.runs}`);
      if (key === "ratio_low" && row.ratio_low !== null) return element("td", { class: "soft" }, `${bound(row.ratio_low)} … ${bound(row.ratio_high)}`);
      let text = row[key] === null || row[key] === "" ? "" : format ? format(row[key]) : row[key];
      if (key === "gflops_per_s" && text !== "" && row.flops_effective) text += " effective";
      if (key === "reason" && text !== "") return element("td", { class: "left long" }, element("div", { class: "clamp", title: text }, text));
      const node = element("td", { class: format ? "" : "left" }, text);
      if (key === "outcome") node.className = `left outcome ${row.outcome === "ok" ? "ok" : "bad"}`;
      if (key === "flags") node.classList.add("long");
      return node;
    });
    const button = element("button", { type: "button", class: "toggle", "aria-expanded": "false", "aria-label": `Rounds and command of ${row.series}` });
    cells[0].prepend(button);
    // Print has no header: every value is beside its title.
    cells.forEach((cell, i) => (cell.dataset.title = this.columns[i][1]));
    const line = element("tr", { class: row.won ? "best" : "", title: "Rounds, and the command that repeats it" }, ...cells);
    line.addEventListener("click", () => {
      const open = line.nextElementSibling?.classList.contains("command") ? line.nextElementSibling : null;
      button.setAttribute("aria-expanded", String(!open));
      if (open) open.remove();
      else line.after(element("tr", { class: "command" }, element("td", { colspan: this.columns.length, class: "left" }, ...this.details(row))));
    });
    return [line];
  }

  // The reason of a failure, the command that repeats the run, and the counted attempt of every round.
  details(row) {
    const parts = [];
    if (row.reason) parts.push(element("p", {}, row.reason));
    parts.push(element("code", {}, row.command));
    const rounds = this.rounds.filter((round) => round.cell === this.numbers.get(row));
    if (rounds.length === 0) return parts;
    const studies = new Set(rounds.map((round) => round.study)).size > 1;
    const line = (tag, texts) => element("tr", {}, ...texts.map((text) => element(tag, {}, text)));
    const withheld = [["steal_share", "stolen CPU"], ["throttled_share", "throttled CPU"]].filter(([key]) => rounds.some((round) => round[key] !== null));
    const titles = ["round", "shortest/image", "median/image", "steps", "attempt", ...withheld.map(([, title]) => title), "disturbed"];
    const body = rounds.map((round) => line("td", [
      studies ? `${round.study}: ${round.round}` : String(round.round), duration(round.shortest_ns), duration(round.median_ns), String(round.steps),
      String(round.attempt + 1), ...withheld.map(([key]) => (round[key] === null ? "" : percent(round[key]))), round.disturbed ? "yes" : ""]));
    return [...parts, element("table", { class: "rounds" }, element("thead", {}, line("th", titles)), element("tbody", {}, ...body))];
  }

  // RFC 4180, all columns of the filtered rows. Texts that look like formulas are escaped.
  csv() {
    const keys = Object.keys(this.rows[0] || {}).filter((key) => !key.startsWith("in_") && key !== "place");
    const field = (value) => {
      let text = value === null ? "" : String(value);
      if (typeof value === "string" && /^[=+\-@\t]/.test(text)) text = "'" + text;
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [keys, ...this.matching().map((row) => keys.map((key) => row[key]))].map((line) => line.map(field).join(",") + "\r\n").join("");
  }
}
