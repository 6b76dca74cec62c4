// DescribedField is a setting of a struct that is defined in another program (for example, a
// worker). Its name, type, bounds and default come from a description; its value is stored as
// written.
//
// It applies the owner's checks of type, range and enum names, so that these errors in a recipe are
// reported before the owning program starts. Checks that the owner implements in code run only in
// the owner.
//
// Thread safety: as Field.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/config/field.h"

namespace trireme::config {

// Replaces the struct: values by field name.
using DescribedValues = std::map<std::string, Value>;

struct FieldDescription {
  std::string name;
  std::string help;
  std::string type;  // as returned by Field::type()
  std::string range;
  std::string unit;
  Shape shape;
  Value default_value;
  Value least;
  Value most;
  std::vector<std::string> names;
  std::vector<std::string> synonyms;
};

class DescribedField final : public Field {
 public:
  explicit DescribedField(FieldDescription said) : Field(said.name), said_(std::move(said)) {
    set_synonyms(said_.synonyms);
  }

  std::string help() const override { return said_.help; }
  std::string type() const override { return said_.type; }
  std::string range() const override { return said_.range; }
  std::string unit() const override { return said_.unit; }
  Shape shape() const override { return said_.shape; }
  Value least() const override { return said_.least; }
  Value most() const override { return said_.most; }
  std::vector<std::string> names() const override { return said_.names; }
  const Value& default_value() const noexcept { return said_.default_value; }

  void set(void* config, const Value& value) const override;
  Value get(const void* config) const override;

 private:
  Value checked(const Value& value, std::string_view type) const;
  void check_bounds(const Value& value, std::string_view type) const;

  FieldDescription said_;
};

}  // namespace trireme::config
