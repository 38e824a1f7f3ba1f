// SPDX-License-Identifier: Apache-2.0
// Holds the folders of src/ to the table of who may include whom. A folder that is new, or a need
// that is new, changes the table here on purpose or not at all.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using Units = std::set<std::string>;

// A unit is one library: a folder of src/, or a folder within it that is a library of its own.
// Beyond what is listed, everyone may include itself, base and (but for base) axis.
const std::map<std::string, Units>& Table() {
  static const std::map<std::string, Units> table = {
      {"base", {}},
      {"axis", {}},
      {"net", {}},
      {"net/zoo", {"net"}},
      {"net/caffe", {"net"}},
      {"data", {"net", "net/zoo"}},
      {"protocol", {"net"}},
      {"measure", {}},
      {"logs", {}},
      {"parity", {"protocol", "net", "net/zoo"}},
      {"plan", {}},
      {"worker", {"net", "net/zoo", "data", "protocol", "measure"}},
      {"workers/*", {"worker", "net", "net/zoo", "data"}},
      {"workers/caffe", {"worker", "net", "net/zoo", "net/caffe", "data", "logs"}},
      {"store", {"plan"}},
      {"run", {"plan", "protocol", "store", "measure", "net", "net/zoo", "data", "parity", "logs"}},
      {"report", {"store", "measure", "plan"}},
      {"report/html", {"report", "store", "measure", "plan"}},
      {"cli",
       {"net", "net/zoo", "net/caffe", "data", "protocol", "measure", "parity", "plan", "store",
        "run", "report", "report/html"}},
  };
  return table;
}

// "net/zoo/lenet.cc" -> "net/zoo"; "workers/torch/adapter.cc" -> "workers/torch".
std::string UnitOf(const fs::path& path) {
  std::vector<std::string> parts;
  for (const auto& part : path.parent_path()) parts.push_back(part.string());
  if (parts.empty()) return "";
  if (parts.size() == 1) return parts[0];
  const std::string inner = parts[0] + "/" + parts[1];
  return parts[0] == "workers" || Table().contains(inner) ? inner : parts[0];
}

const Units* RowOf(const std::string& unit) {
  const auto row = Table().find(unit);
  if (row != Table().end()) return &row->second;
  return unit.starts_with("workers/") ? &Table().at("workers/*") : nullptr;
}

// What a unit's library links by way of others: its tests may use all of it.
Units Closure(const Units& direct) {
  Units all = direct;
  for (const std::string& unit : direct)
    for (const std::string& further : Closure(*RowOf(unit))) all.insert(further);
  return all;
}

bool IsTest(const fs::path& path) { return path.stem().string().ends_with("_test"); }

// Empty when `file` may include `included`; both are paths from src/.
std::string Complaint(const fs::path& file, const fs::path& included) {
  const std::string from = UnitOf(file), to = UnitOf(included);
  const Units* row = RowOf(from);
  if (row == nullptr)
    return file.string() + ": the folder '" + from +
           "' has no row in the table of tests/include_test.cc";
  if (to == from || to == "base" || (to == "axis" && from != "base")) return "";
  if (row->contains(to) || (IsTest(file) && Closure(*row).contains(to))) return "";
  // A worker's tests may hold it against the arbiter.
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
      // What does not lie in src/ belongs to a framework or is generated.
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

TEST(IncludeTest, LibrariesLinkOnlyWhatTheyMayInclude) {
  static const std::regex kLibrary(R"(tench_library\(\s*\w+\s+LINKS([^)]*)\))");
  static const std::regex kOurs(R"(\btench_(\w+))");
  const std::map<std::string, std::string> folder_of = {
      {"zoo", "net/zoo"}, {"net_caffe", "net/caffe"}, {"schema", "net/caffe"}};
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
         ++link, ++seen) {
      const std::string name = (*link)[1];
      const std::string folder = folder_of.contains(name) ? folder_of.at(name) : name;
      EXPECT_EQ(Complaint(file, fs::path(folder) / "any.h"), "");
    }
  }
  EXPECT_GT(seen, 10u);
}

TEST(IncludeTest, TheTableForbidsWhatTheDesignForbids) {
  EXPECT_NE(Complaint("cli/main.cc", "worker/serve.h"), "");
  EXPECT_NE(Complaint("cli/main.cc", "workers/reference/kernel.h"), "");
  EXPECT_NE(Complaint("workers/torch/adapter.cc", "workers/reference/kernel.h"), "");
  EXPECT_NE(Complaint("workers/torch/adapter.cc", "net/caffe/prototxt.h"), "");
  EXPECT_NE(Complaint("net/graph.cc", "protocol/message.h"), "");
  EXPECT_NE(Complaint("net/graph.cc", "net/zoo/zoo.h"), "");
  EXPECT_NE(Complaint("base/text.cc", "axis/axis.h"), "");
  EXPECT_NE(Complaint("report/csv.cc", "run/study/runner.h"), "");
  EXPECT_NE(Complaint("novelty/thing.cc", "base/text.h"), "");
}

TEST(IncludeTest, TheTableAllowsWhatTheDesignAllows) {
  EXPECT_EQ(Complaint("cli/main.cc", "run/study/runner.h"), "");
  EXPECT_EQ(Complaint("workers/torch/adapter.cc", "worker/adapter.h"), "");
  EXPECT_EQ(Complaint("workers/torch/adapter.cc", "workers/torch/layout.h"), "");
  EXPECT_EQ(Complaint("workers/caffe/adapter.cc", "net/caffe/prototxt.h"), "");
  EXPECT_EQ(Complaint("stats/stats.cc", "record/budget.h"), "");
}

TEST(IncludeTest, TestsMayUseWhatTheirLibraryLinksByWayOfOthers) {
  EXPECT_NE(Complaint("report/csv.cc", "worker/serve.h"), "");
  EXPECT_NE(Complaint("workers/torch/adapter.cc", "protocol/message.h"), "");
  EXPECT_EQ(Complaint("workers/torch/adapter_test.cc", "protocol/message.h"), "");
  EXPECT_NE(Complaint("report/csv_test.cc", "run/study/runner.h"), "");
}

}  // namespace
