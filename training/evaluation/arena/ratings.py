"""Ratings of an arena's agents: OpenSkill, Nash averaging, alpha-rank, and the cycles that every rating hides."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from openskill.models import PlackettLuce
from scipy.optimize import linprog, minimize
from scipy.special import logsumexp, softmax

from krypenv.kernels.compiled import lead_sign
from krypenv.training.evaluation.arena.games import FloatArray, Games

RATED = 50_000  # results that OpenSkill rates, at most: about 2 seconds
SUPPORT = 1e-6  # weight in a Nash equilibrium below which an agent does not belong to it
ALPHA_RANK_NOISE = 1e-6  # probability of a step to a worse agent, relative to that of a step to a better one


def rate(games: Games) -> tuple[FloatArray, FloatArray]:
    """Return the OpenSkill ratings of the agents: means mu, (A,), and standard deviations sigma, (A,).

    A result is the scores of one set of agents on one deal, averaged over its seatings. The best score ranks first, and
    equal scores share a rank. Results are rated by the Plackett-Luce model of Weng and Lin, "A Bayesian approximation
    method for online ranking", JMLR 12 (2011), starting at mu 25 and sigma 25/3. The agents do not change during an
    arena, so sigma never grows (tau is 0). Ratings depend on the order of the results, and results of one deal share
    its luck, so the results are shuffled, always in the same way, and the first `RATED` of them count.
    """
    size = len(games.names)
    key = games.deal
    for agents in np.sort(games.agents, axis=1).T:
        key = key * size + agents
    results, result = np.unique(key, return_inverse=True)
    chosen = np.random.default_rng(0).permutation(len(results))[:RATED]
    turn = np.full(len(results), -1)
    turn[chosen] = np.arange(len(chosen))
    rated = turn[result] >= 0
    cell = (turn[result[rated], None] * size + games.agents[rated]).ravel()
    shape = (len(chosen), size)
    sides = np.bincount(cell, minlength=len(chosen) * size).reshape(shape)
    totals = np.bincount(cell, games.scores[rated].ravel(), minlength=len(chosen) * size).reshape(shape)

    model = PlackettLuce(tau=0.0)
    ratings = [model.rating() for _ in games.names]
    for count, total in zip(sides, totals, strict=True):
        table = np.flatnonzero(count)
        ranks = (lead_sign(games.rules) * total[table] / count[table]).tolist()
        after = model.rate([[ratings[agent]] for agent in table], ranks=ranks)
        for agent, (rating,) in zip(table, after, strict=True):
            ratings[agent] = rating
    return np.array([rating.mu for rating in ratings]), np.array([rating.sigma for rating in ratings])


def nash_average(payoff: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the Nash equilibrium of greatest entropy, (A,) weights, and each agent's payoff against it, (A,).

    `payoff` is an antisymmetric matrix, (A, A): the row agent's payoff against the column's. The payoffs are zero for
    the agents of the equilibrium and at most zero for the others. Equal agents share their weight, so entering an
    agent twice changes nothing for the others: Balduzzi et al., "Re-evaluating evaluation", NeurIPS 2018.

    >>> nash_average(np.array([[0.0, 2.0], [-2.0, 0.0]]))
    (array([1., 0.]), array([ 0., -2.]))
    """
    size = len(payoff)
    scaled = payoff / (np.abs(payoff).max() or 1.0)
    # The equilibria are the mixtures against which no agent wins. Find one with the greatest weight of agent i, for
    # each i; their mean contains every agent that is in any equilibrium.
    corners = [
        linprog(-most, A_ub=scaled, b_ub=np.zeros(size), A_eq=np.ones((1, size)), b_eq=[1.0]).x for most in np.eye(size)
    ]
    used = np.mean(corners, axis=0) > SUPPORT
    rows = scaled[:, used]

    # Maximize the entropy among the equilibria by its dual: the weights are softmax(-prices @ rows), a price per agent.
    def dual(prices: FloatArray) -> tuple[float, FloatArray]:
        return logsumexp(-prices @ rows), -rows @ softmax(-prices @ rows)

    bounds = [(0.0, None)] * size
    options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 0.0, "gtol": 1e-12}
    best = minimize(dual, np.zeros(size), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    weights = np.zeros(size)
    weights[used] = softmax(-best.x @ rows)
    return weights, np.round(payoff @ weights, 6) + 0.0  # no -0.0


def alpha_rank(margin: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the share of time that alpha-rank's Markov chain spends at each agent, (A,); needs OpenSpiel.

    The chain moves from an agent to one that beats it, in the limit of strong selection: Omidshafiei et al.,
    "alpha-rank: multi-agent evaluation by evolution", Scientific Reports 9 (2019). In that limit only the signs of the
    margins count, so a pair whose interval, `low` to `high`, contains zero counts as even, and the chain moves both
    ways. The arguments are (A, A), as in `Payoffs`, and `margin` is antisymmetric.
    """
    from open_spiel.python.egt import alpharank

    clear = np.where((low > 0) | (high < 0), margin, 0.0)
    return alpharank.compute([clear], use_inf_alpha=True, inf_alpha_eps=ALPHA_RANK_NOISE)[2]


@dataclass(frozen=True)
class Cycles:
    """The number of triples of agents that beat each other in a cycle, among the triples in which all pairs met."""

    triples: int
    cyclic: int  # by the margins
    clear: int  # by margins whose intervals exclude zero
    example: tuple[int, int, int] | None  # indices of a clear cycle: each beats the next, and the last the first


def find_cycles(margin: FloatArray, low: FloatArray) -> Cycles:
    """Return the cycles of three agents, given the margins of the row agents, (A, A), and their lower bounds, (A, A).

    The example is the clear cycle whose smallest lower bound is greatest.
    """
    triples = cyclic = clear = 0
    widest, example = 0.0, None
    for i, j, k in itertools.combinations(range(len(margin)), 3):
        triples += not np.isnan([margin[i, j], margin[j, k], margin[k, i]]).any()
        for circle in ((i, j, k), (i, k, j)):
            steps = list(zip(circle, (*circle[1:], circle[0]), strict=True))
            cyclic += all(margin[step] > 0 for step in steps)
            least = float(np.min([low[step] for step in steps]))  # nan, never above anything, if a pair never met
            clear += least > 0
            if least > widest:
                widest, example = least, circle
    return Cycles(triples, cyclic, clear, example)
