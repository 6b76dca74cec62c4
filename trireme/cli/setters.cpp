#include "trireme/cli/setters.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/text/nearest.h"

namespace trireme::cli {

std::string joined(const std::vector<std::string>& names, std::string_view separator) {
  return fmt::format("{}", fmt::join(names, separator));
}

Setter one_of(std::string option, std::vector<std::string> names, std::string& target) {
  return [option = std::move(option), names = std::move(names), &target](const std::string& text) {
    if (std::find(names.begin(), names.end(), text) != names.end()) {
      target = text;
      return std::string();
    }
    std::string mistake = option + " " + text + ": use " + joined(names, ", ");
    if (const auto near = nearest(text, names)) mistake += "; did you mean " + *near + "?";
    return mistake;
  };
}

Setter checked(std::string option, std::function<void(const std::string&)> read) {
  return [option = std::move(option), read = std::move(read)](const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      return option + " " + text + ": " + error.message();
    }
    return std::string();
  };
}

}  // namespace trireme::cli
