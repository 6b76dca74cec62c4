#include "trireme/data/table/json_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "trireme/base/error.h"

namespace trireme::data::table {
namespace {

using Json = nlohmann::ordered_json;

class JsonLinesParser {
 public:
  JsonLinesParser(const std::string& text, std::string name) : text_(text) {
    parts_.name = std::move(name);
  }

  Table run() {
    std::int64_t line = 0;
    for (std::size_t begin = text_.starts_with("\xef\xbb\xbf") ? 3 : 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      ++line;
      read_line(std::string_view(text_).substr(begin, end - begin), line, begin);
      begin = end + 1;
    }
    lay_out();
    return Table(std::move(parts_));
  }

 private:
  struct Field {
    std::size_t row;
    std::size_t column;
    Table::Cell cell;
  };

  void read_line(std::string_view text, std::int64_t line, std::size_t place) {
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
    const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    line_ = line;
    place_ = place;
    if (!object.is_object()) fail("no JSON object");
    parts_.lines.push_back(line);
    places_.push_back(place);
    for (const auto& [key, value] : object.items()) add(key, value, 1);
  }

  void add(const std::string& key, const Json& value, int depth) {
    if (depth > kDepthMax) fail("members lie too deep within each other");
    if (value.is_object()) {
      for (const auto& [inner, each] : value.items()) add(key + "." + inner, each, depth + 1);
    } else if (value.is_array()) {
      std::size_t index = 0;
      for (const Json& each : value) add(key + "." + std::to_string(index++), each, depth + 1);
    } else {
      add_text(key, value.is_null()     ? std::string()
                    : value.is_string() ? value.get<std::string>()
                                        : value.dump());
    }
  }

  void add_text(const std::string& key, const std::string& text) {
    if (key.empty()) fail("a member has no name");
    if (key.size() > kNameMax) fail("a member's name has more than 1000 bytes");
    const auto [found, is_new] = columns_.emplace(key, parts_.columns.size());
    if (is_new) parts_.columns.push_back(key);
    fields_.push_back({.row = parts_.lines.size() - 1,
                       .column = found->second,
                       .cell = {parts_.content.size(), text.size(), place_}});
    parts_.content += text;
  }

  // If two members have the same name, the later one is used, as in other JSON parsers.
  void lay_out() {
    const std::size_t width = parts_.columns.size();
    const std::size_t cells_max = std::max(kCellsLeast, kCellsPerByte * text_.size());
    if (width > 0 && parts_.lines.size() > cells_max / width) {
      throw Error(ErrorCode::InvalidInput,
                  parts_.name + ": " + std::to_string(parts_.lines.size()) + " lines have " +
                      std::to_string(width) + " different members between them");
    }
    parts_.cells.resize(parts_.lines.size() * width);
    for (std::size_t i = 0; i < parts_.cells.size(); ++i)
      parts_.cells[i].place = places_[i / width];
    for (const Field& field : fields_) parts_.cells[field.row * width + field.column] = field.cell;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::InvalidInput, parts_.name + ": line " + std::to_string(line_) +
                                             ", byte " + std::to_string(place_) + ": " + why);
  }

  // Limits: a small file in which every line has its own members would need a huge table, and many
  // members inside one with a long name would need equally many long names.
  static constexpr std::size_t kCellsPerByte = 16, kCellsLeast = std::size_t{1} << 20;
  static constexpr std::size_t kNameMax = 1000;

  const std::string& text_;
  Table::Parts parts_;
  std::vector<std::size_t> places_;  // of the rows, in the file
  std::vector<Field> fields_;
  std::unordered_map<std::string, std::size_t> columns_;
  std::int64_t line_ = 0;
  std::size_t place_ = 0;
};

}  // namespace

Table parse_json_lines(const std::string& content, std::string name) {
  return JsonLinesParser(content, std::move(name)).run();
}

}  // namespace trireme::data::table
