// Who held a key when, as bars of text: one line for each client, with the times at which another
// held the key beside it.
//
//   instance 3 client 0  ======XXXXXXXXXXXXXXXXXX==
//   instance 0 client 0        XXXXXXXXX
//                        0 s                  8.5 s
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace lockmark::report {

// `examples`: those of the section "safety" of run.json; the first one's key is shown. At most
// `width` columns wide. Empty without an example.
std::string hold_bars(const nlohmann::ordered_json& examples, std::size_t width);

}  // namespace lockmark::report
