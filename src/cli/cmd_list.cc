// SPDX-License-Identifier: Apache-2.0
// `tench list`: the workers, networks, data sets, data formats, suites and axes to choose from.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "axis/axis.h"
#include "axis/cell.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/known_names.h"
#include "cli/live_line.h"
#include "cli/output_terminal.h"
#include "cli/python_flag.h"
#include "data/data_set.h"
#include "data/sample_source.h"
#include "net/zoo/zoo.h"
#include "plan/suite.h"
#include "protocol/missing_fact.h"
#include "report/text_table.h"
#include "run/session/worker_catalog.h"

namespace tench {
namespace {

// One topic as rows of text; the first column is the name. The keys name the columns in JSON.
struct Listing {
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> rows;
  std::map<std::string, int> optional = {};  // keys that a narrow terminal omits; the largest first
};

// What the tuned track tries, in its order: "layout=channels_last; env.NAME=1".
std::string CandidatesText(const Description& description) {
  std::vector<std::string> texts;
  for (const TuningCandidate& candidate : description.tuning) {
    CellSettings settings = candidate.options;
    for (const auto& [name, value] : candidate.environment)
      settings[fmt::format("{}{}", kEnvironmentPrefix, name)] = value;
    texts.push_back(SettingsText(settings));
  }
  return Join(texts, "; ");
}

std::vector<std::string> WorkerRow(WorkerCatalog& workers, const WorkerEntry& entry,
                                   const std::string& name) {
  std::string version = "-", state = "not installed: " + entry.install, options, candidates;
  if (entry.installed()) {
    Result<Description> description = workers.Describe(entry, WorkerName::Of(name).version);
    state = description.ok() ? "installed" : "broken: " + description.error().message;
    if (description.ok()) {
      version = description->version;
      if (description->facts.contains(kMissingFact))
        state = "cannot work: " + description->facts.at(kMissingFact);
      for (const WorkerOption& option : description->options) {
        options +=
            fmt::format("{}{}={}", options.empty() ? "" : " ", option.name,
                        option.choices.empty() ? option.fallback : Join(option.choices, "|"));
      }
      candidates = CandidatesText(*description);
    }
  }
  return {name, version, state, entry.title, options, candidates};
}

Result<Listing> ListWorkers(const PythonFlag& python) {
  Listing listing{{"name", "version", "state", "title", "options", "candidates"},
                  {},
                  {{"title", 1}, {"options", 2}, {"candidates", 3}}};
  WorkerCatalog workers = WorkerCatalog::Discover();
  const std::vector<PythonEnvironment> environments = TENCH_TRY(python.Use(workers));
  LiveLine line;
  for (size_t done = 0; const WorkerEntry& entry : workers.entries()) {
    line.Show(CountedProgress(done++, workers.entries().size(), entry.name));
    for (const std::string& name : InEnvironments(entry.name, workers, environments))
      listing.rows.push_back(WorkerRow(workers, entry, name));
  }
  return listing;
}

Result<Listing> ListNetworks(const PythonFlag&) {
  Listing listing{{"name", "data", "about"}, {}};
  for (const ZooEntry& entry : Zoo())
    listing.rows.push_back({entry.name, Join(entry.data, ", "), entry.help});
  return listing;
}

Result<Listing> ListDataSets(const PythonFlag&) {
  Listing listing{{"name", "images", "about"}, {}};
  for (const DataSet& set : DataSets())
    listing.rows.push_back({set.name, std::to_string(set.images), set.help});
  return listing;
}

Result<Listing> ListFormats(const PythonFlag&) {
  Listing listing{{"name", "about"}, {}};
  for (const SourceFormat& format : SourceFormats())
    listing.rows.push_back({format.name, format.help});
  return listing;
}

std::map<std::string, std::filesystem::path> FindSuites() {
  std::map<std::string, std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& folder : SuiteFolders()) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".yaml")
        found.emplace(entry.path().stem().string(), entry.path());
    }
  }
  return found;
}

Result<Listing> ListSuites(const PythonFlag&) {
  Listing listing{{"name", "file", "about"}, {}};
  for (const auto& [name, path] : FindSuites()) {
    Result<Suite> suite = LoadSuite(path.string(), {});
    listing.rows.push_back(
        {name, path.string(), suite.ok() ? suite->title : suite.error().message});
  }
  return listing;
}

Result<Listing> ListAxes(const PythonFlag&) {
  Listing listing{{"name", "default", "values", "about"}, {}};
  for (const Axis& axis : Axes()) {
    std::string values = "text";
    if (axis.kind == AxisKind::kChoice) values = Join(axis.choices, "|");
    if (axis.kind == AxisKind::kInteger)
      values = fmt::format("integer {:.0f}…{:.0f}", axis.low, axis.high);
    if (axis.kind == AxisKind::kReal) values = fmt::format("number {:g}…{:g}", axis.low, axis.high);
    listing.rows.push_back({axis.name, axis.Print(axis.fallback), values, axis.help});
  }
  return listing;
}

const std::vector<std::pair<std::string, Result<Listing> (*)(const PythonFlag&)>>& Topics() {
  static const std::vector<std::pair<std::string, Result<Listing> (*)(const PythonFlag&)>> topics =
      {{"workers", ListWorkers}, {"networks", ListNetworks}, {"datasets", ListDataSets},
       {"formats", ListFormats}, {"suites", ListSuites},     {"axes", ListAxes}};
  return topics;
}

Error UnknownTopic(const std::string& topic, const std::vector<std::string>& topics) {
  return Failed("there is no list of '{}'{} (there are {})", topic, Hint(topic, topics),
                Join(topics, ", "));
}

void Print(const Listing& listing, size_t width) {
  std::vector<TextColumn> columns;
  for (const std::string& key : listing.keys) {
    const auto optional = listing.optional.find(key);
    columns.push_back(
        {key, Align::kLeft, optional == listing.optional.end() ? 0 : optional->second});
  }
  TextTable table(columns, false);
  for (const auto& row : listing.rows) table.AddRow(row);
  const std::vector<std::string> omitted = table.Fit(width, 2);
  fmt::print("{}{}", table.RenderWrapped(width, 2), WrapText(OmittedLine(omitted), width, 2));
}

Json ToJson(const Listing& listing) {
  Json rows = Json::array();
  for (const auto& row : listing.rows) {
    Json object = Json::object();
    for (size_t i = 0; i < row.size(); ++i) object[listing.keys[i]] = row[i];
    rows.push_back(object);
  }
  return rows;
}

// Names only, one per line, for shell completions. Starts no worker and reads no suite.
using Names = std::vector<std::string>;

Names WorkerNames() { return WorkerCatalog::Discover().names(); }

Names SuiteNames() {
  Names names;
  for (const auto& [name, path] : FindSuites()) names.push_back(name);
  return names;
}

Names FirstColumn(const Listing& listing) {
  Names names;
  for (const auto& row : listing.rows) names.push_back(row.front());
  return names;
}

Result<int> ListPlain(const std::string& topic) {
  Names names, topics;
  for (const auto& [name, make] : Topics()) {
    topics.push_back(name);
    if (topic != name) continue;
    if (topic == "workers") {
      names = WorkerNames();
    } else if (topic == "suites") {
      names = SuiteNames();
    } else {
      names = FirstColumn(TENCH_TRY(make({})));
    }
  }
  if (topic.empty()) names = topics;
  if (!topic.empty() && std::find(topics.begin(), topics.end(), topic) == topics.end())
    return UnknownTopic(topic, topics);
  for (const std::string& name : names) fmt::print("{}\n", name);
  return 0;
}

Result<int> List(const std::string& topic, const PythonFlag& python, bool json, bool wide) {
  std::vector<std::string> names;
  Json all = Json::object();
  bool known = topic.empty();
  for (const auto& [name, make] : Topics()) {
    names.push_back(name);
    if (!topic.empty() && topic != name) continue;
    known = true;
    const Listing listing = TENCH_TRY(make(python));
    if (json) {
      all[name] = ToJson(listing);
    } else {
      if (topic.empty()) fmt::print("{}:\n", name);
      Print(listing, wide ? 0 : OutputWidth());
    }
  }
  if (!known) return UnknownTopic(topic, names);
  if (json)
    fmt::print(
        "{}\n",
        (topic.empty() ? all : all[topic]).dump(2, ' ', false, Json::error_handler_t::replace));
  return 0;
}

}  // namespace

Command AddListCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "list", "List workers, networks, data sets, data formats, suites and axes");
  auto topic = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  auto plain = std::make_shared<bool>(false);
  auto wide = std::make_shared<bool>(false);
  app->add_option("topic", *topic, "workers, networks, datasets, formats, suites or axes [all]")
      ->type_name("");
  auto python = std::make_shared<PythonFlag>();
  python->AddTo(*app);
  app->add_flag("--json", *json, "print JSON");
  app->add_flag("--wide", *wide, "print all columns, even if they exceed the terminal");
  app->add_flag("--plain", *plain, "print only names, one per line; without a topic, the topics")
      ->excludes("--json");
  return {app, [=] { return *plain ? ListPlain(*topic) : List(*topic, *python, *json, *wide); }};
}

}  // namespace tench
