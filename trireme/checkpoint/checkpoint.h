// Checkpoint is one saved state, opened for reading: whole tensors or flat ranges of them, in
// whatever pieces they were written. Everything read is checked against its checksum.
//
// Failure: NotFound where there is no finished checkpoint or no such tensor; Corrupt names the
//          file, the tensor and the byte. Mismatch where a tensor to read into has another count.
//          InvalidInput for the wrong key of an encrypted one.
// Threads: any number of threads may read at once.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/checkpoint/format/reader.h"
#include "trireme/checkpoint/format/verify.h"

namespace trireme::checkpoint {

class Checkpoint {
 public:
  struct Newest;

  // The folder of one checkpoint, `…/step-00001234`.
  static Checkpoint open(const std::filesystem::path& path, std::optional<net::Secret> key = {});
  // The newest of a job's folder that is whole, all of it read and checked.
  static Newest newest_whole(const std::filesystem::path& folder,
                             std::optional<net::Secret> key = {});

  const std::filesystem::path& path() const { return reader_->folder(); }
  std::int64_t step() const { return reader_->manifest().step; }
  std::optional<double> score() const { return reader_->manifest().score; }
  // The JSON that was saved with it.
  const std::string& meta() const { return reader_->manifest().meta; }

  std::vector<std::string> names() const;
  bool has(std::string_view name) const;
  std::vector<std::int64_t> sizes(std::string_view name) const;
  at::ScalarType scalar_type(std::string_view name) const;

  // On the CPU, of its own memory.
  at::Tensor read(std::string_view name) const;
  // All of it into a tensor that is there: of the same count, any type, device and strides.
  void read_into(std::string_view name, at::Tensor out) const;
  // Elements [begin, begin + count) in row-major order, into a tensor of `count` elements.
  void read(std::string_view name, std::int64_t begin, std::int64_t count, at::Tensor out) const;

 private:
  Checkpoint(const std::filesystem::path& path, std::optional<net::Secret> key);

  std::shared_ptr<const format::Reader> reader_;
};

struct Checkpoint::Newest {
  std::optional<Checkpoint> checkpoint;
  std::vector<format::Skipped> skipped;  // newer ones, and what is wrong with them
};

}  // namespace trireme::checkpoint
