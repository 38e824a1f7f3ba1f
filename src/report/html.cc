// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "report/row_text.h"
#include "report/run_text.h"

namespace tench {
namespace {

constexpr std::string_view kStyle = R"css(
:root {
  color-scheme: light dark;
  --ink: #1b2428; --soft: #5c6b72; --page: #fbfbf9; --card: #fff; --line: #dfe4e2;
  --bar: #4f8f7b; --best: #d08a2e; --bad: #b3372f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e3e8e6; --soft: #97a5a2; --page: #14191b; --card: #1c2326; --line: #2f393d;
    --bar: #4d917c; --best: #d9a04e; --bad: #e5776d;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 82rem; padding: 1.5rem 1rem 4rem;
  background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .2rem; overflow-wrap: anywhere; }
p { margin: .2rem 0; }
.soft { color: var(--soft); font-size: .9rem; }
.wide {
  overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; margin-top: .6rem;
}
table { border-collapse: collapse; width: 100%; font-size: .95rem; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .55rem; text-align: right; white-space: nowrap; border-top: 1px solid var(--line); }
thead th { border-top: 0; color: var(--soft); font-weight: 600; font-size: .85rem; }
.left { text-align: left; }
.bar { min-width: 5rem; width: 30%; }
.bar div { height: .8rem; min-width: 2px; border-radius: .2rem; background: var(--bar); }
.best .bar div { background: var(--best); }
.flag { color: var(--soft); font-size: .85rem; }
.failed { border-left: .25rem solid var(--bad); padding: .3rem .8rem; margin: .8rem 0; overflow-wrap: anywhere; }
.failed b { color: var(--bad); }
code { font: .85rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
dl {
  display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .1rem 1rem;
  font-size: .9rem; margin: .5rem 0;
}
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
summary { cursor: pointer; }
)css";

constexpr std::string_view kMethod = R"html(<h2>How this was measured</h2>
<p>Every run is one process of its own. A monotonic clock is read around whole steps, and a step ends only when its work
is complete. Warm-up steps are kept but never averaged in. In the <em>forward</em> phase the clock covers inference and
its loss; in <em>gradient</em> the training forward and backward passes without the update; in <em>train</em> those and
the update. Building the network, starting the worker and, where the input is cycled, fetching the next batch are not on
that clock.</p>
<p>A cell's time is the median over its runs of each run's median step. The interval is 95 %: of the median where there
is one run, Student's t on the logarithms of the runs' medians where there are more. Only cells that are alike in
everything but the worker, its version and its options are ranked against each other, and cells that failed are listed
and never ranked. Peak memory is the worker's resident set.</p>
)html";

void AppendFacts(std::string& out, const std::string& name, const Json& value) {
  if (value.is_object()) {
    for (const auto& [key, part] : value.items()) AppendFacts(out, name.empty() ? key : name + " " + key, part);
    return;
  }
  std::string text;
  if (value.is_array()) {
    for (const Json& part : value)
      text += (text.empty() ? "" : ", ") + (part.is_string() ? part.get<std::string>() : part.dump());
  } else if (value.is_number_integer() && name.ends_with("_bytes")) {
    text = HumanBytes(value.get<int64_t>());
  } else {
    text = value.is_string() ? value.get<std::string>() : value.dump();
  }
  if (!text.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", HtmlText(name), HtmlText(text));
}

std::string StudiesSection(const Ranking& ranking) {
  std::string out;
  const std::vector<std::string> lines = StudyLines(ranking);
  for (size_t i = 0; i < lines.size(); ++i) {
    out += fmt::format("<p class=\"soft\">{}</p>\n", HtmlText(lines[i]));
    const StudyRecord& study = ranking.studies[i];
    const Json host = Json::parse(study.host_json, nullptr, false);
    if (!host.is_object()) continue;
    out +=
        fmt::format("<details><summary class=\"soft\">the machine {} then</summary>\n<dl>\n", HtmlText(study.machine));
    AppendFacts(out, "tench", Json(study.tench_version));
    AppendFacts(out, "", host);
    out += "</dl></details>\n";
  }
  return out;
}

std::string DataHtml(std::string_view text, bool left = false) {
  return fmt::format("<td{}>{}</td>", left ? " class=\"left\"" : "", HtmlText(text));
}

std::string RowHtml(const Ranking& ranking, const RankGroup& group, const RankRow& row, double slowest) {
  const RowText text = TextOf(ranking, group, row);
  const double share = slowest > 0 ? row.ratio / slowest * 100 : 0;
  std::string out = row.rank == 1 ? "<tr class=\"best\">" : "<tr>";
  if (!ranking.by) out += DataHtml(text.rank);
  out += DataHtml(text.name, true);
  out += fmt::format("<td class=\"bar\"><div style=\"width:{:.1f}%\"></div></td>", share);
  for (const std::string* value : {&text.image_time, &text.interval, &text.ratio, &text.images_per_s, &text.step_time,
                                   &text.gflops_per_s, &text.peak_memory, &text.loss}) {
    out += DataHtml(*value);
  }
  out += DataHtml(text.outcome, true);
  return out + fmt::format("<td class=\"left flag\">{}</td></tr>\n", HtmlText(text.flags));
}

std::string GroupSection(const Ranking& ranking, const RankGroup& group) {
  double slowest = 0;
  for (const RankRow& row : group.rows) slowest = std::max(slowest, row.ratio);
  if (slowest == 0) return "";
  std::string out = fmt::format("<h2>{}</h2>\n", HtmlText(GroupTitle(ranking, group)));
  if (ranking.by != size_t{kAxisPhase})
    out += fmt::format("<p class=\"soft\">on the clock: {}</p>\n", HtmlText(OnTheClock(group.cell)));
  out += "<div class=\"wide\"><table>\n<thead><tr>";
  if (!ranking.by) out += "<th>#</th>";
  out += fmt::format("<th class=\"left\">{}</th><th class=\"bar\"></th>",
                     ranking.by ? HtmlText(Axes()[*ranking.by].name) : "worker");
  out +=
      "<th>time/image</th><th>95 %</th><th>× best</th><th>images/s</th><th>time/step</th><th>GFLOP/s</th><th>peak "
      "memory</th><th>loss</th>"
      "<th class=\"left\">outcome</th><th class=\"left\">flags</th></tr></thead>\n<tbody>\n";
  for (const RankRow& row : group.rows) {
    if (row.rank > 0) out += RowHtml(ranking, group, row, slowest);
  }
  return out + "</tbody></table></div>\n";
}

std::string FailuresSection(const Ranking& ranking) {
  const int64_t count = ranking.FailedRows();
  if (count == 0) return "";
  std::string out = fmt::format("<h2>{} cell{} with failed runs</h2>\n", count, count == 1 ? "" : "s");
  for (const RankGroup& group : ranking.groups) {
    for (const RankRow& row : group.rows) {
      if (!row.HasFailed()) continue;
      out += fmt::format("<div class=\"failed\"><p>{}</p><p><b>{}</b> {}</p>", HtmlText(CellTitle(ranking, group, row)),
                         HtmlText(FailureTitle(row)), HtmlText(PlainLine(row.reason)));
      if (!row.reproducer.empty()) out += fmt::format("<p><code>{}</code></p>", HtmlText(PlainLine(row.reproducer)));
      out += "</div>\n";
    }
  }
  return out;
}

}  // namespace

std::string HtmlText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string RenderHtml(const Ranking& ranking, const HtmlOptions& options) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      HtmlText(options.title), kStyle);
  if (!options.made_utc.empty()) out += fmt::format("<p class=\"soft\">made {}</p>\n", HtmlText(options.made_utc));
  out += StudiesSection(ranking);
  if (ranking.groups.empty()) out += "<p>There are no runs.</p>\n";
  for (const RankGroup& group : ranking.groups) out += GroupSection(ranking, group);
  out += FailuresSection(ranking);
  out += kMethod;
  return out + "</body>\n</html>\n";
}

}  // namespace tench
