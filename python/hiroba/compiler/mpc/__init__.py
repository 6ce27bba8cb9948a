"""MpC: C with `shared` arrays that declare their distribution, and calls of mpc.h."""
