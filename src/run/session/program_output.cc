// SPDX-License-Identifier: Apache-2.0
#include "run/session/program_output.h"

#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "run/session/worker_process.h"

namespace tench {
namespace {

class OutputReader final : public WorkerProcess::Watcher {
 public:
  OutputReader(WorkerProcess& process, int64_t patience_ns, size_t limit_bytes)
      : process_(process),
        output_(process.TakeAnswers()),
        deadline_ns_(process.launched_ns() + patience_ns),
        limit_bytes_(limit_bytes) {}

  int answers_fd() const override { return output_.get(); }
  bool ReadAnswers() override {
    if (!output_.valid()) return false;
    char buffer[16 << 10];
    const ssize_t got = read(output_.get(), buffer, sizeof buffer);
    if (got > 0) text_.append(buffer, static_cast<size_t>(got));
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0 || too_long()) output_.Close();
    return output_.valid();
  }
  int64_t OnWake(int64_t now_ns) override {
    late_ = late_ || now_ns >= deadline_ns_;
    if (!late_) return deadline_ns_;
    process_.Kill();
    return std::numeric_limits<int64_t>::max();
  }

  bool late() const { return late_; }
  bool too_long() const { return text_.size() > limit_bytes_; }
  std::string TakeText() { return std::move(text_); }

 private:
  WorkerProcess& process_;
  Fd output_;
  const int64_t deadline_ns_;
  const size_t limit_bytes_;
  bool late_ = false;
  std::string text_;
};

}  // namespace

Result<ProgramOutput> OutputOf(WorkerLaunch launch, int64_t patience_ns, size_t limit_bytes) {
  WorkerProcess process = TENCH_TRY(WorkerProcess::Start(std::move(launch)));
  OutputReader reader(process, patience_ns, limit_bytes);
  process.Watch(reader);
  ProgramOutput output;
  output.late = reader.late();
  output.too_long = reader.too_long();
  output.text = reader.TakeText();
  output.last_line = process.log().LastLine();
  output.exit = process.exit().value_or(ExitStatus{});
  return output;
}

}  // namespace tench
