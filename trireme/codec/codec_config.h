// CodecConfig is the section [sync.codec]: how the data that ranks exchange is compressed.

#pragma once

#include <cstdint>

#include "trireme/base/config/fields.h"

namespace trireme::codec {

enum class CodecKind {
  None,
  Fp16,
  Bf16,
  Int8,
  Int4,
  Sign,
  TopK,
  RandomK,
  Threshold,
  PowerSgd,
  Zstd,
};

struct CodecConfig {
  CodecKind kind = CodecKind::None;
  bool has_error_feedback = true;
  std::int64_t warmup = 0;
  double ratio = 0.01;
  double threshold = 3;
  int rank = 4;
  int level = 1;

  static void describe(config::Fields<CodecConfig>& f);
};

}  // namespace trireme::codec
