// The codecs that a recipe can name under [sync.codec].

#pragma once

#include <memory>
#include <string_view>

#include "trireme/codec/codec.h"
#include "trireme/codec/codec_config.h"

namespace trireme::codec {

// Null for CodecKind::None. Throws Unsupported where this build lacks what it takes.
std::shared_ptr<const Codec> make_codec(const CodecConfig& config);

// As recipes write it.
std::string_view name_of(CodecKind kind) noexcept;

inline constexpr CodecKind kCodecKinds[] = {
    CodecKind::Fp16,     CodecKind::Bf16, CodecKind::Int8,    CodecKind::Int4,
    CodecKind::Sign,     CodecKind::TopK, CodecKind::RandomK, CodecKind::Threshold,
    CodecKind::PowerSgd, CodecKind::Zstd};

}  // namespace trireme::codec
