// SPDX-License-Identifier: Apache-2.0
#include "protocol/tensor_path.h"

#include <string>

namespace tench {

std::filesystem::path TensorPath(const std::filesystem::path& folder, std::string_view kind,
                                 std::string_view name) {
  std::string file;
  for (const char c : name) {
    if (c == '/') {
      file += "%2F";
    } else if (c == '%') {
      file += "%25";
    } else {
      file += c;
    }
  }
  return folder / kind / (file + ".bin");
}

}  // namespace tench
