// The parts of a dotted key, `run.limit."odd.name"`: dots in quotation marks separate nothing.
//
// Threads: pure.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trireme::config {

// The tables on the way to the key, outermost first: `a` and `a.b` of `a.b.c`.
std::vector<std::string> tables_of(std::string_view key);

// All but the last component, empty where there is one only; and the last.
std::string parent_of(std::string_view key);
std::string leaf_of(std::string_view key);

}  // namespace trireme::config
