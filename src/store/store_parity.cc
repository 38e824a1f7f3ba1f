// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "store/schema.h"
#include "store/store_impl.h"

namespace tench {
namespace {

// The key's texts, in the order of its columns.
constexpr std::array<std::string ParityKey::*, 7> kParityKey = {
    &ParityKey::worker, &ParityKey::worker_version, &ParityKey::build,  &ParityKey::cpu_model,
    &ParityKey::isa,    &ParityKey::fingerprint,    &ParityKey::setting};
constexpr std::array<std::string_view, 12> kParityColumns = {
    "worker",  "worker_version", "build",  "cpu_model", "isa",          "fingerprint",
    "setting", "outcome",        "reason", "worst",     "worst_tensor", "checked_utc"};
constexpr std::array<LaterColumn, 3> kLaterParityColumns = {
    {{"build", "''"}, {"cpu_model", "''"}, {"isa", "''"}}};

Result<ParityRecord> ReadParity(const Statement& statement) {
  ParityRecord parity;
  int column = 0;
  for (const auto text : kParityKey) parity.key.*text = statement.Text(column++);
  parity.outcome = TENCH_TRY(ParseOutcome(statement.Text(column++)));
  parity.reason = statement.Text(column++);
  parity.worst = statement.Real(column++);
  parity.worst_tensor = statement.Text(column++);
  parity.checked_utc = statement.Text(column++);
  return parity;
}

}  // namespace

Status Store::SetParity(const ParityRecord& parity) {
  Statement statement = TENCH_TRY(impl_->database.Prepare(fmt::format(
      "INSERT OR REPLACE INTO parity ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
      "?12)",
      fmt::join(kParityColumns, ", "))));
  int parameter = 1;
  for (const auto text : kParityKey) statement.Bind(parameter++, parity.key.*text);
  statement.Bind(parameter++, Name(parity.outcome));
  statement.Bind(parameter++, parity.reason);
  // SQLite has no portable infinity, and it stores NaN as NULL.
  statement.Bind(parameter++,
                 std::isfinite(parity.worst) ? parity.worst : std::numeric_limits<double>::max());
  statement.Bind(parameter++, parity.worst_tensor);
  statement.Bind(parameter++, parity.checked_utc);
  return statement.Run();
}

Result<std::vector<ParityRecord>> Store::Parities() {
  const std::string columns =
      TENCH_TRY(SelectList(impl_->database, "parity", kParityColumns, kLaterParityColumns));
  Statement statement = TENCH_TRY(impl_->database.Prepare(
      fmt::format("SELECT {} FROM parity ORDER BY 1, 2, 3, 4, 5, 6, 7", columns)));
  std::vector<ParityRecord> parities;
  while (TENCH_TRY(statement.Step()))
    parities.push_back(TENCH_TRY(ReadParity(statement).In(impl_->database.path())));
  return parities;
}

Result<std::optional<ParityRecord>> Store::FindParity(const ParityKey& key) {
  if (key.build.empty() || key.cpu_model.empty()) return std::optional<ParityRecord>();
  Statement statement = TENCH_TRY(impl_->database.Prepare(fmt::format(
      "SELECT {} FROM parity WHERE worker = ?1 AND worker_version = ?2 AND build = ?3 AND "
      "cpu_model = ?4 AND isa = ?5 AND fingerprint = ?6 AND setting = ?7",
      fmt::join(kParityColumns, ", "))));
  int parameter = 1;
  for (const auto text : kParityKey) statement.Bind(parameter++, key.*text);
  if (!TENCH_TRY(statement.Step())) return std::optional<ParityRecord>();
  return std::optional(TENCH_TRY(ReadParity(statement).In(impl_->database.path())));
}

}  // namespace tench
