// The text form of a manifest: manifest.json, which is the last file written into a checkpoint, and
// the record of one part, which has the same form. It ends with a checksum of all preceding text,
// which detects damage. If it is written with a key, the key's id and a signature follow, which
// detect forgery.
//
// Errors:        parse_manifest() throws Corrupt for damage, for impossible sizes and offsets (see
//                fault_in()) and for an invalid signature; InvalidInput for another key, and if a
//                key is given and the text is not signed; Unsupported for another version and for
//                unknown fields.
// Thread safety: pure functions.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trireme/checkpoint/format/manifest.h"
#include "trireme/checkpoint/format/seal.h"

namespace trireme::checkpoint::format {

inline constexpr int kManifestVersion = 4;

// Signs the text if a key is given; all files must then be encrypted with that key.
std::string manifest_text(const Manifest& manifest, const std::optional<net::Secret>& key = {},
                          Coverage coverage = Coverage::Whole);
// `file` is the name of the text in error messages.
Manifest parse_manifest(std::string_view text, const std::string& file,
                        const ReadOptions& options = {}, Coverage coverage = Coverage::Whole);

}  // namespace trireme::checkpoint::format
