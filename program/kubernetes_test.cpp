// The files of deploy/kubernetes fit together, and what their containers run works: the same
// command lines, as processes of this machine. That the files are what Kubernetes wants is checked
// against its schemas by kubernetes_schema_test.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "deploy/local/cluster.hpp"
#include "deploy/local/ports.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

const fs::path root = LOCKMARK_SOURCE;
const fs::path manifests = root / "deploy/kubernetes";

using variables = std::map<std::string, std::string>;

YAML::Node kustomization() {
  return YAML::LoadFile(manifests / "kustomization.yaml");
}

// Of all its resources, that of this kind and name.
YAML::Node resource(const std::string& kind, const std::string& name) {
  for (const auto& file : kustomization()["resources"]) {
    for (const YAML::Node& each : YAML::LoadAllFromFile(manifests / file.as<std::string>())) {
      const bool is_it = each["kind"].as<std::string>() == kind &&
                         each["metadata"]["name"].as<std::string>() == name;
      if (is_it) return each;
    }
  }
  ADD_FAILURE() << "there is no " << kind << " " << name;
  return {};
}
YAML::Node container_of(const YAML::Node& job) {
  return job["spec"]["template"]["spec"]["containers"][0];
}
std::vector<std::string> arguments_of(const YAML::Node& job) {
  return container_of(job)["args"].as<std::vector<std::string>>();
}
// The value that follows this option.
std::string option(const YAML::Node& job, const std::string& name) {
  const auto words = arguments_of(job);
  const auto at = std::ranges::find(words, name);
  return at == words.end() ? "" : *(at + 1);
}

std::string with(std::string word, const std::string& what, const std::string& value) {
  const auto at = word.find(what);
  return at == word.npos ? word : word.replace(at, what.size(), value);
}

class kubernetes : public testing::Test {
 protected:
  // By the command of the page, which has another folder.
  void make_secret() {
    EXPECT_THAT(read_text(root / "docs/many-machines.md"),
                HasSubstr("\nlockmark invitation --out deploy/kubernetes/secret\n"));
    const ended e = run(dir_.path(), {"invitation", "--out", (dir_ / "secret").string()});
    EXPECT_EQ(e.status, 0) << e.err;
  }

  // Where the files of a generator of the kustomization are, by their keys.
  std::map<std::string, fs::path> files_of(const std::string& generator) const {
    std::map<std::string, fs::path> all;
    for (const auto& file : kustomization()[generator][0]["files"]) {
      const fs::path path = file.as<std::string>();
      const bool is_made = path.parent_path() == "secret";
      all[path.filename()] = is_made ? dir_ / path.string() : manifests / path;
    }
    return all;
  }

  // The container's files, as its volumes have them, below a folder of this machine.
  fs::path mount(const YAML::Node& job) {
    const fs::path place = dir_ / fmt::format("container-{}", ++containers_);
    for (const auto& wanted : container_of(job)["volumeMounts"]) {
      for (const auto& volume : job["spec"]["template"]["spec"]["volumes"]) {
        if (volume["name"].as<std::string>() != wanted["name"].as<std::string>()) continue;
        const bool is_secret = volume["secret"].IsDefined();
        const auto files = files_of(is_secret ? "secretGenerator" : "configMapGenerator");
        const fs::path folder = place.string() + wanted["mountPath"].as<std::string>();
        fs::create_directories(folder);
        for (const auto& item : volume[is_secret ? "secret" : "configMap"]["items"]) {
          fs::copy(files.at(item["key"].as<std::string>()),
                   folder / item["path"].as<std::string>());
        }
      }
    }
    return place;
  }

  // What its container runs, here: other paths and addresses, and the variables that Kubernetes
  // puts in.
  std::unique_ptr<program> start(const YAML::Node& job, const variables& values) {
    const fs::path place = mount(job);
    std::vector<std::string> words;
    for (std::string word : arguments_of(job)) {
      for (const auto& [name, value] : values) word = with(word, name, value);
      if (word.starts_with('/')) word = place.string() + word;
      words.push_back(word);
    }
    const std::string flag = words.at(0) == "run" ? "--out" : "--keep";
    words.insert(words.end(), {flag, (dir_ / "runs").string()});
    return std::make_unique<program>(lockmark(words), dir_.path());
  }

  scratch dir_;
  int containers_ = 0;
};

TEST_F(kubernetes, runs_commands_that_work) {
  const auto redis = local::cluster::start("redis");
  make_secret();
  const YAML::Node agents = resource("Job", "lockmark-agents");
  const YAML::Node coordinator = resource("Job", "lockmark-coordinator");
  local::port_source ports{std::nullopt};
  const std::string here = fmt::format("127.0.0.1:{}", ports.take("the coordinator"));
  variables values{
      {"$(TARGET)", redis.target()}, {"lockmark-coordinator:7070", here}, {"0.0.0.0:7070", here}};
  // Nobody says which pod is first.
  std::vector<std::unique_ptr<program>> pods;
  for (int i = 0; i < agents["spec"]["completions"].as<int>(); ++i) {
    values["$(JOB_COMPLETION_INDEX)"] = fmt::format("{}", i);
    pods.push_back(start(agents, values));
  }
  const ended e = start(coordinator, values)->wait(120s);
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;  // a busy machine's figures are not valid
  for (const auto& pod : pods) EXPECT_EQ(pod->wait(20s).status, 0) << pod->err();
  const auto r = read_json(only_folder(dir_ / "runs") / "run.json");
  EXPECT_EQ(r["verdict"]["held"], true) << e.out;
  std::vector<std::string> names;
  for (const auto& h : r["hosts"]) names.push_back(h["agent"]);
  EXPECT_THAT(names, UnorderedElementsAre("agent-0", "agent-1", "agent-2"));
  // What it prints is kept in the cluster's logs.
  const std::string word = read_text(dir_ / "secret/invitation");
  EXPECT_THAT(e.out + e.err, Not(HasSubstr(word.substr(0, word.size() - 1))));
  EXPECT_THAT(e.err, HasSubstr("the invitation that was made with the identity"));
}

TEST_F(kubernetes, has_as_many_agents_as_are_waited_for) {
  const YAML::Node agents = resource("Job", "lockmark-agents")["spec"];
  EXPECT_EQ(agents["completionMode"].as<std::string>(), "Indexed");
  EXPECT_EQ(agents["completions"].as<int>(), agents["parallelism"].as<int>());
  EXPECT_EQ(option(resource("Job", "lockmark-coordinator"), "--agents"),
            agents["completions"].as<std::string>());
}

// Two pods would have one name, or one coordinator's agents be another's.
TEST_F(kubernetes, starts_no_pod_again) {
  for (const char* job : {"lockmark-agents", "lockmark-coordinator"}) {
    const YAML::Node spec = resource("Job", job)["spec"];
    EXPECT_EQ(spec["backoffLimit"].as<int>(), 0);
    EXPECT_EQ(spec["podReplacementPolicy"].as<std::string>(), "Failed");
    EXPECT_EQ(spec["template"]["spec"]["restartPolicy"].as<std::string>(), "Never");
  }
}

TEST_F(kubernetes, has_a_name_for_the_coordinator) {
  const YAML::Node service = resource("Service", "lockmark-coordinator");
  const YAML::Node coordinator = resource("Job", "lockmark-coordinator");
  const std::string port = service["spec"]["ports"][0]["port"].as<std::string>();
  EXPECT_EQ(service["spec"]["clusterIP"].as<std::string>(), "None");
  EXPECT_EQ(option(resource("Job", "lockmark-agents"), "--join"), "lockmark-coordinator:" + port);
  EXPECT_EQ(option(coordinator, "--listen"), "0.0.0.0:" + port);
  EXPECT_EQ(container_of(coordinator)["ports"][0]["containerPort"].as<std::string>(), port);
  const auto labels = [](const YAML::Node& of) { return of.as<variables>(); };
  EXPECT_EQ(labels(service["spec"]["selector"]),
            labels(coordinator["spec"]["template"]["metadata"]["labels"]));
}

// The private key is the coordinator's alone.
TEST_F(kubernetes, keeps_the_identity_from_agents) {
  make_secret();
  const auto secrets_of = [&](const char* job) {
    std::vector<std::string> all;
    for (const auto& each :
         fs::directory_iterator(mount(resource("Job", job)) / "run/secrets/lockmark")) {
      all.push_back(each.path().filename());
    }
    return all;
  };
  EXPECT_THAT(secrets_of("lockmark-agents"), ElementsAre("invitation"));
  EXPECT_THAT(secrets_of("lockmark-coordinator"), ElementsAre("identity"));
  EXPECT_THAT(read_text(root / ".gitignore"), HasSubstr("\n/deploy/kubernetes/secret/\n"));
}

// Its user and its program are those of the image.
TEST_F(kubernetes, runs_the_image) {
  const std::string file = read_text(root / "deploy/package/Dockerfile");
  EXPECT_THAT(file, HasSubstr("\nENTRYPOINT [\"lockmark\"]\n"));
  for (const char* job : {"lockmark-agents", "lockmark-coordinator"}) {
    const YAML::Node pod = resource("Job", job)["spec"]["template"]["spec"];
    EXPECT_EQ(pod["containers"][0]["image"].as<std::string>(), "lockmark");
    EXPECT_FALSE(pod["containers"][0]["command"].IsDefined());
    EXPECT_THAT(file, HasSubstr(fmt::format(
                          "\nUSER {}\n", pod["securityContext"]["runAsUser"].as<std::string>())));
  }
}

}  // namespace
}  // namespace lockmark::cli
