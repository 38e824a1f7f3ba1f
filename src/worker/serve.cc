// SPDX-License-Identifier: Apache-2.0
#include "worker/serve.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "protocol/command_line.h"
#include "worker/common_settings.h"
#include "worker/framework_error.h"
#include "worker/job_run.h"
#include "worker/line_sink.h"
#include "worker/stop_signal.h"

namespace tench {
namespace {

constexpr int kBadCommandLine = 2;
constexpr int kBroken = 1;  // exit code if no answer could be sent
constexpr size_t kMaxJobBytes = size_t{256} << 20;

struct CommandLine {
  enum class Mode { kDescribe, kJob, kHelp, kVersion } mode = Mode::kHelp;
  std::string job;
  int fd = -1;  // -1 = the mode's default
};

Result<CommandLine> ParseCommandLine(std::span<char* const> arguments) {
  static const std::vector<std::string> kFlags = {kDescribeFlag, kJobFlag, "--fd", "--help",
                                                  "--version"};
  CommandLine line;
  int modes = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string flag = arguments[i];
    const auto value = [&]() -> Result<std::string> {
      if (++i == arguments.size()) return Failed("{} needs a value", flag);
      return std::string(arguments[i]);
    };
    if (flag == kDescribeFlag) {
      line.mode = CommandLine::Mode::kDescribe;
    } else if (flag == kJobFlag) {
      line.mode = CommandLine::Mode::kJob;
      line.job = TENCH_TRY(value());
    } else if (flag == "--help" || flag == "-h") {
      line.mode = CommandLine::Mode::kHelp;
    } else if (flag == "--version") {
      line.mode = CommandLine::Mode::kVersion;
    } else if (flag == "--fd") {
      const std::string number = TENCH_TRY(value());
      const int64_t fd = TENCH_TRY(ParseInteger(number).In(flag));
      if (fd < 1 || fd > 1'000'000) return Failed("--fd: {} is no descriptor to write to", fd);
      line.fd = static_cast<int>(fd);
      continue;
    } else {
      return Failed("unknown argument '{}'{}", Printable(flag), Hint(flag, kFlags));
    }
    if (++modes > 1) return Failed("--describe, --job, --help and --version exclude each other");
  }
  if (modes == 0) return Failed("use one of --describe, --job FILE, --help and --version");
  return line;
}

void PrintHelp(const std::string& program) {
  fmt::print(
      "usage: {0} --describe [--fd N]   print the worker's description as one line of JSON\n"
      "       {0} --job FILE [--fd N]   execute a job (FILE '-' = standard input), answer in JSON "
      "lines\n"
      "       {0} --help | --version\n"
      "Answers go to descriptor N. Without --fd, a description goes to standard output, and a "
      "job's\n"
      "answers to descriptor {1} if it is open for writing, otherwise to standard output.\n"
      "docs/protocol.md specifies the lines.\n",
      program, kAnswerFd);
}

int DefaultFd(CommandLine::Mode mode) {
  if (mode != CommandLine::Mode::kJob) return STDOUT_FILENO;
  const int flags = fcntl(kAnswerFd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY ? kAnswerFd : STDOUT_FILENO;
}

Result<std::string> ReadJob(const std::string& file) {
  return file == "-" ? ReadFile("/dev/stdin", kMaxJobBytes) : ReadFile(file, kMaxJobBytes);
}

// The caller owns the adapter, so that it outlives the error line about its failure.
Result<JobEnd> DoJob(const std::string& file, LineSink& answers,
                     const std::function<std::unique_ptr<Adapter>()>& make,
                     std::unique_ptr<Adapter>& adapter) {
  const std::string text = TENCH_TRY(ReadJob(file));
  const Job job = TENCH_TRY(ParseJob(text, "job"));
  ApplyCommonSettings(job);
  adapter = make();
  return RunJob(job, *adapter, make, answers);
}

int ServeJob(const std::string& file, LineSink& answers,
             const std::function<std::unique_ptr<Adapter>()>& make) {
  std::unique_ptr<Adapter> adapter;
  const Result<JobEnd> end = Guarded([&] { return DoJob(file, answers, make, adapter); });
  if (end.ok()) return *end == JobEnd::kStopped ? kStoppedExitCode : 0;
  if (answers.reader_gone()) return kBroken;
  return answers.Write(Failure{end.error().kind, end.error().message}).ok() ? 0 : kBroken;
}

}  // namespace

int Serve(int argc, char** argv, const std::function<std::unique_ptr<Adapter>()>& make) {
  const std::string program =
      std::filesystem::path(argc > 0 ? argv[0] : "tench-worker").filename().string();
  const auto line = ParseCommandLine(
      std::span<char* const>(argv, static_cast<size_t>(argc)).subspan(argc > 0 ? 1 : 0));
  if (!line.ok()) {
    fmt::print(stderr, "{}: {}\n", program, line.error().message);
    return kBadCommandLine;
  }
  if (line->mode == CommandLine::Mode::kHelp) {
    PrintHelp(program);
    return 0;
  }
  auto answers = OpenLineSink(line->fd >= 0 ? line->fd : DefaultFd(line->mode));
  if (!answers.ok()) {
    fmt::print(stderr, "{}: {}\n", program, answers.error().message);
    return kBadCommandLine;
  }
  InstallStopSignal();
  if (line->mode == CommandLine::Mode::kJob) return ServeJob(line->job, *answers, make);

  const auto description = Guarded([&]() -> Result<Description> {
    const std::unique_ptr<Adapter> adapter = make();
    Description described = adapter->Describe();
    described.turns = adapter->Pauses();
    return described;
  });
  if (!description.ok()) {
    fmt::print(stderr, "{}: {}\n", program, description.error().message);
    return kBroken;
  }
  const bool whole = line->mode == CommandLine::Mode::kDescribe;
  const std::string text = whole ? PrintJson(ToJson(*description))
                                 : fmt::format("{} {} (protocol {})", program, description->version,
                                               description->protocol);
  return answers->WriteLine(text).ok() ? 0 : kBroken;
}

}  // namespace tench
