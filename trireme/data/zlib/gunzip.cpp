#include "trireme/data/zlib/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "trireme/base/error.h"

namespace trireme::data::zlib {
namespace {

constexpr int kGzipOnly = 15 + 16;  // the largest window; gzip's header and trailer are expected
constexpr std::size_t kRoomMin = 1 << 16;

class Inflater {
 public:
  Inflater(std::string_view packed, const std::string& name, std::size_t size_max)
      : packed_(packed), name_(name), size_max_(size_max) {
    if (::inflateInit2(&stream_, kGzipOnly) != Z_OK) {
      throw Error(ErrorCode::Exhausted, name_ + ": zlib has no memory");
    }
    grow(first_guess());
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream_); }

  // A file may contain several compressed members, one after the other.
  std::string run() {
    do {
      if (::inflateReset(&stream_) != Z_OK) fail("cannot be unpacked");
      while (step() != Z_STREAM_END) {
      }
    } while (read_ < packed_.size());
    out_.resize(written_);
    return std::move(out_);
  }

 private:
  int step() {
    if (written_ == out_.size()) grow(out_.size() * 2);
    // zlib counts in 32 bits.
    const std::size_t in = std::min<std::size_t>(packed_.size() - read_, 1 << 30);
    const std::size_t room = std::min<std::size_t>(out_.size() - written_, 1 << 30);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data() + read_));
    stream_.avail_in = static_cast<uInt>(in);
    stream_.next_out = reinterpret_cast<Bytef*>(out_.data() + written_);
    stream_.avail_out = static_cast<uInt>(room);
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    read_ += in - stream_.avail_in;
    written_ += room - stream_.avail_out;
    if (status == Z_OK || status == Z_STREAM_END) return status;
    if (status == Z_BUF_ERROR && read_ == packed_.size()) fail("the file ends too early");
    if (status == Z_MEM_ERROR) throw Error(ErrorCode::Exhausted, name_ + ": zlib has no memory");
    fail(stream_.msg != nullptr ? stream_.msg : "is not what gzip writes");
  }

  // The last four bytes contain the size, modulo 2^32. The guess is at most a thousand times the
  // compressed size, in case they are wrong.
  std::size_t first_guess() const {
    if (packed_.size() < 18) return kRoomMin;
    std::uint32_t size = 0;
    std::memcpy(&size, packed_.data() + packed_.size() - 4, 4);
    return std::clamp<std::size_t>(size, kRoomMin, kRoomMin + packed_.size() * 1000);
  }

  void grow(std::size_t size) {
    if (written_ >= size_max_) {
      throw Error(ErrorCode::Exhausted,
                  name_ + " unpacks to more than " + std::to_string(size_max_) + " bytes");
    }
    out_.resize(std::min(size, size_max_));
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::Corrupt,
                name_ + ": at byte " + std::to_string(read_) + " of the packed file: " + why);
  }

  std::string_view packed_;
  const std::string& name_;
  std::size_t size_max_;
  z_stream stream_{};
  std::string out_;
  std::size_t read_ = 0;
  std::size_t written_ = 0;
};

}  // namespace

std::string gunzip(std::string_view packed, const std::string& name, std::size_t size_max) {
  return Inflater(packed, name, size_max).run();
}

}  // namespace trireme::data::zlib
