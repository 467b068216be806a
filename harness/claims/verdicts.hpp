// The few ways in which claims are judged.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "harness/claims/claim.hpp"

namespace lockmark::claims {

// How a figure is called and printed: "8200/s", "1.2 ms", "52 %".
enum class unit { per_second, nanoseconds, share, plain };
std::string show(const figure& f, unit u);

// Whether the figures fall from label to label. Confirmed if each is above the next, refuted if any
// is clearly below its next, inconclusive otherwise.
judgement falls(const evidence& e, std::initializer_list<std::string_view> labels,
                const std::string& pointer, unit u);

// Whether two held the lock, in every run of each of the first and in none of the second.
judgement breaks(const evidence& e, std::initializer_list<std::string_view> violated,
                 std::initializer_list<std::string_view> safe);

// Both confirmed: confirmed. One refuted: refuted. The sentences are joined.
judgement both(const judgement& a, const judgement& b);

judgement missing(std::string_view label);

// An experiment that breaks something: the scenario of that name among the shipped faults.
experiment hurt(std::string label, const std::string& scenario, std::string lock,
                std::string topology, std::vector<std::string> set = {});

}  // namespace lockmark::claims
