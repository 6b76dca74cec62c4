// Memory for a conformance case: ordinary, in the arena, or either by rank; with guards around it.

#pragma once

#include <string>
#include <vector>

#include "tests/conformance/case.h"
#include "tests/conformance/values.h"
#include "trireme/comm/arena.h"

namespace trireme::comm::conformance {

enum class Place { Ordinary, Shared, Mixed };

// One way to run an operation: which type, how many elements a rank, where.
struct Trial {
  DType type = DType::Float32;
  std::size_t count = 0;
  Place place = Place::Ordinary;

  std::string name() const;
};

class Buffer {
 public:
  // Where the group shares no memory, every place is ordinary.
  Buffer(const Group& group, DType type, std::size_t count, Place place);
  Buffer(const Group& group, const Trial& trial)
      : Buffer(group, trial.type, trial.count, trial.place) {}

  Span span() const { return {data_, count_, type_}; }
  Span part(std::size_t first, std::size_t count) const { return span().part(first, count); }
  std::byte* at(std::size_t element) const { return data_ + element * size_of(type_); }

  void write(const Cycle& cycle, std::size_t first = 0) { cycle.write(data_, first, count_); }
  // Complains unless the memory holds these elements and nothing was written beside it.
  void expect(const Cycle& cycle, const std::string& what, Report& report) const;
  void expect_guards(const std::string& what, Report& report) const;

 private:
  DType type_;
  std::size_t count_;
  std::vector<std::byte> own_;
  Piece piece_;
  std::byte* data_ = nullptr;
};

// 0, 1, 3, 4096 and 4097 of every type in every place that the group has, and `large` of another
// type in each.
std::vector<Trial> trials(const Group& group, std::size_t large);

// The places that this group has.
std::vector<Place> places(const Group& group);

}  // namespace trireme::comm::conformance
