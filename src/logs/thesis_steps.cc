// SPDX-License-Identifier: Apache-2.0
#include "logs/thesis_steps.h"

#include <cmath>
#include <set>
#include <tuple>

#include "base/text.h"
#include "logs/log_lines.h"

namespace tench {
namespace {

constexpr double kMaxStepSeconds = 1e6;
constexpr std::string_view kColumns = "network,mode,batch,step,loss,time";

struct Line {
  std::string network, mode;
  int64_t batch = 0, step = 0;
  double loss = 0, seconds = 0;
};

// "nan" and "inf" are losses of trainings that diverged.
Result<double> ParseLoss(std::string_view text) {
  if (text == "nan" || text == "-nan") return NAN;
  if (text == "inf" || text == "-inf") return text == "inf" ? INFINITY : -INFINITY;
  return ParseReal(text);
}

Result<Line> ParseLine(std::string_view text) {
  const std::vector<std::string> parts = Split(text, ',');
  const auto wrong = [&](std::string_view what) {
    return Failed("{} in '{}'; a line is {}", what, Printable(text, 80), kColumns);
  };
  if (parts.size() != 6) return wrong(fmt::format("{} columns", parts.size()));
  const Result<int64_t> batch = ParseInteger(parts[2]), step = ParseInteger(parts[3]);
  const Result<double> loss = ParseLoss(parts[4]), seconds = ParseReal(parts[5]);
  if (parts[0].empty()) return wrong("no network");
  if (parts[1] != "CPU" && parts[1] != "GPU") return wrong("a mode other than CPU and GPU");
  if (!batch.ok() || *batch < 1) return wrong("no batch size");
  if (!step.ok() || *step < 0) return wrong("no step");
  if (!loss.ok()) return wrong("no loss");
  if (!seconds.ok() || !(*seconds >= 0 && *seconds < kMaxStepSeconds)) return wrong("no time");
  return Line{parts[0], parts[1], *batch, *step, *loss, *seconds};
}

}  // namespace

Result<std::vector<ThesisTraining>> ReadThesisSteps(std::string_view text,
                                                    std::string_view origin) {
  std::vector<ThesisTraining> trainings;
  std::set<std::tuple<std::string, std::string, int64_t>> seen;
  int64_t previous = 0;
  const auto read = [&](std::string_view raw) -> Status {
    const std::string_view trimmed = Trim(raw);
    if (trimmed.empty() || trimmed.starts_with('#')) return Ok();
    const Line line = TENCH_TRY(ParseLine(trimmed));
    const bool same = !trainings.empty() && trainings.back().network == line.network &&
                      trainings.back().mode == line.mode && trainings.back().batch == line.batch;
    if (!same) {
      if (!seen.emplace(line.network, line.mode, line.batch).second)
        return Failed("{} {} batch {} occurs twice", Printable(line.network), line.mode,
                      line.batch);
      trainings.push_back({line.network, line.mode, line.batch, {}});
      trainings.back().log.first_step = line.step;
    } else if (line.step <= previous) {
      return Failed("step {} after step {}", line.step, previous);
    }
    previous = line.step;
    trainings.back().log.step_ns.push_back(std::llround(line.seconds * 1e9));
    trainings.back().log.loss.push_back(line.loss);
    return Ok();
  };
  TENCH_TRY(ForEachLogLine(text, origin, read));
  if (trainings.empty())
    return Failed("{}: no lines of the form {}; loss_*.csv has them, times_*.csv has not", origin,
                  kColumns);
  return trainings;
}

Result<ThesisFile> ParseThesisName(std::string_view name) {
  const size_t library = name.rfind('_');
  if (!name.starts_with("loss_") || !name.ends_with(".csv") || library <= 5 ||
      library + 5 >= name.size())
    return Failed(
        "'{}' is not named loss_{{machine}}_{{library}}.csv; rename it, or use --machine and "
        "--worker",
        Printable(name));
  return ThesisFile{std::string(name.substr(5, library - 5)),
                    std::string(name.substr(library + 1, name.size() - library - 5))};
}

}  // namespace tench
