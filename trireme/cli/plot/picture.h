// A picture within a picture: a PNG file as SVG, with a name beside each of its rows.
//
// Threads: pure.
// Failure: Corrupt where the bytes are no PNG file.

#pragma once

#include <string>
#include <vector>

#include "trireme/base/bytes.h"

namespace trireme::cli::plot {

// So many times as large, its pixels as squares. `rows` are names of equal parts, top to bottom.
std::string picture_svg(const std::string& title, ByteView png,
                        const std::vector<std::string>& rows);

}  // namespace trireme::cli::plot
