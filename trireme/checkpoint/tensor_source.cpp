#include "trireme/checkpoint/tensor_source.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/checkpoint/format/part.h"
#include "trireme/checkpoint/format/safetensors.h"
#include "trireme/checkpoint/scalar_type.h"
#include "trireme/checkpoint/state_dict.h"

namespace trireme::checkpoint {
namespace fs = std::filesystem;
namespace {

at::Tensor read_entry(const fs::path& path, const format::Header& header, const std::string& name) {
  const auto entry = std::ranges::find(header.entries, name, &format::Entry::name);
  if (entry == header.entries.end()) {
    throw Error(ErrorCode::NotFound, path.string() + " has no tensor " + name);
  }
  at::Tensor out = at::empty(entry->sizes, to_scalar_type(entry->dtype));
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor) throw system_error("opening " + path.string(), errno);
  auto* to = static_cast<char*>(out.data_ptr());
  for (std::uint64_t done = 0; done < entry->size;) {
    const std::uint64_t at = header.data_begin + entry->begin + done;
    const ssize_t count =
        ::pread(descriptor.get(), to + done, entry->size - done, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("reading " + path.string(), errno);
    if (count == 0) {
      throw Error(ErrorCode::Corrupt,
                  path.string() + ", tensor " + name + ": ends at byte " + std::to_string(at));
    }
    done += static_cast<std::uint64_t>(count);
  }
  return out;
}

TensorReader open_safetensors(const fs::path& path) {
  auto header = std::make_shared<const format::Header>(format::read_header(path));
  TensorReader source{
      .label = path.string(), .names = {}, .read = [path, header](const auto& name) {
        return read_entry(path, *header, name);
      }};
  for (const format::Entry& entry : header->entries) source.names.push_back(entry.name);
  std::ranges::sort(source.names);
  return source;
}

TensorReader open_archive(const fs::path& path) {
  const auto dict = std::make_shared<const StateDict>(path);
  return {.label = path.string(), .names = dict->names(), .read = [dict](const auto& name) {
            return dict->read(name);
          }};
}

}  // namespace

TensorReader open_tensors(const Checkpoint& checkpoint) {
  return {.label = checkpoint.path().string(),
          .names = checkpoint.names(),
          .read = [checkpoint](const std::string& name) { return checkpoint.read(name); }};
}

TensorReader open_tensors(const fs::path& path) {
  if (fs::is_directory(path)) return open_tensors(Checkpoint::open(path));
  if (!fs::exists(path)) throw Error(ErrorCode::NotFound, path.string() + " does not exist");
  return path.extension() == ".safetensors" ? open_safetensors(path) : open_archive(path);
}

void write_safetensors(const fs::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<format::PieceForm> forms;
  std::vector<at::Tensor> held;  // contiguous, on the CPU
  std::vector<ByteView> contents;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor& kept = held.emplace_back(tensor.detach().cpu().contiguous());
    forms.push_back({.name = name,
                     .dtype = to_dtype(kept.scalar_type()),
                     .shard = kept.sizes().vec(),
                     .count = kept.numel()});
    contents.push_back(kept.numel() == 0 ? ByteView()
                                         : ByteView(static_cast<std::byte*>(kept.data_ptr()),
                                                    forms.back().size()));
  }
  const format::PartLayout layout(std::move(forms), metadata);
  fs::path draft = path;
  draft += "." + secure_random_hex(8) + ".draft";
  try {
    format::write_part(draft, layout, contents);
    fs::rename(draft, path);
  } catch (const Error& error) {
    std::error_code ignored;
    fs::remove(draft, ignored);
    // The user does not know the draft's name, so the error names the target.
    throw Error(error.code(), "writing " + path.string()).with_cause(error.message());
  } catch (...) {
    std::error_code ignored;
    fs::remove(draft, ignored);
    throw;
  }
}

}  // namespace trireme::checkpoint
