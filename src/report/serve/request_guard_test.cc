// SPDX-License-Identifier: Apache-2.0
#include "report/serve/request_guard.h"

#include <gtest/gtest.h>

namespace tench::request_guard_test {
namespace {

RequestHead Typed(const std::string& host) { return {"GET", "/", {host}, {}, {"none"}}; }

int StatusOf(const RequestHead& head, int port = 8017) {
  const auto refusal = CheckRequest(head, port);
  return refusal ? refusal->status : 200;
}

TEST(RequestGuardTest, AnswersTheThreeNamesOfThisMachineWithThePort) {
  for (const char* host : {"localhost:8017", "127.0.0.1:8017", "[::1]:8017", "LocalHost:8017"})
    EXPECT_EQ(StatusOf(Typed(host)), 200) << host;
}

TEST(RequestGuardTest, RefusesEveryOtherHost) {
  for (const char* host : {"",
                           "localhost",
                           "127.0.0.1",
                           "localhost:80",
                           "localhost:8018",
                           "evil.example",
                           "evil.example:8017",
                           "localhost.evil.example:8017",
                           "localhost:8017.evil.example",
                           "localhost:80178017",
                           "127.0.0.2:8017",
                           "127.1:8017",
                           "0.0.0.0:8017",
                           "::1:8017",
                           "2130706433:8017",
                           "user@localhost:8017",
                           "localhost:8017 ",
                           " localhost:8017",
                           "localhost:08017",
                           "localhost:8017/",
                           "localhost.:8017",
                           "192.168.0.7:8017"})
    EXPECT_EQ(StatusOf(Typed(host)), 403) << host;
}

TEST(RequestGuardTest, RefusesARequestWithoutOneHost) {
  EXPECT_EQ(StatusOf({"GET", "/", {}, {}, {}}), 403);
  EXPECT_EQ(StatusOf({"GET", "/", {"localhost:8017", "localhost:8017"}, {}, {}}), 403);
  EXPECT_EQ(StatusOf({"GET", "/", {"localhost:8017", "evil.example"}, {}, {}}), 403);
}

TEST(RequestGuardTest, OnPort80AHostNeedsNoPort) {
  EXPECT_EQ(StatusOf(Typed("localhost"), 80), 200);
  EXPECT_EQ(StatusOf(Typed("localhost:80"), 80), 200);
  EXPECT_EQ(StatusOf(Typed("evil.example"), 80), 403);
}

TEST(RequestGuardTest, AnswersAProgramThatIsNoBrowser) {
  EXPECT_EQ(StatusOf({"GET", "/live", {"127.0.0.1:8017"}, {}, {}}), 200);
  EXPECT_EQ(StatusOf({"HEAD", "/", {"127.0.0.1:8017"}, {}, {}}), 200);
}

TEST(RequestGuardTest, RefusesOtherSitesAndOtherPortsOfThisMachine) {
  for (const char* site : {"cross-site", "same-site", "", "None", "same-origin, none"})
    EXPECT_EQ(StatusOf({"GET", "/live", {"localhost:8017"}, {}, {site}}), 403) << site;
  for (const char* origin :
       {"http://evil.example", "https://localhost:8017", "null", "", "http://localhost:8018",
        "http://localhost", "http://localhost:8017.evil.example", "file://", "localhost:8017"})
    EXPECT_EQ(StatusOf({"GET", "/live", {"localhost:8017"}, {origin}, {}}), 403) << origin;
  EXPECT_EQ(StatusOf({"GET", "/", {"localhost:8017"}, {"http://localhost:8017", "null"}, {}}), 403);
}

TEST(RequestGuardTest, AnswersItsOwnScript) {
  EXPECT_EQ(StatusOf({"GET", "/live", {"localhost:8017"}, {}, {"same-origin"}}), 200);
  EXPECT_EQ(
      StatusOf({"GET", "/live", {"localhost:8017"}, {"http://localhost:8017"}, {"same-origin"}}),
      200);
}

TEST(RequestGuardTest, ChangesNothing) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", ""})
    EXPECT_EQ(StatusOf({method, "/", {"localhost:8017"}, {}, {}}), 405) << method;
  EXPECT_EQ(StatusOf({"OPTIONS", "/", {"localhost:8017"}, {"http://evil.example"}, {}}), 403)
      << "a preflight of another site";
}

TEST(RequestGuardTest, AReasonRepeatsNothingOfTheRequest) {
  const auto refusal = CheckRequest(Typed("<script>alert(1)</script>"), 8017);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason.find('<'), std::string::npos);
}

}  // namespace
}  // namespace tench::request_guard_test
