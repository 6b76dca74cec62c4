#include "trireme/codec/kinds.h"

#include "trireme/codec/blockwise.h"
#include "trireme/codec/half.h"
#include "trireme/codec/power_sgd.h"
#include "trireme/codec/random_k.h"
#include "trireme/codec/threshold.h"
#include "trireme/codec/top_k.h"
#include "trireme/codec/zstd/lossless.h"

namespace trireme::codec {

std::shared_ptr<const Codec> make_codec(const CodecConfig& config) {
  switch (config.kind) {
    case CodecKind::None:
      return nullptr;
    case CodecKind::Fp16:
      return std::make_shared<Half>(HalfKind::Float16);
    case CodecKind::Bf16:
      return std::make_shared<Half>(HalfKind::BFloat16);
    case CodecKind::Int8:
      return std::make_shared<Blockwise>(Width::Eight);
    case CodecKind::Int4:
      return std::make_shared<Blockwise>(Width::Four);
    case CodecKind::Sign:
      return std::make_shared<Blockwise>(Width::One);
    case CodecKind::TopK:
      return std::make_shared<TopK>(config.ratio);
    case CodecKind::RandomK:
      // With error feedback, values that are not drawn are sent later; without it, drawn values are
      // scaled up to represent them.
      return std::make_shared<RandomK>(config.ratio, !config.has_error_feedback);
    case CodecKind::Threshold:
      return std::make_shared<Threshold>(config.threshold);
    case CodecKind::PowerSgd:
      return std::make_shared<PowerSgd>(config.rank);
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
