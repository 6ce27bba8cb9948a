// HIROBA_SHOWN marks the functions of libhiroba that floors of another library, libhiroba_sparse, call; every other
// function is hidden. The library itself calls them directly, as hidden ones, so exporting them costs nothing and no
// other library can replace them.
#pragma once

#ifdef HIROBA_OUTSIDE  // set when a floor of another library is compiled
#define HIROBA_SHOWN gnu::visibility("default")
#else
#define HIROBA_SHOWN gnu::visibility("protected")
#endif
