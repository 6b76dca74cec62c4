// Schema is every section of a configuration, in the order in which people read them. Each part of
// a program adds its own; the program reads one file against all of them.
//
//   Schema schema;
//   schema.section("run", "how workers are started").fields<RunConfig>();
//   schema.section("sync", "how ranks agree").kind<AllReduceConfig>("all_reduce", "...");
//
// Threads: filled by one thread, read by any afterwards.
// Failure: Misuse for a section whose name another section's setting has.

#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "trireme/base/config/section.h"

namespace trireme::config {

class Schema {
 public:
  // The section of that name, made where there is none yet. A dotted name is a table within a
  // table; the empty name is the top of the file. The first help that is given stays.
  Section& section(const std::string& name, const std::string& help = "");

  const std::deque<Section>& sections() const noexcept { return sections_; }
  // Null where there is none.
  const Section* find(std::string_view name) const noexcept;

 private:
  std::deque<Section> sections_;
};

}  // namespace trireme::config
