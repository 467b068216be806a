// lockmark invitation: both halves of what lets agents in, made ahead of their coordinator, for
// systems that start the two and carry their secrets.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "harness/agents/invitation.hpp"
#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"

namespace lockmark::cli {
namespace {

namespace fs = std::filesystem;

int make_invitation(const fs::path& folder) {
  const fs::path secret = folder / "identity", shared = folder / "invitation";
  for (const fs::path& file : {secret, shared}) {
    if (!fs::exists(file)) continue;
    throw usage_error("{}: there is one already, which may be in use; remove it to make another",
                      file.string());
  }
  create_private_folders(folder);
  const agents::identity who = agents::make_identity();
  write_whole_file(secret, agents::to_text(who));
  write_whole_file(shared, agents::to_text(who.guests) + "\n");
  fmt::print(
      "{}: for the coordinator, lockmark run --identity\n{}: for its agents, lockmark agent "
      "--invitation\n",
      secret.string(), shared.string());
  return 0;
}

}  // namespace

command_action invitation_command(CLI::App& app, const context&) {
  const auto folder = std::make_shared<std::string>(".");
  declare(app, "--out", *folder, "DIR", "the files identity and invitation appear in this folder");
  app.footer(
      "Whoever has the invitation may join the coordinator that has the identity. Both are valid\n"
      "for a month; only their owner can read them.\n"
      "Example:\n"
      "  lockmark invitation --out secret");
  return [folder] { return make_invitation(*folder); };
}

}  // namespace lockmark::cli
