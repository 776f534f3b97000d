"""Long work that can be stopped, resumed and distributed: lists of tasks whose results are kept in a folder."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
