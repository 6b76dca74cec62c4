// A rank that ends by an exception that nobody catches.

#include <stdexcept>

int main() {
  throw std::runtime_error("the sky is falling");
}
