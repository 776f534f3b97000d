"""Programs that are no tests: they write pages and pictures, or run for hours."""
