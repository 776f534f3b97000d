"""Pictures of a game: as SVG and pixels, as files, and in a window. They hold no rules."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
