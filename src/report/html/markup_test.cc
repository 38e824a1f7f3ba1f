// SPDX-License-Identifier: Apache-2.0
#include "report/html/markup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::markup_test {
namespace {

TEST(MarkupTest, EscapesWhatHtmlWouldObey) {
  EXPECT_EQ(HtmlText("<script>\"a\" & 'b'\n"), "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39; ");
}

TEST(MarkupTest, JsonInAScriptCannotEndIt) {
  const Json json = {
      {"</script><script>alert(1)</script>", "<!-- \xe2\x80\xa8 \xe2\x80\xa9 \xe2\x80\x93"}};
  const std::string text = ScriptJson(json);
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(text.find("\xe2\x80\xa8"), std::string::npos);
  EXPECT_EQ(text.find("\xe2\x80\xa9"), std::string::npos);
  EXPECT_EQ(Json::parse(text), json);
}

}  // namespace
}  // namespace tench::markup_test
