// SPDX-License-Identifier: Apache-2.0
#include "worker/timed_loop.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "worker/process_facts.h"

namespace tench {
namespace {

constexpr int64_t kEmitEveryNs = 200'000'000;
// Keeps a line far below kMaxLineBytes for steps of any length.
constexpr size_t kStepsPerLine = 16384;

class TimedLoop {
 public:
  TimedLoop(Adapter& adapter, const LoopOptions& options,
            const std::function<Status(const Steps&)>& emit)
      : adapter_(adapter),
        options_(options),
        emit_(emit),
        clock_(options.clock != nullptr ? *options.clock : system_clock_) {
    pending_.step_ns.reserve(kStepsPerLine);
    pending_.loss.reserve(kStepsPerLine);
    if (options.next_batch) pending_.input_ns.reserve(kStepsPerLine);
  }

  Result<LoopResult> Run() {
    TENCH_TRY(Evaluate());
    TENCH_TRY(WarmUp(options_.budget.warmup_steps));
    adapter_.RestartProfile();
    StopRule rule(options_.budget);
    LoopResult result;
    if (options_.next_turn) {
      TENCH_TRY(RunTurns(rule, result));
    } else {
      TENCH_TRY(RunTimed(rule, result, [] { return false; }));
    }
    // Turns may end before the last step.
    result.converged = reached_ || (rule.Converged() && (!options_.next_turn || rule.Finished()));
    result.steps = step_;
    result.traced = std::move(traced_);
    result.stopped = Stopped() && !rule.Finished() && !reached_;
    if (evaluated_at_ != step_ && !result.stopped) TENCH_TRY(Evaluate());
    return result;
  }

 private:
  bool Stopped() const { return options_.stop.stop_requested(); }

  Status WarmUp(int64_t steps) {
    last_emit_ns_ = clock_.Now();
    pending_.warmup = true;
    for (const int64_t end = step_ + steps; step_ < end && !Stopped();) TENCH_TRY(OneStep());
    TENCH_TRY(Emit());
    pending_.warmup = false;
    return Ok();
  }

  Status RunTurns(StopRule& rule, LoopResult& result) {
    while (!Stopped()) {
      const std::optional<Turn> turn = TENCH_TRY(options_.next_turn());
      if (!turn) return Ok();
      TENCH_TRY(WarmUp(turn->warmup_steps));
      const int64_t end = step_ + turn->steps;
      TENCH_TRY(RunTimed(rule, result, [&] { return step_ >= end; }));
    }
    return Ok();
  }

  // Timed steps until the rule or `enough` ends them; adds their times to the result.
  template <class Enough>
  Status RunTimed(StopRule& rule, LoopResult& result, const Enough& enough) {
    const bool open_ended = options_.budget.fixed_steps == 0;
    counts_code_ = options_.generated_code && step_ > 0;
    if (counts_code_) code_bytes_ = options_.generated_code();
    helper_cpu_ns_ = 0;
    const int64_t cpu_start_ns = CpuNs(getpid()), start_ns = clock_.Now();
    reached_ = false;  // a result has timed steps, even if the warm-up reached the target
    while (!rule.Finished() && !Stopped() && !reached_ && !enough()) {
      const double loss = TENCH_TRY(OneStep());
      rule.Add(last_step_ns_);
      // After divergence, more steps have no value for the stop rule; fixed steps are completed as
      // requested.
      const int64_t timed = static_cast<int64_t>(rule.steps().size());
      if (open_ended && !std::isfinite(loss) && timed >= options_.budget.min_steps) break;
    }
    result.cpu_ns += CpuNs(getpid()) - cpu_start_ns + helper_cpu_ns_;
    result.wall_ns += clock_.Now() - start_ns;
    NoteCompilation();
    counts_code_ = false;
    return Emit();
  }

  // In the line of the last steps, which is not emitted before it.
  void NoteCompilation() {
    if (!counts_code_) return;
    const int64_t before = std::exchange(code_bytes_, options_.generated_code());
    if (code_bytes_ > before) ++pending_.compilations;
  }

  Result<double> OneStep() {
    if (last_end_ns_ - last_emit_ns_ >= kEmitEveryNs || pending_.step_ns.size() == kStepsPerLine)
      TENCH_TRY(Emit());
    TENCH_TRY(SetLearningRate());
    last_step_ns_ = 0;
    int64_t input_ns = 0, first_ns = 0;
    double sum = 0;
    for (int64_t i = 0; i < options_.batches; ++i) {
      input_ns += TENCH_TRY(NextBatch(step_ * options_.batches + i));
      // Summed step by step, because the helper may be replaced between steps by a process that
      // starts at zero.
      if (options_.before_step) options_.before_step();
      const pid_t helper = adapter_.Helper();
      const int64_t helper_start_ns = CpuNs(helper);
      const int64_t start_ns = clock_.Now();
      if (i == 0) first_ns = start_ns;
      sum += TENCH_TRY(adapter_.Step(options_.phase));
      last_end_ns_ = clock_.Now();
      helper_cpu_ns_ += std::max<int64_t>(0, CpuNs(helper) - helper_start_ns);
      last_step_ns_ += adapter_.LastStepNs().value_or(last_end_ns_ - start_ns);
    }
    if (!pending_.warmup && static_cast<int64_t>(traced_.size()) < options_.traced_steps)
      traced_.push_back({first_ns, last_end_ns_});
    const double loss = sum / static_cast<double>(options_.batches);
    if (options_.next_batch) pending_.input_ns.push_back(input_ns);
    pending_.step_ns.push_back(last_step_ns_);
    pending_.loss.push_back(loss);
    ++step_;
    if (options_.after_step) TENCH_TRY(options_.after_step(step_));
    if (step_ % options_.evaluate_every == 0) TENCH_TRY(Evaluate());
    return loss;
  }

  // The steps that it evaluates are emitted first.
  Status Evaluate() {
    if (!options_.evaluate) return Ok();
    NoteCompilation();
    TENCH_TRY(Emit());
    reached_ = TENCH_TRY(options_.evaluate(step_));
    evaluated_at_ = step_;
    // The evaluation compiles a network of its own.
    if (counts_code_) code_bytes_ = options_.generated_code();
    return Ok();
  }

  // Returns the time to pass the batch to the adapter.
  Result<int64_t> NextBatch(int64_t batch) {
    if (options_.make_batch) TENCH_TRY(options_.make_batch(batch));
    if (!options_.next_batch) return int64_t{0};
    const int64_t start_ns = clock_.Now();
    TENCH_TRY(options_.next_batch(batch));
    return clock_.Now() - start_ns;
  }

  Status SetLearningRate() {
    if (options_.lr_schedule.empty()) return Ok();
    const size_t last = options_.lr_schedule.size() - 1;
    const double rate = options_.lr_schedule[std::min(static_cast<size_t>(step_), last)];
    if (rate == learning_rate_) return Ok();
    learning_rate_ = rate;
    return adapter_.SetLearningRate(rate);
  }

  Status Emit() {
    if (pending_.step_ns.empty()) return Ok();
    pending_.first = step_ - static_cast<int64_t>(pending_.step_ns.size());
    TENCH_TRY(emit_(pending_));
    pending_.step_ns.clear();
    pending_.input_ns.clear();
    pending_.loss.clear();
    pending_.compilations = 0;
    last_emit_ns_ = clock_.Now();
    return Ok();
  }

  Adapter& adapter_;
  const LoopOptions& options_;
  const std::function<Status(const Steps&)>& emit_;
  SystemClock system_clock_;
  Clock& clock_;
  Steps pending_;
  std::optional<double> learning_rate_;
  int64_t step_ = 0, last_step_ns_ = 0, last_end_ns_ = 0, last_emit_ns_ = 0;
  bool counts_code_ = false;
  int64_t code_bytes_ = 0;
  int64_t helper_cpu_ns_ = 0;
  int64_t evaluated_at_ = -1;
  bool reached_ = false;
  std::vector<LoopResult::Interval> traced_;
};

}  // namespace

Result<LoopResult> RunTimedLoop(Adapter& adapter, const LoopOptions& options,
                                const std::function<Status(const Steps&)>& emit) {
  return TimedLoop(adapter, options, emit).Run();
}

}  // namespace tench
