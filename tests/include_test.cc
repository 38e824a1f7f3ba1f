// SPDX-License-Identifier: Apache-2.0
// Checks the includes of src/ against the include table of docs/architecture.md, which is the only
// copy. A new folder or a new dependency changes that table, on purpose or not at all.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

// Rows in the order of the document. A folder may include itself, `base` and its row: folders
// ("net/zoo") and single headers ("net/fill.h"). The row "workers/*" stands for every folder of
// src/workers that has no row.
struct IncludeTable {
  std::vector<std::string> order;
  std::map<std::string, Names> rows;
};

// The block between "```includes" and "```": "FOLDER: ENTRY ENTRY …", where an indented line
// continues the row above.
IncludeTable ParseTable(std::istream& document) {
  IncludeTable table;
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("```")) inside = line == "```includes";
    if (!inside || line.starts_with("```")) continue;
    const size_t colon = line.find(':');
    if (colon != std::string::npos) {
      table.order.push_back(line.substr(0, colon));
      table.rows[table.order.back()];
      line.erase(0, colon + 1);
    }
    std::istringstream entries(line);
    for (std::string entry; !table.order.empty() && entries >> entry;)
      table.rows[table.order.back()].insert(entry);
  }
  return table;
}

const IncludeTable& Table() {
  static const IncludeTable table = [] {
    std::ifstream document(fs::path(TENCH_SOURCE_DIR) / "docs/architecture.md");
    return ParseTable(document);
  }();
  return table;
}

// Every folder with sources is a unit. Test data belongs to the folder that it tests.
std::string UnitOf(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return folder.filename() == "testdata" ? folder.parent_path().string() : folder.string();
}

const Names* RowOf(const std::string& unit) {
  const auto& rows = Table().rows;
  if (const auto row = rows.find(unit); row != rows.end()) return &row->second;
  const auto wildcard = rows.find((fs::path(unit).parent_path() / "*").string());
  return wildcard != rows.end() ? &wildcard->second : nullptr;
}

// All that a unit's library links, directly or not: its tests may use it.
Names Closure(const Names& direct) {
  Names all = direct;
  for (const std::string& unit : direct)
    if (const Names* row = RowOf(unit)) all.merge(Closure(*row));
  return all;
}

bool IsTest(const fs::path& path) { return path.stem().string().ends_with("_test"); }

// Empty if `file` may include `included`; both are paths from src/.
std::string Complaint(const fs::path& file, const fs::path& included) {
  const std::string from = UnitOf(file), to = UnitOf(included);
  const Names* row = RowOf(from);
  if (row == nullptr)
    return file.string() + ": docs/architecture.md has no row for the folder '" + from + "'";
  if (to == from || to == "base") return "";
  const Names allowed = IsTest(file) ? Closure(*row) : *row;
  if (allowed.contains(to) || allowed.contains(included.string())) return "";
  // A worker's tests may compare it with the reference.
  if (IsTest(file) && from.starts_with("workers/") && to == "workers/reference") return "";
  return file.string() + " includes " + included.string() + ", but '" + from +
         "' may not include '" + to + "'";
}

std::vector<std::string> QuotedIncludes(std::istream& source) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*"([^"]+)\")");
  std::vector<std::string> includes;
  std::smatch match;
  for (std::string line; std::getline(source, line);)
    if (std::regex_search(line, match, kInclude)) includes.push_back(match[1]);
  return includes;
}

const fs::path& SourceFolder() {
  static const fs::path folder = fs::path(TENCH_SOURCE_DIR) / "src";
  return folder;
}

std::vector<fs::path> FilesNamed(const std::regex& name) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(SourceFolder()))
    if (entry.is_regular_file() && std::regex_match(entry.path().filename().string(), name))
      files.push_back(entry.path().lexically_relative(SourceFolder()));
  return files;
}

TEST(IncludeTest, EveryIncludeIsAllowedByTheTable) {
  std::vector<std::string> complaints;
  size_t seen = 0;
  for (const fs::path& file : FilesNamed(std::regex(R"(.*\.(h|cc))"))) {
    std::ifstream source(SourceFolder() / file);
    for (const std::string& included : QuotedIncludes(source)) {
      ++seen;
      // A file outside of src/ belongs to a framework or is generated.
      if (!fs::exists(SourceFolder() / included)) continue;
      if (std::string complaint = Complaint(file, included); !complaint.empty())
        complaints.push_back(std::move(complaint));
    }
  }
  EXPECT_GT(seen, 100u) << "the walk over " << SourceFolder()
                        << " found too little to mean anything";
  EXPECT_THAT(complaints, testing::IsEmpty());
}

TEST(IncludeTest, IncludesAreWrittenFromTheSourceFolder) {
  for (const fs::path& file : FilesNamed(std::regex(R"(.*\.(h|cc))"))) {
    std::ifstream source(SourceFolder() / file);
    for (const std::string& included : QuotedIncludes(source)) {
      EXPECT_FALSE(included.starts_with(".")) << file << " includes " << included;
      EXPECT_FALSE(!fs::exists(SourceFolder() / included) &&
                   fs::exists((SourceFolder() / file).parent_path() / included))
          << file << " includes its neighbour " << included << " without naming the folder";
    }
  }
}

// tench_run_session -> run/session; tench_zoo -> net/zoo, which alone ends in that name.
std::string FolderOfLibrary(const std::string& name) {
  if (name == "schema") return "net/caffe";
  std::string path = name;
  std::replace(path.begin(), path.end(), '_', '/');
  std::string found;
  for (const std::string& unit : Table().order)
    if (unit == path || (found.empty() && fs::path(unit).filename() == name)) found = unit;
  return found;
}

TEST(IncludeTest, LibrariesLinkOnlyWhatTheyMayInclude) {
  static const std::regex kLibrary(R"(tench_library\(\s*\w+\s+LINKS([^)]*)\))");
  static const std::regex kOurs(R"(\btench_(\w+))");
  size_t seen = 0;
  for (const fs::path& file : FilesNamed(std::regex("CMakeLists\\.txt"))) {
    std::stringstream text;
    text << std::ifstream(SourceFolder() / file).rdbuf();
    const std::string content = text.str();
    std::smatch library;
    if (!std::regex_search(content, library, kLibrary)) continue;
    std::string links = library[1];
    links.resize(std::min(links.find("TEST_LINKS"), links.size()));
    for (std::sregex_iterator link(links.begin(), links.end(), kOurs), end; link != end;
         ++link, ++seen)
      EXPECT_EQ(Complaint(file, fs::path(FolderOfLibrary((*link)[1])) / "any.h"), "")
          << "links " << link->str();
  }
  EXPECT_GT(seen, 10u);
}

TEST(IncludeTest, EveryRowIsAFolderOfTheTree) {
  EXPECT_GT(Table().order.size(), 20u);
  for (const std::string& unit : Table().order)
    if (!unit.ends_with("*")) {
      EXPECT_TRUE(fs::is_directory(SourceFolder() / unit)) << unit;
    }
}

// The order of the rows is the layering: it admits no cycle.
TEST(IncludeTest, ARowNamesOnlyRowsAboveIt) {
  Names above = {"base"};
  for (const std::string& unit : Table().order) {
    for (const std::string& entry : Table().rows.at(unit)) {
      const std::string folder = entry.ends_with(".h") ? UnitOf(entry) : entry;
      EXPECT_TRUE(above.contains(folder)) << unit << " lists " << entry;
    }
    above.insert(unit);
  }
}

TEST(IncludeTest, ARowMayContinueOnIndentedLinesAndNameSingleHeaders) {
  std::istringstream document(
      "before: x\n```includes\na:\nb:  a\n    c/one.h\nd/*: a b\n```\nafter: y\n");
  const IncludeTable table = ParseTable(document);
  EXPECT_THAT(table.order, testing::ElementsAre("a", "b", "d/*"));
  EXPECT_THAT(table.rows.at("a"), testing::IsEmpty());
  EXPECT_THAT(table.rows.at("b"), testing::ElementsAre("a", "c/one.h"));
  EXPECT_THAT(table.rows.at("d/*"), testing::ElementsAre("a", "b"));
}

TEST(IncludeTest, TheTableForbidsWhatTheDesignForbids) {
  EXPECT_NE(Complaint("cli/main.cc", "worker/serve.h"), "");
  EXPECT_NE(Complaint("cli/main.cc", "workers/reference/kernel.h"), "");
  EXPECT_NE(Complaint("workers/torch/adapter.cc", "workers/reference/kernel.h"), "");
  EXPECT_NE(Complaint("workers/torch/adapter.cc", "net/caffe/prototxt.h"), "");
  EXPECT_NE(Complaint("net/graph.cc", "protocol/message.h"), "");
  EXPECT_NE(Complaint("net/graph.cc", "net/zoo/zoo.h"), "");
  EXPECT_NE(Complaint("base/text.cc", "axis/axis.h"), "");
  EXPECT_NE(Complaint("record/budget.h", "axis/axis.h"), "");
  EXPECT_NE(Complaint("report/csv.cc", "run/study/runner.h"), "");
  EXPECT_NE(Complaint("run/session/run_cell.cc", "run/study/runner.h"), "");
  EXPECT_NE(Complaint("logs/log.cc", "logs/import/log_import.h"), "");
  EXPECT_NE(Complaint("workers/native/kernels/lrn.h", "workers/native/program/program.h"), "");
  EXPECT_NE(Complaint("workers/native/kernels/lrn.h", "net/op.h"), "");
  EXPECT_NE(Complaint("workers/native/conv/tuner.cc", "workers/native/compile/lowering.h"), "");
  EXPECT_NE(Complaint("novelty/thing.cc", "base/text.h"), "");
  EXPECT_NE(Complaint("run/novelty/thing.cc", "base/text.h"), "");
  EXPECT_NE(Complaint("workers/torch/novelty/thing.cc", "base/text.h"), "");
}

TEST(IncludeTest, TheTableAllowsWhatTheDesignAllows) {
  EXPECT_EQ(Complaint("cli/main.cc", "run/study/runner.h"), "");
  EXPECT_EQ(Complaint("workers/torch/adapter.cc", "worker/adapter.h"), "");
  EXPECT_EQ(Complaint("workers/torch/adapter.cc", "workers/torch/layout.h"), "");
  EXPECT_EQ(Complaint("workers/caffe/adapter.cc", "net/caffe/prototxt.h"), "");
  EXPECT_EQ(Complaint("workers/native/compile/fusion.cc", "workers/native/conv/tuner.h"), "");
  EXPECT_EQ(Complaint("workers/native/kernels/pointwise.cc", "net/fill.h"), "");
  EXPECT_EQ(Complaint("machine/testdata/standin.cc", "machine/nvml.h"), "");
  EXPECT_EQ(Complaint("stats/stats.cc", "record/budget.h"), "");
}

TEST(IncludeTest, TestsMayUseWhatTheirLibraryLinksByWayOfOthers) {
  EXPECT_NE(Complaint("report/csv.cc", "worker/serve.h"), "");
  EXPECT_NE(Complaint("workers/torch/adapter.cc", "protocol/message.h"), "");
  EXPECT_EQ(Complaint("workers/torch/adapter_test.cc", "protocol/message.h"), "");
  EXPECT_NE(Complaint("report/csv_test.cc", "run/study/runner.h"), "");
}

}  // namespace
