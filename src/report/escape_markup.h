// SPDX-License-Identifier: Apache-2.0
#pragma once
// Escapes the characters that are markup in HTML and XML. Control characters are the caller's
// business: the two formats treat them differently.
// Thread safety: pure.

#include <string>
#include <string_view>

namespace tench {

// For element content and quoted attributes.
std::string EscapeMarkup(std::string_view text);

}  // namespace tench
