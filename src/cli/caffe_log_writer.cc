// SPDX-License-Identifier: Apache-2.0
#include "cli/caffe_log_writer.h"

#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "net/op_traits.h"

namespace tench {
namespace {

// "I20261115 23:02:19.619979 29467 "
std::string Prefix() {
  timeval now;
  gettimeofday(&now, nullptr);
  tm local;
  localtime_r(&now.tv_sec, &local);
  return fmt::format("I{:04}{:02}{:02} {:02}:{:02}:{:02}.{:06} {:5} ", local.tm_year + 1900,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                     now.tv_usec, getpid());
}

}  // namespace

CaffeLogWriter::CaffeLogWriter(const CaffeSolver& solver, const Graph& graph,
                               std::function<void(const std::string&)> write)
    : solver_(solver), network_(graph.name), write_(std::move(write)) {
  int losses = 0;
  for (const Layer& layer : graph.layers) {
    if (!IsLoss(layer.op)) continue;
    ++losses;
    loss_name_ = layer.name;
    loss_weight_ = LossWeight(layer.op);
  }
  if (losses != 1) loss_name_.clear();
}

void CaffeLogWriter::Line(const char* source, const std::string& text) {
  write_(fmt::format("{}{}] {}", Prefix(), source, text));
}

void CaffeLogWriter::Facts(const std::string& worker, const Job& job) {
  Line("tench.cpp:1",
       fmt::format("tench train: worker {}, network {}, device {}, batch {}, threads {}", worker,
                   network_, job.device, job.batch, job.threads));
  Line("tench.cpp:2", fmt::format("base_lr: {} momentum: {} weight_decay: {}", job.solver.lr,
                                  job.solver.momentum, job.solver.weight_decay));
}

void CaffeLogWriter::Testing(int64_t iteration, size_t test) {
  Line("solver.cpp:347", fmt::format("Iteration {}, Testing net (#{})", iteration, test));
}

void CaffeLogWriter::TestResult(size_t, const CaffeTestResult& result) {
  size_t output = 0;
  for (const auto& [name, share] : result.accuracies)
    Line("solver.cpp:414",
         fmt::format("    Test net output #{}: {} = {:.6g}", output++, name, share));
  const std::string loss = loss_name_.empty() ? "loss" : loss_name_;
  Line("solver.cpp:414",
       fmt::format("    Test net output #{}: {} = {:.6g} (* {:.6g} = {:.6g} loss)", output, loss,
                   result.loss / loss_weight_, loss_weight_, result.loss));
}

void CaffeLogWriter::Start() {
  Line("solver.cpp:289", "Solving " + network_);
  Line("solver.cpp:290",
       "Learning Rate Policy: " + RatePolicyNames()[static_cast<size_t>(solver_.rate.policy)]);
}

// A running mean over average_loss iterations, in the same order of summation as Caffe.
double CaffeLogWriter::Smoothed(double loss) {
  const auto count = static_cast<double>(recent_.size());
  if (recent_.size() < static_cast<size_t>(solver_.average_loss)) {
    smoothed_ = (smoothed_ * count + loss) / (count + 1);
    recent_.push_back(loss);
    return smoothed_;
  }
  smoothed_ += (loss - recent_.front()) / count;
  recent_.erase(recent_.begin());
  recent_.push_back(loss);
  return smoothed_;
}

void CaffeLogWriter::Step(int64_t iteration, int64_t step_ns, double loss) {
  const double smoothed = Smoothed(loss);
  lapse_ns_ += step_ns;
  ++lapse_steps_;
  if (solver_.display == 0 || iteration % solver_.display != 0) return;
  if (iteration == solver_.max_iterations) {
    Line("solver.cpp:327", fmt::format("Iteration {}, loss = {:.6g}", iteration, smoothed));
    return;
  }
  const double seconds = static_cast<double>(lapse_ns_) / 1e9;
  Line("solver.cpp:239",
       fmt::format("Iteration {} ({:.6g} iter/s, {:.6g}s/{} iters), loss = {:.6g}", iteration,
                   seconds > 0 ? static_cast<double>(lapse_steps_) / seconds : 0, seconds,
                   solver_.display, smoothed));
  if (!loss_name_.empty())
    Line("solver.cpp:258",
         fmt::format("    Train net output #0: {} = {:.6g} (* {:.6g} = {:.6g} loss)", loss_name_,
                     loss / loss_weight_, loss_weight_, loss));
  Line("sgd_solver.cpp:112",
       fmt::format("Iteration {}, lr = {:.6g}", iteration, solver_.rate.At(iteration)));
  lapse_ns_ = lapse_steps_ = 0;
}

void CaffeLogWriter::Weights(const std::string& file) {
  Line("caffe.cpp:166", "Finetuning from " + file);
}
void CaffeLogWriter::Snapshot(const std::string& file) {
  Line("solver.cpp:464", "Snapshotting to binary proto file " + file);
}

void CaffeLogWriter::SnapshotState(const std::string& file) {
  Line("sgd_solver.cpp:273", "Snapshotting solver state to binary proto file " + file);
}
void CaffeLogWriter::Resuming(const std::string& file) {
  Line("caffe.cpp:242", "Resuming from " + file);
}

void CaffeLogWriter::Done(bool complete) {
  Line("solver.cpp:332", complete ? "Optimization Done." : "Optimization stopped early.");
}

}  // namespace tench
