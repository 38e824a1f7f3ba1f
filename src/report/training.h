// SPDX-License-Identifier: Apache-2.0
#pragma once
// Trainings that were evaluated on a test split: accuracy and loss of each worker, and the seconds
// and epochs until the target of the budget. A row holds the runs of all seeds and rounds of one
// cell; its interval is over them. Of a round that was repeated the last repetition counts: the
// same seed gives the same accuracy again. Training time is the sum of steps and exposed input,
// warm-up included, without evaluations. Thread safety: no shared state; a builder belongs to one
// thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "axis/cell.h"
#include "record/evaluation.h"
#include "store/record.h"

namespace tench {

// Over the runs of a row: their mean and, of two or more, Student's t-interval of it.
struct TrainingFigure {
  int64_t runs = 0;
  double mean = 0;
  std::optional<double> low, high;
};

struct TrainingRow {
  Cell cell;  // without worker, options and seed
  std::string machine, worker, worker_version, build;
  std::map<std::string, std::string> options;
  Role role = Role::kFramework;
  std::string test_data, until;  // as the budget states them
  int64_t samples = 0;           // of the test split
  int64_t runs = 0, reached = 0;
  int64_t seeds = 0;  // distinct ones
  // Of the runs that reached the target.
  std::optional<TrainingFigure> target_ns, target_epochs, target_joules;
  // Of the last evaluation of all runs.
  std::optional<TrainingFigure> top1, top5, loss;
  std::optional<TrainingFigure> evaluation_ns;  // the time of all evaluations of a run
  std::vector<Evaluation> curve;                // of the newest run
};

class TrainingTable {
 public:
  void Add(const RunRecord& run);
  // By machine, cell and target; within these the fastest first, then those that did not reach it.
  std::vector<TrainingRow> Finish() &&;

 private:
  // What a row needs of a run.
  struct Counted {
    int64_t repetition = 0, seed = 0;
    std::optional<int64_t> target_ns, evaluation_ns;
    std::optional<double> target_epochs, joules, top1, top5, loss;
  };
  struct State {
    TrainingRow row;
    // By study, round, cell and, outside of a study, the number of the run.
    std::map<std::tuple<int64_t, int64_t, std::string, size_t>, Counted> runs;
  };
  std::map<std::string, State> rows_;
};

// Whether two rows belong to one table.
bool SameTraining(const TrainingRow& a, const TrainingRow& b);

// The texts of a row, shared by the terminal and the page; missing values are empty.
struct TrainingText {
  std::string worker, reached, seconds, epochs, energy, top1, top5, loss, evaluation, runs;
};
TrainingText TextOf(const TrainingRow& row);
// "lenet on mnist:digits, batch 64, train: accuracy >= 0.98 on mnist:test, 1000 samples".
std::string TrainingTitle(const TrainingRow& row);

inline constexpr std::string_view kTrainingMeaning =
    "Training time is steps and exposed input, warm-up included, without evaluations. ± is half of "
    "the 95 % interval of the mean over seeds and rounds.";

}  // namespace tench
