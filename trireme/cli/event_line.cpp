#include "trireme/cli/event_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

namespace trireme::cli {
namespace {

using Json = nlohmann::ordered_json;

// Fields that form the beginning of the line or are in the header of `trireme watch`.
constexpr std::array<std::string_view, 5> kShownElsewhere = {"time", "from", "level", "event",
                                                             "output"};

std::string clock_of(double seconds) {
  const auto when = static_cast<std::time_t>(std::floor(seconds));
  std::tm local{};
  char text[16] = {};
  if (localtime_r(&when, &local) == nullptr) return {};
  return {text, std::strftime(text, sizeof text, "%H:%M:%S ", &local)};
}

std::string plain_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value.get<double>());
  return text;
}

}  // namespace

std::string event_line(std::string_view json) {
  const Json event = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) return std::string(json);
  std::string line;
  if (const auto time = event.find("time"); time != event.end() && time->is_number()) {
    line = clock_of(time->get<double>());
  }
  const auto name = event.find("event");
  line += name == event.end() ? "report" : plain_text(*name);
  std::string_view before = ": ";
  for (const auto& [key, value] : event.items()) {
    if (std::ranges::find(kShownElsewhere, key) != kShownElsewhere.end()) continue;
    std::string words = key;
    std::ranges::replace(words, '_', ' ');
    line += std::string(before) + words + " " + plain_text(value);
    before = ", ";
  }
  // An event is always one line, even if its text contains newlines.
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace trireme::cli
