#include "trireme/base/config/section.h"

#include <algorithm>

#include "trireme/base/check.h"

namespace trireme::config {
namespace {

bool overlaps(const std::string& a, const std::string& b) {
  return a == b || a.starts_with(b + ".") || b.starts_with(a + ".");
}

}  // namespace

void check_name(std::string_view name) {
  const bool is_plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  TRIREME_CHECK(is_plain, "'", name, "' is no name for a setting: use a-z, 0-9 and _");
}

Section::Section(std::string name, std::string help)
    : name_(std::move(name)), help_(std::move(help)) {}

std::vector<std::string> Section::kinds() const {
  std::vector<std::string> all;
  for (const SectionPart& part : parts_) {
    if (!part.kind.empty()) all.push_back(part.kind);
  }
  return all;
}

std::string Section::key(const std::string& field) const {
  return name_.empty() ? field : name_ + "." + field;
}

Section& Section::remedy_for_unknown_kinds(std::string remedy) {
  remedy_ = std::move(remedy);
  return *this;
}

Section& Section::add(SectionPart part) {
  check_against(part);
  const auto defaults = part.make();
  for (const auto& field : part.fields) {
    // Writing and reading back a default detects an enum without names and a default outside its
    // range.
    try {
      field->set(defaults.get(), field->get(defaults.get()));
    } catch (const std::exception& error) {
      TRIREME_CHECK(false, "the default of ", key(field->name()), ": ", error.what());
    }
  }
  parts_.push_back(std::move(part));
  return *this;
}

void Section::check_against(const SectionPart& part) const {
  if (!part.kind.empty()) check_name(part.kind);
  for (const SectionPart& other : parts_) {
    const bool are_alternatives = !part.kind.empty() && !other.kind.empty();
    TRIREME_CHECK(!are_alternatives || part.kind != other.kind, "[", name_, "] has the kind '",
                  part.kind, "' already");
    if (are_alternatives) continue;
    TRIREME_CHECK(part.type != other.type, "[", name_, "] has this struct already");
    for (const auto& field : part.fields) {
      for (const auto& taken : other.fields) {
        TRIREME_CHECK(!overlaps(field->name(), taken->name()), key(field->name()), " is taken");
      }
    }
  }
  for (std::size_t i = 0; i < part.fields.size(); ++i) {
    const std::string& name = part.fields[i]->name();
    TRIREME_CHECK(name != kKindKey, key(name), " is reserved for sections with kinds");
    for (std::size_t j = 0; j < i; ++j) {
      TRIREME_CHECK(!overlaps(name, part.fields[j]->name()), key(name), " is taken");
    }
  }
}

}  // namespace trireme::config
