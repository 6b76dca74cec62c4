// Checkpoint is one saved state, opened for reading: whole tensors, or pieces of them, independent
// of the pieces in which they were written. All data is verified against its checksum.
//
// Errors:        NotFound if there is no finished checkpoint or no such tensor. Corrupt names the
//                file, the tensor and the byte. Mismatch if the output has other sizes than the
//                tensor. InvalidInput for a wrong key, and for a key where the checkpoint is not
//                signed; see format::ReadOptions.
// Thread safety: any number of threads may read at the same time.

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
#include "trireme/checkpoint/state.h"

namespace trireme::checkpoint {

class Checkpoint {
 public:
  struct Newest;

  // Opens the folder of one checkpoint, `…/step-00001234`.
  static Checkpoint open(const std::filesystem::path& path,
                         const format::ReadOptions& options = {});
  // Opens the newest complete checkpoint of a job's folder, after reading and verifying all of it.
  static Newest newest_whole(const std::filesystem::path& folder,
                             const format::ReadOptions& options = {},
                             const format::MetaCheck& check = {});

  const std::filesystem::path& path() const { return reader_->folder(); }
  // A warning for the user where a key was given and the checkpoint is not signed; else empty.
  std::string note_if_unsigned() const { return reader_->note_if_unsigned(); }
  std::int64_t step() const { return reader_->manifest().step; }
  std::optional<double> score() const { return reader_->manifest().score; }
  // The JSON text that was saved with the checkpoint.
  const std::string& meta() const { return reader_->manifest().meta; }

  std::vector<std::string> names() const;
  bool has(std::string_view name) const;
  std::vector<std::int64_t> sizes(std::string_view name) const;
  at::ScalarType scalar_type(std::string_view name) const;

  // Returns a new tensor on the CPU.
  at::Tensor read(std::string_view name) const;
  // Reads the whole tensor into `out`, which has the same element count and any type, device and
  // strides.
  void read_into(std::string_view name, at::Tensor out) const;
  // Reads the piece's elements into its data, which has any type, device and strides. No other
  // elements are read, except those that share a chunk with them.
  void read_into(const Piece& piece) const;

 private:
  Checkpoint(const std::filesystem::path& path, const format::ReadOptions& options);
  void read(const format::StoredTensor& tensor, const mesh::ShardRange& range,
            at::Tensor out) const;

  std::shared_ptr<const format::Reader> reader_;
};

struct Checkpoint::Newest {
  std::optional<Checkpoint> checkpoint;
  std::vector<format::Skipped> skipped;  // newer ones, with the reason

  // One sentence per skipped checkpoint: its name, the reason, and the checkpoint that is used
  // instead.
  std::vector<std::string> notes() const;
};

}  // namespace trireme::checkpoint
