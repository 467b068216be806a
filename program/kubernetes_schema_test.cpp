// deploy/kubernetes is a Kustomization, and its resources conform to the schemas that Kubernetes
// publishes; and a mistake in either is found. Uses the checker of deploy/schema, which
// deploy/schema/build fetches and builds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

const fs::path checker = LOCKMARK_SOURCE "/build/schema/kubernetes/check";

class kubernetes_schema : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::exists(checker)) << "run deploy/schema/build first";
    fs::copy(LOCKMARK_SOURCE "/deploy/kubernetes", folder_);
    ASSERT_EQ(run(dir_.path(), {"invitation", "--out", (folder_ / "secret").string()}).status, 0);
  }
  ended check() const { return program({checker, folder_}, dir_.path()).wait(60s); }

  // With this in place of that, the checker names the mistake by this word.
  void expect_found(const char* file, const std::string& that, const std::string& instead,
                    const char* word) const {
    const std::string right = read_text(folder_ / file);
    std::string wrong = right;
    const auto at = wrong.find(that);
    ASSERT_NE(at, wrong.npos) << that;
    std::ofstream(folder_ / file) << wrong.replace(at, that.size(), instead);
    const ended e = check();
    EXPECT_EQ(e.status, 1) << instead;
    EXPECT_THAT(e.out, HasSubstr(word));
    std::ofstream(folder_ / file) << right;
  }

  scratch dir_;
  const fs::path folder_ = dir_ / "kubernetes";
};

TEST_F(kubernetes_schema, accepts_all_resources) {
  const ended e = check();
  EXPECT_EQ(e.status, 0) << e.out << e.err;
  EXPECT_THAT(e.out, HasSubstr(": 5 resources"));
}

TEST_F(kubernetes_schema, refuses_what_is_wrong) {
  expect_found("agents.yaml", "completionMode:", "completionsMode:", "completionsMode");
  expect_found("agents.yaml", "completions: 3", "completions: three", "spec.completions");
  expect_found("agents.yaml", "- name: agent\n", "- names: agent\n", "Job lockmark-agents");
  expect_found("agents.yaml", "batch/v1", "batch/v2", "kind Job");
  expect_found("coordinator.yaml", "- \"3\"", "- 3", "args");
  expect_found("coordinator.yaml", "mountPath", "mountpath", "'mountPath' is a required");
  expect_found("coordinator.yaml", "port: 7070", "port: agents", "Service lockmark-coordinator");
  expect_found("kustomization.yaml", "secretGenerator", "secretGenerators", "secretGenerators");
  expect_found("kustomization.yaml", "secret/identity", "secret/identiti", "secret/identiti");
}

}  // namespace
}  // namespace lockmark::cli
