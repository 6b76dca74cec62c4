// A rank that ends by an uncaught exception.

#include <stdexcept>

int main() {
  throw std::runtime_error("the sky is falling");
}
