// SPDX-License-Identifier: Apache-2.0
// Checks docs/protocol.md against the code: the code parses every example, and the page documents
// every key that the code writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "base/text.h"
#include "protocol/message.h"

namespace tench::protocol_doc_test {
namespace {

std::string Page() {
  auto text = ReadFile(TENCH_SOURCE_DIR "/docs/protocol.md");
  EXPECT_TRUE(text.ok());
  return text.ok() ? *text : "";
}

// The fenced blocks whose opening line is "```json KIND".
std::vector<std::string> Blocks(const std::string& kind) {
  std::vector<std::string> blocks;
  bool inside = false;
  for (const std::string& line : Split(Page(), '\n')) {
    if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    } else if (line == "```json " + kind) {
      inside = true;
      blocks.emplace_back();
    }
  }
  return blocks;
}

// The page wraps long messages: an indented line continues the one above.
std::vector<std::string> ExampleLines() {
  std::vector<std::string> lines;
  for (const std::string& block : Blocks("message")) {
    for (const std::string& line : Split(block, '\n')) {
      if (line.starts_with(' ')) {
        lines.back() += Trim(line);
      } else if (!line.empty()) {
        lines.push_back(line);
      }
    }
  }
  return lines;
}

// All keys of an object, including nested ones.
void CollectKeys(const Json& json, std::set<std::string>& keys) {
  if (json.is_array()) {
    for (const Json& item : json) CollectKeys(item, keys);
  }
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    keys.insert(key);
    CollectKeys(value, keys);
  }
}

TEST(ProtocolDocTest, EveryExampleLineIsAMessageThatTheCodeWritesTheSameWay) {
  std::set<size_t> types;
  for (const std::string& line : ExampleLines()) {
    const auto message = ParseMessage(line);
    ASSERT_TRUE(message.ok()) << message.error().message << "\n" << line;
    EXPECT_EQ(ToLine(*message), line);
    types.insert(message->index());
  }
  EXPECT_EQ(types.size(), std::variant_size_v<Message>) << "a type of message has no example";
}

TEST(ProtocolDocTest, TheExampleJobIsExactlyWhatTenchWrites) {
  const std::vector<std::string> jobs = Blocks("job");
  ASSERT_EQ(jobs.size(), 1u);
  const auto job = ParseJob(jobs[0], "docs/protocol.md");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(PrintJson(*ParseJson(jobs[0], "example"), 2), PrintJson(ToJson(*job), 2));
}

TEST(ProtocolDocTest, TheExampleDescriptionIsExactlyWhatAWorkerWrites) {
  const std::vector<std::string> descriptions = Blocks("description");
  ASSERT_EQ(descriptions.size(), 1u);
  const auto description = ParseDescription(descriptions[0], "docs/protocol.md");
  ASSERT_TRUE(description.ok()) << description.error().message;
  EXPECT_EQ(PrintJson(*ParseJson(descriptions[0], "example"), 2),
            PrintJson(ToJson(*description), 2));
}

TEST(ProtocolDocTest, ExplainsEveryKeyOfMessagesAndJobs) {
  const std::string page = Page();
  std::set<std::string> keys;
  for (const std::string& line : ExampleLines()) {
    const Json json = *ParseJson(line, "example");
    for (const auto& [key, value] : json.items()) keys.insert(key);
  }
  Json job = ToJson(Job());
  job.erase("network");
  job.erase("parameters");
  CollectKeys(job, keys);
  for (const std::string& key : keys)
    EXPECT_NE(page.find("`" + key + "`"), std::string::npos) << key;
}

TEST(ProtocolDocTest, NamesTheVersionAndTheLongestLine) {
  EXPECT_THAT(Page(), testing::HasSubstr(
                          fmt::format("# The worker protocol, version {}\n", kProtocolVersion)));
  EXPECT_THAT(Page(), testing::HasSubstr(fmt::format("at most {} MiB long", kMaxLineBytes >> 20)));
}

}  // namespace
}  // namespace tench::protocol_doc_test
