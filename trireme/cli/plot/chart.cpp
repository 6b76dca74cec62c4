#include "trireme/cli/plot/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "trireme/base/check.h"

namespace trireme::cli::plot {
namespace {

constexpr double kWidth = 720, kHeight = 420;
constexpr double kLeft = 80, kRight = 20, kTop = 40, kBottom = 45;
constexpr double kNames = 205;        // of the width, if the legend is to the right of the plot
constexpr std::size_t kTitleMax = 3;  // up to this many names fit next to the title
constexpr std::array<const char*, 9> kColours = {"#1f6fb4", "#d1495b", "#2f9e5c",
                                                 "#8e5bb5", "#c98b1d", "#7f7f7f",
                                                 "#17a2a2", "#a0522d", "#e377c2"};
// The page that shows an image may be light or dark. Texts without a colour have that of the svg.
constexpr const char* kStyle =
    "<style>\n"
    "  svg { fill: #1f2328 } .back { fill: #ffffff } .grid { stroke: #d0d7de }\n"
    "  @media (prefers-color-scheme: dark) {\n"
    "    svg { fill: #e6edf3 } .back { fill: #161b22 } .grid { stroke: #3d444d }\n"
    "  }\n"
    "</style>\n";

struct Span {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  // Gives a single value some space on both sides.
  void widen() {
    if (most > least) return;
    const double room = least == 0 ? 1 : std::abs(least) * 0.1;
    least -= room;
    most += room;
  }
};

Point placed(const Point& point, const Across& across) {
  return across.is_logarithmic ? Point{std::log10(point.x), point.y} : point;
}

bool is_shown(const Point& point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

double place_x(const Span& x, double value) {
  return kLeft + (value - x.least) / (x.most - x.least) * (kWidth - kLeft - kRight);
}

double place_y(const Span& y, double value) {
  return kHeight - kBottom - (value - y.least) / (y.most - y.least) * (kHeight - kTop - kBottom);
}

// Whole powers of ten if the axis is logarithmic.
std::vector<double> ticks_across(const Span& x, const Across& across) {
  if (!across.is_logarithmic) return ticks(x.least, x.most, 8);
  std::vector<double> all;
  for (double power = std::ceil(x.least); power <= x.most; ++power) all.push_back(power);
  return all;
}

std::string axes(const Span& x, const Span& y, const Across& across) {
  std::string out;
  for (const double at : ticks(y.least, y.most, 8)) {
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"grid\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.6g}</text>\n",
        kLeft, kWidth - kRight, place_y(y, at), kLeft - 6, place_y(y, at) + 4, at);
  }
  for (const double at : ticks_across(x, across)) {
    out += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" class=\"grid\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:.6g}</text>\n",
        place_x(x, at), kTop, kHeight - kBottom, kHeight - kBottom + 16,
        across.is_logarithmic ? std::pow(10, at) : at);
  }
  return out + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
                           kWidth - kRight, kHeight - 8, svg_escaped(across.name));
}

struct Pen {
  const char* colour;
  const char* dashes;
};

Pen pen_of(std::size_t index) {
  return {.colour = kColours[index % kColours.size()],
          .dashes = index < kColours.size() ? "" : " stroke-dasharray=\"5 3\""};
}

// Places the legend next to the title if there are few curves, otherwise as a list to the right of
// the plot.
std::string legend(const std::vector<Curve>& curves, std::size_t index) {
  const Pen pen = pen_of(index);
  const std::string name = svg_escaped(curves[index].name);
  if (curves.size() <= kTitleMax) {
    const double from_end = static_cast<double>(curves.size() - 1 - index);
    return fmt::format("<text x=\"{}\" y=\"22\" text-anchor=\"end\" fill=\"{}\">{}</text>\n",
                       kWidth - kRight - 130 * from_end, pen.colour, name);
  }
  const double y = kTop + 14 + 17 * static_cast<double>(index);
  return fmt::format(
      "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"2\"{4}/>"
      "<text x=\"{5}\" y=\"{6}\" fill=\"{3}\">{7}</text>\n",
      kWidth - 10, kWidth + 8, y - 4, pen.colour, pen.dashes, kWidth + 13, y, name);
}

std::string line(const Curve& curve, const Span& x, const Span& y, const Across& across,
                 const Pen& pen) {
  std::string points;
  std::size_t count = 0;
  for (const Point& given : curve.points) {
    const Point point = placed(given, across);
    if (!is_shown(point)) continue;
    points += fmt::format("{:.1f},{:.1f} ", place_x(x, point.x), place_y(y, point.y));
    ++count;
  }
  if (count == 1) {
    const std::size_t comma = points.find(',');
    return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"3\" fill=\"{}\"/>\n",
                       points.substr(0, comma), points.substr(comma + 1, points.size() - comma - 2),
                       pen.colour);
  }
  return fmt::format(
      "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{} points=\"{}\"/>\n", pen.colour,
      pen.dashes, points);
}

}  // namespace

std::string svg_escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '<':
        out += "&lt;";
        break;
      case '&':
        out += "&amp;";
        break;
      default:
        out += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
    }
  }
  return out;
}

std::string svg_head(double width, double height, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "{4}<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n"
      "<text x=\"{2}\" y=\"22\" font-size=\"15\">{3}</text>\n",
      width, height, kLeft, svg_escaped(title), kStyle);
}

std::vector<double> ticks(double least, double most, int count_max) {
  const double rough = (most - least) / std::max(count_max - 1, 1);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5, 2, 1}) {
    if (factor * power >= rough) step = factor * power;
  }
  std::vector<double> all;
  for (double i = std::ceil(least / step); i * step <= most + step * 1e-9; ++i) {
    all.push_back(i == 0 ? 0 : i * step);
  }
  return all;
}

std::string curves_svg(const std::string& title, const std::vector<Curve>& curves,
                       const Across& across) {
  Span x, y;
  for (const Curve& curve : curves) {
    for (const Point& given : curve.points) {
      const Point point = placed(given, across);
      if (!is_shown(point)) continue;
      x.add(point.x);
      y.add(point.y);
    }
  }
  if (x.least > x.most) return {};
  x.widen();
  y.widen();
  const double width = kWidth + (curves.size() > kTitleMax ? kNames : 0);
  const double names = kTop + 17 * static_cast<double>(curves.size()) + 10;
  std::string out = svg_head(width, std::max(kHeight, names), title) + axes(x, y, across);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    out += line(curves[i], x, y, across, pen_of(i)) + legend(curves, i);
  }
  return out + "</svg>\n";
}

std::string table_svg(const std::string& title, const ConfusionMatrix& table) {
  const std::size_t count = table.names.size();
  TRIREME_CHECK_EQ(table.counts.size(), count * count, "counts of these names");
  if (count == 0) return {};
  const double side = std::clamp(480.0 / static_cast<double>(count), 14.0, 48.0);
  const double left = 140, top = 60;
  const double extent = side * static_cast<double>(count);
  std::string out = svg_head(left + extent + 20, top + extent + 120, title);
  for (std::size_t row = 0; row < count; ++row) {
    const double y = top + side * static_cast<double>(row);
    double all = 0;
    for (std::size_t column = 0; column < count; ++column) {
      all += static_cast<double>(table.counts[row * count + column]);
    }
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6,
                       y + side / 2 + 4, svg_escaped(table.names[row]));
    out += fmt::format("<text transform=\"translate({:.1f},{:.1f}) rotate(60)\">{}</text>\n",
                       left + side * static_cast<double>(row) + side / 2 - 4, top + extent + 12,
                       svg_escaped(table.names[row]));
    for (std::size_t column = 0; column < count; ++column) {
      const std::int64_t number = table.counts[row * count + column];
      const double share = all == 0 ? 0 : static_cast<double>(number) / all;
      const double x = left + side * static_cast<double>(column);
      out += fmt::format(
          "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{2:.1f}\" "
          "fill=\"#1f6fb4\" fill-opacity=\"{3:.3f}\" class=\"grid\"/>\n",
          x, y, side, share);
      if (side < 24 || number == 0) continue;
      out += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"10\"{}>{}</text>\n",
          x + side / 2, y + side / 2 + 4, share > 0.5 ? " fill=\"white\"" : "", number);
    }
  }
  return out + "</svg>\n";
}

}  // namespace trireme::cli::plot
