"""A study: a question about good play, asked of agents over many deals, by a script that anyone can write."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
