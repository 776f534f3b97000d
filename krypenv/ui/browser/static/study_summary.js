// How a game was played: the summary, the list of moves, the search for better moves, and the games of the table.

import { button, h, t } from "./dom.js";

const BEST = 0.05; // points behind the best move up to which a move is as good
const GOOD = 1; // points from which a move is marked
// The share of best moves from which play has a rating. By the champion's values, the champion finds 8 of 10, search 7 to 8,
// the tactician 6, greedy 4 to 5, and who plays at random 4 or fewer.
const RATINGS = /** @type {const} */ ([
  [0.67, "study_rating4"],
  [0.52, "study_rating3"],
  [0.41, "study_rating2"],
  [0, "study_rating1"],
]);

/** @param {Decision} decision */
const hasChoice = (decision) => decision.moves.length > 1 || decision.more;

/** Return the mistakes, of the person alone where better moves are looked for. @param {State} state @returns {number[]} */
export function mistakes({ decisions, finding, study }) {
  const isAnybody = !finding || study?.seat === null;
  return [...decisions.values()]
    .filter(({ mark, seat }) => (mark === "?" || mark === "??") && (isAnybody || seat === study?.seat))
    .map((each) => each.at)
    .sort((one, two) => one - two);
}

/** Return how each seat played, in figures and a word; of a line of play only how far it is. @param {State} state @param {Study} study */
export function summary(state, study) {
  const of = study.steps.length - (study.over ? 1 : 0);
  const done = state.decisions.size;
  const progress =
    done < of &&
    h(
      "p.progress",
      { role: "status" },
      h("progress", { max: of, value: done, "aria-hidden": "true" }),
      ` ${t("study_progress", { done, of })}`,
    );
  if (study.line) return progress && h("section.summary", progress);
  const all = [...state.decisions.values()];
  const own = mistakes({ ...state, finding: new Map() }).length;
  return h(
    "section.summary",
    h("h2", t("study_summary")),
    study.names.map((name, seat) => {
      const made = all.filter((each) => each.seat === seat);
      const chosen = made.filter(hasChoice);
      const best = chosen.filter((each) => each.regret < BEST).length / chosen.length; // not a number without a choice
      const rating = !progress && RATINGS.find(([least]) => best >= least)?.[1];
      const count = (/** @type {string} */ mark) => made.filter((each) => each.mark === mark).length;
      const share = chosen.length ? Math.round(100 * best) : "–";
      const figures = { blunders: count("??"), mistakes: count("?"), best: share };
      const said = rating ? `${name}: ${t(rating)}` : name;
      return made.length > 0 && h("p", h("b", said), " · ", t("study_figures", figures));
    }),
    progress || h("p.small", t("study_rating_note")),
    own > 0 && h("p", button("find", t(state.finding ? "find_stop" : "find", { count: own }), state.find, "main pill")),
  );
}

/** Return all moves with their marks. @param {State} state @param {Study} study */
export function moveList(state, study) {
  return h(
    "section",
    h("h2", t("study_moves")),
    h(
      "ol.moves",
      { tabindex: 0, "aria-label": t("study_moves") },
      study.steps.map((step, at) => [
        step.deal !== study.steps[at - 1]?.deal && h("li.deal", t("deal", { number: step.deal, of: study.deals })),
        step.move &&
          h(
            "li",
            { "aria-current": at === state.at ? "step" : null },
            button(`step ${at}`, `${study.names[step.turn ?? 0]}: ${step.move.text}`, () => state.go(at)),
            h("strong", state.decisions.get(at)?.mark ?? ""),
          ),
      ]),
    ),
  );
}

/** Return whether the values of the move that is shown are hidden, so that a better one is found. @param {State} state */
export function isHidden(state) {
  const { at, decisions, finding } = state;
  const tried = finding?.get(at) ?? [];
  const behind = (/** @type {string} */ move) =>
    decisions.get(at)?.moves.find((each) => each.move === move)?.behind ?? 0;
  return finding !== null && mistakes(state).includes(at) && !tried.some((move) => behind(move) < GOOD);
}

/** Return what is said of the move that was tried last. @param {State} state */
export function verdictOfTry({ at, decisions, finding }) {
  const decision = decisions.get(at);
  const last = finding?.get(at)?.at(-1);
  const value = decision?.moves.find((each) => each.move === last);
  if (!decision || !value) return "";
  const points = value.behind.toFixed(1);
  if (value.behind < BEST) return t("find_best", { text: value.text });
  const key = value.behind < GOOD ? "find_found" : value.behind < decision.regret ? "find_closer" : "find_worse";
  return t(key, { text: value.text, points });
}

/** Return the moves among which a better one is to be found. @param {State} state @param {Decision} decision */
export function puzzle(state, decision) {
  const tried = state.finding?.get(state.at) ?? [];
  const played = decision.moves.find((each) => each.played);
  const others = decision.moves.filter((each) => !each.played).sort((one, two) => one.text.localeCompare(two.text));
  return h(
    "div.values",
    h("p", h("b", t("find_task", { text: played?.text ?? "", points: decision.regret.toFixed(1) }))),
    h("p", { role: "status" }, verdictOfTry(state)),
    h(
      "div.options",
      others.map(({ move, text }) =>
        button(`move ${move}`, text, () => state.attempt(move), "move", {
          "aria-disabled": String(tried.includes(move)),
        }),
      ),
    ),
    h(
      "p",
      button("find show", t("find_show"), () => state.attempt(""), "move"),
    ),
  );
}

/** Return the games of the table that are over. @param {State} state */
export function games({ games, openGame }) {
  return (
    games.length > 0 &&
    h(
      "section",
      h("h2", t("study_games")),
      h(
        "ul.games",
        games.map(({ number, told, compared }) =>
          h(
            "li",
            button(`game ${number}`, t("games", { number }), () => openGame(number), "link"),
            ` ${told} ${compared}`,
          ),
        ),
      ),
    )
  );
}
