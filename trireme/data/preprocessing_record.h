// The JSON text in which a checkpoint saves a Preprocessing: what holds for every such text. It has
// no tensors, so that `trireme checkpoint verify` can check it too.
//
// Thread safety: pure functions.
// Errors:        Corrupt for a text that no Preprocessing can have written. It may be crafted, and
//                samples are read into buffers of the sizes and types that it states.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace trireme::data {

// Checks a whole record and returns it parsed.
nlohmann::json checked_record(std::string_view text);

// A text in the record: names in a file need not be UTF-8, which JSON requires.
nlohmann::json json_of_text(const std::string& text);
std::string text_in(const nlohmann::json& json);

}  // namespace trireme::data
