// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "report/html/markup.h"
#include "report/html/section.h"
#include "report/row_text.h"
#include "report/run_text.h"
#include "stats/stats.h"

namespace tench {
namespace {

std::string FactText(const std::string& name, const Json& value) {
  if (value.is_number_integer() && name.ends_with("bytes")) return HumanBytes(value.get<int64_t>());
  if (value.is_number() && name.ends_with("flops_per_s"))
    return fmt::format("{:.1f} GFLOP/s", value.get<double>() / 1e9);
  if (value.is_number() && name.ends_with("bytes_per_s"))
    return fmt::format("{:.1f} GB/s", value.get<double>() / 1e9);
  return value.is_string() ? value.get<std::string>() : PrintJson(value);
}

void AppendFacts(std::string& out, const std::string& name, const Json& value) {
  if (value.is_object()) {
    for (const auto& [key, part] : value.items())
      AppendFacts(out, name.empty() ? key : name + " " + key, part);
    return;
  }
  std::string text;
  const bool of_objects = value.is_array() && !value.empty() && value.front().is_object();
  if (of_objects) {
    for (size_t i = 0; i < value.size(); ++i)
      AppendFacts(out, fmt::format("{} {}", name, i + 1), value[i]);
    return;
  }
  if (value.is_array()) {
    for (const Json& part : value) text += (text.empty() ? "" : ", ") + FactText(name, part);
  } else {
    text = FactText(name, value);
  }
  if (!text.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", HtmlText(name), HtmlText(text));
}

std::string MachineLine(const Json& host) {
  const auto text = [&](const Json::json_pointer& at) {
    return host.contains(at) ? FactText(at.back(), host.at(at)) : std::string();
  };
  std::vector<std::string> parts;
  if (const std::string model = text("/cpu/model"_json_pointer); !model.empty())
    parts.push_back(model);
  if (const std::string cores = text("/cpu/cores"_json_pointer); !cores.empty())
    parts.push_back(cores + " cores");
  if (const std::string memory = text("/memory_bytes"_json_pointer); !memory.empty())
    parts.push_back(memory);
  if (const std::string system = text("/distribution"_json_pointer); !system.empty())
    parts.push_back(system);
  if (host.contains("gpus") && host["gpus"].is_array()) {
    for (const Json& gpu : host["gpus"]) {
      if (gpu.is_object() && gpu.contains("name")) parts.push_back(FactText("name", gpu["name"]));
    }
    if (host["gpus"].empty()) parts.emplace_back("no GPU");
  }
  return Join(parts, " · ");
}

}  // namespace

std::optional<Spread> SpreadOfStudy(const ReportData& data) {
  std::vector<double> spreads;
  for (const ReportCell& cell : data.cells) {
    if (cell.spread) spreads.push_back(*cell.spread);
  }
  if (spreads.empty()) return std::nullopt;
  std::sort(spreads.begin(), spreads.end());
  return Spread{Quantile(spreads, 0.5), spreads.back(), static_cast<int64_t>(spreads.size())};
}

std::string MachineSection(const ReportData& data) {
  std::string out;
  std::set<std::string> told;
  for (const std::string& line : StudyLines(data.ranking))
    out += fmt::format("<p class=\"soft\">{}</p>\n", HtmlText(line));
  for (const StudyRecord& study : data.ranking.studies) {
    const Json host = Json::parse(study.host_json, nullptr, false);
    if (!host.is_object() || !told.insert(study.machine_id + study.host_json).second) continue;
    out += fmt::format("<p><b>{}</b> {}</p>\n<details><summary>All facts</summary>\n<dl>\n",
                       HtmlText(study.machine), HtmlText(MachineLine(host)));
    AppendFacts(out, "tench", Json(study.tench_version));
    AppendFacts(out, "", host);
    out += "</dl></details>\n";
  }
  if (const auto spread = SpreadOfStudy(data)) {
    out += fmt::format(
        "<p><b>Noise</b> The standard deviation of a cell's time between rounds was ±{:.1f} % "
        "(median over {} cells), at most ±{:.1f} %. Comparisons are paired within rounds, so that "
        "drift affects all cells equally.</p>\n",
        spread->median * 100, spread->cells, spread->largest * 100);
  } else {
    out +=
        "<p><b>Noise</b> unknown: no cell was measured in two rounds. Repeat the study with "
        "<code>--rounds "
        "5</code>.</p>\n";
  }
  return out;
}

std::string MethodSection(const ReportData& data) {
  std::string clocks;
  std::set<std::string> told;
  for (const ReportCell& cell : data.cells) {
    const std::string clock = OnTheClock(cell.cell);
    if (told.insert(clock).second && told.size() <= 8)
      clocks += fmt::format("<li>{}</li>\n", HtmlText(clock));
  }
  return fmt::format(
      "<p>Every run is a separate process. A monotonic clock is read around whole steps, and a "
      "step ends when its work is complete. Warm-up steps are stored but never averaged in. The "
      "clock excludes start-up, the build of the network and, with cycled input, the next batch. "
      "It includes:</p>\n<ul>\n{}</ul>\n"
      "<p>A comparison ranks frameworks whose cells differ only in the worker, its version and its "
      "options. The baseline is a reference line, and the oracle defines the correct result. "
      "Failed cells are listed and never ranked. Peak memory is the worker's resident set during "
      "the timed steps.</p>\n",
      clocks);
}

}  // namespace tench
