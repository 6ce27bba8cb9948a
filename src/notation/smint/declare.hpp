// Shared arrays at file scope: sms_startup allocates what smint_declare has been told.
#pragma once

namespace hiroba {

void place_declared_arrays();

}  // namespace hiroba
