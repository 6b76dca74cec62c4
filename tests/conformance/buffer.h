// Memory for a conformance case: ordinary, in the arena, or either depending on the rank; with
// guard bytes around it.

#pragma once

#include <string>
#include <vector>

#include "tests/conformance/case.h"
#include "tests/conformance/values.h"
#include "trireme/comm/arena.h"

namespace trireme::comm::conformance {

enum class Place { Ordinary, Shared, Mixed };

// One way to run an operation: type, number of elements per rank, and location.
struct Trial {
  DType type = DType::Float32;
  std::size_t count = 0;
  Place place = Place::Ordinary;

  std::string name() const;
};

class Buffer {
 public:
  // If the group shares no memory, every place is ordinary memory.
  Buffer(const Group& group, DType type, std::size_t count, Place place);
  Buffer(const Group& group, const Trial& trial)
      : Buffer(group, trial.type, trial.count, trial.place) {}

  Span span() const { return {data_, count_, type_}; }
  Span part(std::size_t first, std::size_t count) const { return span().part(first, count); }
  std::byte* at(std::size_t element) const { return data_ + element * size_of(type_); }

  void write(const Cycle& cycle, std::size_t first = 0) { cycle.write(data_, first, count_); }
  // Fails unless the memory contains these elements and nothing was written outside of it.
  void expect(const Cycle& cycle, const std::string& what, Report& report) const;
  void expect_guards(const std::string& what, Report& report) const;

 private:
  DType type_;
  std::size_t count_;
  std::vector<std::byte> own_;
  ArenaPiece piece_;
  std::byte* data_ = nullptr;
};

// 0, 1, 3, 4096 and 4097 elements of every type in every place that the group supports, and `large`
// elements of a different type in each place.
std::vector<Trial> trials(const Group& group, std::size_t large);

// The places that this group supports.
std::vector<Place> places(const Group& group);

}  // namespace trireme::comm::conformance
