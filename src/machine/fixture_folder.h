// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests only: a temporary folder that replaces "/", filled with literal files.

#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/file.h"

namespace tench {

class FixtureFolder {
 public:
  FixtureFolder() : folder_(*TemporaryFolder::Make("tench-fixture")) {}

  const std::filesystem::path& path() const { return folder_.path(); }

  void Write(const std::filesystem::path& file, std::string_view text) const {
    std::filesystem::create_directories((path() / file).parent_path());
    std::ofstream(path() / file) << text;
  }
  void Remove(const std::filesystem::path& file) const {
    std::filesystem::remove_all(path() / file);
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace tench
