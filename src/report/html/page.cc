// SPDX-License-Identifier: Apache-2.0
#include "report/html/page.h"

#include <array>

#include "base/text.h"
#include "report/html/assets.h"
#include "report/html/markup.h"
#include "report/html/section.h"

namespace tench {
namespace {

struct SectionRow {
  std::string_view id, title, lead;
  std::string_view nothing;  // shown if the section has no charts
};

constexpr SectionRow kSummary = {"summary", "Summary", "", "No cell has been ranked yet."};
constexpr SectionRow kBatch = {"batch", "Time and batch size",
                               "The effect of the batch size, and speed-ups.",
                               "A study with several batch sizes draws lines here, such as "
                               "<code>batch: {from: 1, to: 64, times: 4}</code> in a suite."};
constexpr SectionRow kLoss = {"loss", "Loss",
                              "Speed is comparable only where the loss converges alike.",
                              "No run has stored losses."};
constexpr SectionRow kAccuracy = {
    "accuracy", "Accuracy", "The network on a test split: what a user waits for.",
    "A study with <code>test_data</code> draws its accuracy here; with <code>until</code>, the "
    "time to a target."};
constexpr SectionRow kMemory = {"memory", "Memory and CPU", "Resource use during a run.",
                                "No run has stored samples."};
constexpr SectionRow kInside = {"inside", "Inside a step",
                                "Phases, thread scaling and the distribution of step times.",
                                "No run has stored its steps."};
constexpr SectionRow kWhy = {
    "why", "Why", "Profiles of two workers, aligned by layer. Profiled runs are never ranked.",
    "<code>tench why A B --network NAME --db FILE</code> stores the profiles for this section."};
constexpr SectionRow kTrend = {"trend", "History", "Time per image over studies.",
                               "Two studies with the same cell draw a line here."};
constexpr SectionRow kTable = {
    "table", "All cells",
    "Losses of a comparison are those of one step, the last that all of its runs made. Parity "
    "error: "
    "the largest difference from the reference over its tolerance; at most 1 is verified. "
    "Effective "
    "GFLOP/s count the arithmetic of the network's definition, of which a Winograd convolution "
    "executes less.",
    ""};
constexpr SectionRow kThen = {
    "then", "Then and now",
    "Published figures beside these. <b>Different hardware, different versions.</b>", ""};

Json ChoiceJson(const ChartChoice& choice) {
  Json json = {
      {"title", choice.title}, {"detail", choice.detail}, {"parameters", choice.parameters}};
  if (!choice.note.empty()) json["note"] = choice.note;
  if (!choice.x_title.empty()) json["x_title"] = choice.x_title;
  return json;
}

// The input of the page's script.
Json PageData(const ChartSet& set) {
  Json charts = Json::array(), tables = Json::object();
  for (const Chart& chart : set.charts) {
    Json choices = Json::array();
    for (const ChartChoice& choice : chart.choices) choices.push_back(ChoiceJson(choice));
    charts.push_back({{"id", chart.id},
                      {"section", chart.section},
                      {"tab", chart.tab},
                      {"caption", chart.caption},
                      {"spec", chart.spec},
                      {"choices", std::move(choices)}});
  }
  for (const auto& [name, table] : set.data) tables[name] = table.ToColumns();
  return {{"charts", std::move(charts)},
          {"tables", std::move(tables)},
          {"themes", {{"light", ChartTheme(false)}, {"dark", ChartTheme(true)}}}};
}

class Page {
 public:
  Page(const ChartSet& charts, bool with_charts) : charts_(charts), with_charts_(with_charts) {}

  void Open(const SectionRow& section) {
    out_ += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, section.title);
    if (!section.lead.empty()) out_ += fmt::format("<p class=\"lead\">{}</p>\n", section.lead);
  }
  void Charts(const SectionRow& section) {
    size_t count = 0;
    for (const Chart& chart : charts_.charts) count += chart.section == section.id;
    if (count == 0) {
      out_ += fmt::format("<p class=\"note\">{}</p>\n", section.nothing);
    } else if (!with_charts_) {
      out_ += fmt::format(
          "<p class=\"note\">{} chart{} left out, because the charts' JavaScript is missing: run "
          "<code>deps/fetch</code> and build again.</p>\n",
          count, count == 1 ? "" : "s");
    } else {
      out_ += fmt::format("<div class=\"charts\" data-section=\"{}\"></div>\n", section.id);
    }
  }
  void Heading(std::string_view text) { out_ += fmt::format("<h3>{}</h3>\n", text); }
  void Add(std::string_view html) { out_ += html; }
  void Part(const std::pair<std::string, std::string>& part) {
    out_ += fmt::format("<div id=\"{}\">\n{}</div>\n", part.first, part.second);
  }
  void Close() { out_ += "</section>\n"; }
  std::string Take() { return std::move(out_); }

 private:
  const ChartSet& charts_;
  bool with_charts_;
  std::string out_;
};

std::string Head(const PageOptions& options) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      "'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n"
      "<style>\n{}{}</style>\n</head>\n",
      options.live.script.empty() ? "" : "; connect-src 'self'", HtmlText(options.title),
      kPageStyle, options.live.style);
}

// "quick on vm, 2026-11-16": at most three studies.
std::string StudyNames(const ReportData& data) {
  std::string out;
  for (size_t i = 0; i < data.ranking.studies.size() && i < 3; ++i) {
    const StudyRecord& study = data.ranking.studies[i];
    out += fmt::format("{}{} on {}, {}", i > 0 ? " · " : "", study.suite, study.machine,
                       study.started_utc.substr(0, 10));
  }
  if (data.ranking.studies.size() > 3)
    out += fmt::format(" and {} more", data.ranking.studies.size() - 3);
  return out;
}

std::string Header(const ReportData& data, const PageOptions& options) {
  std::string out = "<body>\n<nav aria-label=\"Sections\"><div>\n";
  for (const SectionRow* section : {&kSummary, &kBatch, &kLoss, &kAccuracy, &kMemory, &kInside,
                                    &kWhy, &kTrend, &kTable, &kThen})
    out += fmt::format("<a href=\"#{}\">{}</a>\n", section->id, section->title);
  if (!options.live.section.empty()) out += "<a href=\"#live\">Live</a>\n";
  out +=
      "<button type=\"button\" id=\"theme\" title=\"Light, dark or "
      "system\">Theme</button>\n</div></nav>\n";
  out += fmt::format("<main>\n<header>\n<h1>{}</h1>\n", HtmlText(options.title));
  out += fmt::format("<p class=\"soft\">{}", HtmlText(StudyNames(data)));
  if (!options.made_utc.empty())
    out += fmt::format("{}made {}", data.ranking.studies.empty() ? "" : " · ",
                       HtmlText(options.made_utc));
  out += "</p>\n";
  if (!data.common_axes.empty())
    out += fmt::format("<p class=\"soft\">All cells: {}.</p>\n",
                       HtmlText(Join(data.common_axes, ", ")));
  return out + "</header>\n";
}

// Of SummaryParts; the first has the section's own heading.
constexpr std::array<std::string_view, 6> kPartTitles = {
    "", "All comparisons", "The study", "Machine and noise", "Same computation", "Capabilities"};

constexpr std::string_view kFullTable =
    "<div id=\"cells\"><noscript><p class=\"note\">The full table needs JavaScript; <code>tench "
    "results --csv</code> prints it without.</p></noscript></div>\n";

}  // namespace

std::vector<std::pair<std::string, std::string>> SummaryParts(const ReportData& data) {
  return {{"answers", AnswerSection(data)},      {"comparisons", ComparisonsSection(data)},
          {"study-counts", CountsSection(data)}, {"machine", MachineSection(data)},
          {"parity", ParitySection(data)},       {"capabilities", CapabilitySection(data)}};
}

std::string RenderPage(const ReportData& data, const ChartSet& charts, const PageOptions& options) {
  Page page(charts, !options.charts_script.empty());
  page.Add(options.live.section);
  page.Open(kSummary);
  if (data.cells.empty()) page.Add("<p class=\"note\">There are no runs.</p>\n");
  const auto parts = SummaryParts(data);
  page.Part(parts[0]);
  page.Charts(kSummary);
  for (size_t i = 1; i < parts.size(); ++i) {
    page.Heading(kPartTitles[i]);
    page.Part(parts[i]);
  }
  page.Close();
  for (const SectionRow* section :
       {&kBatch, &kLoss, &kAccuracy, &kMemory, &kInside, &kWhy, &kTrend}) {
    page.Open(*section);
    page.Charts(*section);
    if (section == &kAccuracy) page.Add(TrainingSection(data));
    if (section == &kInside) page.Add(LatencySection(data));
    page.Close();
  }
  page.Open(kTable);
  if (!data.ranking.common_flags.empty()) {
    page.Add(fmt::format("<p class=\"soft\">All measured cells: {}.</p>\n",
                         HtmlText(Join(data.ranking.common_flags, ", "))));
  }
  page.Add(kFullTable);
  page.Close();
  page.Open(kThen);
  page.Charts(kThen);
  page.Add(PublishedSection());
  page.Close();
  page.Add("<section id=\"method\">\n<h2>How this was measured</h2>\n");
  page.Add(MethodSection(data));
  page.Close();

  std::string out = Head(options) + Header(data, options) + page.Take() + "</main>\n";
  out += "<script type=\"application/json\" id=\"tench-data\">" + ScriptJson(PageData(charts)) +
         "</script>\n";
  // In its own function scope, so that its global names do not clash with the page's.
  if (!options.charts_script.empty()) {
    out += "<script>(function () {\n";
    out += options.charts_script;
    out += "\n})();</script>\n";
  }
  out += "<script>\n(function () {\n\"use strict\";\n";
  out += kPageScript;
  out += "})();\n</script>\n";
  if (!options.live.script.empty()) {
    out += "<script>\n(function () {\n\"use strict\";\n";
    out += options.live.script;
    out += "})();\n</script>\n";
  }
  return out + "</body>\n</html>\n";
}

}  // namespace tench
