"""XcalableMP's local view: coarrays, a[i]:[image], array sections, and #pragma xmp. Each directive is a function, and a
line in notation.py."""
