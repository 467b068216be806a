// The kinds of faults, a class each. To add one: write its class here, add it to the list at the
// end, and give `targets` a new means if it needs one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "harness/base/redact.hpp"
#include "harness/config/parsed.hpp"
#include "harness/faults/kind.hpp"

namespace lockmark::faults {
namespace {

using namespace std::chrono_literals;

class pause final : public fault_kind {
 public:
  pause() : fault_kind("pause") {}
  bool needs_length() const override { return true; }
  client_effect on_client() const override { return client_effect::paused; }
  task<void> inject(loop& l, const fault_plan&, targets& at) const override {
    return at.signal(l, SIGSTOP);
  }
  task<void> undo(loop& l, const fault_plan&, targets& at) const override {
    return at.signal(l, SIGCONT);
  }
  std::string describe(const fault_plan&, const phrase& words) const override {
    return fmt::format("{} {} paused{}", words.whom, words.was(), words.for_a_time);
  }
};

// A server is started again after `for`, a participant is not.
class kill final : public fault_kind {
 public:
  kill() : fault_kind("kill") {}
  bool takes(std::string_view key, const fault_plan& plan) const override {
    return key == "data" && !hits_participants(plan);
  }
  void check(const given_keys& given) const override {
    if (given.has("for") && hits_participants(given.plan)) {
      given.refuse("for", "means nothing here: a participant that was killed is not started again");
    }
  }
  bool lasts(const fault_plan& plan) const override { return !hits_participants(plan); }
  client_effect on_client() const override { return client_effect::gone; }
  void add_needs(const fault_plan& plan, fault_needs& needs) const override {
    const bool comes_back = !hits_participants(plan) && plan.lasts > 0ns;
    needs.kept_data = needs.kept_data || (comes_back && plan.keeps_data);
  }
  task<void> inject(loop& l, const fault_plan&, targets& at) const override {
    return at.signal(l, SIGKILL);
  }
  task<void> undo(loop& l, const fault_plan& plan, targets& at) const override {
    return at.restart(l, plan.keeps_data);
  }
  std::string describe(const fault_plan& plan, const phrase& words) const override {
    std::string text = fmt::format("{} {} killed", words.whom, words.was());
    if (plan.lasts == 0ns) return text;
    return fmt::format("{} and came back {} {} data after {}", text,
                       plan.keeps_data ? "with" : "without", words.its(), spoken(plan.lasts));
  }
};

class link_fault : public fault_kind {
 public:
  link_fault(std::string_view its_name, link_mode mode) : fault_kind(its_name), mode_(mode) {}
  bool needs_length() const final { return true; }
  bool of_links() const final { return true; }
  task<void> inject(loop& l, const fault_plan& plan, targets& at) const final {
    return at.set_links(l, mode_, plan.by);
  }
  task<void> undo(loop& l, const fault_plan&, targets& at) const final {
    return at.set_links(l, link_mode::pass);
  }

 private:
  link_mode mode_;
};

class cut final : public link_fault {
 public:
  cut() : link_fault("cut", link_mode::cut) {}
  client_effect on_client() const override { return client_effect::cut_off; }
  std::string describe(const fault_plan&, const phrase& words) const override {
    return fmt::format("{} {} cut{}{}", words.whom, words.was(), words.link ? "" : " off",
                       words.for_a_time);
  }
};

class stall final : public link_fault {
 public:
  stall() : link_fault("stall", link_mode::stall) {}
  client_effect on_client() const override { return client_effect::stalled; }
  std::string describe(const fault_plan&, const phrase& words) const override {
    return fmt::format("nothing got through {} {}{}", words.link ? "over" : "to", words.whom,
                       words.for_a_time);
  }
};

class delay final : public link_fault {
 public:
  delay() : link_fault("delay", link_mode::delay) {}
  bool takes(std::string_view key, const fault_plan&) const override { return key == "by"; }
  void check(const given_keys& given) const override {
    if (given.plan.by < 0ns) given.refuse("by", "expected a delay, which cannot be negative");
  }
  std::string describe(const fault_plan& plan, const phrase& words) const override {
    return fmt::format("every byte {} {} came {} late{}", words.link ? "over" : "to and from",
                       words.whom, spoken(plan.by), words.for_a_time);
  }
};

// The wall clock runs `by` ahead, or behind if that is negative.
class jump_clock final : public fault_kind {
 public:
  jump_clock() : fault_kind("jump_clock") {}
  bool takes(std::string_view key, const fault_plan&) const override { return key == "by"; }
  void check(const given_keys& given) const override {
    if (hits_participants(given.plan)) {
      given.refuse("who", "expected servers: lockmark measures with the clock of its participants");
    }
  }
  void add_needs(const fault_plan&, fault_needs& needs) const override { needs.clock_shim = true; }
  task<void> inject(loop& l, const fault_plan& plan, targets& at) const override {
    return at.set_clocks(l, plan.by);
  }
  task<void> undo(loop& l, const fault_plan&, targets& at) const override {
    return at.set_clocks(l, 0ns);
  }
  std::string describe(const fault_plan& plan, const phrase& words) const override {
    const bool back = plan.by < 0ns;
    return fmt::format("the clock of {} jumped {} {}{}", words.whom,
                       spoken(back ? -plan.by : plan.by), back ? "back" : "ahead",
                       words.for_a_time);
  }
};

// A replica is promoted, while the old master lives or after its death.
class fail_over final : public fault_kind {
 public:
  fail_over() : fault_kind("fail_over") {}
  void check(const given_keys& given) const override {
    if (given.has("for")) {
      given.refuse("for", "means nothing to do: fail_over: the new master stays");
    }
    if (given.has("who") && given.plan.who != "master") {
      given.refuse("who",
                   config::expected("master, which a replica follows", given.plan.who).sentence);
    }
  }
  bool lasts(const fault_plan&) const override { return false; }
  bool takes_time() const override { return true; }
  void add_needs(const fault_plan&, fault_needs& needs) const override { needs.promotion = true; }
  task<void> inject(loop& l, const fault_plan&, targets& at) const override {
    return at.promote(l);
  }
  task<void> undo(loop&, const fault_plan&, targets&) const override { co_return; }
  std::string describe(const fault_plan&, const phrase& words) const override {
    return fmt::format("{} was replaced by a replica", words.whom);
  }
};

class run final : public fault_kind {
 public:
  run() : fault_kind("run") {}
  bool has_target() const override { return false; }
  bool takes(std::string_view key, const fault_plan&) const override {
    return key == "command" || key == "undo";
  }
  void check(const given_keys& given) const override {
    if (given.has("undo") && !given.has("for")) {
      given.refuse("for", "is missing: when undo is run");
    }
    if (given.has("who")) {
      given.refuse("who", "means nothing to do: run, whose command knows whom it hits");
    }
    if (given.has("on")) given.refuse("on", "means nothing to do: run; say at");
    if (!given.has("command")) {
      given.refuse("command", "is missing: what do: run runs, by /bin/sh");
    }
  }
  bool lasts(const fault_plan&) const override { return false; }
  task<void> inject(loop& l, const fault_plan& plan, targets& at) const override {
    return at.shell(l, plan.command);
  }
  task<void> undo(loop& l, const fault_plan& plan, targets& at) const override {
    if (plan.undo.empty()) co_return;
    task<void> undone = at.shell(l, plan.undo);
    co_await std::move(undone);
  }
  std::string mark(const fault_plan&) const override { return "run_command"; }
  std::string describe(const fault_plan& plan, const phrase&) const override {
    std::string text = fmt::format("'{}' was run", shown_command(plan.command));
    if (plan.undo.empty()) return text;
    return fmt::format("{}, and '{}' after {}", text, shown_command(plan.undo), spoken(plan.lasts));
  }
};

template <class Kind>
const fault_kind* the() {
  static const Kind only;
  return &only;
}

}  // namespace

std::span<const fault_kind* const> kinds() {
  static const std::array all{the<pause>(), the<kill>(),       the<cut>(),       the<stall>(),
                              the<delay>(), the<jump_clock>(), the<fail_over>(), the<run>()};
  return all;
}

const fault_kind* find_kind(std::string_view name) {
  const auto found = std::ranges::find(kinds(), name, &fault_kind::name);
  return found == kinds().end() ? nullptr : *found;
}

}  // namespace lockmark::faults
