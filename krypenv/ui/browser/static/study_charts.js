// The figures beside a game that is studied: the curve of the margins, luck, and the challenge.

import { button, h, points, s, signed, t } from "./dom.js";

const WIDTH = 600;
const HEIGHT = 260;
const EDGE = { left: 40, right: 10, top: 24, bottom: 24 };

/** Return the curve of what each side could expect, with the mistakes. @param {State} state @param {Study} study */
export function curve(state, study) {
  const last = study.steps.length - 1;
  const decisions = [...state.decisions.values()].sort((one, two) => one.at - two.at);
  const ends = study.steps[last]?.margins ?? [];
  const all = [...decisions.map((each) => each.margin), ...ends, 0];
  const [low, high] = [Math.min(...all) - 1, Math.max(...all) + 1];
  /** @param {number} at */
  const x = (at) => EDGE.left + (at / Math.max(1, last)) * (WIDTH - EDGE.left - EDGE.right);
  /** @param {number} margin */
  const y = (margin) => EDGE.top + ((high - margin) / (high - low)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const sides = [...new Set(study.sides)];
  const lines = sides.map((side) => {
    const own = decisions.filter((each) => study.sides[each.seat] === side).map((each) => [each.at, each.margin]);
    if (study.over && state.decisions.size >= last) own.push([last, ends[study.sides.indexOf(side)] ?? 0]);
    return s("polyline", {
      class: `side${side}`,
      points: own.map(([at, margin]) => `${x(at ?? 0).toFixed(1)},${y(margin ?? 0).toFixed(1)}`).join(" "),
    });
  });
  const marks = decisions
    .filter((each) => each.mark === "?" || each.mark === "??")
    .map((each) =>
      s("text", { x: x(each.at), y: y(each.margin) - 6, "text-anchor": "middle", class: "mistake" }, each.mark),
    );
  const deals = study.steps.flatMap((step, at) => (at > 0 && step.deal !== study.steps[at - 1]?.deal ? [at] : []));
  const drawing = s(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: "curve",
      role: "img",
      "aria-label": t("study_curve_note"),
      onclick: (/** @type {MouseEvent} */ event) => state.go(placeOf(event, last)),
    },
    deals.map((at) => s("line", { class: "deal", x1: x(at), x2: x(at), y1: EDGE.top, y2: HEIGHT - EDGE.bottom })),
    ticks(low, high).map((margin) => [
      s("line", {
        class: margin === 0 ? "zero" : "grid",
        x1: EDGE.left,
        x2: WIDTH - EDGE.right,
        y1: y(margin),
        y2: y(margin),
      }),
      s("text", { x: EDGE.left - 5, y: y(margin) + 4, "text-anchor": "end" }, points(margin)),
    ]),
    lines,
    marks,
    s("line", { class: "here", x1: x(state.at), x2: x(state.at), y1: EDGE.top, y2: HEIGHT - EDGE.bottom }),
  );
  return h(
    "section",
    h("h2", t("study_curve")),
    drawing,
    h(
      "p.legend",
      sides.map((side) =>
        h("span", sample(side), ` ${study.names.filter((_, seat) => study.sides[seat] === side).join(", ")} `),
      ),
    ),
    h("p.small", t("study_curve_note")),
  );
}

/** Return a piece of a side's line. @param {number} side */
function sample(side) {
  return s(
    "svg",
    { viewBox: "0 0 34 10", class: "curve sample", "aria-hidden": "true" },
    s("polyline", { class: `side${side}`, points: "0,5 34,5" }),
  );
}

/** Return the move that a click on the curve means. @param {MouseEvent} event @param {number} last */
function placeOf(event, last) {
  const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
  const at = ((event.clientX - box.left) / box.width) * WIDTH;
  return Math.round(((at - EDGE.left) / (WIDTH - EDGE.left - EDGE.right)) * last);
}

/** @param {number} low @param {number} high */
function ticks(low, high) {
  const step = [1, 2, 5, 10, 20, 50, 100].find((each) => (high - low) / each <= 7) ?? 200;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, at) => (first + at) * step);
}

/** Return how much of the result was the cards. @param {State} state @param {Study} study */
export function luckPart({ luck }, study) {
  const who = study.within.filter((_, seat) => study.sides[seat] === luck?.side).join(", ");
  return luck && h("section", h("h2", t("study_luck")), h("p", luck.told), h("p.small", t("study_luck_note", { who })));
}

/** Return the challenge: a button, how far it is, or what it came to. @param {State} state @param {Study} study */
export function challengePart(state, study) {
  if (!study.challenge) return null;
  const { challenge, playing } = state;
  if (playing)
    return h(
      "section",
      h("h2", t("challenge_title", { who: study.by })),
      h("p", { role: "status" }, t("challenge_playing", { who: study.by, ...playing })),
      h("progress", { max: playing.of, value: playing.made, "aria-label": t("challenge_title", { who: study.by }) }),
    );
  if (!challenge) return h("section", button("challenge", t("challenge", { who: study.by }), state.dare, "main pill"));
  const { by, margins, difference } = challenge;
  const [mine, theirs] = margins.map((margin) => signed(margin));
  return h(
    "section",
    h("h2", t("challenge_title", { who: by })),
    h("p", t("challenge_result", { who: by, mine: mine ?? "", theirs: theirs ?? "" })),
    difference
      ? h(
          "p",
          button("difference", t("challenge_at", { number: difference.at + 1 }), () => state.go(difference.at), "link"),
          ` ${t("challenge_differs", { who: by, mine: difference.mine, theirs: difference.theirs })}`,
        )
      : h("p", t("challenge_equal")),
    h("p.small", t("challenge_note")),
  );
}
