#include "trireme/codec/codec_config.h"

#include <string>

namespace trireme::codec {
namespace {

// A setting that the selected codec does not use is an error. With kind = "none" all settings are
// accepted, so that a recipe can turn its codec off by changing one word.
std::string complaint_of_unread(const CodecConfig& c) {
  const CodecConfig usual;
  const auto complain = [](const std::string& name, const std::string& readers) {
    return "codec." + name + " is read by codec.kind = " + readers +
           " alone: leave it out, or take that kind";
  };
  if (c.kind == CodecKind::None) return "";
  const bool reads_ratio = c.kind == CodecKind::TopK || c.kind == CodecKind::RandomK;
  if (c.ratio != usual.ratio && !reads_ratio) return complain("ratio", "top_k and random_k");
  if (c.threshold != usual.threshold && c.kind != CodecKind::Threshold) {
    return complain("threshold", "threshold");
  }
  if (c.rank != usual.rank && c.kind != CodecKind::PowerSgd) return complain("rank", "powersgd");
  if (c.level != usual.level && c.kind != CodecKind::Zstd) return complain("level", "zstd");
  return "";
}

}  // namespace

void CodecConfig::describe(config::Fields<CodecConfig>& f) {
  using C = CodecConfig;
  f.add("kind", &C::kind)
      .names({{"none", CodecKind::None},
              {"fp16", CodecKind::Fp16},
              {"bf16", CodecKind::Bf16},
              {"int8", CodecKind::Int8},
              {"int4", CodecKind::Int4},
              {"sign", CodecKind::Sign},
              {"top_k", CodecKind::TopK},
              {"random_k", CodecKind::RandomK},
              {"threshold", CodecKind::Threshold},
              {"powersgd", CodecKind::PowerSgd},
              {"zstd", CodecKind::Zstd}})
      .help("how what ranks exchange becomes fewer bytes");
  f.add("error_feedback", &C::has_error_feedback)
      .help("what a codec loses is added to what is encoded next");
  f.add("warmup", &C::warmup).at_least(0).unit("steps").help("at full precision before it begins");
  f.add("ratio", &C::ratio)
      .range(1e-6, 1.0)
      .help("top_k, random_k: the share of values that is sent");
  f.add("threshold", &C::threshold)
      .range(0.01, 1000.0)
      .help("threshold: values larger than so many root mean squares are sent");
  f.add("rank", &C::rank).range(1, 256).help("powersgd: of the matrices that are sent");
  f.add("level", &C::level).range(1, 19).help("zstd: more is smaller and slower");
  f.require(complaint_of_unread);
}

}  // namespace trireme::codec
