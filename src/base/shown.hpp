// HIROBA_SHOWN marks the functions of libhiroba that floors of another library, libhiroba_sparse, call; every other
// function is hidden. The library itself calls these directly, as hidden ones, so that showing them costs nothing and
// no other library can take their place.
#pragma once

#ifdef HIROBA_OUTSIDE  // compiles a floor of another library
#define HIROBA_SHOWN gnu::visibility("default")
#else
#define HIROBA_SHOWN gnu::visibility("protected")
#endif
