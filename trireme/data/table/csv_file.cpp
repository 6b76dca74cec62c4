#include "trireme/data/table/csv_file.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::data::table {

class CsvParser {
 public:
  CsvParser(CsvFile& file, char delimiter)
      : file_(file), text_(file.content_), delimiter_(delimiter) {}

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
    for (const CsvFile::Cell& cell : read_record()) {
      file_.columns_.push_back(text_.substr(cell.offset, cell.size));
      const auto& name = file_.columns_.back();
      if (name.empty()) fail(cell.offset, "a column has no name");
      if (std::count(file_.columns_.begin(), file_.columns_.end(), name) > 1) {
        fail(begin, "two columns are called '" + name + "'");
      }
    }
  }

  void read_row() {
    const std::size_t begin = at_;
    const std::int64_t line = line_;
    const auto& cells = read_record();
    if (cells.size() != file_.columns_.size()) {
      line_ = line;
      fail(begin, std::to_string(cells.size()) + " fields for " +
                      std::to_string(file_.columns_.size()) + " columns");
    }
    file_.cells_.insert(file_.cells_.end(), cells.begin(), cells.end());
    file_.lines_.push_back(line);
  }

  const std::vector<CsvFile::Cell>& read_record() {
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

  CsvFile::Cell read_plain() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_at(delimiter_) && !is_line_end()) {
      if (is_at('"')) fail(at_, "a quote within a field that does not begin with one");
      ++at_;
    }
    return {begin, at_ - begin};
  }

  CsvFile::Cell read_quoted() {
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
    return {begin, to - begin};
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
    throw Error(ErrorCode::Corrupt, file_.name_ + ": line " + std::to_string(line_) + ", byte " +
                                        std::to_string(offset) + ": " + why);
  }

  CsvFile& file_;
  std::string& text_;
  char delimiter_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  std::vector<CsvFile::Cell> record_;
};

CsvFile CsvFile::parse(std::string content, std::string name, char delimiter) {
  CsvFile file;
  file.name_ = std::move(name);
  file.content_ = std::move(content);
  CsvParser(file, delimiter).run();
  return file;
}

const CsvFile::Cell& CsvFile::cell(std::int64_t row, std::int64_t column) const {
  const std::int64_t width = std::ssize(columns_);
  TRIREME_CHECK(row >= 0 && row < rows() && column >= 0 && column < width, "field ", column,
                " of row ", row, " in a table of ", rows(), " by ", width);
  return cells_[static_cast<std::size_t>(row * width + column)];
}

std::string_view CsvFile::field(std::int64_t row, std::int64_t column) const {
  const Cell& at = cell(row, column);
  return std::string_view(content_).substr(at.offset, at.size);
}

std::string CsvFile::place(std::int64_t row, std::int64_t column) const {
  const std::size_t offset = cell(row, column).offset;
  return name_ + ": line " + std::to_string(lines_[static_cast<std::size_t>(row)]) + ", byte " +
         std::to_string(offset);
}

}  // namespace trireme::data::table
