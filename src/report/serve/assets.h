// SPDX-License-Identifier: Apache-2.0
#pragma once
// The live part of the page, embedded byte for byte from src/report/serve/page (cmake/Embed.cmake).

#include <string_view>

namespace tench {

extern const std::string_view kLiveSection, kLiveStyle, kLiveScript;

}  // namespace tench
