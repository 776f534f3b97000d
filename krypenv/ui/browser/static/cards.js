// Playing cards, drawn.

import { h, s, t } from "./dom.js";

/** @type {Record<string, string>} */
const SUITS = {
  H: "M50 90C20 64 8 47 8 30 8 14 19 8 29 8c10 0 18 7 21 16C53 15 61 8 71 8c10 0 21 6 21 22 0 17-12 34-42 60z",
  D: "M50 4 86 50 50 96 14 50z",
  S: "M50 6c10 20 40 34 40 56 0 14-10 20-19 20-8 0-14-4-17-10 1 10 4 17 10 22H36c6-5 9-12 10-22-3 6-9 10-17 10-9 0-19-6-19-20C10 40 40 26 50 6z",
  C: "M50 6a20 20 0 0 1 17 31 21 21 0 1 1-13 35c1 10 4 17 10 22H36c6-5 9-12 10-22a21 21 0 1 1-13-35A20 20 0 0 1 50 6z",
};
/** @type {Record<string, string>} */
const SIGNS = { C: "♣", D: "♦", H: "♥", S: "♠" };
/** @type {Record<string, [number, number][]>} */
// biome-ignore format: a picture
const PIPS = {
  A: [[51, 70]],
  2: [[51, 32], [51, 108]],
  3: [[51, 32], [51, 70], [51, 108]],
  4: [[40, 32], [62, 32], [40, 108], [62, 108]],
  5: [[40, 32], [62, 32], [51, 70], [40, 108], [62, 108]],
  6: [[40, 32], [62, 32], [40, 70], [62, 70], [40, 108], [62, 108]],
  7: [[40, 32], [62, 32], [51, 51], [40, 70], [62, 70], [40, 108], [62, 108]],
  8: [[40, 32], [62, 32], [51, 51], [40, 70], [62, 70], [51, 89], [40, 108], [62, 108]],
  9: [[40, 30], [62, 30], [40, 56], [62, 56], [51, 70], [40, 84], [62, 84], [40, 110], [62, 110]],
  T: [[40, 30], [62, 30], [51, 43], [40, 56], [62, 56], [40, 84], [62, 84], [51, 97], [40, 110], [62, 110]],
};
const RANKS = "A23456789TJQK";

/** @param {Card} card */
function rankOf(card) {
  const letter = card.charAt(0);
  return letter === "T" ? "10" : "AJQK".includes(letter) ? t(`index.${letter}`) : letter;
}

/**
 * Return a card as people write it, as in 8♠.
 * @param {Card} card
 */
export const short = (card) => rankOf(card) + SIGNS[card.charAt(1)];

/**
 * Return what a card is called aloud, as in "8 of spades".
 * @param {Card} card
 */
export function spoken(card) {
  const letter = card.charAt(0);
  const rank = "ATJQK".includes(letter) ? t(`rank.${letter}`) : letter;
  return t("card", { rank, suit: t(`suit.${card.charAt(1)}`) });
}

/**
 * Return the places of cards as they lie on a table: by rank.
 * @param {Card[]} cards
 */
export function byRank(cards) {
  const ranks = cards.map((card) => RANKS.indexOf(card.charAt(0)));
  return [...cards.keys()].sort((one, two) => (ranks[one] ?? 0) - (ranks[two] ?? 0));
}

/**
 * @param {string} name
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function suit(name, x, y, size, isTurned = false) {
  const place = `translate(${x - size / 2} ${y - size / 2}) scale(${size / 100})`;
  const path = s("path", { d: SUITS[name], transform: place });
  return isTurned ? s("g", { transform: `rotate(180 ${x} ${y})` }, path) : path;
}

/** @param {Card} card */
function corner(card) {
  const rank = rankOf(card);
  return [
    s(
      "text",
      {
        x: 14,
        y: 28,
        class: "rank",
        "text-anchor": "middle",
        ...(rank === "10" && { textLength: 22, lengthAdjust: "spacingAndGlyphs" }),
      },
      rank,
    ),
    suit(card.charAt(1), 14, 42, 17),
  ];
}

/** @param {Card} card */
function middle(card) {
  const [rank, name] = [card.charAt(0), card.charAt(1)];
  const pips = PIPS[rank];
  if (pips) {
    const size = rank === "A" ? 46 : 19;
    return pips.map(([x, y]) => suit(name, x, y, size, y > 70));
  }
  return [
    s("rect", { x: 28, y: 14, width: 45, height: 112, rx: 5, class: "court" }),
    s("path", { d: "M30 84 50 66l20 18M30 56l20 18 20-18", class: "braid" }),
    suit(name, 50, 34, 24),
    suit(name, 50, 106, 24, true),
    s("text", { x: 50, y: 84, class: "letter", "text-anchor": "middle" }, rank),
  ];
}

/**
 * Return the face of a card, as a drawing that says nothing aloud.
 * @param {Card} card
 */
export function face(card) {
  const colour = "DH".includes(card.charAt(1)) ? "red" : "black";
  return s(
    "svg",
    { viewBox: "0 0 100 140", class: `face ${colour}`, "aria-hidden": "true", focusable: "false" },
    s("rect", { x: 1, y: 1, width: 98, height: 138, rx: 9, class: "paper" }),
    middle(card),
    corner(card),
    s("g", { transform: "rotate(180 50 70)" }, corner(card)),
  );
}

/**
 * Return a card that only lies there.
 * @param {Card} card
 */
export const lying = (card, kind = "") =>
  h("span", { class: `card ${kind}`, role: "img", "aria-label": spoken(card) }, face(card));
