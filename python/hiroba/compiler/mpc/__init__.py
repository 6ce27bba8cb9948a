"""MpC: C with `shared` arrays that say where they lie, and calls of mpc.h."""
