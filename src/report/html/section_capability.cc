// SPDX-License-Identifier: Apache-2.0
// Capabilities: outcomes per worker, network, data set and phase; parity results; published tables.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "record/worker_version.h"
#include "report/html/markup.h"
#include "report/html/published.h"
#include "report/html/section.h"
#include "report/row_text.h"

namespace tench {
namespace {

// All cells of one worker, network, data set and phase.
struct Ability {
  int64_t cells = 0, ok = 0;
  std::map<Outcome, std::pair<int64_t, std::string>> failures;  // (number of cells, a reason)
};

using Column = std::array<std::string, 3>;  // (network, data, phase)

std::string ReasonMark(std::vector<std::string>& reasons, const std::string& text) {
  const auto found = std::find(reasons.begin(), reasons.end(), text);
  const size_t number = static_cast<size_t>(found - reasons.begin()) + 1;
  if (found == reasons.end()) reasons.push_back(text);
  return fmt::format("<sup>{}</sup>", number);
}

std::string AbilityCell(const Ability* ability, std::vector<std::string>& reasons) {
  if (ability == nullptr) return "<td class=\"untried\">·</td>";
  if (ability->failures.empty()) {
    return fmt::format("<td class=\"able\" title=\"ok, {} cell{}\">✓</td>", ability->cells,
                       ability->cells == 1 ? "" : "s");
  }
  const auto& [outcome, failure] = *std::max_element(
      ability->failures.begin(), ability->failures.end(),
      [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  std::string name = Name(outcome);
  std::replace(name.begin(), name.end(), '_', ' ');
  const std::string reason = failure.second.empty() ? name : name + ": " + failure.second;
  const std::string some =
      ability->ok > 0 ? fmt::format("{} of {} ok, ", ability->ok, ability->cells) : "";
  return fmt::format("<td class=\"{}\" title=\"{}\">{}{}{}</td>",
                     ability->ok > 0 ? "partly" : "unable", HtmlText(some + reason), some, name,
                     ReasonMark(reasons, reason));
}

std::string ParityMark(const ParityRecord& parity) {
  if (parity.outcome == Outcome::kOk) return "<span class=\"verdict faster\">verified</span>";
  if (parity.outcome == Outcome::kWrong) return "<span class=\"verdict slower\">wrong</span>";
  return fmt::format("<span class=\"verdict ambiguous\">{}</span>", HtmlText(Name(parity.outcome)));
}

}  // namespace

std::string CapabilitySection(const ReportData& data) {
  std::map<std::string, std::map<Column, Ability>> workers;
  std::set<Column> columns;
  for (const ReportCell& cell : data.cells) {
    const Column column = {cell.cell.Text(kAxisNetwork), cell.cell.Text(kAxisData),
                           cell.cell.Text(kAxisPhase)};
    columns.insert(column);
    Ability& ability = workers[cell.series][column];
    ++ability.cells;
    if (cell.row.outcome == Outcome::kOk) {
      ++ability.ok;
      continue;
    }
    auto& [count, reason] = ability.failures[cell.row.outcome];
    ++count;
    reason = PlainLine(cell.row.reason);
  }
  std::string out =
      "<div class=\"wide\"><table class=\"matrix\">\n<thead><tr><th class=\"left\">worker</th>";
  for (const auto& [network, set, phase] : columns) {
    out += fmt::format("<th>{}{}<br><span class=\"soft\">{}</span></th>", HtmlText(network),
                       set.empty() ? "" : "<br>" + HtmlText(set), HtmlText(phase));
  }
  out += "</tr></thead>\n<tbody>\n";
  std::vector<std::string> reasons;
  for (const std::string& series : data.series) {
    out += fmt::format("<tr><th class=\"left\" scope=\"row\">{}</th>", HtmlText(series));
    for (const Column& column : columns) {
      const auto found = workers[series].find(column);
      out += AbilityCell(found == workers[series].end() ? nullptr : &found->second, reasons);
    }
    out += "</tr>\n";
  }
  out +=
      "</tbody></table></div>\n<p class=\"soft\">✓ every cell ran; · not tried in this "
      "study.</p>\n";
  if (reasons.empty()) return out;
  out += "<ol class=\"reasons\">\n";
  for (const std::string& reason : reasons) out += fmt::format("<li>{}</li>\n", HtmlText(reason));
  return out + "</ol>\n";
}

std::string ParitySection(const ReportData& data) {
  std::map<std::string, std::string> networks;           // by fingerprint
  std::set<std::pair<std::string, std::string>> builds;  // and their CPUs
  for (const ReportCell& cell : data.cells) {
    networks.emplace(cell.fingerprint, cell.cell.Text(kAxisNetwork));
    builds.emplace(cell.row.build, cell.row.cpu_model);
  }
  std::string rows;
  for (const ParityRecord& parity : data.parities) {
    const ParityKey& key = parity.key;
    const auto network = networks.find(key.fingerprint);
    if (network == networks.end() || !builds.contains({key.build, key.cpu_model})) continue;
    const std::string cpu = data.ranking.several_machines ? " on " + key.cpu_model : "";
    rows += fmt::format(
        "<tr><td class=\"left\">{} {}</td><td class=\"left\">{}</td><td class=\"left soft\">{}</td>"
        "<td class=\"left\">{}</td><td>{}</td><td class=\"left soft\">{}</td></tr>\n",
        HtmlText(key.worker), HtmlText(ShownVersion(key.worker_version, key.build)),
        HtmlText(network->second), HtmlText(key.setting + cpu), ParityMark(parity),
        parity.outcome == Outcome::kOk ? fmt::format("{:.3f}", parity.worst) : "",
        HtmlText(parity.outcome == Outcome::kOk ? parity.worst_tensor : parity.reason));
  }
  if (rows.empty()) {
    return "<p class=\"soft\">No worker was verified on these networks. <code>tench verify</code> "
           "checks parity, and so does <code>tench sweep</code> before it measures.</p>\n";
  }
  return "<details class=\"parity\"><summary>Parity per worker and network</summary>\n"
         "<div class=\"wide\"><table>\n<thead><tr><th class=\"left\">worker</th><th "
         "class=\"left\">network</th>"
         "<th class=\"left\">setting</th><th class=\"left\">parity</th><th>worst / allowed</th>"
         "<th class=\"left\">where</th></tr></thead>\n<tbody>\n" +
         rows +
         "</tbody></table></div>\n</details>\n<p class=\"soft\">Each worker trained from the same "
         "weights on the same data as <code>reference</code>. The figure is its largest difference "
         "over the tolerance; at most 1 is verified.</p>\n";
}

std::string PublishedSection() {
  std::string out =
      "<details><summary>SGEMM in the UFSM thesis of 2017: AlexNet, batch 512, 20 iterations, on a "
      "GTX Titan X</summary>\n"
      "<div class=\"wide\"><table>\n<thead><tr><th class=\"left\">kernel</th><th "
      "class=\"left\">framework</th>"
      "<th class=\"left\">kind</th><th>seconds</th><th>calls</th></tr></thead>\n<tbody>\n";
  for (const PublishedGemm& gemm : PublishedGemms()) {
    out += fmt::format(
        "<tr><td class=\"left\">{}</td><td class=\"left\">{}</td><td "
        "class=\"left\">{}</td><td>{}</td><td>{}</td></tr>\n",
        HtmlText(gemm.method), HtmlText(gemm.framework), HtmlText(gemm.kind), gemm.seconds,
        gemm.calls);
  }
  return out +
         "</tbody></table></div>\n<p class=\"soft\">Caffe 1.0 and TensorFlow 1.4, total seconds "
         "and calls (Table 5.1). The thesis names neither network nor batch there; the calls are "
         "exactly those of this one (<code>tench census</code> predicts them).</p>\n</details>\n"
         "<details><summary>Other findings of the thesis</summary>\n<ul>\n"
         "<li>GPU over CPU: up to 200 times (AlexNet, TensorFlow, GTX Titan X over a Xeon E5620), "
         "up to 24 times on a Jetson TX1.</li>\n"
         "<li>Swapping made GoogLeNet at batch 256 four times slower on the Xeon, and at batch 64 "
         "about 32 times slower on the TX1.</li>\n"
         "<li>On a Xeon Phi Caffe with MKL took under 1 ms per image (AlexNet), 4 to 8 times "
         "faster than a TensorFlow built without AVX; on the Xeon TensorFlow was up to 3 times "
         "faster than Caffe.</li>\n"
         "<li>Caffe's loss went negative at convergence in every case.</li>\n</ul>\n</details>\n";
}

}  // namespace tench
