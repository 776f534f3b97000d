"""What is installed, what is missing, and what is wrong.

report  `krypenv doctor`; needs only Python
"""
