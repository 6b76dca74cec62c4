#include "trireme/codec/kinds.h"

#include "trireme/codec/zstd/lossless.h"

namespace trireme::codec {

// Each is in the file of this name, with its contract. Errors: Misuse for settings out of range.
std::shared_ptr<const Codec> make_half(const CodecConfig& config);
std::shared_ptr<const Codec> make_blockwise(const CodecConfig& config);
std::shared_ptr<const Codec> make_top_k(const CodecConfig& config);
std::shared_ptr<const Codec> make_random_k(const CodecConfig& config);
std::shared_ptr<const Codec> make_threshold(const CodecConfig& config);
std::shared_ptr<const Codec> make_power_sgd(const CodecConfig& config);

std::shared_ptr<const Codec> make_codec(const CodecConfig& config) {
  switch (config.kind) {
    case CodecKind::None:
      return nullptr;
    case CodecKind::Fp16:
    case CodecKind::Bf16:
      return make_half(config);
    case CodecKind::Int8:
    case CodecKind::Int4:
    case CodecKind::Sign:
      return make_blockwise(config);
    case CodecKind::TopK:
      return make_top_k(config);
    case CodecKind::RandomK:
      return make_random_k(config);
    case CodecKind::Threshold:
      return make_threshold(config);
    case CodecKind::PowerSgd:
      return make_power_sgd(config);
    case CodecKind::Zstd:
      return std::make_shared<zstd::Lossless>(config.level);
  }
  return nullptr;
}

std::string_view name_of(CodecKind kind) noexcept {
  switch (kind) {
    case CodecKind::None:
      return "none";
    case CodecKind::Fp16:
      return "fp16";
    case CodecKind::Bf16:
      return "bf16";
    case CodecKind::Int8:
      return "int8";
    case CodecKind::Int4:
      return "int4";
    case CodecKind::Sign:
      return "sign";
    case CodecKind::TopK:
      return "top_k";
    case CodecKind::RandomK:
      return "random_k";
    case CodecKind::Threshold:
      return "threshold";
    case CodecKind::PowerSgd:
      return "powersgd";
    case CodecKind::Zstd:
      return "zstd";
  }
  return "?";
}

}  // namespace trireme::codec
