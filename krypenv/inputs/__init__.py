"""Input from users and files: read, checked, and refused in one sentence if it is wrong.

words      words and numbers that people type, and how messages quote them
files      files, written whole or not at all
schema     schemas of plain values from files and messages, by pydantic
artifacts  arrays in files of one's own, with what they are, a version and a digest
"""
