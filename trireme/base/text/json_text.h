// parse_json() parses untrusted JSON. The JSON library parses any depth, but copies and prints
// values recursively: a file of a million opening brackets would overflow the stack. Text nested
// deeper than kJsonDepthMax is therefore refused in the same way as text that is not JSON.
//
//   const auto json = parse_json<nlohmann::json>(text);
//   if (json.is_discarded()) ...                           not JSON, or nested too deeply
//
// json_text() is the reverse.
//
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trireme {

inline constexpr int kJsonDepthMax = 100;

// Counts brackets outside strings; the text need not be JSON.
inline bool is_nested_deeper(std::string_view text, int depth_max) {
  int depth = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_string) {
      if (c == '\\') ++i;
      if (c == '"') is_string = false;
    } else if (c == '"') {
      is_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > depth_max) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// What an exception of the JSON library says, without the library's name for it:
// "[json.exception.out_of_range.403] key 'size' not found" is "key 'size' not found".
inline std::string json_reason(std::string_view what) {
  const std::size_t end = what.starts_with("[json.exception.") ? what.find("] ") : what.npos;
  return std::string(end == what.npos ? what : what.substr(end + 2));
}

template <class Json>
Json parse_json(std::string_view text) {
  if (is_nested_deeper(text, kJsonDepthMax)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// A value on one line. Bytes that are not valid UTF-8, as in the name of a folder, are replaced.
template <class Json>
std::string json_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trireme
