#include "base/tables/phrases.hpp"

namespace hiroba {

Phrases& phrases() {
  static Phrases all;
  return all;
}

}  // namespace hiroba
