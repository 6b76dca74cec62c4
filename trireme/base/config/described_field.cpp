#include "trireme/base/config/described_field.h"

#include "trireme/base/config/read_value.h"
#include "trireme/base/config/rules.h"
#include "trireme/base/text/quantity.h"

namespace trireme::config {
namespace {

constexpr std::string_view kOptional = "optional ";
constexpr std::string_view kList = "list of ";
constexpr std::string_view kNames = "one of ";

bool is_nothing(const Value& value) {
  return std::holds_alternative<std::monostate>(value.content);
}

// Converts values of all types that have bounds to one scale.
double amount_of(const Value& value, std::string_view type) {
  if (type == "duration") return static_cast<double>(read_duration(value).count());
  if (type == "byte size") return static_cast<double>(read_byte_size(value).count);
  if (type == "integer") return static_cast<double>(read_integer(value));
  return read_number(value);
}

bool has_bounds(std::string_view type) {
  return type == "integer" || type == "number" || type == "duration" || type == "byte size";
}

}  // namespace

void DescribedField::check_bounds(const Value& value, std::string_view type) const {
  if (!has_bounds(type)) return;
  const double amount = amount_of(value, type);
  if (!is_nothing(said_.least) && amount < amount_of(said_.least, type)) {
    refuse_less(value, said_.least);
  }
  if (!is_nothing(said_.most) && amount > amount_of(said_.most, type)) {
    refuse_more(value, said_.most);
  }
  if (type == "duration" && is_nothing(said_.least) && amount < 0) {
    refuse_less(value, {to_text(Duration(0))});
  }
}

Value DescribedField::checked(const Value& value, std::string_view type) const {
  if (type.starts_with(kOptional)) {
    return is_nothing(value) ? value : checked(value, type.substr(kOptional.size()));
  }
  if (type.starts_with(kList)) {
    List items;
    for (const Value& item : read_list(value)) {
      items.push_back(checked(item, type.substr(kList.size())));
    }
    return {std::move(items)};
  }
  check_bounds(value, type);
  if (type.starts_with(kNames)) return {said_.names[read_name(value, said_.names)]};
  if (type == "boolean") return {read_bool(value)};
  if (type == "integer") return {read_integer(value)};
  if (type == "number") return {read_number(value)};
  if (type == "text" || type == "path") return {read_text(value)};
  if (type == "text or number") return {read_text_or_number(value)};
  return value;
}

void DescribedField::set(void* config, const Value& value) const {
  (*static_cast<DescribedValues*>(config))[name()] = checked(value, said_.type);
}

Value DescribedField::get(const void* config) const {
  const auto& values = *static_cast<const DescribedValues*>(config);
  const auto found = values.find(name());
  return found == values.end() ? said_.default_value : found->second;
}

}  // namespace trireme::config
