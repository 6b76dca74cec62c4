#include "trireme/checkpoint/format/pickled_tensor.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/mesh/box.h"

namespace trireme::checkpoint::format {
namespace {

using Kind = PickleValue::Kind;

constexpr std::size_t kDimsMax = 64;
constexpr std::size_t kRecordNameMax = 256;

std::optional<StoredDType> dtype_of_storage(const PickleValue& type) {
  static constexpr std::array<std::pair<std::string_view, StoredDType>, 10> kStorages{
      {{"DoubleStorage", StoredDType::F64},
       {"FloatStorage", StoredDType::F32},
       {"HalfStorage", StoredDType::F16},
       {"BFloat16Storage", StoredDType::BF16},
       {"LongStorage", StoredDType::I64},
       {"IntStorage", StoredDType::I32},
       {"ShortStorage", StoredDType::I16},
       {"CharStorage", StoredDType::I8},
       {"ByteStorage", StoredDType::U8},
       {"BoolStorage", StoredDType::Bool}}};
  if (type.kind != Kind::Name || type.module != "torch") return std::nullopt;
  for (const auto& [name, dtype] : kStorages) {
    if (name == type.text) return dtype;
  }
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> numbers_in(const PickleValue& list) {
  if (list.kind != Kind::List || list.items.size() > kDimsMax) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const PickleValue* item : list.items) {
    if (item->kind != Kind::Integer || item->integer < 0) return std::nullopt;
    numbers.push_back(item->integer);
  }
  return numbers;
}

// A module with a __setstate__ has a state that only this function understands.
void expect_attributes(const PickleValue& module, const std::string& prefix) {
  if (module.state->kind == Kind::Dict) return;
  throw Error(ErrorCode::InvalidInput,
              (prefix.empty() ? std::string("the module") : prefix.substr(0, prefix.size() - 1)) +
                  ", a " + std::string(module.text.substr(0, kRecordNameMax)) +
                  ", restores itself by code (__setstate__), which is never run. Save its "
                  "state_dict() instead");
}

// LibTorch's own pickles wrap a dict in a type tag.
const PickleValue& without_type(const PickleValue& value) {
  const PickleValue* all = value.arguments_of("torch.jit._pickle", "restore_type_tag");
  return all != nullptr && !all->items.empty() ? *all->items[0] : value;
}

}  // namespace

std::optional<std::int64_t> PickledTensor::extent() const {
  try {
    if (mesh::count_of(sizes) == 0) return offset;
  } catch (const Error&) {
    return std::nullopt;
  }
  std::int64_t last = offset;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::int64_t span = 0;
    if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &span) ||
        __builtin_add_overflow(last, span, &last)) {
      return std::nullopt;
    }
  }
  if (__builtin_add_overflow(last, std::int64_t{1}, &last)) return std::nullopt;
  return last;
}

const PickleValue& tensor_dict(const PickleValue& tagged) {
  const PickleValue& root = without_type(tagged);
  for (const char* key : {"model", "state_dict"}) {
    const PickleValue* inner = root.find(key);
    if (inner != nullptr && without_type(*inner).is_dict()) return without_type(*inner);
  }
  return root;
}

std::vector<NamedValue> tensors_in(const PickleValue& dict) {
  std::vector<NamedValue> all;
  std::unordered_set<const PickleValue*> seen;
  for (std::size_t i = dict.items.size() / 2; i > 0; --i) {
    const PickleValue *key = dict.items[2 * i - 2], *value = dict.items[2 * i - 1];
    if (key->kind != Kind::Text || seen.contains(key) || !pickled_tensor(*value)) continue;
    seen.insert(key);
    all.push_back({.name = key->text, .value = value});
  }
  std::ranges::reverse(all);
  return all;
}

bool is_script_module(const PickleValue& value) noexcept {
  return value.kind == Kind::Call && value.state != nullptr &&
         (value.module == "__torch__" || value.module.starts_with("__torch__."));
}

std::map<std::string, const PickleValue*> tensors_in_module(const PickleValue& module,
                                                            std::size_t size) {
  struct Pending {
    std::string prefix;
    const PickleValue* module;
  };
  std::map<std::string, const PickleValue*> tensors;
  std::vector<Pending> pending{{.prefix = "", .module = &module}};
  for (std::size_t budget = size * kNameBytes; !pending.empty();) {
    const Pending next = std::move(pending.back());
    pending.pop_back();
    expect_attributes(*next.module, next.prefix);
    const std::vector<const PickleValue*>& entries = next.module->state->items;
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
      const PickleValue &key = *entries[i], &value = *entries[i + 1];
      if (key.kind != Kind::Text) continue;
      const std::size_t cost = next.prefix.size() + key.text.size() + 1;
      if (cost > budget) {
        throw Error(ErrorCode::Corrupt, "its modules contain each other over and over");
      }
      budget -= cost;
      std::string name = next.prefix + std::string(key.text);
      if (is_script_module(value)) {
        pending.push_back({.prefix = std::move(name) + ".", .module = &value});
      } else if (pickled_tensor(value)) {
        tensors.insert_or_assign(std::move(name), &value);
      }
    }
  }
  return tensors;
}

std::optional<PickledTensor> pickled_tensor(const PickleValue& value) {
  const PickleValue* wrapped = value.arguments_of("torch._utils", "_rebuild_parameter");
  if (wrapped != nullptr && wrapped->items.empty()) return std::nullopt;
  const PickleValue* all = (wrapped != nullptr ? *wrapped->items[0] : value)
                               .arguments_of("torch._utils", "_rebuild_tensor_v2");
  if (all == nullptr || all->items.size() < 4) return std::nullopt;
  const PickleValue &storage = *all->items[0], &offset = *all->items[1];
  const auto sizes = numbers_in(*all->items[2]);
  const auto strides = numbers_in(*all->items[3]);
  if (storage.kind != Kind::Reference || storage.inner->kind != Kind::List ||
      storage.inner->items.size() < 3 || !sizes || !strides || sizes->size() != strides->size() ||
      offset.kind != Kind::Integer || offset.integer < 0) {
    return std::nullopt;
  }
  // ("storage", type, name of the record, device, number of elements)
  const std::vector<const PickleValue*>& about = storage.inner->items;
  const auto dtype = dtype_of_storage(*about[1]);
  if (!dtype || about[2]->kind != Kind::Text || about[2]->text.size() > kRecordNameMax) {
    return std::nullopt;
  }
  return PickledTensor{.record = "data/" + std::string(about[2]->text),
                       .dtype = *dtype,
                       .offset = offset.integer,
                       .sizes = *sizes,
                       .strides = *strides};
}

}  // namespace trireme::checkpoint::format
