// Charts as SVG text, which any browser shows: curves over steps, and a table of counts as a grid
// of squares.
//
// Thread safety: pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::cli::plot {

struct Point {
  double x = 0;
  double y = 0;
};

struct Curve {
  std::string name;
  std::vector<Point> points;
};

struct Across {
  std::string name = "step";
  bool is_logarithmic = false;  // base 10
};

// The axes cover all finite points and have round numbers as ticks. Returns an empty string if
// there are no finite points.
std::string curves_svg(const std::string& title, const std::vector<Curve>& curves,
                       const Across& across = {});

struct ConfusionMatrix {
  std::vector<std::string> names;    // of rows and of columns
  std::vector<std::int64_t> counts;  // row-major
};

// Squares are darker for a larger share of their row. REQUIRES: names.size() squared counts.
std::string table_svg(const std::string& title, const ConfusionMatrix& table);

// The beginning of an SVG image, with its title; the caller ends it with </svg>.
std::string svg_head(double width, double height, const std::string& title);
// Escapes a text for use in SVG.
std::string svg_escaped(const std::string& text);

// Positions of round numbers in a range: at most `count_max`, with a distance of 1, 2 or 5 times a
// power of ten.
std::vector<double> ticks(double least, double most, int count_max);

}  // namespace trireme::cli::plot
