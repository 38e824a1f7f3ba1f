// SPDX-License-Identifier: Apache-2.0
// Interpreters are scripts that answer the question as a Python would.
#include "run/session/python_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/file.h"
#include "run/session/worker_environment.h"

namespace tench::python_environment_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class PythonEnvironmentTest : public testing::Test {
 protected:
  // A virtual environment whose interpreter runs `script`.
  fs::path Make(const std::string& name, const std::string& script, bool marked = true) {
    const fs::path environment = folder_.path() / name;
    fs::create_directories(environment / "bin");
    if (marked) std::ofstream(environment / "pyvenv.cfg") << "home = /usr/bin\n";
    const fs::path python = environment / "bin/python";
    std::ofstream(python) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(python, fs::perms::owner_all);
    return environment;
  }
  static std::string ErrorOf(const fs::path& path) {
    const Result<PythonEnvironment> found = FindPython(path.string());
    return found.ok() ? "no error" : found.error().message;
  }
  // A catalog with a worker in Python, one that answers as `description`, and another worker.
  WorkerCatalog Catalog(const std::string& description) {
    fs::create_directories(folder_.path() / "bin");
    fs::create_directories(folder_.path() / "share/tench/python-workers");
    std::ofstream(folder_.path() / "share/tench/python-workers/snake.py") << "";
    for (const char* name : {"snake", "other"}) {
      const fs::path worker = folder_.path() / "bin" / (std::string("tench-worker-") + name);
      std::ofstream(worker) << "#!/bin/sh\necho '" << description << "'\n";
      fs::permissions(worker, fs::perms::owner_all);
    }
    return WorkerCatalog::Discover({folder_.path() / "bin"});
  }

  static constexpr const char* kGood = "echo python 3.11.7; echo numpy 2.4.6";
  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-test-");
};

TEST_F(PythonEnvironmentTest, AFolderOrItsInterpreterIsOneEnvironmentNamedByTheFolder) {
  const fs::path folder = Make("nightly", kGood);
  for (const fs::path& path : {folder, folder / "bin/python"}) {
    const Result<PythonEnvironment> found = FindPython(path.string());
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->name, "nightly");
    EXPECT_EQ(found->interpreter, folder / "bin/python");
    EXPECT_EQ(found->python, "3.11.7");
    EXPECT_EQ(found->numpy, "2.4.6");
  }
}

TEST_F(PythonEnvironmentTest, NamesAreWordsThatBeginWithALetter) {
  EXPECT_EQ(FindPython(Make(".venv", kGood).string())->name, "venv");
  EXPECT_EQ(FindPython(Make("3.11 new", kGood).string())->name, "new");
  EXPECT_EQ(FindPython(Make("42", kGood).string())->name, "python");
  // An interpreter outside of any environment gives its own name.
  EXPECT_EQ(FindPython(Make("usr", kGood, false).string())->name, "python");
  EXPECT_EQ(FindNamedPython("base=" + Make("x", kGood).string())->name, "base");
  EXPECT_THAT(FindNamedPython("3=" + Make("x", kGood).string()).error().message,
              HasSubstr("'3' cannot name an environment"));
  EXPECT_THAT(FindNamedPython("=/x").error().message, HasSubstr("names no environment"));
}

TEST_F(PythonEnvironmentTest, APathMayBeginAtHomeOrBeAProgramOnPath) {
  const fs::path folder = Make("mine", kGood);
  const std::string home = getenv("HOME"), path = getenv("PATH");
  setenv("HOME", folder_.path().c_str(), 1);
  EXPECT_EQ(FindPython("~/mine")->interpreter, folder / "bin/python");
  setenv("HOME", home.c_str(), 1);
  fs::rename(folder / "bin/python", folder / "bin/python-of-the-test");
  setenv("PATH", ((folder / "bin").string() + ":" + path).c_str(), 1);
  EXPECT_EQ(FindPython("python-of-the-test")->name, "mine");
  setenv("PATH", path.c_str(), 1);
}

TEST_F(PythonEnvironmentTest, ABrokenOneIsRefusedWithTheRemedy) {
  EXPECT_THAT(ErrorOf("/nonexistent/venv"),
              AllOf(HasSubstr("'/nonexistent/venv' is no Python"), HasSubstr("python3 -m venv")));
  EXPECT_THAT(ErrorOf("python-of-nobody"),
              AllOf(HasSubstr("no program or folder 'python-of-nobody'"), HasSubstr("apt-get")));
  EXPECT_THAT(ErrorOf(Make("empty", kGood) / "bin"), HasSubstr("is no Python"));
  EXPECT_THAT(ErrorOf(Make("gone", "echo libpython: no such file >&2; exit 127")),
              AllOf(HasSubstr("is broken (libpython: no such file)"),
                    HasSubstr("create the environment again")));
  EXPECT_THAT(ErrorOf(Make("dead", "kill -SEGV $$")), HasSubstr("is broken (signal SIGSEGV"));
  EXPECT_THAT(ErrorOf(Make("old", "echo python 2.7.18; echo numpy 1.16.6")),
              HasSubstr("is Python 2.7.18; the workers need Python 3.6 or newer"));
  EXPECT_THAT(ErrorOf(Make("old3", "echo python 3.5.10; echo numpy 1")), HasSubstr("3.6 or newer"));
  const fs::path bare = Make("bare", "echo python 3.11.7; exit 1");
  EXPECT_THAT(ErrorOf(bare), HasSubstr("has no numpy, which the workers need: " +
                                       (bare / "bin/python").string() + " -m pip install numpy"));
}

TEST_F(PythonEnvironmentTest, ABrokenNumpyIsToldFromAMissingOne) {
  const char* missing = "echo python 3.9.1; echo \"No module named 'numpy'\" >&2; exit 1";
  EXPECT_THAT(ErrorOf(Make("missing", missing)), HasSubstr("has no numpy"));
  const char* broken = "echo python 3.9.1; echo 'ImportError: libblas.so' >&2; exit 1";
  EXPECT_THAT(ErrorOf(Make("half", broken)),
              AllOf(HasSubstr("the numpy of "), HasSubstr("is broken (ImportError: libblas.so)"),
                    HasSubstr("/half/bin/python -m pip install --force-reinstall numpy")));
}

TEST_F(PythonEnvironmentTest, ALauncherAndAReproducerKnowTheInterpreter) {
  const WorkerCatalog catalog = Catalog("{}");
  EXPECT_TRUE((*catalog.Find("snake"))->python);
  EXPECT_FALSE((*catalog.Find("other"))->python);
  const fs::path folder = Make("my-env", kGood);
  const std::vector<PythonEnvironment> environments = {*FindPython(folder.string())};
  ASSERT_TRUE(UseEnvironments(environments, catalog).ok());
  const Environment decisive = DecisiveEnvironment(OwnEnvironment(), "snake");
  const std::pair<std::string, std::string> expected("TENCH_SNAKE_MY_ENV",
                                                     (folder / "bin/python").string());
  EXPECT_THAT(decisive, testing::Contains(expected));
  EXPECT_EQ(getenv("TENCH_OTHER_MY_ENV"), nullptr);
  unsetenv("TENCH_SNAKE_MY_ENV");
}

TEST_F(PythonEnvironmentTest, TwoEnvironmentsHaveTwoNames) {
  const WorkerCatalog catalog = Catalog("{}");
  const std::vector<PythonEnvironment> environments = {
      *FindNamedPython("a.b=" + Make("x", kGood).string()),
      *FindNamedPython("a-b=" + Make("y", kGood).string())};
  const Status used = UseEnvironments(environments, catalog);
  ASSERT_FALSE(used.ok());
  EXPECT_THAT(used.error().message, HasSubstr("two environments have the name 'a.b'"));
  unsetenv("TENCH_SNAKE_A_B");
}

TEST_F(PythonEnvironmentTest, AMissingFrameworkIsTheWorkersAnswer) {
  const std::string head =
      R"({"protocol":1,"name":"snake","version":"x-1","ops":["input"],"devices":["cpu"],)";
  WorkerCatalog ready = Catalog(head + R"("precisions":["f32"]})");
  const PythonEnvironment environment{"x", "/x/bin/python", "3.11.7", "2.4.6"};
  EXPECT_EQ(MissingFramework(ready, **ready.Find("snake"), environment), std::nullopt);
  WorkerCatalog without =
      Catalog(head + R"("precisions":["f32"],"facts":{"missing":"no snake; pip install"}})");
  EXPECT_EQ(MissingFramework(without, **without.Find("snake"), environment),
            "no snake; pip install");
}

}  // namespace
}  // namespace tench::python_environment_test
