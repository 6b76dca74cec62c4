// BuildInfo describes how this binary was built. `trireme version` prints it, and ranks compare
// their build_id when they connect, because two different builds may be incompatible.
//
// build_id:      a hash over all of Trireme's sources, the compiler, its flags, torch and the
//                optional parts. It does not include the commit, host or path, so two builds of
//                equal sources with equal settings have the same build_id.
// Thread safety: constant data; any thread may read it.
// Errors:        none are thrown.
// Lifetime:      static.

#pragma once

#include <array>
#include <string_view>

namespace trireme::base {

struct BuildPart {
  std::string_view name;   // "mpi"
  std::string_view state;  // "on: 4.1" or "off: why"

  bool is_on() const noexcept { return state.starts_with("on"); }
};

struct BuildInfo {
  std::string_view version;     // "0.2.0"
  std::string_view build_id;    // 16 hexadecimal digits
  std::string_view compiler;    // "GNU 12.2.0"
  std::string_view build_type;  // "RelWithDebInfo"
  std::string_view sanitizer;   // "OFF", "thread", "address", "fuzz"
  std::string_view torch;       // "2.13.0+cpu", or "none"
  std::array<BuildPart, 6> parts;
};

const BuildInfo& build_info();

}  // namespace trireme::base
