#include "program/command_line.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "deploy/local/topology.hpp"
#include "harness/config/job.hpp"
#include "harness/config/scheme.hpp"
#include "workloads/jobs.hpp"

namespace lockmark::cli {
namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const auto end = std::min(text.find(at), text.size());
    all.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return all;
}

// CLI11 writes a type and its checks as "TEXT:{text,json}".
void read_type(const std::string& type, described_option& o) {
  const auto colon = type.find(':');
  o.value = type.substr(0, colon);
  const std::string check = colon == type.npos ? "" : type.substr(colon + 1);
  if (check.starts_with("{") && check.ends_with("}")) {
    o.allowed = split(std::string_view(check).substr(1, check.size() - 2), ',');
  }
}

described_option option_of(const CLI::Option& from) {
  described_option o;
  for (const std::string& name : from.get_snames()) o.names.push_back(fmt::format("-{}", name));
  for (const std::string& name : from.get_lnames()) o.names.push_back(fmt::format("--{}", name));
  if (from.get_positional()) o.place = from.get_name(true);
  if (from.get_expected_max() > 0) read_type(from.get_type_name(), o);
  o.preset = from.get_default_str();
  o.help = from.get_description();
  o.required = from.get_required();
  o.repeats = from.get_items_expected_max() > 1;
  o.delimiter = from.get_delimiter();
  return o;
}

std::vector<described_option> options_of(const CLI::App& app) {
  std::vector<described_option> all;
  for (const CLI::Option* o : app.get_options()) {
    if (!o->get_group().empty()) all.push_back(option_of(*o));
  }
  return all;
}

void add_once(std::vector<std::string>& to, const std::string& word) {
  if (std::find(to.begin(), to.end(), word) == to.end()) to.push_back(word);
}

// Options of locks: several locks may have one of the same name.
std::vector<described_key> lock_option_keys(const catalogue& known) {
  std::vector<described_key> keys;
  for (const lock_kind& lock : known.locks()) {
    for (const lock_option& o : lock.options) {
      const std::string name = fmt::format("options.{}", o.name);
      auto at = std::find_if(keys.begin(), keys.end(),
                             [&](const described_key& k) { return k.name == name; });
      if (at == keys.end()) {
        at = keys.insert(
            keys.end(),
            described_key{
                name, std::string(o.preset), std::string(o.values), std::string(o.help), {}});
      }
      for (const std::string& value : listed(o.values)) add_once(at->values, value);
    }
  }
  return keys;
}

std::vector<described_key> keys_of(const catalogue& known) {
  std::vector<described_key> keys;
  for (const auto& row : config::job_options()) {
    if (row.name == "options.*") {
      for (described_key& k : lock_option_keys(known)) keys.push_back(std::move(k));
      continue;
    }
    described_key k{row.name, row.fallback, row.allowed, row.help, listed(row.allowed)};
    if (k.name == "lock") {
      for (const lock_kind& lock : known.locks()) k.values.emplace_back(lock.name);
    }
    if (k.name == "workload") {
      k.values.push_back("auto");
      for (const workload_kind& w : known.workloads()) k.values.emplace_back(w.name);
    }
    keys.push_back(std::move(k));
  }
  return keys;
}

}  // namespace

std::vector<std::string> listed(std::string_view text) {
  std::string commas(text);
  if (const auto last = commas.rfind(" or "); last != commas.npos) commas.replace(last, 4, ", ");
  std::vector<std::string> items;
  for (std::string_view rest = commas; !rest.empty();) {
    const auto end = std::min(rest.find(", "), rest.size());
    items.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 2));
  }
  const bool words = std::all_of(items.begin(), items.end(), [](const std::string& item) {
    return !item.empty() && item.find_first_of(" ()<>=\"'") == item.npos;
  });
  return words && items.size() > 1 ? items : std::vector<std::string>{};
}

command_line describe(const CLI::App& app, const catalogue& known) {
  command_line all;
  all.name = app.get_name();
  all.summary = app.get_description();
  all.footer = app.get_footer();
  all.options = options_of(app);
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    all.commands.push_back({sub->get_name(), sub->get_description(), options_of(*sub)});
  }
  all.keys = keys_of(known);
  for (const lock_kind& lock : known.locks()) all.words["LOCK"].emplace_back(lock.name);
  for (const auto& [name, text] : workloads::shipped_jobs()) all.words["JOB"].push_back(name);
  for (const local::topology& t : local::topologies()) {
    all.words["TOPOLOGY"].push_back(t.name);
    all.words["TARGET"].push_back(fmt::format("local:{}", t.name));
  }
  for (const config::scheme& s : config::schemes()) {
    if (s.tls || s.form == config::target_form::name) continue;
    const bool by_network = s.form == config::target_form::network;
    all.words["TARGET"].push_back(fmt::format("{}:{}", s.name, by_network ? "//" : ""));
  }
  return all;
}

}  // namespace lockmark::cli
