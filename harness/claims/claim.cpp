#include "harness/claims/claim.hpp"

#include <algorithm>
#include <iterator>

namespace lockmark::claims {

std::string_view name_of(answer a) {
  switch (a) {
    case answer::confirmed: return "confirmed";
    case answer::refuted: return "refuted";
    case answer::depends: return "depends";
    case answer::inconclusive: return "inconclusive";
  }
  return "?";
}

std::vector<claim> all_claims() {
  std::vector<claim> all;
  for (auto part :
       {claims_on_speed(), claims_on_leases(), claims_on_clusters(), claims_on_contention()}) {
    std::move(part.begin(), part.end(), std::back_inserter(all));
  }
  const auto number = [](const claim& c) { return std::stoi(c.id); };
  std::stable_sort(all.begin(), all.end(),
                   [&](const claim& a, const claim& b) { return number(a) < number(b); });
  return all;
}

}  // namespace lockmark::claims
