// Follows a running sweep: asks for its state, replaces the texts of the summary when runs were
// stored, and draws the losses of the run in progress. The charts of the report are drawn again by
// loading the page, which happens by itself only while nobody uses it.
const pollMs = 1000, hiddenMs = 10000, reloadMs = 30000;
const part = (id) => document.getElementById(id);
const loaded = performance.now();
const drawnVersion = Number(part("live").dataset.version);
let shownVersion = -1;
let used = false;
for (const kind of ["pointerdown", "keydown", "wheel"]) addEventListener(kind, () => (used = true), { passive: true });
part("live-behind").querySelector("button").addEventListener("click", () => location.reload());

function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function describe(state) {
  const runs = state.total !== undefined ? `${state.done} of ${state.total} runs` : "";
  const name = state.study !== undefined ? `Study ${state.study}, ${state.suite} on ${state.machine}` : "";
  if (state.state === "waiting") return "Waiting for a sweep to begin.";
  if (state.state === "complete") return `${name}: complete, ${runs}.`;
  if (state.state === "stopped") return `${name}: stopped after ${runs}. The same sweep command resumes it.`;
  return `${name}: running, ${runs}.`;
}

function facts(state) {
  if (state.state !== "running") return "";
  const list = [`round ${state.round} of ${state.rounds}`];
  if (state.eta_s > 0) list.push(`${duration(state.eta_s)} left`);
  if (state.disturbed > 0) list.push(`${state.disturbed} disturbed`);
  if (state.repeats > 0) list.push(`repeating ${state.repeats}`);
  return list.join(" · ");
}

// The last curve of each worker on the cell's network, phase and batch.
const curves = new Map();
const comparisonOf = (run) => JSON.stringify([run.network, run.phase, run.batch]);

function shape(tag, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

// Steps are on a logarithmic axis, as in the report.
function drawLosses(run) {
  const comparison = comparisonOf(run);
  for (const [key, curve] of curves) if (curve.comparison !== comparison) curves.delete(key);
  if (run.losses.length > 0) curves.set(run.label, { comparison, worker: run.worker, points: run.losses });
  const known = [...curves].filter(([key]) => key !== run.label || run.losses.length > 0);
  const points = known.flatMap(([, curve]) => curve.points.filter(([, loss]) => loss !== null));
  const svg = part("live-loss");
  svg.replaceChildren();
  if (points.length === 0) return;
  const last = Math.max(2, ...points.map(([step]) => step));
  const low = Math.min(...points.map(([, loss]) => loss)), high = Math.max(...points.map(([, loss]) => loss));
  const left = 64, right = 610, top = 14, bottom = 190;
  const x = (step) => left + ((right - left) * Math.log(step)) / Math.log(last);
  const y = (loss) => (high > low ? bottom - ((bottom - top) * (loss - low)) / (high - low) : (top + bottom) / 2);
  svg.append(shape("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }),
    shape("line", { class: "axis", x1: left, x2: left, y1: top, y2: bottom }),
    shape("text", { x: left - 6, y: top + 4, "text-anchor": "end" }, high.toPrecision(4)),
    shape("text", { x: left - 6, y: bottom, "text-anchor": "end" }, low.toPrecision(4)),
    shape("text", { x: left, y: bottom + 18 }, "step 1"),
    shape("text", { x: right, y: bottom + 18, "text-anchor": "end" }, String(last)));
  for (const [key, curve] of known) {
    const finite = curve.points.filter(([, loss]) => loss !== null);
    if (finite.length === 0) continue;
    const name = key === run.label ? "now" : "before";
    svg.append(shape("polyline", { class: name, points: finite.map(([step, loss]) => `${x(step).toFixed(1)},${y(loss).toFixed(1)}`).join(" ") }));
    const [step, loss] = finite[finite.length - 1];
    svg.append(shape("text", { class: name, x: x(step) + 6, y: y(loss) + 4 }, curve.worker));
  }
}

function drawRun(run) {
  part("live-run").hidden = !run;
  if (!run) return;
  part("live-label").textContent = run.label;
  const list = [run.stage];
  if (run.steps > 0) list.push(`${run.steps} timed steps`, `last ${run.step_ms.toPrecision(3)} ms`);
  const losses = run.losses;
  if (losses.length > 0) {
    const loss = losses[losses.length - 1][1];
    list.push(`loss ${loss === null ? "not finite" : loss.toPrecision(5)}`);
  }
  if (run.rss_bytes > 0) list.push(`${(run.rss_bytes / 2 ** 20).toFixed(0)} MiB resident`);
  part("live-stage").textContent = list.join(" · ");
  drawLosses(run);
}

async function read(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

// The texts were escaped by the program, as those of the page.
async function replaceTexts() {
  const { version, parts } = await read("summary");
  for (const [id, html] of Object.entries(parts)) {
    const holder = part(id);
    if (holder && holder.innerHTML !== html) holder.innerHTML = html;
  }
  part("live-ranking-title").hidden = !parts["live-ranking"];
  shownVersion = version;
}

function offerCharts(state) {
  const behind = state.version !== drawnVersion;
  part("live-behind").hidden = !behind;
  part("live-behind").querySelector("span").textContent = "Runs were stored since the charts were drawn.";
  const rested = performance.now() - loaded > reloadMs;
  if (behind && !used && rested) location.reload();
}

async function follow() {
  try {
    const state = await read("live");
    part("live-state").textContent = describe(state);
    part("live-facts").textContent = facts(state);
    part("live-bar").hidden = state.total === undefined;
    part("live-bar").max = state.total || 1;
    part("live-bar").value = state.done || 0;
    drawRun(state.run);
    if (state.version !== shownVersion) await replaceTexts();
    offerCharts(state);
    document.title = state.total ? `${Math.floor((100 * state.done) / state.total)} % · tench` : "tench";
  } catch (error) {
    part("live-state").textContent = `No answer: ${error.message}. Has tench serve ended?`;
  }
  setTimeout(follow, document.hidden ? hiddenMs : pollMs);
}
follow();

// For tests.
window.tenchLive = { curves, follow, shown: () => shownVersion };
