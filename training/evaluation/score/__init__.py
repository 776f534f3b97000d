"""The official score of an agent: a number with an interval that papers can quote, and a file that proves it.

identity  who is scored
protocol  tables, panels and deals, frozen under a version
playing     playing for a score, and checking one
score_file  the file of a score
board     a score in the terminal, and one page of many
"""
