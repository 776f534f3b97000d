"""Small games solved exactly, deal by deal: equilibria, and the exploitability of any agent."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
