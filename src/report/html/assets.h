// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files embedded in the program byte for byte (cmake/Embed.cmake): the page's style and script
// from src/report/html/page, and the published figures from reference/.

#include <string_view>

namespace tench {

extern const std::string_view kPageStyle, kPageScript;
extern const std::string_view kUpv2018, kUfsm2017Sgemm, kReleases;

}  // namespace tench
