// Charts are pictures of numbers as SVG text: curves over steps, and a table of counts as squares.
// Any browser shows them.
//
// Threads: pure.

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
  bool is_logarithmic = false;  // as far from 10 to 100 as from 1 to 10
};

// Axes from the least to the most of all points that are finite, with round numbers beside them.
// Empty where there are none.
std::string curves_svg(const std::string& title, const std::vector<Curve>& curves,
                       const Across& across = {});

struct Table {
  std::vector<std::string> names;    // of rows and of columns
  std::vector<std::int64_t> counts;  // row by row
};

// Darker where a row's share is larger. REQUIRES: names.size() squared counts.
std::string table_svg(const std::string& title, const Table& table);

// The beginning of a picture, with its title; it ends with </svg>.
std::string svg_head(double width, double height, const std::string& title);
// A text as it may stand in one.
std::string svg_escaped(const std::string& text);

// Places of round numbers between two: at most `count_max` of them, each 1, 2 or 5 times a power of
// ten from the next.
std::vector<double> ticks(double least, double most, int count_max);

}  // namespace trireme::cli::plot
