// What lies on the table: loose cards, builds, and the last play.

import { byRank, face, short, spoken } from "./cards.js";
import { fitting, settled, takable } from "./choosing.js";
import { h, t } from "./dom.js";

/**
 * Return the cards on the table; what the chosen card can take glows.
 * @param {Table} table
 * @param {View | null} before the view before the last play, if that is new
 */
export function middle(table, before) {
  const { view } = table.told;
  const { chosen } = table;
  const moves = chosen.card ? fitting(view, chosen) : null;
  const glow = takable(view, moves);
  const isSettled = chosen.card && settled(view, chosen, moves);
  const isNew = news(view.table, before?.table);
  const cards = byRank(view.table).map((at) => {
    const card = /** @type {Card} */ (view.table[at]);
    const shown = { kind: isNew(card) ? "card new" : "card", card: `table ${card}`, aloud: spoken(card) };
    return thing(table, `table ${at}`, shown, glow.has(`table ${at}`), [face(card)]);
  });
  const builds = view.builds.map((build) => buildPile(table, build, glow.has(`build ${build.value}`)));
  return lies(builds, cards, view.aside, `${chosen.card ? " choosing" : ""}${isSettled ? " settled" : ""}`);
}

/**
 * Return what lies on a table.
 * @param {Node[]} builds
 * @param {Node[]} cards
 * @param {Card[]} aside
 */
export const lies = (builds, cards, aside, kind = "") =>
  h(
    "div",
    { class: `middle${kind}` },
    h(
      "div.table",
      { role: "group", "aria-label": t("screen.table") },
      builds,
      cards,
      !cards.length && !builds.length && h("p.empty", t("empty")),
    ),
    aside.length > 0 && h("p.aside", `${t("screen.aside")}: `, aside.map(short).join(" ")),
  );

/**
 * Return a function that says whether a card was not among those before; of two copies, one may be.
 * @param {Card[]} cards
 * @param {Card[] | undefined} before
 */
export function news(cards, before) {
  const left = [...(before ?? cards)];
  return (/** @type {Card} */ card) => {
    const at = left.indexOf(card);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  };
}

/**
 * Return something that lies on the table, which can be picked while a card is chosen.
 * @param {Table} table
 * @param {string} what as in "table 3" or "build 9"
 * @param {{ kind: string, card: string, aloud: string }} shown how it looks, what it is called, also aloud
 * @param {boolean} isGlowing
 * @param {(Element | Element[])[]} inner
 */
function thing({ chosen, acts }, what, { kind, card, aloud }, isGlowing, inner) {
  const named = { "data-card": card, "aria-label": aloud };
  if (!chosen.card) return h("span", { ...named, class: kind, role: "img" }, ...inner);
  const isPicked = chosen.picked.has(what);
  return h(
    "button",
    {
      ...named,
      class: `${kind}${isGlowing ? " glow" : ""}${isPicked ? " picked" : ""}`,
      "data-focus": what,
      "aria-pressed": String(isPicked),
      onclick: () => acts.pick(what),
    },
    ...inner,
  );
}

/**
 * @param {Table} table
 * @param {Build} build
 * @param {boolean} isGlowing
 */
function buildPile(table, { cards, owner, value }, isGlowing) {
  const label = t("build_of", { value, who: table.told.view.players[owner]?.name ?? "" });
  const aloud = `${label}: ${cards.map(spoken).join(", ")}`;
  const shown = { kind: "build", card: `build ${value}`, aloud };
  return thing(table, `build ${value}`, shown, isGlowing, pileOf(cards, label));
}

/**
 * Return the cards of a build, with what they are.
 * @param {Card[]} cards
 * @param {string} label
 */
export const pileOf = (cards, label) => [
  h(
    "span.pile",
    cards.map((card) => h("span.card", face(card))),
  ),
  h("em", label),
];

/**
 * Return the last play in words, and before the first one what the game is about.
 * @param {Told} told
 * @param {boolean} isNew
 */
export const lastPlay = ({ goal, view: { last } }, isNew) =>
  h("p", { tabindex: 0, class: `last${isNew ? " fresh" : ""}${last?.sweep ? " sweep" : ""}` }, last?.text ?? goal);
