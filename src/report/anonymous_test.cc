// SPDX-License-Identifier: Apache-2.0
#include "report/anonymous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "store/test_run.h"

namespace tench::anonymous_test {
namespace {

TEST(AnonymousTest, PathsKeepOnlyTheirFileNames) {
  const Anonymizer names;
  EXPECT_EQ(names.Text("cannot read /home/joe/nets/a.json: no such file"),
            "cannot read PATH/a.json: no such file");
  EXPECT_EQ(names.Text("tench run --data csv:/data/joe/x.csv --network ~/n.prototxt"),
            "tench run --data csv:PATH/x.csv --network PATH/n.prototxt");
  EXPECT_EQ(names.Text("folder:~joe/p ./x/a.json ../../joe/b.json nets/c.json"),
            "folder:PATH/p PATH/a.json PATH/b.json nets/c.json");
  EXPECT_EQ(names.Text("open('/home/joe/a')"), "open('PATH/a')");
  EXPECT_EQ(names.Text("2 of 5 runs, 3 images /s, 1/2"), "2 of 5 runs, 3 images /s, 1/2");
}

TEST(AnonymousTest, MachinesAreNumberedAndTheirNamesLeaveAllTexts) {
  Anonymizer names;
  StudyRecord study = TestStudy();
  study.machine = "pond";
  study.machine_id = "1111";
  study.host_json =
      R"({"machine":"pond","machine_id":"1111","cpu":{"model":"fish"},"gpus":[{"uuid":"u"}]})";
  const StudyRecord plain = names.Apply(study);
  EXPECT_EQ(plain.machine, "machine 1");
  EXPECT_EQ(Json::parse(plain.host_json),
            (Json{{"cpu", {{"model", "fish"}}}, {"gpus", Json::array({Json::object()})}}));
  RunRecord run = TestRun();
  run.machine = "lake";
  run.machine_id = "2222";
  run.reason = "pond: lake's disk is full; ponder /home/lake/x";
  run.cell.options = {{"file", "/home/joe/y"}};
  run = names.Apply(run);
  EXPECT_EQ(run.machine, "machine 2");
  EXPECT_EQ(run.machine_id, "machine-2");
  EXPECT_EQ(run.reason, "machine 1: machine 2's disk is full; ponder PATH/x");
  EXPECT_EQ(run.cell.options.at("file"), "PATH/y");
  study.machine = "pond";
  EXPECT_EQ(names.Apply(study).machine_id, plain.machine_id);
}

}  // namespace
}  // namespace tench::anonymous_test
