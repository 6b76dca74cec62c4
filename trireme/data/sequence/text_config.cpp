#include "trireme/data/sequence/text_config.h"

namespace trireme::data::sequence {

void TextConfig::describe(config::Fields<TextConfig>& f) {
  f.add("file", &TextConfig::file).help("the text, in UTF-8 where its unit is the character");
  f.add("unit", &TextConfig::unit)
      .names({{"character", Unit::Character}, {"byte", Unit::Byte}})
      .help("what a token is; characters are numbered in the order of their code points");
  f.add("context", &TextConfig::context)
      .range(1, std::int64_t{1} << 24)
      .unit("tokens")
      .help("of a sample's input");
  f.add("validation", &TextConfig::validation)
      .range(0, 0.9)
      .help("share of the text, at its end, that is not trained on");
  f.add("stride", &TextConfig::stride)
      .range(1, std::int64_t{1} << 24)
      .unit("tokens")
      .help("from one training sample to the next");
  f.add("test_stride", &TextConfig::test_stride)
      .range(0, std::int64_t{1} << 24)
      .unit("tokens")
      .help("from one validation sample to the next; 0: the context, so that each counts once");
}

}  // namespace trireme::data::sequence
