// Failing starts: the sentence, the server's own log, and nothing left behind. Most use a shell
// script as the server, with the same keeper.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "deploy/local/cluster.hpp"
#include "deploy/local/directory.hpp"
#include "deploy/local/test_support.hpp"

namespace lockmark::local {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
namespace fs = std::filesystem;

constexpr const char* sleeping = "exec sleep 1000";

topology shell_topology(const std::string& script, const std::string& prepare = "true") {
  const auto make = [script, prepare](site& where) {
    server_spec server;
    server.name = "fake";
    server.port = where.ports.take(server.name);
    server.prepare.push_back({"prepare fake", {"/bin/sh", "-c", prepare}, 500ms});
    server.argv = {"/bin/sh", "-c", script};
    server.ready = redis_probe();
    server.time_limit = 300ms;
    plan made;
    made.servers.push_back(server);
    return made;
  };
  return {"fake", "", make};
}

class failed_start : public testing::Test {
 protected:
  ~failed_start() override {
    EXPECT_TRUE(fs::is_empty(own_.path()));
    setenv("PATH", path_.c_str(), 1);
  }
  // The error of a start that must fail.
  static start_error start(const topology& what, options with = {}) {
    try {
      cluster::start(what, with);
    } catch (const start_error& error) {
      return error;
    }
    ADD_FAILURE() << "it started";
    return start_error("");
  }

  const std::string path_ = std::getenv("PATH");
  const private_tmpdir own_;
};

// A dead server is reported with its status and the last 20 lines of its log.
TEST_F(failed_start, shows_the_log_of_a_server_that_died) {
  const auto error = start(shell_topology("seq 1 30; echo no disk left; exit 3"));
  EXPECT_THAT(error.what(), MatchesRegex("fake ended with exit status 3 before it answered on "
                                         "127.0.0.1:[0-9]+"));
  EXPECT_TRUE(error.log().starts_with("12\n")) << error.log();
  EXPECT_TRUE(error.log().ends_with("\n30\nno disk left")) << error.log();
}

// A server that runs but does not answer gets its time, and is then ended.
TEST_F(failed_start, gives_a_silent_server_its_time) {
  const auto error = start(shell_topology(fmt::format("echo waiting; {}", sleeping)));
  EXPECT_THAT(error.what(), MatchesRegex("fake did not answer on 127.0.0.1:[0-9]+ within 300 ms"));
  EXPECT_EQ(error.log(), "waiting");
}

// The same for the preparing commands: one that fails, and one that does not end.
TEST_F(failed_start, shows_what_a_preparing_command_said) {
  const auto failed = start(shell_topology(sleeping, "echo no space; exit 1"));
  EXPECT_STREQ(failed.what(), "could not prepare fake: /bin/sh ended with exit status 1");
  EXPECT_EQ(failed.log(), "no space");
  const auto endless = start(shell_topology(sleeping, sleeping));
  EXPECT_STREQ(endless.what(), "could not prepare fake: /bin/sh did not end within 500 ms");
}

// A command with several tries is repeated that often and no more, with its leftovers removed.
TEST_F(failed_start, tries_a_preparing_command_again) {
  topology moody =
      shell_topology(sleeping, "echo once; test -e made && echo left; mkdir made; exit 1");
  moody.make = [make = moody.make](site& where) {
    plan made = make(where);
    command& step = made.servers.at(0).prepare.at(0);
    step.tries = 3;
    step.makes = where.directory / "made";
    return made;
  };
  const auto error = start(moody);
  EXPECT_STREQ(error.what(), "could not prepare fake: /bin/sh ended with exit status 1");
  EXPECT_EQ(error.log(), "once\nonce\nonce");
}

// Processes started by a dying server are ended too.
TEST_F(failed_start, leaves_no_grandchild) {
  const auto error = start(shell_topology("sleep 1000 & echo $!; exit 1"));
  EXPECT_FALSE(is_running(std::stoi(error.log()))) << error.log();
  const auto silent = start(shell_topology("setsid sleep 1000 & echo $!; exec sleep 1000"));
  EXPECT_FALSE(is_running(std::stoi(silent.log()))) << silent.log();
}

// No open descriptor of this process reaches a server, above all not the end of the keeper's pair.
TEST_F(failed_start, hands_no_descriptor_to_a_server) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(start(shell_topology("ls /proc/$$/fd; exit 1")).log(), "0\n1\n2");
  close(ends[0]);
  close(ends[1]);
}

void note(int) {}

// Ctrl-C during a start, in a program that handles it.
TEST_F(failed_start, ends_at_a_handled_signal) {
  struct sigaction action {
  }, before{};
  action.sa_handler = note;
  sigaction(SIGUSR1, &action, &before);
  topology slow = shell_topology(fmt::format("kill -USR1 {}; {}", getpid(), sleeping));
  EXPECT_STREQ(start(slow).what(), "the start of fake was interrupted by a signal");
  sigaction(SIGUSR1, &before, nullptr);
}

// kill -9 of an owner whose servers do not answer yet: the keeper has not reported anything so far.
TEST_F(failed_start, leaves_nothing_when_its_owner_dies_meanwhile) {
  const fs::path told = own_.path() / "pid";
  const std::string tell = fmt::format("echo $$ > {0}.part; mv {0}.part {0}", told.string());
  topology slow = shell_topology("exit 1", fmt::format("{}; {}", tell, sleeping));
  slow.make = [make = slow.make](site& where) {
    plan made = make(where);
    made.servers.at(0).prepare.at(0).time_limit = 60s;
    return made;
  };
  const pid_t owner = fork();
  if (owner == 0) {
    const cluster never = cluster::start(slow);
    _exit(1);
  }
  ASSERT_TRUE(eventually([&] { return fs::exists(told); }));
  pid_t step = 0;
  std::ifstream(told) >> step;
  fs::remove(told);
  EXPECT_TRUE(is_running(step));
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !is_running(step) && fs::is_empty(own_.path()); }));
}

// A missing program is reported with its Debian package.
TEST_F(failed_start, names_the_package_of_a_missing_program) {
  setenv("PATH", own_.path().c_str(), 1);
  EXPECT_STREQ(start(find_topology("redis")).what(),
               "the program redis-server was found neither in PATH nor in /usr/sbin; install the "
               "Debian package redis-server");
}

// A port in use by another server is refused before anything is started.
TEST_F(failed_start, names_a_port_that_is_taken) {
  const cluster first = cluster::start("redis");
  const int port = first.servers().at(0).port;
  for (const char* name : {"redis", "zookeeper", "etcd", "mysql", "postgres"}) {
    EXPECT_THAT(start(find_topology(name), {.port = port}).what(),
                HasSubstr(fmt::format("port {} of 127.0.0.1 is already taken", port)));
  }
}

// A real server's log: Redis reports that it cannot enter its directory.
TEST_F(failed_start, shows_the_log_of_a_real_server) {
  topology broken = find_topology("redis");
  broken.make = [make = broken.make](site& where) {
    plan made = make(where);
    made.servers.at(0).argv.push_back("--no-such-setting");
    made.servers.at(0).argv.push_back("yes");
    return made;
  };
  const auto error = start(broken);
  EXPECT_THAT(error.what(), HasSubstr("redis ended with exit status 1"));
  EXPECT_THAT(error.log(), HasSubstr("no-such-setting"));
}

// A URL may name a file in it, and a bare @ would end the login of that URL.
TEST_F(failed_start, never_has_an_at_sign_in_a_directory) {
  temporary_directory of_version("etcd-tls@3.5");
  const std::string name = of_version.path().filename().string();
  EXPECT_THAT(name, testing::StartsWith("lockmark-local-etcd-tls-3.5-"));
  of_version.remove();
}

// The next start removes directories of killed keepers, but not those of living ones or of other
// users.
TEST_F(failed_start, removes_only_abandoned_directories) {
  const cluster living = cluster::start("redis");
  const fs::path abandoned = own_.path() / "lockmark-local-redis-abcdef";
  const fs::path foreign = own_.path() / "precious";
  fs::create_directories(abandoned / "data");
  fs::create_directory(foreign);
  remove_abandoned_directories();
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(fs::exists(living.directory()));
  remove_if_abandoned(foreign);
  EXPECT_TRUE(fs::exists(foreign));
  fs::remove(foreign);
}

}  // namespace
}  // namespace lockmark::local
