#include "trireme/data/tokenizer/token_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::data::tokenizer {
namespace {

template <class Number>
std::vector<Number> narrowed(std::span<const Token> tokens) {
  return {tokens.begin(), tokens.end()};
}

}  // namespace

TokenFile::TokenFile(const std::filesystem::path& path, std::size_t vocabulary)
    : path_(path), temporary_(path.string() + ".XXXXXX"), width_(token_width(vocabulary)) {
  file_ = Descriptor(::mkostemp(temporary_.data(), O_CLOEXEC));
  if (!file_) fail("create a file beside");
}

TokenFile::~TokenFile() {
  if (file_ && !is_finished_) ::unlink(temporary_.c_str());
}

void TokenFile::fail(const char* what) const {
  throw system_error(std::string(what) + " " + path_.string(), errno);
}

void TokenFile::add(std::span<const Token> tokens) {
  TRIREME_CHECK(!is_finished_, "tokens for a file that is finished");
  const std::vector<std::uint16_t> narrow =
      width_ == 2 ? narrowed<std::uint16_t>(tokens) : std::vector<std::uint16_t>();
  ByteView bytes = width_ == 2 ? std::as_bytes(std::span(narrow)) : std::as_bytes(tokens);
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void TokenFile::finish() {
  if (::fchmod(file_.get(), 0644) != 0 || ::fsync(file_.get()) != 0) fail("write");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename to");
  is_finished_ = true;
}

}  // namespace trireme::data::tokenizer
