#include "tests/conformance/buffer.h"

#include <algorithm>
#include <cstring>

namespace trireme::comm::conformance {
namespace {

constexpr std::size_t kGuard = 64;
constexpr std::byte kGuardByte{0xa5};

}  // namespace

std::string Trial::name() const {
  const char* where = place == Place::Ordinary ? "ordinary"
                      : place == Place::Shared ? "in the arena"
                                               : "mixed";
  return std::to_string(count) + " " + std::string(name_of(type)) + " " + where;
}

Buffer::Buffer(const Group& group, DType type, std::size_t count, Place place)
    : type_(type), count_(count) {
  const std::size_t size = count * size_of(type);
  const auto arena = group.arena();
  const bool is_shared = place == Place::Shared || (place == Place::Mixed && group.rank() % 2 == 0);
  std::byte* begin = nullptr;
  if (arena && is_shared) {
    piece_ = arena->allocate(group.arena_member(), size + 2 * kGuard);
    begin = piece_.data();
  } else {
    own_.resize(size + 2 * kGuard);
    begin = own_.data();
  }
  std::fill_n(begin, size + 2 * kGuard, kGuardByte);
  data_ = begin + kGuard;
}

void Buffer::expect(const Cycle& cycle, const std::string& what, Report& report) const {
  const std::string difference = cycle.difference(data_, 0, count_);
  if (!difference.empty()) report.fail(what + ": " + difference);
  expect_guards(what, report);
}

void Buffer::expect_guards(const std::string& what, Report& report) const {
  const auto is_guard = [](std::byte byte) { return byte == kGuardByte; };
  const std::byte* end = data_ + count_ * size_of(type_);
  report.expect(std::all_of(data_ - kGuard, data_, is_guard),
                what + ": memory before it was written");
  report.expect(std::all_of(end, end + kGuard, is_guard), what + ": memory after it was written");
}

std::vector<Place> places(const Group& group) {
  if (!group.arena()) return {Place::Ordinary};
  return {Place::Ordinary, Place::Shared, Place::Mixed};
}

std::vector<Trial> trials(const Group& group, std::size_t large) {
  std::vector<Trial> all;
  for (const Place place : places(group)) {
    for (int type = 0; type < kDTypeCount; ++type) {
      for (const std::size_t count : {0u, 1u, 3u, 4096u, 4097u}) {
        all.push_back({static_cast<DType>(type), count, place});
      }
    }
    const DType sample = place == Place::Ordinary ? DType::Float32
                         : place == Place::Shared ? DType::Float16
                                                  : DType::UInt8;
    all.push_back({sample, large, place});
  }
  return all;
}

}  // namespace trireme::comm::conformance
