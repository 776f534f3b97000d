// What a person has chosen so far: a card of the hand, then what goes with it on the table. No drawing here.

/** @returns {Chosen} */
export const nothing = () => ({ card: null, place: null, picked: new Set() });

/**
 * Return all that goes with a card in a move, as records write it: cards, and builds as in [9].
 * @param {Move} move
 */
const goesWith = ({ takes, builds }) => [...takes, ...builds.map((value) => `[${value}]`)];

/**
 * Return all that lies on the table: where it lies, as in "table 3" or "build 9", and what records call it.
 * @param {View} view
 * @returns {[string, string][]}
 */
const laid = ({ table, builds }) => [
  ...table.map((card, at) => /** @type {[string, string]} */ ([`table ${at}`, card])),
  ...builds.map(({ value }) => /** @type {[string, string]} */ ([`build ${value}`, `[${value}]`])),
];

/**
 * Return what is chosen where a listed move is: its card and all that goes with it.
 * @param {View} view
 * @param {string} name of the move, as records write it
 * @returns {Chosen}
 */
export function chosenBy(view, name) {
  const move = view.moves?.find((each) => each.move === name);
  if (!move) return nothing();
  const left = goesWith(move);
  const picked = laid(view).flatMap(([place, what]) =>
    left.includes(what) && left.splice(left.indexOf(what), 1) ? place : [],
  );
  return { card: move.card, place: view.hand.indexOf(move.card), picked: new Set(picked) };
}

/**
 * Return the moves of a card that take at least what has been picked; null where they can't be listed.
 * @param {View} view
 * @param {Chosen} chosen
 * @returns {Move[] | null}
 */
export function fitting(view, chosen) {
  if (view.moves === null) return null;
  return view.moves.filter((move) => move.card === chosen.card && holds(goesWith(move), names(view, chosen)));
}

/**
 * Return what records call what is picked.
 * @param {View} view
 * @param {Chosen} chosen
 */
export const names = (view, { picked }) => laid(view).flatMap(([place, what]) => (picked.has(place) ? what : []));

/**
 * Return the places of all cards and builds that some moves take.
 * @param {View} view
 * @param {Move[] | null} moves
 */
export function takable(view, moves) {
  const taken = new Set(moves?.flatMap(goesWith));
  return new Set(laid(view).flatMap(([place, what]) => (taken.has(what) ? place : [])));
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
  if (!picked.length) return null;
  const exact = (moves ?? []).filter((move) => goesWith(move).length === picked.length);
  return exact.length === 1 ? (exact[0] ?? null) : null;
}

/**
 * Return a move as records write it.
 * @param {View} view
 * @param {Chosen} chosen
 */
export function written(view, chosen) {
  const taken = names(view, chosen).join("");
  return `${chosen.card}${taken && `x${taken}`}`;
}

/**
 * @param {string[]} things
 * @param {string[]} wanted
 */
function holds(things, wanted) {
  const left = [...things];
  return wanted.every((each) => {
    const at = left.indexOf(each);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}
