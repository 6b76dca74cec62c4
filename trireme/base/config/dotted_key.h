// Splits a dotted key such as `run.limit."odd.name"`. Dots inside quotation marks do not separate.
//
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trireme::config {

// The tables that contain the key, outermost first: `a` and `a.b` for `a.b.c`.
std::vector<std::string> tables_of(std::string_view key);

// parent_of() returns all components but the last, empty if there is only one; leaf_of() the last.
std::string parent_of(std::string_view key);
std::string leaf_of(std::string_view key);

}  // namespace trireme::config
