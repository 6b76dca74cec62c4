// The JSON text in which a checkpoint saves a Preprocessing: what holds for every such text. It has
// no tensors, so that `trireme checkpoint verify` can check it too.
//
// Thread safety: pure functions.
// Errors:        Corrupt for a text that no Preprocessing can have written. It may be crafted, and
//                samples are read into buffers of the sizes and types that it states.

#pragma once

#include <string>
#include <string_view>

#include "trireme/base/bytes.h"
#include "trireme/base/text/base64.h"
#include "trireme/base/text/utf8.h"

namespace trireme::data {

// Checks a whole record.
void check_record(std::string_view text);

// A text in the record: names in a file need not be UTF-8, which JSON requires. These are templates
// because some PyTorch wheels carry another version of the JSON library, which code with tensors
// then uses: its values cannot be passed to code without tensors.
template <class Json>
Json json_of_text(const std::string& text) {
  if (is_utf8(text)) return text;
  return Json{{"base64", to_base64(bytes_of(text))}};
}

template <class Json>
std::string text_in(const Json& json) {
  if (json.is_string()) return json.template get<std::string>();
  const auto& encoded = json.at("base64").template get_ref<const std::string&>();
  return std::string(text_of(from_base64(encoded)));
}

}  // namespace trireme::data
