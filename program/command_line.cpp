#include "program/command_line.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "deploy/local/topology.hpp"
#include "deploy/local/versions.hpp"
#include "harness/base/lists.hpp"
#include "harness/claims/claim.hpp"
#include "harness/config/job.hpp"
#include "harness/config/scheme.hpp"
#include "harness/run/build_info.hpp"
#include "program/jobs.hpp"
#include "program/topics.hpp"
#include "workloads/fault_catalogue.hpp"
#include "workloads/jobs.hpp"

namespace lockmark::cli {
namespace {

using word_list = std::vector<std::string>;

word_list split(std::string_view text, std::string_view at) {
  word_list all;
  for (const auto part : text | std::views::split(at)) all.emplace_back(part.begin(), part.end());
  return all;
}

json list_of(const word_list& all) {
  json list = json::array();
  for (const std::string& word : all) list.push_back({{"word", word}, {"first", list.empty()}});
  return list;
}

// The words known of each kind of value.
std::map<std::string, word_list> vocabulary_of(const CLI::App& app, const catalogue& known) {
  std::map<std::string, word_list> all;
  for (const topic& t : topics()) all["TOPIC"].emplace_back(t.name);
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    all["TOPIC"].push_back(sub->get_name());
  }
  for (const lock_kind& lock : known.locks()) all["LOCK"].emplace_back(lock.name);
  for (const auto name : distinct(workloads::fault_catalogue(), &workloads::scenario::name)) {
    all["SCENARIO"].emplace_back(name);
  }
  all["SCENARIO"].emplace_back("all");
  for (const auto& c : claims::read_claims(workloads::shipped_claims(), "claims.yaml")) {
    all["CLAIM"].push_back(c.id);
  }
  for (const auto& [name, text] : workloads::shipped_jobs()) all["JOB"].push_back(name);
  for (const local::topology& t : local::topologies()) {
    all["TOPOLOGY"].push_back(t.name);
    all["SERVERS"].push_back(t.name);
    all["TARGET"].push_back(fmt::format("local:{}", t.name));
  }
  for (const local::server_version& v : local::known_versions()) {
    all["SERVERS"].push_back(v.name());
    all["TARGET"].push_back(fmt::format("local:{}", v.name()));
  }
  for (const config::scheme& s : config::schemes()) {
    if (s.tls || s.form == config::target_form::name) continue;
    const bool by_network = s.form == config::target_form::network;
    all["TARGET"].push_back(fmt::format("{}:{}", s.name, by_network ? "//" : ""));
  }
  return all;
}

std::string function_of(std::string value) {
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::tolower(c); });
  return value;
}

json option_names(const CLI::Option& from) {
  json names = json::array();
  const auto add = [&names](const char* dashes, const std::string& bare, bool is_long) {
    names.push_back(
        {{"name", dashes + bare}, {"bare", bare}, {"long", is_long}, {"first", names.empty()}});
  };
  for (const std::string& name : from.get_snames()) add("-", name, false);
  for (const std::string& name : from.get_lnames()) add("--", name, true);
  return names;
}

// CLI11 writes a type and its checks as "TEXT:{text,json}".
json option_of(const CLI::Option& from, const std::map<std::string, word_list>& vocabulary) {
  const std::string type = from.get_expected_max() > 0 ? from.get_type_name() : "";
  const std::string value = type.substr(0, type.find(':'));
  const std::string check = type.substr(std::min(value.size() + 1, type.size()));
  const bool choice = check.starts_with("{") && check.ends_with("}");
  const auto known = vocabulary.find(value);
  word_list all;
  if (choice) all = split(std::string_view(check).substr(1, check.size() - 2), ",");
  if (!choice && known != vocabulary.end()) all = known->second;
  const bool setting = value == "KEY=VALUE", folder = value == "DIR" || value == "RUN";
  const json names = option_names(from);
  const std::string called = names.empty() ? "" : names.back()["name"].get<std::string>();
  return {{"names", names},
          {"place", from.get_positional() ? from.get_name(true) : ""},
          {"called", called},
          {"value", value},
          {"words", list_of(all)},
          {"choice", choice},
          {"setting", setting},
          {"folder", folder},
          {"file", value == "FILE"},
          {"job", value == "JOB"},
          {"is_known", !all.empty() || setting || folder || value == "FILE"},
          {"function", function_of(value)},
          {"list", from.get_delimiter() == ','},
          {"preset", from.get_default_str()},
          {"help", from.get_description()},
          {"required", from.get_required()},
          {"repeats", from.get_items_expected_max() > 1},
          {"is_help", called == "--help"}};
}

json options_of(const CLI::App& app, const std::map<std::string, word_list>& vocabulary) {
  json all = json::array();
  const auto places = std::ranges::count_if(app.get_options(), &CLI::Option::get_positional);
  int position = 0;
  for (const CLI::Option* o : app.get_options()) {
    if (o->get_group().empty()) continue;
    json option = option_of(*o, vocabulary);
    if (o->get_positional()) {
      ++position;
      option["position"] = position;
      option["opens"] = places > 1 && position == 1;
      option["follows"] = position > 1;
    }
    all.push_back(std::move(option));
  }
  return all;
}

// The values of an option that several locks may have.
word_list values_of_option(const catalogue& known, std::string_view name) {
  word_list all;
  for (const lock_kind& lock : known.locks()) {
    for (const lock_option& o : lock.options) {
      if (o.name != name) continue;
      for (std::string& value : listed(o.values)) all.push_back(std::move(value));
    }
  }
  return distinct(all);
}

word_list values_of_key(const catalogue& known, const std::string& name, std::string_view allowed) {
  word_list all = listed(allowed);
  if (name == "workload") all.emplace_back("auto");
  if (name == "workload") {
    for (const workload_kind& w : known.workloads()) all.emplace_back(w.name);
  }
  if (name == "lock") {
    for (const lock_kind& lock : known.locks()) all.emplace_back(lock.name);
  }
  return all;
}

json keys_of(const catalogue& known) {
  json keys = json::array();
  const auto add = [&keys](std::string_view name, std::string_view preset, std::string_view allowed,
                           std::string_view help, const word_list& values) {
    keys.push_back({{"name", name},
                    {"preset", preset},
                    {"allowed", allowed},
                    {"help", help},
                    {"values", list_of(values)},
                    {"first", keys.empty()}});
  };
  const auto add_options_of_locks = [&] {
    std::set<std::string_view> seen;
    for (const lock_kind& lock : known.locks()) {
      for (const lock_option& o : lock.options) {
        if (!seen.insert(o.name).second) continue;
        const word_list values = values_of_option(known, o.name);
        add(fmt::format("options.{}", o.name), o.preset, o.values, o.help, values);
      }
    }
  };
  for (const auto& row : config::job_options()) {
    if (row.name == "options.*") {
      add_options_of_locks();
    } else {
      const word_list values = values_of_key(known, row.name, row.allowed);
      add(row.name, row.fallback, row.allowed, row.help, values);
    }
  }
  return keys;
}

// What can be named on the command line, with its meaning.
void add_names(json& all, const catalogue& known) {
  for (const auto& [name, yaml] : workloads::shipped_jobs()) {
    all["jobs"].push_back({{"name", name}, {"help", idea_of(std::string(yaml))}});
  }
  for (const lock_kind& lock : known.locks()) {
    all["locks"].push_back(
        {{"name", lock.name}, {"help", lock.summary}, {"topologies", lock.topologies}});
  }
  for (const topic& t : topics()) {
    json paragraphs = json::array();
    for (const std::string& line : paragraphs_of(t)) {
      if (!line.empty()) paragraphs.push_back({{"text", line}});
    }
    all["topics"].push_back({{"name", t.name}, {"help", t.title}, {"paragraphs", paragraphs}});
  }
  for (const workload_kind& w : known.workloads()) {
    all["workloads"].push_back({{"name", w.name}, {"help", w.summary}});
  }
  for (const local::topology& t : local::topologies()) {
    all["topologies"].push_back({{"name", t.name}, {"help", t.summary}});
  }
}

}  // namespace

word_list listed(std::string_view text) {
  std::string commas(text);
  if (const auto last = commas.rfind(" or "); last != commas.npos) commas.replace(last, 4, ", ");
  word_list items = split(commas, ", ");
  const bool single = std::ranges::all_of(items, [](const std::string& item) {
    return !item.empty() && item.find_first_of(" ()<>=\"'") == item.npos;
  });
  return single && items.size() > 1 ? items : word_list{};
}

json describe(const CLI::App& app, const catalogue& known) {
  const auto vocabulary = vocabulary_of(app, known);
  json all{{"program", app.get_name()},
           {"summary", app.get_description()},
           {"footer", app.get_footer()},
           {"version", run::this_build().version},
           {"options", options_of(app, vocabulary)}};
  json& commands = all["commands"] = json::array();
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    commands.push_back({{"name", sub->get_name()},
                        {"help", sub->get_description()},
                        {"options", options_of(*sub, vocabulary)},
                        {"first", commands.empty()}});
  }
  all["keys"] = keys_of(known);
  for (const auto& [value, known_words] : vocabulary) {
    all["vocabulary"].push_back({{"value", value},
                                 {"function", function_of(value)},
                                 {"words", list_of(known_words)},
                                 {"job", value == "JOB"}});
  }
  add_names(all, known);
  return all;
}

}  // namespace lockmark::cli
