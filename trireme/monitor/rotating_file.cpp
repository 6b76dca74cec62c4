#include "trireme/monitor/rotating_file.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::monitor {
namespace {

Descriptor begin_file(const std::filesystem::path& path, int flags = O_TRUNC) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  return Descriptor(open(path.c_str(), kFlags | flags, 0600));
}

}  // namespace

RotatingFile::RotatingFile(std::filesystem::path path, Beginning beginning, std::size_t size_max)
    : path_(std::move(path)),
      size_max_(size_max),
      file_(begin_file(path_, beginning == Beginning::Anew ? O_TRUNC : 0)) {
  if (!file_) throw system_error("cannot write " + path_.string(), errno);
  const off_t end = lseek(file_.get(), 0, SEEK_END);
  if (end > 0) size_ = static_cast<std::size_t>(end);
}

bool RotatingFile::rotate() noexcept {
  // If there is no open file, the old one was already renamed and only creating the new one failed.
  if (file_) {
    std::error_code error;
    std::filesystem::path older = path_;
    older += ".1";
    std::filesystem::rename(path_, older, error);
    if (error) return false;
  }
  file_ = begin_file(path_);
  size_ = 0;
  return static_cast<bool>(file_);
}

void RotatingFile::append(std::string_view line) noexcept {
  const std::size_t size = line.size() + 1;
  const bool is_full = size_ + size > size_max_ || !file_;
  if (size > size_max_ || (is_full && !rotate())) {
    ++dropped_;
    return;
  }
  char newline = '\n';
  const iovec pieces[2] = {{const_cast<char*>(line.data()), line.size()}, {&newline, 1}};
  const ssize_t written = writev(file_.get(), pieces, 2);
  if (written == static_cast<ssize_t>(size)) {
    size_ += size;
    return;
  }
  ++dropped_;
  // If the disk fills up in the middle of a line, remove the incomplete line.
  if (written > 0 && ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) size_ = size_max_;
}

}  // namespace trireme::monitor
