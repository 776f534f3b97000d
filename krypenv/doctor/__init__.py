"""What is installed, what is missing, and what is wrong.

report  `krypenv doctor`; needs nothing but Python
probes  what may break, tried in processes of their own
"""
