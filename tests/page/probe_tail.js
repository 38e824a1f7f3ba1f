// Evaluated in the page: operates it as a reader would. Its value is the observations.
(async () => {
  const seen = { charts: {}, complaints };
  const count = (root, selector) => root.querySelectorAll(selector).length;
  // The number of marks of a chart by kind, without legends and axes.
  const marks = (canvas) => {
    const found = {};
    for (const group of canvas.querySelectorAll("g.mark-line, g.mark-symbol, g.mark-rect, g.mark-rule, g.mark-area, g.mark-text")) {
      if (group.closest(".role-legend, .role-axis, .role-title, .role-legend-entry") || !/role-mark/.test(group.getAttribute("class"))) continue;
      const kind = group.getAttribute("class").match(/mark-(\w+)/)[1];
      found[kind] = (found[kind] || 0) + count(group, ":scope > path, :scope > rect, :scope > line, :scope > text");
    }
    return found;
  };
  const table = () => [...document.querySelectorAll("#cells tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent));
  const column = (title) => [...document.querySelectorAll("#cells thead th")].findIndex((head) => head.textContent === title);
  const head = (title) => document.querySelectorAll("#cells thead th")[column(title)];
  try {
    await tench.drawAll();
    for (const figure of tench.figures) {
      for (const chart of figure.charts) {
        await figure.show(chart);
        seen.charts[chart.id] = { ...marks(figure.canvas), choices: chart.choices.length, svg: count(figure.canvas, "svg") };
      }
    }
    seen.rows = table().length;
    head("time/image").querySelector("button").click();
    seen.fastestFirst = tench.cellTable.matching().map((row) => row.image_ns);
    seen.shownOrder = table().map((row) => row[column("time/image")]);
    seen.sortedMark = head("time/image").getAttribute("aria-sort");
    head("time/image").querySelector("button").click();
    seen.slowestFirst = tench.cellTable.matching().map((row) => row.image_ns);
    const search = document.querySelector("#cells input[type=search]");
    search.value = "torch forward";
    search.dispatchEvent(new Event("input"));
    seen.searched = table().map((row) => [row[column("worker")], row[column("phase")]]);
    search.value = "";
    search.dispatchEvent(new Event("input"));
    const filter = document.querySelector("#cells select[data-filter=batch]");
    filter.value = "16";
    filter.dispatchEvent(new Event("change"));
    seen.filtered = table().map((row) => row[column("batch")]);
    filter.value = "";
    filter.dispatchEvent(new Event("change"));
    const toggle = document.querySelector("#cells tbody .toggle");
    seen.expanded = [toggle.getAttribute("aria-expanded")];
    toggle.click();
    seen.expanded.push(toggle.getAttribute("aria-expanded"));
    seen.command = document.querySelector("#cells tr.command code").textContent;
    seen.rounds = count(document, "#cells .rounds tbody tr");
    toggle.click();
    seen.expanded.push(toggle.getAttribute("aria-expanded"), count(document, "#cells tr.command"));
    // The first column stays in view while the table scrolls.
    const scroller = document.querySelector("#cells .tall");
    scroller.scrollLeft = 10000;
    const first = document.querySelector("#cells tbody td").getBoundingClientRect();
    seen.frozen = [scroller.scrollLeft, Math.round(first.left - scroller.getBoundingClientRect().left)];
    scroller.scrollLeft = 0;
    seen.answers = [count(document, ".answer.won"), count(document, ".answer.failed")];
    const tile = document.querySelector(".answer").getBoundingClientRect();
    seen.firstScreen = tile.top + scrollY < innerHeight;
    // Printing shows every row of the table and opens all parts.
    dispatchEvent(new Event("beforeprint"));
    seen.printed = [table().length, count(document, "details:not([open])")];
    dispatchEvent(new Event("afterprint"));
    await tench.drawAll();
    seen.csv = tench.cellTable.csv().split("\r\n");
    const saved = [];
    const create = URL.createObjectURL;
    URL.createObjectURL = (blob) => (saved.push([blob.type, blob.size]), create(blob));
    await tench.figures[0].export("svg");
    await tench.figures[0].export("png");
    while (saved.length < 2) await new Promise((done) => setTimeout(done, 20));
    seen.saved = saved;
    document.getElementById("theme").click();
    document.getElementById("theme").click();
    seen.dark = [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor];
    seen.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    seen.ran = typeof window.pwned;
  } catch (error) {
    complaints.push(error.stack);
  }
  return seen;
})();
