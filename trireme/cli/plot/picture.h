// Embeds a PNG file in SVG, with a name next to each of its rows.
//
// Errors:        Corrupt if the bytes are not a PNG file.
// Thread safety: pure functions.

#pragma once

#include <string>
#include <vector>

#include "trireme/base/bytes.h"

namespace trireme::cli::plot {

// Enlarges the image up to four times and shows its pixels as squares. `rows` are the names of
// equal parts, top to bottom.
std::string picture_svg(const std::string& title, ByteView png,
                        const std::vector<std::string>& rows);

}  // namespace trireme::cli::plot
