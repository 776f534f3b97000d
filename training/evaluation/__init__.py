"""The strength of agents: names for studies, in addition to those of `krypenv.training`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
