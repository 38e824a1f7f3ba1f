// SPDX-License-Identifier: Apache-2.0
#include "report/why_text.h"

#include <cmath>

#include "base/plural.h"
#include "base/text.h"
#include "record/ceiling_json.h"
#include "report/text_table.h"

namespace tench {
namespace {

constexpr size_t kMostRows = 15;
constexpr const char* kRemainder = "remainder: framework gap, idle threads";

double Coverage(double kernels_ns, double step_ns) {
  return step_ns > 0 ? kernels_ns / step_ns : 0;
}

bool PlainRunsAgree(const Why& why) {
  const double difference = why.alignment.difference_ns();
  return why.plain_difference_ns && difference >= why.plain_difference_ns->low &&
         difference <= why.plain_difference_ns->high;
}

// Whether the profiled difference is that of unprofiled runs.
std::string PlainSentence(const Why& why) {
  if (!why.a.plain_step_ns || !why.b.plain_step_ns)
    return "Without unprofiled runs it is unknown how much the profiler itself changes the times.";
  const double plain = *why.b.plain_step_ns - *why.a.plain_step_ns;
  std::string text = fmt::format("Unprofiled, {} takes {} and {} {}: {}", why.alignment.a_name,
                                 HumanNs(*why.a.plain_step_ns), why.alignment.b_name,
                                 HumanNs(*why.b.plain_step_ns), SignedMs(plain));
  if (!why.plain_difference_ns)
    return text + "; an interval needs at least two rounds of unprofiled runs.";
  text += fmt::format(", 95 % interval {} to {}. ", SignedMs(why.plain_difference_ns->low),
                      SignedMs(why.plain_difference_ns->high));
  return text +
         (PlainRunsAgree(why)
              ? "The profiled difference lies within it."
              : "The profiled difference lies OUTSIDE of it: the profiler, or a mode that it "
                "needs, changes the times; trust the order of the rows more than their sum.");
}

std::string CoverageSentence(const std::string& name, double kernels_ns, double step_ns) {
  const double share = Coverage(kernels_ns, step_ns);
  std::string text = fmt::format("Kernels of {} cover {:.1f} % of its step", name, 100 * share);
  if (share > 1.001) return text + ": kernels overlap in time, so its remainder is negative.";
  if (share < kLeastCoverage)
    return text + fmt::format(", LESS than {:.0f} %: the decomposition leaves much unexplained.",
                              100 * kLeastCoverage);
  return text + ".";
}

std::string CpuSentence(const Why& why) {
  if (!why.a.cpu_per_wall || !why.b.cpu_per_wall) return "";
  return fmt::format("CPUs in use: {} {:.2f}, {} {:.2f} of {}.", why.alignment.a_name,
                     *why.a.cpu_per_wall, why.alignment.b_name, *why.b.cpu_per_wall,
                     Plural(why.threads, "thread"));
}

std::string CeilingSentence(const Why& why) {
  if (why.ceilings.empty()) return "";
  std::vector<std::string> parts;
  bool disturbed = false;
  for (const Ceiling& ceiling : why.ceilings) {
    disturbed |= ceiling.disturbed;
    parts.push_back(ceiling.flops_per_s > 0
                        ? fmt::format("{} {:.4g} GFLOP/s", ceiling.name, ceiling.flops_per_s / 1e9)
                        : fmt::format("{} {:.4g} GB/s", ceiling.name, ceiling.bytes_per_s / 1e9));
  }
  return fmt::format("Ceilings with {}: {}.{}", Plural(why.ceilings.front().threads, "thread"),
                     Join(parts, ", "),
                     disturbed ? " The machine was busy while they were measured." : "");
}

std::vector<std::string> Sentences(const Why& why) {
  const Alignment& alignment = why.alignment;
  std::vector<std::string> sentences = {
      PlainSentence(why),
      CoverageSentence(alignment.a_name, alignment.a_kernels_ns, alignment.a_step_ns),
      CoverageSentence(alignment.b_name, alignment.b_kernels_ns, alignment.b_step_ns)};
  for (std::string sentence : {CpuSentence(why), CeilingSentence(why)}) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  }
  return sentences;
}

std::string Time(double ns) { return ns == 0 ? "-" : HumanNs(ns); }

TextTable GroupTable(const Why& why) {
  const Alignment& alignment = why.alignment;
  TextTable table({{"group"},
                   {alignment.a_name, Align::kRight},
                   {alignment.b_name, Align::kRight},
                   {"difference", Align::kRight}});
  for (const GroupTime& group : alignment.groups)
    table.AddRow(
        {Name(group.group), Time(group.a_ns), Time(group.b_ns), SignedMs(group.difference_ns())});
  table.AddRow({kRemainder, Time(alignment.a_remainder_ns()), Time(alignment.b_remainder_ns()),
                SignedMs(alignment.b_remainder_ns() - alignment.a_remainder_ns())});
  table.AddRow({"step", HumanNs(alignment.a_step_ns), HumanNs(alignment.b_step_ns),
                SignedMs(alignment.difference_ns())});
  return table;
}

std::string Implementations(const AlignedRow& row) {
  const auto shown = [](const KernelShare& share) {
    return share.implementation.empty() ? std::string("-") : Printable(share.implementation, 40);
  };
  return shown(row.a) + " | " + shown(row.b);
}

TextTable LayerTable(const Why& why, size_t most) {
  const Alignment& alignment = why.alignment;
  TextTable table(
      {{"layer"},
       {"direction"},
       {alignment.a_name, Align::kRight},
       {alignment.b_name, Align::kRight},
       {"difference", Align::kRight},
       {"group", Align::kLeft, 1},
       {fmt::format("kernels ({} | {})", alignment.a_name, alignment.b_name), Align::kLeft, 2}});
  KernelShare a_rest, b_rest;
  for (size_t i = 0; i < alignment.rows.size(); ++i) {
    const AlignedRow& row = alignment.rows[i];
    if (i >= most) {
      a_rest.time_ns += row.a.time_ns;
      b_rest.time_ns += row.b.time_ns;
      continue;
    }
    table.AddRow({row.layer.empty() ? "(none)" : Printable(row.layer, 40), row.direction,
                  Time(row.a.time_ns), Time(row.b.time_ns), SignedMs(row.difference_ns()),
                  Name(row.group), Implementations(row)});
  }
  if (alignment.rows.size() > most) {
    table.AddRow({fmt::format("({} more)", alignment.rows.size() - most), "", Time(a_rest.time_ns),
                  Time(b_rest.time_ns), SignedMs(b_rest.time_ns - a_rest.time_ns), "", ""});
  }
  return table;
}

std::string Headline(const Why& why) {
  const Alignment& alignment = why.alignment;
  return fmt::format("{}: one step takes {} in {} and {} in {} ({}, × {:.2f}), profiled", why.title,
                     HumanNs(alignment.a_step_ns), alignment.a_name, HumanNs(alignment.b_step_ns),
                     alignment.b_name, SignedMs(alignment.difference_ns()),
                     alignment.a_step_ns > 0 ? alignment.b_step_ns / alignment.a_step_ns : 0);
}

}  // namespace

std::string RenderWhy(const Why& why, size_t width) {
  std::string out =
      WrapText(Headline(why), width, 2) + "\n\n" + GroupTable(why).Render(width) + "\n";
  for (const std::string& sentence : Sentences(why)) out += WrapText(sentence, width, 2) + "\n";
  TextTable layers = LayerTable(why, kMostRows);
  layers.Fit(width);
  out += "\n" + layers.Render(width);
  if (!why.causes.empty()) out += "\nLeading causes:\n";
  for (size_t i = 0; i < why.causes.size(); ++i) {
    out += WrapText(fmt::format("{}. {}", i + 1, why.causes[i].sentence), width, 3) + "\n";
    // A command is never broken, so that it can be copied.
    if (!why.commands[i].empty()) out += "   " + why.commands[i] + "\n";
  }
  return out;
}

std::string RenderWhyMarkdown(const Why& why) {
  std::string out = Headline(why) + ".\n\n" + GroupTable(why).RenderMarkdown() + "\n";
  for (const std::string& sentence : Sentences(why)) out += "- " + sentence + "\n";
  out += "\n" + LayerTable(why, why.alignment.rows.size()).RenderMarkdown();
  if (!why.causes.empty()) out += "\nLeading causes:\n\n";
  for (size_t i = 0; i < why.causes.size(); ++i) {
    out += fmt::format("{}. {}\n", i + 1, why.causes[i].sentence);
    if (!why.commands[i].empty()) out += fmt::format("   `{}`\n", why.commands[i]);
  }
  return out;
}

namespace {

Json ShareToJson(const KernelShare& share) {
  return {{"time_ns", share.time_ns},
          {"calls", share.calls},
          {"flops", share.flops},
          {"bytes", share.bytes},
          {"implementation", share.implementation}};
}

Json SideToJson(const std::string& name, const WhySide& side, double step_ns, double kernels_ns) {
  return {{"worker", name},
          {"version", side.version},
          {"step_ns", step_ns},
          {"kernels_ns", kernels_ns},
          {"remainder_ns", step_ns - kernels_ns},
          {"coverage", Coverage(kernels_ns, step_ns)},
          {"unprofiled_step_ns", OptionalToJson(side.plain_step_ns)},
          {"cpu_per_wall", OptionalToJson(side.cpu_per_wall)},
          {"profiled_runs", side.profiled_runs},
          {"unprofiled_runs", side.plain_runs},
          {"command", side.command}};
}

}  // namespace

Json WhyToJson(const Why& why) {
  const Alignment& alignment = why.alignment;
  Json groups = Json::array(), rows = Json::array(), causes = Json::array();
  for (const GroupTime& group : alignment.groups)
    groups.push_back({{"group", Name(group.group)},
                      {"a_ns", group.a_ns},
                      {"b_ns", group.b_ns},
                      {"difference_ns", group.difference_ns()}});
  for (const AlignedRow& row : alignment.rows)
    rows.push_back({{"layer", row.layer},
                    {"direction", row.direction},
                    {"group", Name(row.group)},
                    {"difference_ns", row.difference_ns()},
                    {"a", ShareToJson(row.a)},
                    {"b", ShareToJson(row.b)}});
  for (size_t i = 0; i < why.causes.size(); ++i)
    causes.push_back({{"layer", why.causes[i].layer},
                      {"difference_ns", why.causes[i].difference_ns},
                      {"sentence", why.causes[i].sentence},
                      {"command", why.commands[i]}});
  Json interval = nullptr;
  if (why.plain_difference_ns)
    interval = {{"low_ns", why.plain_difference_ns->low},
                {"high_ns", why.plain_difference_ns->high},
                {"holds_profiled_difference", PlainRunsAgree(why)}};
  return {{"title", why.title},
          {"threads", why.threads},
          {"a", SideToJson(alignment.a_name, why.a, alignment.a_step_ns, alignment.a_kernels_ns)},
          {"b", SideToJson(alignment.b_name, why.b, alignment.b_step_ns, alignment.b_kernels_ns)},
          {"difference_ns", alignment.difference_ns()},
          {"unprofiled_difference", interval},
          {"groups", groups},
          {"rows", rows},
          {"ceilings", CeilingsToJson(why.ceilings)},
          {"causes", causes}};
}

}  // namespace tench
