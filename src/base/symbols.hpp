#pragma once
#include <string>
namespace hiroba {
std::string source_location(const void* pc);
}
