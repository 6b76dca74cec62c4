#include "trireme/cli/plot/picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/text/base64.h"
#include "trireme/cli/plot/chart.h"

namespace trireme::cli::plot {
namespace {

constexpr double kWidthWanted = 640;
constexpr std::size_t kSizesEnd = 24;  // PNG signature, first header, width and height

double number_at(ByteView png, std::size_t offset) {
  double number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number * 256 + std::to_integer<int>(png[offset + i]);
  return number;
}

}  // namespace

std::string picture_svg(const std::string& title, ByteView png,
                        const std::vector<std::string>& rows) {
  if (png.size() < kSizesEnd || text_of(png.first(8)) != "\x89PNG\r\n\x1a\n") {
    throw Error(ErrorCode::Corrupt, "samples.png is no PNG file; trireme generate writes it anew");
  }
  const double width = number_at(png, 16), height = number_at(png, 20);
  const double scale = std::max(1.0, std::min(4.0, kWidthWanted / std::max(width, 1.0)));
  const double left = rows.empty() ? 20 : 140, top = 40;
  std::string out = svg_head(left + width * scale + 20, top + height * scale + 20, title);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double row = height * scale / static_cast<double>(rows.size());
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6,
                       top + row * (static_cast<double>(i) + 0.5) + 4, svg_escaped(rows[i]));
  }
  return out +
         fmt::format(
             "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
             "style=\"image-rendering: pixelated\" href=\"data:image/png;base64,{}\"/>\n</svg>\n",
             left, top, width * scale, height * scale, to_base64(png));
}

}  // namespace trireme::cli::plot
