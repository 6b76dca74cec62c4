// Schema is the list of all sections of a configuration, in the order in which they are documented.
// Each part of a program adds its sections; the program reads a file against all of them.
//
//   Schema schema;
//   schema.section("run", "how workers are started").fields<RunConfig>();
//   schema.section("sync", "how ranks agree").kind<AllReduceConfig>("all_reduce", "...");
//
// Thread safety: one thread fills it; afterwards any thread may read it.
// Errors:        Misuse for a section with the same name as a setting of another section.

#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/base/config/conflict.h"
#include "trireme/base/config/section.h"

namespace trireme::config {

class Schema {
 public:
  // Returns the section with this name and creates it if necessary. A dotted name is a nested
  // table; the empty name is the top level of the file. The first non-empty help text is kept.
  Section& section(const std::string& name, const std::string& help = "");

  const std::deque<Section>& sections() const noexcept { return sections_; }
  // Null if there is none.
  const Section* find(std::string_view name) const noexcept;

  // Adds a combination of settings that is refused.
  void refuse(Conflict conflict) { conflicts_.push_back(std::move(conflict)); }
  const std::vector<Conflict>& conflicts() const noexcept { return conflicts_; }

 private:
  std::deque<Section> sections_;
  std::vector<Conflict> conflicts_;
};

}  // namespace trireme::config
