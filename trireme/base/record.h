// Record is an ordered list of named values: one log line, one event or one metric sample.
//
// All structured output for people and tools is a Record: JSON in files and on sockets, `key=value`
// text on a terminal. The set of value types is deliberately small.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace trireme {

class Record {
 public:
  using Value = std::variant<bool, std::int64_t, double, std::string>;

  class Field {
   public:
    template <class T>
    Field(std::string_view name, const T& content) : key(name), value(to_value(content)) {}

    std::string key;
    Value value;

   private:
    template <class T>
    static Value to_value(const T& value) {
      if constexpr (std::is_same_v<T, bool>)
        return value;
      else if constexpr (std::is_integral_v<T>)
        return static_cast<std::int64_t>(value);
      else if constexpr (std::is_floating_point_v<T>)
        return static_cast<double>(value);
      else
        return std::string(value);
    }
  };

  Record() = default;
  Record(std::initializer_list<Field> fields) : fields_(fields) {}

  Record& add(Field field);
  const std::vector<Field>& fields() const noexcept { return fields_; }
  // The first field with this name; null if there is none.
  const Value* find(std::string_view key) const noexcept;

  // {"key":value,...} on one line. Of several fields with the same key only the first is written.
  // Invalid UTF-8 bytes are replaced, and NaN and infinities are written as strings, so that any
  // JSON reader accepts every line.
  std::string to_json() const;
  // key=value key="two words"
  std::string to_text() const;

 private:
  std::vector<Field> fields_;
};

}  // namespace trireme
