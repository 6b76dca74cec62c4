// The codecs that a recipe can select in [sync.codec].

#pragma once

#include <memory>
#include <string_view>

#include "trireme/codec/codec.h"
#include "trireme/codec/codec_config.h"

namespace trireme::codec {

// Null for CodecKind::None. Throws Unsupported if this build does not include the codec's library.
std::shared_ptr<const Codec> make_codec(const CodecConfig& config);

// The name used in recipes.
std::string_view name_of(CodecKind kind) noexcept;

inline constexpr CodecKind kCodecKinds[] = {
    CodecKind::Fp16,     CodecKind::Bf16, CodecKind::Int8,    CodecKind::Int4,
    CodecKind::Sign,     CodecKind::TopK, CodecKind::RandomK, CodecKind::Threshold,
    CodecKind::PowerSgd, CodecKind::Zstd};

}  // namespace trireme::codec
