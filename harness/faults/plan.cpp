#include "harness/faults/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/config/quantity.hpp"
#include "harness/faults/kind.hpp"

namespace lockmark::faults {
namespace {

constexpr std::array words{
    target_word{"holder", "the holder"},
    target_word{"participant", "", false, 1},
    target_word{"participants", "all participants", true},
    target_word{"server", "", false, 1},
    target_word{"servers", "all servers", true},
    target_word{"master", "the master"},
    target_word{"replica", "a replica"},
    target_word{"replicas", "the replicas", true},
    target_word{"replication", "replication"},
    target_word{"majority", "a majority of the servers", true},
    target_word{"minority", "a minority of the servers", true},
    target_word{"leader", "the leader"},
    target_word{"link", "", false, 2},
};

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find(' '));
}

std::string spoken_target(const std::string& who) {
  const target_word* found = find_target_word(who);
  return std::string{found == nullptr || found->spoken.empty() ? who : found->spoken};
}

std::string spoken_targets(const fault_plan& plan) {
  if (hits_one_link(plan)) {
    const auto second = plan.who.rfind(' ');
    const auto first = plan.who.find(' ') + 1;
    return fmt::format("the link between {} and {}", plan.who.substr(first, second - first),
                       plan.who.substr(second + 1));
  }
  const std::string whom = spoken_target(plan.who);
  if (plan.with.empty()) return whom;
  return fmt::format("{} and {}", whom, spoken_target(plan.with));
}

}  // namespace

std::span<const target_word> target_words() {
  return words;
}

const target_word* find_target_word(std::string_view who) {
  const auto found = std::ranges::find(words, first_word(who), &target_word::word);
  return found == words.end() ? nullptr : &*found;
}

std::string spoken(duration d) {
  std::string text = config::print_duration(d);
  const auto unit = text.find_first_not_of("0123456789.");
  return text.insert(unit, " ");
}

bool hits_one_link(const fault_plan& plan) {
  return first_word(plan.who) == "link";
}

bool hits_participants(const fault_plan& plan) {
  const std::string_view word = first_word(plan.who);
  return word == "holder" || word.starts_with("participant");
}

std::string name_of(const fault_plan& plan) {
  return plan.what->mark(plan);
}

std::string fault_kind::mark(const fault_plan& plan) const {
  return fmt::format("{}_{}", name, first_word(plan.who));
}

std::string describe(const fault_plan& plan) {
  const target_word* found = find_target_word(plan.who);
  phrase words_of_it;
  words_of_it.whom = spoken_targets(plan);
  words_of_it.several = (found != nullptr && found->several) || !plan.with.empty();
  words_of_it.link = hits_one_link(plan);
  if (plan.lasts > duration::zero()) {
    words_of_it.for_a_time = fmt::format(" for {}", spoken(plan.lasts));
  }
  return plan.what->describe(plan, words_of_it);
}

}  // namespace lockmark::faults
