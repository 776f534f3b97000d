"""The games of one learner in the forms that other libraries expect, and policies as agents."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
