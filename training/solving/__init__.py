"""Small games solved exactly, deal by deal: equilibria, and the exploitability of any agent.

solving     equilibria, best responses, an agent's exploitability, head to head against an equilibrium
growing     the trees of a game's deals
deal_tree   one deal as a tree of nodes, leaves and information sets
walking     the walk through it, every pair of hands and every play
pairs       the pairs of hands that seats may hold, all or those of bounded ranges
between_deals  what tells two positions between deals apart
equilibrium predictive CFR+, minimax and best responses over a tree
asking      an agent as a behaviour strategy
resuming    what a solve keeps, to go on after it was killed
insight     spread, and what sight of cards, mixing and memory are worth
late        the end of a large game, solved from a position
looking     what a strategy does in one decision, and why
counting    how large a game is
beliefs     what a search loses to an equilibrium, by its causes
strategies  strategies and best responses as files
"""
