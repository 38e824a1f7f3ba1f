// SPDX-License-Identifier: Apache-2.0
#include "report/html/figures.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <set>
#include <system_error>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace tench {
namespace {

std::string FileName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (plain)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name;
}

// Only the rows of the choice, to keep a figure's file small.
Json OwnRows(const DataTable& table, const Json& spec, const ChartChoice& choice) {
  if (!spec.contains("transform") || !choice.parameters.contains("group")) return table.ToRows();
  for (const Json& transform : spec["transform"]) {
    if (!transform.contains("filter") || !transform["filter"].is_string()) continue;
    const std::string& filter = transform["filter"].get_ref<const std::string&>();
    const size_t end = filter.find(" === group");
    if (!filter.starts_with("datum.") || end == std::string::npos) continue;
    return table.ToRows(filter.substr(6, end - 6), choice.parameters["group"]);
  }
  return table.ToRows();
}

// Reads the process's output until its end. A line with a figure's name reports that figure as
// finished; returns the last other line.
std::string ReadProgress(const Fd& from, const std::set<std::string>& names,
                         const std::function<void(size_t)>& drawn) {
  std::string pending, error_text;
  size_t count = 0;
  char buffer[4096];
  while (true) {
    pollfd waiting{from.get(), POLLIN, 0};
    if (poll(&waiting, 1, -1) < 0 && errno != EINTR) break;
    const ssize_t size = read(from.get(), buffer, sizeof buffer);
    if (size == 0) break;
    if (size < 0) {
      if (errno == EAGAIN || errno == EINTR) continue;
      break;
    }
    pending.append(buffer, static_cast<size_t>(size));
    for (size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      const std::string line = pending.substr(0, end);
      pending.erase(0, end + 1);
      if (names.contains(line)) {
        drawn(++count);
      } else if (!Trim(line).empty()) {
        error_text = line;  // the last line of a traceback is the reason
      }
    }
  }
  return pending.empty() ? error_text : pending;
}

}  // namespace

std::vector<FigureFile> FigureFiles(const ChartSet& set, bool dark) {
  std::vector<FigureFile> files;
  std::set<std::string> taken;
  for (const Chart& chart : set.charts) {
    std::set<std::string> titles;
    for (const ChartChoice& choice : chart.choices) {
      if (!titles.insert(choice.title).second) continue;
      Json spec = FigureSpec(chart, choice, dark);
      const std::string data = spec["data"]["name"];
      spec["datasets"] = {{data, OwnRows(set.data.at(data), spec, choice)}};
      const std::string base = FileName(chart.id + " " + choice.title + " " + choice.detail);
      std::string name = base;
      for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}", base, i);
      files.push_back({std::move(name), std::move(spec)});
    }
  }
  return files;
}

Status DrawFigures(const std::vector<FigureFile>& figures, const std::filesystem::path& tools,
                   const std::filesystem::path& folder,
                   const std::function<void(size_t drawn)>& drawn) {
  std::error_code error;
  if (!std::filesystem::exists(tools / "charts", error))
    return Failed("figures need the chart wheel at {}: run deps/fetch and build again",
                  (tools / "charts").string());
  if (!std::filesystem::is_directory(folder, error) &&
      !std::filesystem::create_directory(folder, error))
    return Failed("{}: cannot create the folder: {}", folder.string(),
                  error ? error.message() : "a file of that name exists");

  const TemporaryFolder scratch = TENCH_TRY(TemporaryFolder::Make("tench-figures"));
  Json job = {{"figures", Json::array()}};
  std::set<std::string> names;
  for (const FigureFile& figure : figures) {
    job["figures"].push_back({{"name", figure.name}, {"spec", figure.spec}});
    names.insert(figure.name);
  }
  const std::filesystem::path job_file = scratch.path() / "job.json";
  TENCH_TRY(WriteFileAtomically(job_file, PrintJson(job)));

  Pipe pipe = TENCH_TRY(Pipe::Make());
  SpawnOptions options;
  options.executable = "/usr/bin/env";
  options.arguments = {"python3", (tools / "figures.py").string(), folder.string(),
                       job_file.string()};
  for (const char* name : {"PATH", "HOME", "LANG", "PYENV_ROOT"}) {
    if (const char* value = std::getenv(name)) options.environment.emplace_back(name, value);
  }
  options.output_fd = pipe.out.get();
  Subprocess process = TENCH_TRY(Subprocess::Spawn(options).In("python3"));
  pipe.out.Close();
  const std::string error_text = ReadProgress(pipe.in, names, drawn);
  const ExitStatus status = *process.Wait(std::numeric_limits<int64_t>::max());
  if (status.clean()) return Ok();
  return Failed("rendering the figures failed ({}){}{}", status.ToString(),
                error_text.empty() ? "" : ": ", Printable(error_text));
}

}  // namespace tench
