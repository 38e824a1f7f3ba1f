// SPDX-License-Identifier: Apache-2.0
#include "batches/batch_server.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/text.h"
#include "protocol/message.h"
#include "worker/job_input.h"
#include "worker/test_split.h"

namespace tench {
namespace {

Status WriteAll(const Fd& fd, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(fd.get(), at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("the worker does not read its batches: {}", strerror(errno));
    at += written;
    bytes -= static_cast<size_t>(written);
  }
  return Ok();
}

Status WriteLine(const Fd& fd, const Json& json) {
  const std::string line = PrintJson(json) + "\n";
  return WriteAll(fd, line.data(), line.size());
}

Result<int64_t> ParseStep(const std::string& line) {
  int64_t step = 0;
  const char* end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data(), end, step);
  if (error != std::errc() || rest != end || step < 0)
    return Failed("'{}' is not the number of a step", line);
  return step;
}

Status WriteBatch(const Fd& fd, std::span<const HostTensor> batch) {
  TENCH_TRY(WriteLine(fd, Json::object()));
  for (const HostTensor& tensor : batch) {
    TENCH_TRY(WriteAll(fd, tensor.f32.data(), tensor.f32.size() * sizeof(float)));
    TENCH_TRY(WriteAll(fd, tensor.i32.data(), tensor.i32.size() * sizeof(int32_t)));
  }
  return Ok();
}

// The part of an evaluation's line, which the worker takes over.
Json ScoresToJson(const Evaluation& evaluation) {
  const Result<Json> line = ParseJson(ToLine(evaluation), "evaluation");
  Json json = line.ok() ? *line : Json::object();
  for (const char* key : {"type", "step", "eval_ns"}) json.erase(key);
  return json;
}

// A job's evaluation: "test I" and "score LOSS" in turns.
class EvaluationServer {
 public:
  explicit EvaluationServer(TestSplit split) : split_(std::move(split)) {}

  Json Announcement() const { return {{"batches", split_.batches()}, {"logits", split_.logits()}}; }

  Status SendBatch(std::string_view text, const Fd& answers) {
    const Result<int64_t> index = ParseInteger(text);
    if (!index.ok() || *index != next_)
      return Failed("'test {}' is not batch {} of the test split", text, next_);
    if (next_ == 0) split_.Begin();
    sent_ = true;
    return WriteBatch(answers, TENCH_TRY(split_.Read(next_)));
  }

  Status TakeScore(std::string_view text, std::istream& requests, const Fd& answers) {
    if (!sent_) return Failed("a score without a batch of the test split");
    sent_ = false;
    const double loss = TENCH_TRY(ParseReal(text));
    logits_.resize(split_.logits().empty() ? 0 : static_cast<size_t>(split_.logit_count()));
    const auto bytes = static_cast<std::streamsize>(logits_.size() * sizeof(float));
    if (!requests.read(reinterpret_cast<char*>(logits_.data()), bytes))
      return Failed("the scores of a batch end early");
    TENCH_TRY(split_.Add(loss, logits_));
    next_ = (next_ + 1) % split_.batches();
    return WriteLine(answers, next_ == 0 ? ScoresToJson(split_.Scores()) : Json::object());
  }

 private:
  TestSplit split_;
  int64_t next_ = 0;
  bool sent_ = false;  // the batch to score
  std::vector<float> logits_;
};

Status Serve(std::istream& requests, const Fd& answers) {
  std::string line;
  if (!std::getline(requests, line)) return Failed("there is no job");
  const Job job = TENCH_TRY(ParseJob(line, "job"));
  const Graph network = job.phase == Phase::kForward ? InferenceGraph(job.network) : job.network;
  const TypedGraph graph = TENCH_TRY(Infer(network, job.batch));
  JobInput input = TENCH_TRY(JobInput::Open(job, graph));
  std::optional<EvaluationServer> evaluation;
  if (job.evaluation.any()) evaluation.emplace(TENCH_TRY(TestSplit::Open(job)));
  TENCH_TRY(WriteLine(answers, evaluation ? evaluation->Announcement() : Json::object()));
  while (std::getline(requests, line)) {
    const std::string_view text = line;
    if (evaluation && text.starts_with("test ")) {
      TENCH_TRY(evaluation->SendBatch(text.substr(5), answers));
    } else if (evaluation && text.starts_with("score ")) {
      TENCH_TRY(evaluation->TakeScore(text.substr(6), requests, answers));
    } else {
      const int64_t step = TENCH_TRY(ParseStep(line));
      TENCH_TRY(input.MakeBatchOf(step));
      TENCH_TRY(WriteBatch(answers, input.batch()));
    }
  }
  return Ok();
}

}  // namespace

Status ServeBatches(std::istream& requests, const Fd& answers) {
  Status served = Serve(requests, answers);
  if (!served.ok()) {
    Json error = {{"error", served.error().message}};
    if (served.error().kind == ErrorKind::kUnsupported) error["kind"] = "unsupported";
    // If the worker is gone, this fails as well.
    [[maybe_unused]] const Status told = WriteLine(answers, error);
  }
  return served;
}

}  // namespace tench
