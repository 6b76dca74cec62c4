#include "trireme/checkpoint/state_dict.h"

#include <ATen/ops/empty.h>
#include <c10/core/Storage.h>
#include <caffe2/serialize/inline_container.h>

#include <map>
#include <optional>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/checkpoint/format/pickled_tensor.h"
#include "trireme/checkpoint/scalar_type.h"

namespace trireme::checkpoint {
namespace fs = std::filesystem;

namespace {

// Throws Corrupt where the tensor has many more elements than the file at `path` has bytes: strides
// of 0 let a few bytes stand for any number of elements, which nobody has the time to look at.
void expect_in_proportion(const at::Tensor& tensor, const fs::path& path, const std::string& name) {
  constexpr std::int64_t kElementsPerByteMax = 16;
  const auto bytes = static_cast<std::int64_t>(fs::file_size(path));
  if (tensor.numel() / kElementsPerByteMax <= bytes) return;
  throw Error(ErrorCode::Corrupt, path.string() + ", tensor " + name + ": has " +
                                      std::to_string(tensor.numel()) + " elements in a file of " +
                                      std::to_string(bytes) +
                                      " bytes. If it is an expanded tensor, save its clone()");
}

}  // namespace

class StateDict::Archive {
 public:
  explicit Archive(const fs::path& path) : path_(path), reader_(open(path)) { read_names(); }

  at::Tensor read(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      throw Error(ErrorCode::NotFound, path_.string() + " has no tensor " + name);
    }
    const format::PickledTensor place = *format::pickled_tensor(*found->second);
    const at::ScalarType type = to_scalar_type(place.dtype);
    auto [data, size] = record(place.record);
    const auto extent = place.extent();
    const auto count = static_cast<std::int64_t>(size / at::elementSize(type));
    if (!extent || *extent > count) {
      throw Error(ErrorCode::Corrupt, path_.string() + ", tensor " + name + ": its memory has " +
                                          std::to_string(count) + " elements, too few");
    }
    const c10::Storage storage(c10::Storage::use_byte_size_t(), static_cast<std::int64_t>(size),
                               std::move(data), /*allocator=*/nullptr, /*resizable=*/false);
    at::Tensor tensor = at::empty({0}, type);
    tensor.set_(storage, place.offset, place.sizes, place.strides);
    expect_in_proportion(tensor, path_, name);
    return tensor;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, value] : tensors_) all.push_back(name);
    return all;
  }

 private:
  using Reader = caffe2::serialize::PyTorchStreamReader;

  static std::unique_ptr<Reader> open(const fs::path& path) {
    try {
      return std::make_unique<Reader>(path.string());
    } catch (const c10::Error& error) {
      throw Error(ErrorCode::Corrupt, path.string() + " is no archive that torch.save writes today")
          .with_cause(error.what_without_backtrace());
    }
  }

  std::tuple<at::DataPtr, std::size_t> record(const std::string& name) const {
    try {
      // Neither Trireme nor PyTorch compresses records; a compressed one could make a small file
      // allocate much memory.
      if (reader_->getRecordSize(name) > fs::file_size(path_)) {
        throw Error(ErrorCode::Corrupt,
                    path_.string() + ", record " + name + " is larger than the file");
      }
      return reader_->getRecord(name);
    } catch (const c10::Error& error) {
      throw Error(ErrorCode::Corrupt, path_.string() + ", record " + name)
          .with_cause(error.what_without_backtrace());
    }
  }

  void read_names() {
    const auto [data, size] = record("data.pkl");
    try {
      pickle_.emplace(ByteView(static_cast<const std::byte*>(data.get()), size));
      if (format::is_script_module(pickle_->root())) {
        tensors_ = format::tensors_in_module(pickle_->root(), size);
        return;
      }
    } catch (const Error& error) {
      throw Error(error.code(), path_.string() + ": " + error.message());
    }
    const format::PickleValue& dict = format::tensor_dict(pickle_->root());
    if (!dict.is_dict()) {
      throw Error(ErrorCode::InvalidInput,
                  path_.string() + " holds no dict of tensors. Save a state_dict()");
    }
    for (const auto& [name, value] : format::tensors_in(dict)) {
      tensors_.insert_or_assign(std::string(name), value);
    }
  }

  fs::path path_;
  std::unique_ptr<Reader> reader_;
  std::optional<format::Pickle> pickle_;
  std::map<std::string, const format::PickleValue*> tensors_;
};

StateDict::StateDict(const fs::path& path) : archive_(std::make_unique<Archive>(path)) {}

StateDict::~StateDict() = default;

std::vector<std::string> StateDict::names() const {
  return archive_->names();
}

at::Tensor StateDict::read(const std::string& name) const {
  return archive_->read(name);
}

}  // namespace trireme::checkpoint
