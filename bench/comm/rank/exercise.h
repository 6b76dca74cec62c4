// Exercise is one operation of one size on one rank, with its memory. It can be called repeatedly,
// and its result can be checked.
//
// Bytes:         the larger of a rank's input and output: the span of all_reduce, reduce and
//                broadcast, the whole input of reduce_scatter, scatter and all_to_all, the whole
//                output of all_gather and gather. Rounded down so that all ranks have equal parts.
// Memory:        ordinary memory, or a piece of the arena on every rank (symmetric). Between checks
//                it holds zeros, so that repeated sums do not grow.
// Thread safety: one thread, the one that uses the group.
// Lifetime:      must not outlive the group.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/comm/rank/pattern.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/group.h"

namespace trireme::bench {

class Exercise {
 public:
  struct Options {
    comm::OpKind op = comm::OpKind::AllReduce;
    std::size_t bytes = 0;
    comm::DType type = comm::DType::Float32;
    bool is_symmetric = false;
  };

  Exercise(const comm::Group& group, const Options& options);

  // A collective: every rank calls it.
  void call();
  // Also a collective: fills the input, calls the operation, checks the whole output. Returns what
  // is wrong on this rank, if anything.
  std::optional<std::string> check();

  const Options& options() const noexcept { return options_; }
  std::size_t bytes() const noexcept;
  // The memory that this rank reads and writes; the same for an operation that works in place.
  comm::Span input() const noexcept { return input_; }
  comm::Span output() const noexcept { return output_; }
  // The minimum number of bytes that this rank receives from other ranks.
  std::size_t bytes_received() const noexcept;

 private:
  comm::Span allocate(std::size_t count);
  bool is_root() const noexcept { return group_.rank() == 0; }
  bool is_in_place() const noexcept;
  std::vector<Expectation> expectations() const;
  void clear();

  comm::Group group_;
  Options options_;
  std::vector<comm::ArenaPiece> pieces_;
  std::vector<std::unique_ptr<std::byte[]>> buffers_;
  std::size_t part_ = 0;  // elements per rank, if ranks have parts
  comm::Span input_, output_;
};

// "all_reduce" -> OpKind::AllReduce. Throws InvalidInput.
comm::OpKind operation_named(const std::string& name);
comm::DType type_named(const std::string& name);

}  // namespace trireme::bench
