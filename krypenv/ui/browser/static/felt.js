// What lies on the table: loose cards, builds, and the last play.

import { byRank, face, lying, short, spoken } from "./cards.js";
import { fitting, settled, takable } from "./choosing.js";
import { h, t } from "./dom.js";

/** @import { Build, Card, Table, View } from "./shapes.js" */

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
    return tableCard(table, card, at, glow.places.has(at), isNew(card));
  });
  const builds = view.builds.map((build) => buildPile(table, build, glow.builds.has(build.value)));
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
      "div",
      { class: "table", role: "group", "aria-label": t("table") },
      builds,
      cards,
      !cards.length && !builds.length && h("p", { class: "empty" }, t("empty")),
    ),
    aside.length > 0 && h("p", { class: "aside" }, `${t("screen.aside")}: `, aside.map(short).join(" ")),
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
 * @param {Table} table
 * @param {Card} card
 * @param {number} at
 * @param {boolean} isGlowing
 * @param {boolean} isNew
 */
function tableCard({ chosen, acts }, card, at, isGlowing, isNew) {
  const kind = isNew ? "new" : "";
  if (!chosen.card) return lying(card, kind, `table ${card}`);
  const isPicked = chosen.picked.has(at);
  return h(
    "button",
    {
      class: `card ${kind}${isGlowing ? " glow" : ""}${isPicked ? " picked" : ""}`,
      "data-focus": `table ${at}`,
      "data-card": `table ${card}`,
      "aria-pressed": String(isPicked),
      "aria-label": spoken(card),
      onclick: () => acts.pick(at),
    },
    face(card),
  );
}

/**
 * @param {Table} table
 * @param {Build} build
 * @param {boolean} isGlowing
 */
function buildPile({ told, chosen, acts }, build, isGlowing) {
  const { cards, owner, value } = build;
  const label = t("build_of", { value, who: told.view.players[owner]?.name ?? "" });
  const isPicked = chosen.builds.has(value);
  const kind = `build${isGlowing ? " glow" : ""}${isPicked ? " picked" : ""}`;
  const aloud = `${label}: ${cards.map(spoken).join(", ")}`;
  const inner = [
    h(
      "span",
      { class: "pile" },
      cards.map((card) => h("span", { class: "card" }, face(card))),
    ),
    h("em", {}, label),
  ];
  const named = { class: kind, "data-card": `build ${value}`, "aria-label": aloud };
  if (!chosen.card) return h("span", { ...named, role: "img" }, inner);
  const onclick = () => acts.build(value);
  const pressed = { "data-focus": `build ${value}`, "aria-pressed": String(isPicked) };
  return h("button", { ...named, ...pressed, onclick }, inner);
}

/**
 * Return the last play, in cards and in words.
 * @param {View} view
 * @param {boolean} isNew
 */
export function lastPlay({ last }, isNew) {
  if (!last) return h("p", { class: "last" });
  const taken = [...last.takes, ...last.builds.flatMap((build) => build.cards)];
  return h(
    "p",
    { class: `last${isNew ? " fresh" : ""}${last.sweep ? " sweep" : ""}` },
    h(
      "span",
      { class: "trick", "aria-hidden": "true" },
      [last.card, ...taken].map((card) => h("span", { class: "card tiny" }, face(card))),
    ),
    h("span", {}, last.text),
  );
}
