#include "trireme/checkpoint/state_dict.h"

#include <ATen/ops/empty.h>
#include <c10/core/Storage.h>
#include <caffe2/serialize/inline_container.h>

#include <map>
#include <optional>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/checkpoint/format/pickle.h"

namespace trireme::checkpoint {
namespace fs = std::filesystem;

// Where a tensor lies in the archive.
struct TensorPlace {
  std::string record;
  at::ScalarType type = at::kFloat;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes, strides;
};

namespace {

using format::PickleValue;
using Kind = PickleValue::Kind;

std::optional<at::ScalarType> type_of_storage(const std::string& name) {
  static const std::map<std::string, at::ScalarType> kTypes{
      {"torch DoubleStorage", at::kDouble}, {"torch FloatStorage", at::kFloat},
      {"torch HalfStorage", at::kHalf},     {"torch BFloat16Storage", at::kBFloat16},
      {"torch LongStorage", at::kLong},     {"torch IntStorage", at::kInt},
      {"torch ShortStorage", at::kShort},   {"torch CharStorage", at::kChar},
      {"torch ByteStorage", at::kByte},     {"torch BoolStorage", at::kBool}};
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

// Arguments of a call of this name; null where it is another.
const PickleValue* arguments_of(const PickleValue& value, std::string_view name) {
  return value.kind == Kind::Call && value.text == name ? value.items[0] : nullptr;
}

std::optional<std::vector<std::int64_t>> numbers_in(const PickleValue& list) {
  std::vector<std::int64_t> numbers;
  if (list.kind != Kind::List) return std::nullopt;
  for (const PickleValue* item : list.items) {
    if (item->kind != Kind::Integer || item->integer < 0) return std::nullopt;
    numbers.push_back(item->integer);
  }
  return numbers;
}

// Nothing where the value is no tensor.
std::optional<TensorPlace> place_of(const PickleValue& value) {
  const PickleValue* wrapped = arguments_of(value, "torch._utils _rebuild_parameter");
  if (wrapped != nullptr && wrapped->items.empty()) return std::nullopt;
  const PickleValue* all = arguments_of(wrapped != nullptr ? *wrapped->items[0] : value,
                                        "torch._utils _rebuild_tensor_v2");
  if (all == nullptr || all->items.size() < 4) return std::nullopt;
  const PickleValue& storage = *all->items[0];
  const auto sizes = numbers_in(*all->items[2]);
  const auto strides = numbers_in(*all->items[3]);
  if (storage.kind != Kind::Reference || storage.items[0]->items.size() < 3 || !sizes || !strides ||
      sizes->size() != strides->size() || all->items[1]->integer < 0) {
    return std::nullopt;
  }
  // ("storage", its type, the record's name, where it was, how many)
  const std::vector<const PickleValue*>& about = storage.items[0]->items;
  const auto type = type_of_storage(about[1]->text);
  if (!type) return std::nullopt;
  return TensorPlace{.record = "data/" + about[2]->text,
                     .type = *type,
                     .offset = all->items[1]->integer,
                     .sizes = *sizes,
                     .strides = *strides};
}

// One past the last element that is looked at; nothing where that leaves 62 bits.
std::optional<std::int64_t> end_of(const TensorPlace& place) {
  constexpr std::int64_t kMax = std::int64_t{1} << 62;
  std::int64_t last = place.offset;
  for (std::size_t d = 0; d < place.sizes.size(); ++d) {
    if (place.sizes[d] == 0) return place.offset;
    std::int64_t span = 0;
    if (__builtin_mul_overflow(place.sizes[d] - 1, place.strides[d], &span) ||
        __builtin_add_overflow(last, span, &last) || last >= kMax) {
      return std::nullopt;
    }
  }
  return last + 1;
}

// LibTorch's own pickles say of what a dict is, around it.
const PickleValue& without_type(const PickleValue& value) {
  const PickleValue* all = arguments_of(value, "torch.jit._pickle restore_type_tag");
  return all != nullptr && !all->items.empty() ? *all->items[0] : value;
}

const PickleValue& dict_in(const PickleValue& tagged) {
  const PickleValue& root = without_type(tagged);
  for (const char* key : {"model", "state_dict"}) {
    const PickleValue* inner = root.find(key);
    if (inner != nullptr && without_type(*inner).is_dict()) return without_type(*inner);
  }
  return root;
}

}  // namespace

class StateDict::Archive {
 public:
  explicit Archive(const fs::path& path) : path_(path), reader_(open(path)) {
    for (const std::string& record : reader_->getAllRecords()) {
      is_module_ |= record.starts_with("code/");
    }
    if (!is_module_) read_places();
  }

  at::Tensor read(const std::string& name) const {
    const auto found = places_.find(name);
    if (found == places_.end()) {
      throw Error(ErrorCode::NotFound, path_.string() + " has no tensor " + name);
    }
    const TensorPlace& place = found->second;
    auto [data, size] = record(place.record);
    const auto end = end_of(place);
    const auto count = static_cast<std::int64_t>(size / at::elementSize(place.type));
    if (!end || *end > count) {
      throw Error(ErrorCode::Corrupt, path_.string() + ", tensor " + name + ": its memory has " +
                                          std::to_string(count) + " elements, too few");
    }
    const c10::Storage storage(c10::Storage::use_byte_size_t(), static_cast<std::int64_t>(size),
                               std::move(data), /*allocator=*/nullptr, /*resizable=*/false);
    return at::empty({0}, place.type).set_(storage, place.offset, place.sizes, place.strides);
  }

  const std::map<std::string, TensorPlace>& places() const noexcept { return places_; }
  bool is_module() const noexcept { return is_module_; }

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
      return reader_->getRecord(name);
    } catch (const c10::Error& error) {
      throw Error(ErrorCode::Corrupt, path_.string() + ", record " + name)
          .with_cause(error.what_without_backtrace());
    }
  }

  void read_places() {
    const auto [data, size] = record("data.pkl");
    const format::Pickle pickle(ByteView(static_cast<const std::byte*>(data.get()), size));
    const PickleValue& dict = dict_in(pickle.root());
    if (!dict.is_dict()) {
      throw Error(ErrorCode::InvalidInput, path_.string() + " holds no dict of tensors");
    }
    for (const auto& [key, value] : dict.entries) {
      const auto place = place_of(*value);
      if (key->kind == Kind::Text && place) places_.insert_or_assign(key->text, *place);
    }
  }

  fs::path path_;
  std::unique_ptr<Reader> reader_;
  std::map<std::string, TensorPlace> places_;
  bool is_module_ = false;
};

StateDict::StateDict(const fs::path& path) : archive_(std::make_unique<Archive>(path)) {}

StateDict::~StateDict() = default;

std::vector<std::string> StateDict::names() const {
  std::vector<std::string> all;
  for (const auto& [name, place] : archive_->places()) all.push_back(name);
  return all;
}

at::Tensor StateDict::read(const std::string& name) const {
  return archive_->read(name);
}

bool StateDict::is_module() const {
  return archive_->is_module();
}

}  // namespace trireme::checkpoint
