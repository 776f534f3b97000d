"""The table in the browser: a server for the pages of people who play against agents or one another.

seats     who sits where
english   the page's texts in English
swedish   the page's texts in Swedish
texts     the texts by language
requests  what a page may ask for
guests    who gives way where too many come, and how long a request may take
sockets   a page's end of a socket: its key, its messages, refusals
hosted    the game at the table: who sits where, moves, undo, the next game, saving
keys      the keys in the links to seats
pace      how fast agents play
thinking  agents, in a process of their own
pages     the pages at the table, each with the view of its seat, and whose turn it is
app       the pages' files, the socket, and what keeps strangers out
serving   address, port and links; the server until it is stopped
"""
