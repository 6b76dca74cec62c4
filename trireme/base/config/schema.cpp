#include "trireme/base/config/schema.h"

#include <algorithm>

namespace trireme::config {

Section& Schema::section(const std::string& name, const std::string& help) {
  for (Section& section : sections_) {
    if (section.name() != name) continue;
    if (section.help_.empty()) section.help_ = help;
    return section;
  }
  for (std::size_t at = 0; !name.empty() && at <= name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    check_name(std::string_view(name).substr(at, dot - at));
    at = dot + 1;
  }
  return sections_.emplace_back(name, help);
}

const Section* Schema::find(std::string_view name) const noexcept {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& section) { return section.name() == name; });
  return found == sections_.end() ? nullptr : &*found;
}

}  // namespace trireme::config
