// SPDX-License-Identifier: Apache-2.0
#include "axis/device_name.h"

#include "base/text.h"

namespace tench {
namespace {

constexpr size_t kMaxIndexDigits = 4;

bool IsIndex(std::string_view text) {
  return !text.empty() && text.size() <= kMaxIndexDigits &&
         text.find_first_not_of("0123456789") == std::string_view::npos &&
         (text.size() == 1 || text.front() != '0');
}

}  // namespace

Result<DeviceName> ParseDevice(std::string_view text) {
  if (text == "cpu") return DeviceName{};
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view index = colon == std::string_view::npos ? "0" : text.substr(colon + 1);
  if ((kind != "gpu" && kind != "cuda") || !IsIndex(index))
    return Unsupported("'{}' is not {}", Printable(text, 60), kDeviceForms);
  return DeviceName{DeviceKind::kGpu, TENCH_TRY(ParseInteger(index))};
}

std::string ToString(const DeviceName& device) {
  return device.is_gpu() ? fmt::format("gpu:{}", device.index) : "cpu";
}

}  // namespace tench
