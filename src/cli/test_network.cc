// SPDX-License-Identifier: Apache-2.0
#include "cli/test_network.h"

#include <memory>
#include <numeric>
#include <optional>

#include "base/text.h"
#include "cli/class_scores.h"
#include "data/data_set.h"
#include "data/file_data.h"

namespace tench {
namespace {

// The labels of a test's samples, in the order in which the worker reads them.
class TestLabels {
 public:
  static Result<TestLabels> Open(const Job& job) {
    TestLabels labels;
    labels.job_ = &job;
    if (job.data.empty()) {
      labels.graph_ = TENCH_TRY(Infer(job.network, job.batch));
      return labels;
    }
    labels.data_ = std::make_unique<FileData>(TENCH_TRY(FileData::Open(job.data)));
    const int64_t count = job.images > 0 ? std::min(job.images, labels.data_->facts().count)
                                         : labels.data_->facts().count;
    labels.order_ =
        std::make_unique<SampleOrder>(job.seed, count, labels.data_->reference().shuffle);
    return labels;
  }

  Result<std::vector<int64_t>> OfBatch(int64_t batch) {
    if (!data_) return Synthetic(batch);
    std::vector<int64_t> labels;
    StoredSample sample;
    for (int64_t i = 0; i < job_->batch; ++i) {
      TENCH_TRY(data_->source().Read(order_->At(batch * job_->batch + i), sample));
      labels.push_back(sample.label);
    }
    return labels;
  }

 private:
  Result<std::vector<int64_t>> Synthetic(int64_t batch) {
    std::vector<HostTensor> tensors;
    const int64_t images = job_->images > 0 ? job_->images : job_->batch;
    MakeBatch(graph_, {job_->seed, images, job_->labels}, batch * job_->batch % images, tensors);
    size_t input = 0;
    for (const TypedLayer& layer : graph_.layers) {
      const Input* op = std::get_if<Input>(&layer.layer.op);
      if (op == nullptr) continue;
      const HostTensor& tensor = tensors[input++];
      if (op->role == InputRole::kLabel)
        return std::vector<int64_t>(tensor.i32.begin(), tensor.i32.end());
    }
    return Failed("the test network '{}' has no labels", graph_.name);
  }

  const Job* job_ = nullptr;
  TypedGraph graph_;
  std::unique_ptr<FileData> data_;
  std::unique_ptr<SampleOrder> order_;
};

// Counts the hits of one Accuracy layer.
struct Counter {
  int64_t hits = 0, counted = 0;

  void Add(const CaffeAccuracy& accuracy, std::span<const float> scores,
           std::span<const int64_t> labels) {
    const size_t classes = scores.size() / labels.size();
    for (size_t i = 0; i < labels.size(); ++i) {
      if (accuracy.ignore_label == labels[i]) continue;
      ++counted;
      hits += IsAmongTop(scores.subspan(i * classes, classes), labels[i], accuracy.top_k) ? 1 : 0;
    }
  }
};

}  // namespace

Result<std::vector<CaffeTestNet>> OpenCaffeTests(const CaffeSolver& solver,
                                                 const std::string& solver_path, bool synthetic) {
  std::vector<CaffeTestNet> tests;
  for (const CaffeTest& test : solver.tests) {
    if (test.net.empty() && solver.network)
      return Unsupported("{}: tests of an inline network are not supported; put it in a file",
                         solver_path);
    const std::string path =
        ResolveCaffePath(test.net.empty() ? solver.net : test.net, solver_path);
    CaffeTestNet net{TENCH_TRY(OpenCaffeJob(path, test.state, "", synthetic, solver_path)),
                     test.iterations};
    if (net.job.network.batch == 0)
      return Failed("{}: the data layer of the phase TEST has no batch size", path);
    tests.push_back(std::move(net));
  }
  return tests;
}

Result<CaffeTestResult> RunCaffeTest(const CaffeTestNet& test, ForwardPass base, StopToken stop) {
  const CaffeNetwork& network = test.job.network;
  Job& job = base.job;
  job.network = network.graph;
  job.batch = network.batch;
  job.data = test.job.data;
  job.cycled = true;
  job.first_step = 0;
  if (job.data.empty()) job.images = test.batches * job.batch;
  base.batches = test.batches;
  for (const CaffeAccuracy& accuracy : network.accuracies) base.outputs.push_back(accuracy.scores);
  const Job labelled = job;
  std::optional<TestLabels> labels;
  if (!network.accuracies.empty()) labels = TENCH_TRY(TestLabels::Open(labelled));
  std::vector<Counter> counters(network.accuracies.size());
  const BatchOutputs count = [&](int64_t batch,
                                 const std::vector<std::vector<float>>& values) -> Status {
    const std::vector<int64_t> of_batch = TENCH_TRY(labels->OfBatch(batch));
    for (size_t i = 0; i < counters.size(); ++i)
      counters[i].Add(network.accuracies[i], values[i], of_batch);
    return Ok();
  };
  const ForwardAnswer answer = TENCH_TRY(RunForward(std::move(base), count, stop));
  CaffeTestResult result;
  for (size_t i = 0; i < counters.size(); ++i) {
    const double share = counters[i].counted > 0 ? static_cast<double>(counters[i].hits) /
                                                       static_cast<double>(counters[i].counted)
                                                 : 0;
    result.accuracies.emplace_back(network.accuracies[i].name, share);
  }
  if (!answer.loss.empty())
    result.loss = std::accumulate(answer.loss.begin(), answer.loss.end(), 0.0) /
                  static_cast<double>(answer.loss.size());
  return result;
}

}  // namespace tench
