// SPDX-License-Identifier: Apache-2.0
#include "plan/matrix.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/text.h"
#include "plan/suite_path.h"

namespace tench {
namespace {

constexpr size_t kMaxCells = 1'000'000;

Status CheckKnown(std::string_view what, const std::string& name,
                  const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return Ok();
  const std::string hint = Hint(name, known);
  if (!hint.empty() || known.empty())
    return Failed("unknown {} '{}'{}", what, Printable(name, 60), hint);
  return Failed("unknown {} '{}'; there are {}", what, Printable(name, 60), Join(known, ", "));
}

Status CheckWorker(const Catalog& catalog, const std::string& worker) {
  const size_t at = worker.find('@');
  if (worker.empty() || at == 0) return Failed("no worker is named");
  if (at != std::string::npos && at + 1 == worker.size())
    return Failed("worker '{}' names no version after '@'", Printable(worker, 60));
  return CheckKnown("worker", worker.substr(0, at), catalog.workers);
}

bool IsRealData(std::string_view data) { return data.find(':') != std::string_view::npos; }

// The data that a cell resolves to. A network that does not support the data keeps its cell, whose
// run gets the outcome `unsupported`; real data that cannot be read is an error.
Result<std::string> Resolved(const Catalog& catalog, const std::string& network,
                             const std::string& data) {
  Result<std::string> resolved = catalog.resolve_data(network, data);
  if (resolved.ok()) return resolved;
  if (IsRealData(data) && resolved.error().kind != ErrorKind::kUnsupported) return resolved;
  if (data.empty() && IsNetworkPath(network)) return resolved;  // no data states its shape
  return data;
}

// Checks a name against the catalog. Axes whose values are not names always pass.
Status CheckName(const Catalog& catalog, size_t axis, const std::string& text) {
  switch (axis) {
    case kAxisWorker:
      return CheckWorker(catalog, text);
    case kAxisNetwork:
      if (text.empty()) return Failed("no network is named");
      if (!IsNetworkPath(text)) return CheckKnown("network", text, catalog.networks);
      return catalog.check_file ? catalog.check_file(text) : Ok();
    case kAxisData:
      // Real data, FORMAT:PATH, is checked with its network, when the cell is resolved.
      return text.empty() || IsRealData(text) ? Ok()
                                              : CheckKnown("data set", text, catalog.data_sets);
    default:
      return Ok();
  }
}

// One axis or option. Its values are parsed once, not once per cell.
struct Dimension {
  size_t axis = kAxisCount;  // kAxisCount: an option
  std::string option;
  std::vector<AxisValue> values;

  void Put(size_t value, Cell& cell) const {
    if (axis == kAxisCount)
      cell.options[option] = std::get<std::string>(values[value]);
    else
      cell.values[axis] = values[value];
  }

  // Whether the cell has one of the values. A worker without a version matches all of its versions.
  bool Holds(const Cell& cell) const {
    if (axis == kAxisCount) {
      const auto found = cell.options.find(option);
      return found != cell.options.end() && Contains(AxisValue(found->second));
    }
    if (Contains(cell.values[axis])) return true;
    if (axis != kAxisWorker) return false;
    const std::string& worker = cell.Text(kAxisWorker);
    return Contains(AxisValue(worker.substr(0, worker.find('@'))));
  }

 private:
  bool Contains(const AxisValue& value) const {
    return std::find(values.begin(), values.end(), value) != values.end();
  }
};

// Calls `each` for every combination of one value per dimension, with the last dimension varying
// fastest, until it fails.
template <class Each>
Status ForEachCombination(Cell cell, const std::vector<Dimension>& dimensions, Each each) {
  std::vector<size_t> at(dimensions.size(), 0);
  for (size_t i = 0; i < dimensions.size(); ++i) dimensions[i].Put(0, cell);
  for (;;) {
    TENCH_TRY(each(cell));
    size_t i = dimensions.size();
    for (; i > 0; --i) {
      size_t& digit = at[i - 1];
      digit = digit + 1 == dimensions[i - 1].values.size() ? 0 : digit + 1;
      dimensions[i - 1].Put(digit, cell);
      if (digit != 0) break;
    }
    if (i == 0) return Ok();
  }
}

std::string Describe(const Budget& budget, const Limits& limits) {
  const auto ns = [](int64_t value) { return HumanNs(static_cast<double>(value)); };
  const std::string length =
      budget.epochs > 0 ? fmt::format("epochs {}", budget.epochs)
      : budget.fixed_steps > 0
          ? fmt::format("steps {}", budget.fixed_steps)
          : fmt::format("min_steps {}, min_time {}, interval {}, time_limit {}", budget.min_steps,
                        ns(budget.min_time_ns), budget.relative_interval, ns(budget.time_limit_ns));
  const std::string evaluation =
      budget.test_data.empty() ? ""
                               : fmt::format(", test_data {}, eval_every {}, until '{}'",
                                             budget.test_data, budget.eval_every, budget.until);
  return fmt::format("{}{}, warmup {}, timeout {}, memory_limit {}, swap {}, tune_budget {}",
                     length, evaluation, budget.warmup_steps, ns(limits.timeout_ns),
                     limits.memory_bytes, limits.swap == SwapPolicy::kKill ? "kill" : "allow",
                     ns(limits.tune_budget_ns));
}

bool SameSettings(const PlannedCell& a, const PlannedCell& b) {
  const auto fields = [](const Budget& x) {
    const bool fixed = x.fixed_steps > 0 || x.epochs > 0;
    // With fixed steps, the settings of the stop rule have no effect.
    return fixed ? std::tuple(x.warmup_steps, x.fixed_steps, x.epochs, int64_t{0}, int64_t{0}, 0.0,
                              int64_t{0})
                 : std::tuple(x.warmup_steps, x.fixed_steps, x.epochs, x.min_steps, x.min_time_ns,
                              x.relative_interval, x.time_limit_ns);
  };
  const auto evaluation = [](const Budget& x) {
    return std::tie(x.test_data, x.eval_every, x.until);
  };
  return fields(a.budget) == fields(b.budget) && evaluation(a.budget) == evaluation(b.budget) &&
         a.limits == b.limits;
}

class Expansion {
 public:
  Expansion(const Suite& suite, const Catalog& catalog) : suite_(suite), catalog_(catalog) {}

  Result<std::vector<PlannedCell>> Run() {
    for (const Block& block : suite_.blocks) TENCH_TRY(AddBlock(block));
    return std::move(cells_);
  }

 private:
  Result<std::vector<Dimension>> Dimensions(const std::vector<AxisList>& lists) const;
  Status Count(const Block& block, TextPlace place, const std::vector<Dimension>& dimensions);
  Status AddBlock(const Block& block);
  Status AddProduct(const Block& block, const std::vector<Dimension>& dimensions);
  Status AddIncluded(const Block& block, const std::vector<Dimension>& dimensions);
  Status AddCell(const Block& block, TextPlace place, Cell cell);
  Status ResolveData(TextPlace place, Cell& cell);
  Result<std::string> TestDataOf(const Block& block, TextPlace place, const Cell& cell);

  const Suite& suite_;
  const Catalog& catalog_;
  size_t planned_ = 0;  // before removal of duplicates and exclusions
  std::vector<PlannedCell> cells_;
  std::unordered_map<std::string, size_t> index_of_id_;
  // (network, data) -> the resolved data set.
  std::map<std::pair<std::string, std::string>, std::string> data_of_;
  // (network, data, test data) -> the resolved test data.
  std::map<std::array<std::string, 3>, std::string> test_data_of_;
};

Result<std::vector<Dimension>> Expansion::Dimensions(const std::vector<AxisList>& lists) const {
  std::vector<Dimension> dimensions;
  for (const AxisList& list : lists) {
    Dimension dimension;
    if (const std::optional<std::string> key = SettingKey(list.name))
      dimension.option = *key;
    else
      dimension.axis = TENCH_TRY(FindAxis(list.name));
    for (size_t i = 0; i < list.values.size(); ++i) {
      const TextPlace place = i < list.places.size() ? list.places[i] : TextPlace();
      const Status known = CheckName(catalog_, dimension.axis, list.values[i]);
      if (!known.ok()) return FailedAt(suite_.origin, place, "{}", known.error().message);
      if (dimension.axis == kAxisCount)
        dimension.values.emplace_back(list.values[i]);
      else
        dimension.values.push_back(TENCH_TRY(Axes()[dimension.axis].Parse(list.values[i])));
    }
    Check(!dimension.values.empty(), "an axis of a suite has no values");
    dimensions.push_back(std::move(dimension));
  }
  return dimensions;
}

Status Expansion::Count(const Block& block, TextPlace place,
                        const std::vector<Dimension>& dimensions) {
  size_t count = 1;
  double exact = 1;  // a double, because the product may overflow; only for the message
  bool too_many = false;
  std::vector<std::string> factors;
  for (const Dimension& dimension : dimensions) {
    const size_t size = dimension.values.size();
    too_many = too_many || count > kMaxCells / size;
    if (!too_many) count *= size;
    exact *= static_cast<double>(size);
    const std::string name =
        dimension.axis == kAxisCount ? SettingName(dimension.option) : Axes()[dimension.axis].name;
    if (size > 1) factors.push_back(fmt::format("{} {}", size, name));
  }
  if (too_many)
    return FailedAt(suite_.origin, place, "block '{}' has {} cells ({}); a suite may have {}",
                    block.name,
                    exact < 1e15 ? fmt::format("{:.0f}", exact) : fmt::format("{:.3g}", exact),
                    Join(factors, " x "), kMaxCells);
  if (count > kMaxCells - planned_)
    return FailedAt(suite_.origin, place,
                    "with the {} cells of block '{}' the suite has {}; it may have {}", count,
                    block.name, planned_ + count, kMaxCells);
  planned_ += count;
  return Ok();
}

Status Expansion::AddBlock(const Block& block) {
  const std::vector<Dimension> dimensions = TENCH_TRY(Dimensions(block.axes));
  const auto names = [&](AxisIndex axis) {
    return std::any_of(dimensions.begin(), dimensions.end(),
                       [&](const Dimension& d) { return d.axis == axis; });
  };
  // A block without a worker or a network has no product; it lists its cells under `include`.
  if (names(kAxisWorker) && names(kAxisNetwork)) TENCH_TRY(AddProduct(block, dimensions));
  return AddIncluded(block, dimensions);
}

Status Expansion::AddProduct(const Block& block, const std::vector<Dimension>& dimensions) {
  TENCH_TRY(Count(block, block.place, dimensions));
  index_of_id_.reserve(planned_);
  cells_.reserve(planned_);
  std::vector<std::vector<Dimension>> excluded;
  for (const AxisPattern& pattern : block.exclude)
    excluded.push_back(TENCH_TRY(Dimensions(pattern.axes)));
  std::vector<size_t> hits(excluded.size(), 0);
  size_t kept = 0;
  TENCH_TRY(ForEachCombination(Cell(), dimensions, [&](const Cell& combination) -> Status {
    Cell cell = combination;
    if (Status resolved = ResolveData(block.place, cell); !resolved.ok()) return resolved;
    bool out = false;
    for (size_t i = 0; i < excluded.size(); ++i) {
      if (!std::all_of(excluded[i].begin(), excluded[i].end(),
                       [&](const Dimension& d) { return d.Holds(cell); }))
        continue;
      ++hits[i];
      out = true;
    }
    if (out) return Ok();
    ++kept;
    return AddCell(block, block.place, std::move(cell));
  }));
  // A pattern without a match is most likely a mistake that would cost hours of unwanted runs.
  for (size_t i = 0; i < hits.size(); ++i)
    if (hits[i] == 0)
      return FailedAt(suite_.origin, block.exclude[i].place,
                      "exclude: the entry matches no cell of block '{}'", block.name);
  if (kept == 0 && block.include.empty())
    return FailedAt(suite_.origin, block.place,
                    "block '{}' has no cells: 'exclude' removes all of them", block.name);
  return Ok();
}

Status Expansion::AddIncluded(const Block& block, const std::vector<Dimension>& dimensions) {
  Cell first;
  for (const Dimension& dimension : dimensions) dimension.Put(0, first);
  for (const AxisPattern& pattern : block.include) {
    const std::vector<Dimension> own = TENCH_TRY(Dimensions(pattern.axes));
    TENCH_TRY(Count(block, pattern.place, own));
    TENCH_TRY(ForEachCombination(first, own, [&](const Cell& combination) -> Status {
      Cell cell = combination;
      if (Status resolved = ResolveData(pattern.place, cell); !resolved.ok()) return resolved;
      return AddCell(block, pattern.place, std::move(cell));
    }));
  }
  return Ok();
}

Status Expansion::AddCell(const Block& block, TextPlace place, Cell cell) {
  const int64_t images = cell.Integer(kAxisImages), batch = cell.Integer(kAxisBatch);
  if (block.budget.epochs > 0 && images > 0 && batch > images)
    return FailedAt(suite_.origin, place,
                    "block '{}': an epoch of {} images has no whole batch of {}", block.name,
                    images, batch);
  PlannedCell planned{std::move(cell), "", block.budget, block.limits, block.name};
  planned.id = planned.cell.Id();
  planned.budget.test_data = TENCH_TRY(TestDataOf(block, place, planned.cell));
  const auto [at, is_new] = index_of_id_.try_emplace(planned.id, cells_.size());
  if (is_new) {
    cells_.push_back(std::move(planned));
    return Ok();
  }
  const PlannedCell& other = cells_[at->second];
  if (!(other.cell == planned.cell))
    return FailedAt(suite_.origin, place, "the cells '{}' and '{}' have the same id {}",
                    other.cell.Label(), planned.cell.Label(), planned.id);
  if (!SameSettings(other, planned))
    return FailedAt(suite_.origin, place,
                    "blocks '{}' and '{}' have the same cell ({}) with different settings: {}; {}",
                    other.block, block.name, Printable(planned.cell.Label()),
                    Describe(other.budget, other.limits), Describe(planned.budget, planned.limits));
  return Ok();
}

Status Expansion::ResolveData(TextPlace place, Cell& cell) {
  if (!catalog_.resolve_data) return Ok();
  const auto [at, is_new] = data_of_.try_emplace({cell.Text(kAxisNetwork), cell.Text(kAxisData)});
  if (is_new) {
    Result<std::string> data = Resolved(catalog_, at->first.first, at->first.second);
    if (!data.ok()) return FailedAt(suite_.origin, place, "{}", data.error().message);
    at->second = *std::move(data);
  }
  if (at->second != at->first.second) cell.values[kAxisData] = at->second;
  return Ok();
}

Result<std::string> Expansion::TestDataOf(const Block& block, TextPlace place, const Cell& cell) {
  if (block.budget.test_data.empty()) return std::string();
  const auto [at, is_new] = test_data_of_.try_emplace(
      {cell.Text(kAxisNetwork), cell.Text(kAxisData), block.budget.test_data});
  if (!is_new) return at->second;
  Budget budget = block.budget;
  if (Status resolved = ResolveTestData(catalog_, cell, budget); !resolved.ok())
    return FailedAt(suite_.origin, place, "test_data: {}", resolved.error().message);
  at->second = budget.test_data;
  return at->second;
}

uint64_t NextRandom(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t x = state;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

Result<std::vector<PlannedCell>> Expand(const Suite& suite, const Catalog& catalog) {
  Catalog known = catalog;
  for (const WorkerFile& worker : suite.workers) {
    if (worker.name.find('@') == std::string::npos) known.workers.push_back(worker.name);
  }
  for (const WorkerFile& worker : suite.workers) {
    const Status checked = CheckWorker(known, worker.name);
    if (!checked)
      return FailedAt(suite.origin, worker.place, "workers: {}", checked.error().message);
  }
  return Expansion(suite, known).Run();
}

Status ResolveCell(const Catalog& catalog, Cell& cell) {
  for (const AxisIndex axis : {kAxisWorker, kAxisNetwork, kAxisData})
    TENCH_TRY(CheckName(catalog, axis, cell.Text(axis)));
  if (catalog.check_isa) TENCH_TRY(catalog.check_isa(cell.Text(kAxisIsa)));
  if (!catalog.resolve_data) return Ok();
  cell.values[kAxisData] =
      TENCH_TRY(Resolved(catalog, cell.Text(kAxisNetwork), cell.Text(kAxisData)));
  return Ok();
}

Status ResolveTestData(const Catalog& catalog, const Cell& cell, Budget& budget) {
  if (budget.test_data.empty() || !catalog.resolve_test_data) return Ok();
  Result<std::string> resolved =
      catalog.resolve_test_data(cell.Text(kAxisNetwork), cell.Text(kAxisData), budget.test_data);
  // A network that does not support its data keeps its cell, whose run is `unsupported`.
  if (!resolved.ok() && resolved.error().kind == ErrorKind::kUnsupported) return Ok();
  budget.test_data = TENCH_TRY(std::move(resolved));
  return Ok();
}

std::string ComparedGroup(const Cell& cell) {
  Cell shared = cell;
  shared.values[kAxisWorker] = Axes()[kAxisWorker].fallback;
  shared.options.clear();
  return shared.Label();
}

std::vector<size_t> RoundOrder(size_t count, uint64_t seed, int64_t round) {
  // Not std::shuffle, whose result depends on the standard library: another build may resume the
  // study.
  uint64_t state = seed;
  state = NextRandom(state) ^ static_cast<uint64_t>(round);
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = i;
  for (size_t left = count; left > 1; --left) {
    const uint64_t bias_free = UINT64_MAX - UINT64_MAX % left;
    uint64_t draw = NextRandom(state);
    while (draw >= bias_free) draw = NextRandom(state);
    std::swap(order[left - 1], order[draw % left]);
  }
  return order;
}

}  // namespace tench
