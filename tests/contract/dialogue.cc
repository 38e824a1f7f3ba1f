// SPDX-License-Identifier: Apache-2.0
#include "dialogue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "test_name.h"

namespace tench {
namespace {

constexpr int64_t kPatienceNs = 120'000'000'000;

std::string TypeOf(const Message& message) {
  return std::visit(
      Overload{[](const Hello&) { return "hello"; }, [](const Built&) { return "build"; },
               [](const Steps&) { return "steps"; }, [](const Done&) { return "result"; },
               [](const Failure&) { return "error"; }},
      message);
}

pid_t Start(const std::string& executable, std::vector<std::string> words, int answers) {
  words.insert(words.begin(), executable);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  if (answers != 3) {
    dup2(answers, 3);
    close(answers);
  }
  setenv(kXlaFlags, kQuickXla, 1);
  execv(executable.c_str(), argv.data());
  _exit(127);
}

std::string ReadAll(int fd, int64_t deadline_ns) {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    pollfd ready{fd, POLLIN, 0};
    const int64_t left_ms = std::max<int64_t>(0, (deadline_ns - NowNs()) / 1'000'000);
    if (poll(&ready, 1, static_cast<int>(left_ms)) <= 0) return text;
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace

std::vector<std::string> BuiltWorkers() {
  std::vector<std::string> workers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(TENCH_BIN_DIR, error)) {
    const std::string path = entry.path().string();
    if (entry.path().filename().string().starts_with("tench-worker-") &&
        access(path.c_str(), X_OK) == 0)
      workers.push_back(path);
  }
  std::sort(workers.begin(), workers.end());
  return workers;
}

std::string WorkerName(const std::string& executable) {
  return std::filesystem::path(executable)
      .filename()
      .string()
      .substr(std::string_view("tench-worker-").size());
}

Dialogue Ask(const std::string& executable, const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "no pipe";
    return {};
  }
  const pid_t child = Start(executable, arguments, ends[1]);
  close(ends[1]);
  const int64_t deadline_ns = NowNs() + kPatienceNs;
  const std::string text = ReadAll(ends[0], deadline_ns);
  close(ends[0]);
  const bool late = NowNs() >= deadline_ns;
  if (late) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  Dialogue dialogue;
  if (!late) dialogue.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  dialogue.lines = Split(text, '\n');
  EXPECT_TRUE(dialogue.lines.back().empty())
      << "the last line has no newline: " << dialogue.lines.back();
  dialogue.lines.pop_back();
  return dialogue;
}

Dialogue DoText(const std::string& executable, std::string_view job) {
  const auto folder = TemporaryFolder::Make("tench-contract");
  const std::filesystem::path file = folder->path() / "job.json";
  EXPECT_TRUE(WriteFileAtomically(file, job).ok());
  return Ask(executable, {"--job", file.string()});
}

Dialogue Do(const std::string& executable, const Job& job) {
  return DoText(executable, PrintJson(ToJson(job)));
}

std::vector<Message> Dialogue::messages() const {
  std::vector<Message> messages;
  for (const std::string& line : lines) {
    auto message = ParseMessage(line);
    if (message.ok()) {
      messages.push_back(*std::move(message));
    } else {
      ADD_FAILURE() << message.error().message << "\nin " << line.substr(0, 300);
    }
  }
  return messages;
}

std::vector<std::string> Dialogue::types() const {
  std::vector<std::string> types;
  for (const Message& message : messages()) {
    const std::string type = TypeOf(message);
    if (type != "steps" || types.empty() || types.back() != "steps") types.push_back(type);
  }
  return types;
}

std::vector<double> Dialogue::losses() const {
  std::vector<double> losses;
  for (const Message& message : messages()) {
    if (const Steps* steps = std::get_if<Steps>(&message))
      losses.insert(losses.end(), steps->loss.begin(), steps->loss.end());
  }
  return losses;
}

void Dialogue::Missing() const {
  ADD_FAILURE() << "an answer is missing; the last line is: "
                << (lines.empty() ? "(none)" : lines.back().substr(0, 300));
}

}  // namespace tench
