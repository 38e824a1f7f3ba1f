// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/process.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/clock.h"
#include "base/text.h"
#include "logs/glog_line.h"

namespace tench::caffe_worker {
namespace {

constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kMaxLineBytes = 16 << 20;
constexpr int64_t kExitNs = 30'000'000'000;

bool Mentions(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ChildEnvironment(int64_t threads) {
  std::map<std::string, std::string> variables;
  for (char** text = environ; text != nullptr && *text != nullptr; ++text) {
    const std::string_view pair = *text;
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos)
      variables[std::string(pair.substr(0, equals))] = pair.substr(equals + 1);
  }
  for (const char* name :
       {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"})
    variables[name] = std::to_string(threads);
  // Otherwise glog leaves a file in the temporary folder for every process.
  variables["GLOG_logtostderr"] = "1";
  variables["GLOG_minloglevel"] = "0";
  return {variables.begin(), variables.end()};
}

Result<CaffeProcess> CaffeProcess::Start(const std::filesystem::path& binary,
                                         std::vector<std::string> arguments,
                                         const std::filesystem::path& folder, int64_t threads) {
  Pipe pipe = TENCH_TRY(Pipe::Make());
  SpawnOptions spawn;
  spawn.executable = binary;
  spawn.arguments = std::move(arguments);
  spawn.environment = ChildEnvironment(threads);
  spawn.folder = folder;
  spawn.output_fd = pipe.out.get();
  Subprocess child = TENCH_TRY(Subprocess::Spawn(spawn));
  return CaffeProcess(std::move(child), std::move(pipe.in));
}

Result<std::optional<std::string_view>> CaffeProcess::ReadLine() {
  for (;;) {
    const size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      const std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
      begin_ = searched_ = end + 1;
      Note(line);
      return std::optional(line);
    }
    buffer_.erase(0, std::exchange(begin_, 0));
    searched_ = buffer_.size();
    if (buffer_.size() > kMaxLineBytes)
      return Failed("caffe wrote a line of more than {}", HumanBytes(kMaxLineBytes));
    pollfd ready{log_.get(), POLLIN, 0};
    if (poll(&ready, 1, -1) < 0 && errno != EINTR)
      return Failed("cannot wait for caffe: {}", std::strerror(errno));
    const size_t size = buffer_.size();
    buffer_.resize(size + kReadBytes);
    const ssize_t got = read(log_.get(), buffer_.data() + size, kReadBytes);
    buffer_.resize(size + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return std::optional<std::string_view>();
    if (got < 0 && errno != EAGAIN && errno != EINTR)
      return Failed("cannot read the output of caffe: {}", std::strerror(errno));
  }
}

void CaffeProcess::Note(std::string_view line) {
  if (!line.empty()) last_ = line;
  const bool fatal = line.starts_with('F') || line.starts_with("terminate called") ||
                     line.starts_with("  what():");
  if (!fatal) return;
  const std::optional<GlogLine> log = ParseGlogLine(line);
  if (fatal_.empty() || !log) fatal_ += log ? log->message : line;
}

Status CaffeProcess::ReadUntil(std::string_view text) {
  for (;;) {
    const std::optional<std::string_view> line = TENCH_TRY(ReadLine());
    if (!line) return Failure();
    if (Mentions(*line, text)) return Ok();
  }
}

Status CaffeProcess::Finish() {
  while (TENCH_TRY(ReadLine())) {
  }
  const std::optional<ExitStatus> status = child_.Wait(NowNs() + kExitNs);
  return status && status->clean() ? Ok() : Status(Failure());
}

Error CaffeProcess::Failure() {
  const std::optional<ExitStatus> status = child_.Wait(NowNs() + kExitNs);
  const std::string words = Printable(fatal_.empty() ? last_ : fatal_, 300);
  const std::string how = status ? status->ToString() : "no end";
  if (Mentions(fatal_, "out of memory") || Mentions(fatal_, "bad_alloc") ||
      Mentions(fatal_, "host allocation of size"))
    return Error{fmt::format("caffe: {}", words), ErrorKind::kOutOfMemory};
  if (fatal_.empty() && status && status->signal == SIGKILL)
    return Error{"caffe was killed (SIGKILL), most likely by the kernel's OOM killer",
                 ErrorKind::kOutOfMemory};
  if (Mentions(fatal_, "Unknown layer type"))
    return Unsupported("this caffe was built without a required layer: {}", words);
  return Failed("caffe ended with {}: {}", how, words);
}

}  // namespace tench::caffe_worker
