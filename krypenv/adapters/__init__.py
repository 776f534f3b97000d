"""Adapters: the environments in the form that each library expects. They translate; they hold no rules."""
