#include "trireme/model/layer/key_value_cache.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <string>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::model {

KeyValueCache::KeyValueCache(const Options& options)
    : capacity_(options.capacity), layers_(static_cast<std::size_t>(options.layers)) {
  TRIREME_CHECK(options.layers > 0 && options.capacity > 0, "a cache of ", options.layers,
                " layers and ", options.capacity, " tokens");
}

std::int64_t KeyValueCache::length() const noexcept {
  // A caller that sizes the cache by the number of a model's blocks has entries that stay empty.
  std::int64_t least = capacity_;
  bool has_any = false;
  for (const Layer& layer : layers_) {
    if (layer.length == 0) continue;
    least = std::min(least, layer.length);
    has_any = true;
  }
  return has_any ? least : 0;
}

KeyValueCache::Layer& KeyValueCache::at(int layer) {
  TRIREME_CHECK(layer >= 0 && static_cast<std::size_t>(layer) < layers_.size(), "layer ", layer,
                " of a cache for ", layers_.size());
  return layers_[static_cast<std::size_t>(layer)];
}

std::vector<at::Tensor>& KeyValueCache::carried(int layer) {
  return at(layer).carried;
}

std::pair<at::Tensor, at::Tensor> KeyValueCache::append(int layer, const at::Tensor& keys,
                                                        const at::Tensor& values) {
  Layer& mine = at(layer);
  const std::int64_t end = mine.length + keys.size(2);
  if (end > capacity_) {
    throw Error(ErrorCode::Exhausted, "a text of " + std::to_string(end) +
                                          " tokens does not fit into a cache of " +
                                          std::to_string(capacity_));
  }
  if (mine.length == 0) {
    const std::vector<std::int64_t> sizes = {keys.size(0), keys.size(1), capacity_, keys.size(3)};
    if (!mine.keys.defined() || mine.keys.sizes() != at::IntArrayRef(sizes)) {
      mine.keys = at::empty(sizes, keys.options().requires_grad(false));
      mine.values = at::empty(sizes, keys.options().requires_grad(false));
    }
  }
  mine.keys.slice(2, mine.length, end).copy_(keys);
  mine.values.slice(2, mine.length, end).copy_(values);
  mine.length = end;
  return {mine.keys.slice(2, 0, end), mine.values.slice(2, 0, end)};
}

void KeyValueCache::clear() noexcept {
  for (Layer& layer : layers_) {
    layer.length = 0;
    layer.carried.clear();
  }
}

}  // namespace trireme::model
