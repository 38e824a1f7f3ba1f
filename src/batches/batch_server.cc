// SPDX-License-Identifier: Apache-2.0
#include "batches/batch_server.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

#include "base/json.h"
#include "protocol/message.h"
#include "worker/job_input.h"

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

Status Serve(std::istream& requests, const Fd& answers) {
  std::string line;
  if (!std::getline(requests, line)) return Failed("there is no job");
  const Job job = TENCH_TRY(ParseJob(line, "job"));
  const Graph network = job.phase == Phase::kForward ? InferenceGraph(job.network) : job.network;
  const TypedGraph graph = TENCH_TRY(Infer(network, job.batch));
  JobInput input = TENCH_TRY(JobInput::Open(job, graph));
  TENCH_TRY(WriteLine(answers, Json::object()));
  while (std::getline(requests, line)) {
    const int64_t step = TENCH_TRY(ParseStep(line));
    TENCH_TRY(input.MakeBatchOf(step));
    TENCH_TRY(WriteBatch(answers, input.batch()));
  }
  return Ok();
}

}  // namespace

Status ServeBatches(std::istream& requests, const Fd& answers) {
  Status served = Serve(requests, answers);
  if (!served.ok()) {
    // If the worker is gone, this fails as well.
    [[maybe_unused]] const Status told =
        WriteLine(answers, Json{{"error", served.error().message}});
  }
  return served;
}

}  // namespace tench
