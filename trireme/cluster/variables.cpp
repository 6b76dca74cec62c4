#include "trireme/cluster/variables.h"

#include <charconv>
#include <cstdlib>

#include "trireme/base/error.h"

namespace trireme::cluster {

const char* process_environment(const char* name) {
  return std::getenv(name);
}

std::optional<std::string> Variables::text(const char* name) const {
  const char* value = lookup_(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<int> Variables::number(const char* name, int least, int most) const {
  const std::optional<std::string> value = text(name);
  if (!value) return std::nullopt;
  int number = 0;
  const char* end = value->data() + value->size();
  const auto [stop, error] = std::from_chars(value->data(), end, number);
  if (error != std::errc{} || stop != end || number < least || number > most) {
    throw Error(ErrorCode::InvalidInput, std::string(name) + "=" + *value +
                                             " is not a whole number from " +
                                             std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

int Variables::need(const char* name, const char* because, int least, int most) const {
  const std::optional<int> value = number(name, least, most);
  if (value) return *value;
  throw Error(ErrorCode::InvalidInput,
              std::string(name) + " is not set, though " + because + " is: set both or neither");
}

}  // namespace trireme::cluster
