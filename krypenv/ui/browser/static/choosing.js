// What a person has chosen so far: a card of the hand, then what goes with it on the table. No drawing here.

/** @import { Card, Chosen, Move, View } from "./shapes.js" */

/** @returns {Chosen} */
export const nothing = () => ({ card: null, place: null, picked: new Set(), builds: new Set() });

/**
 * Return what is chosen where a listed move is: its card and all that goes with it.
 * @param {View} view
 * @param {string} name of the move, as records write it
 * @returns {Chosen}
 */
export function chosenBy(view, name) {
  const move = view.moves?.find((each) => each.move === name);
  if (!move) return nothing();
  const left = [...move.takes];
  const picked = view.table.flatMap((card, at) =>
    left.includes(card) && left.splice(left.indexOf(card), 1) ? at : [],
  );
  return {
    card: move.card,
    place: view.hand.indexOf(move.card),
    picked: new Set(picked),
    builds: new Set(move.builds),
  };
}

/**
 * Return the moves of a card that take at least what has been picked; null where they can't be listed.
 * @param {View} view
 * @param {Chosen} chosen
 * @returns {Move[] | null}
 */
export function fitting(view, chosen) {
  if (view.moves === null) return null;
  return view.moves.filter(
    (move) =>
      move.card === chosen.card &&
      holds(move.takes, names(view, chosen)) &&
      [...chosen.builds].every((value) => move.builds.includes(value)),
  );
}

/**
 * Return the names of the picked cards.
 * @param {View} view
 * @param {Chosen} chosen
 */
export const names = (view, chosen) => [...chosen.picked].flatMap((at) => view.table[at] ?? []);

/**
 * Return which places of the table, and which builds, some moves could take.
 * @param {View} view
 * @param {Move[] | null} moves
 */
export function takable(view, moves) {
  /** @type {Set<number>} */
  const places = new Set();
  /** @type {Set<number>} */
  const builds = new Set();
  for (const move of moves ?? []) {
    view.table.forEach((card, at) => {
      if (move.takes.includes(card)) places.add(at);
    });
    for (const value of move.builds) builds.add(value);
  }
  return { places, builds };
}

/**
 * Return the one move that takes just what is picked, or the only one that is left; null if there are more.
 * @param {View} view
 * @param {Chosen} chosen
 * @param {Move[] | null} moves
 * @returns {Move | null}
 */
export function settled(view, chosen, moves) {
  if (moves?.length === 1) return moves[0] ?? null;
  const picked = names(view, chosen);
  if (!picked.length && !chosen.builds.size) return null;
  const exact = (moves ?? []).filter(
    (move) => move.takes.length === picked.length && move.builds.length === chosen.builds.size,
  );
  return exact.length === 1 ? (exact[0] ?? null) : null;
}

/**
 * Return a move as records write it.
 * @param {View} view
 * @param {Chosen} chosen
 */
export function written(view, chosen) {
  const taken = names(view, chosen).join("") + [...chosen.builds].map((value) => `[${value}]`).join("");
  return `${chosen.card}${taken && `x${taken}`}`;
}

/**
 * @param {Card[]} cards
 * @param {Card[]} wanted
 */
function holds(cards, wanted) {
  const left = [...cards];
  return wanted.every((card) => {
    const at = left.indexOf(card);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}
