#include "trireme/data/table/csv_file.h"

#include <unordered_set>

#include "trireme/base/error.h"

namespace trireme::data::table {
namespace {

class CsvParser {
 public:
  CsvParser(Table::Parts& parts, char delimiter)
      : parts_(parts), text_(parts.content), delimiter_(delimiter) {}

  void run() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    skip_empty_lines();
    if (at_ == text_.size()) fail(at_, "there is no line of column names");
    read_columns();
    for (skip_empty_lines(); at_ < text_.size(); skip_empty_lines()) read_row();
  }

 private:
  void read_columns() {
    const std::size_t begin = at_;
    const std::int64_t line = line_;
    std::unordered_set<std::string> seen;
    const auto fail_here = [&](std::size_t offset, const std::string& why) {
      line_ = line;
      fail(offset, why);
    };
    for (const Table::Cell& cell : read_record()) {
      parts_.columns.push_back(text_.substr(cell.offset, cell.size));
      const auto& name = parts_.columns.back();
      if (name.empty()) fail_here(cell.offset, "a column has no name");
      if (!seen.insert(name).second) {
        fail_here(begin, "two columns are called '" + name + "'");
      }
    }
  }

  void read_row() {
    const std::size_t begin = at_;
    const std::int64_t line = line_;
    const auto& cells = read_record();
    if (cells.size() != parts_.columns.size()) {
      line_ = line;
      fail(begin, std::to_string(cells.size()) + " fields for " +
                      std::to_string(parts_.columns.size()) + " columns");
    }
    parts_.cells.insert(parts_.cells.end(), cells.begin(), cells.end());
    parts_.lines.push_back(line);
  }

  const std::vector<Table::Cell>& read_record() {
    record_.clear();
    while (true) {
      record_.push_back(is_at('"') ? read_quoted() : read_plain());
      if (is_at(delimiter_)) {
        ++at_;
        continue;
      }
      if (at_ < text_.size()) end_line();
      return record_;
    }
  }

  Table::Cell read_plain() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_at(delimiter_) && !is_line_end()) {
      if (is_at('"')) fail(at_, "a quote within a field that does not begin with one");
      ++at_;
    }
    return {begin, at_ - begin, begin};
  }

  Table::Cell read_quoted() {
    const std::size_t quote = at_++;
    const std::int64_t line = line_;
    std::size_t to = at_;
    const std::size_t begin = to;
    while (true) {
      if (at_ == text_.size()) {
        line_ = line;
        fail(quote, "the quote is not closed");
      }
      const char letter = text_[at_++];
      if (letter == '"') {
        if (!is_at('"')) break;
        ++at_;
      }
      if (letter == '\n') ++line_;
      text_[to++] = letter;
    }
    if (at_ < text_.size() && !is_at(delimiter_) && !is_line_end()) {
      fail(at_, "something follows a closing quote");
    }
    return {begin, to - begin, begin};
  }

  bool is_at(char letter) const { return at_ < text_.size() && text_[at_] == letter; }
  bool is_line_end() const {
    return is_at('\n') || (is_at('\r') && at_ + 1 < text_.size() && text_[at_ + 1] == '\n');
  }
  void end_line() {
    at_ += is_at('\r') ? 2 : 1;
    ++line_;
  }
  void skip_empty_lines() {
    while (is_line_end()) end_line();
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& why) const {
    throw Error(ErrorCode::InvalidInput, parts_.name + ": line " + std::to_string(line_) +
                                             ", byte " + std::to_string(offset) + ": " + why);
  }

  Table::Parts& parts_;
  std::string& text_;
  char delimiter_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  std::vector<Table::Cell> record_;
};

}  // namespace

Table parse_csv(std::string content, std::string name, char delimiter) {
  Table::Parts parts{.name = std::move(name),
                     .content = std::move(content),
                     .columns = {},
                     .cells = {},
                     .lines = {}};
  CsvParser(parts, delimiter).run();
  return Table(std::move(parts));
}

}  // namespace trireme::data::table
