// The contract of this floor: arrays that are aligned with templates, of which each node has a part with a shadow, and
// what moves their elements: sections from one to the other, and shadows. README.md has the reasons.
#pragma once

#include "template/axis.hpp"
#include "template/elements.hpp"
#include "template/layout.hpp"
#include "template/lone_transfer.hpp"
#include "template/part_directory.hpp"
#include "template/product.hpp"
#include "template/sides.hpp"
#include "template/sort.hpp"
#include "template/transfer.hpp"
