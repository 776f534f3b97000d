// What a person has chosen so far: a card of the hand, then what goes with it on the table. No drawing here.

/** Return the moves of a card that take at least what has been picked; null where they can't be listed. */
export function fitting(view, chosen) {
  if (view.moves === null) return null;
  return view.moves.filter(
    (move) =>
      move.card === chosen.card &&
      holds(move.takes, names(view, chosen)) &&
      [...chosen.builds].every((value) => move.builds.includes(value)),
  );
}

/** Return the names of the picked cards. */
export const names = (view, chosen) => [...chosen.picked].map((at) => view.table[at]);

/** Return which places of the table, and which builds, some moves could take. */
export function takable(view, moves) {
  const places = new Set();
  const builds = new Set();
  for (const move of moves ?? []) {
    view.table.forEach((card, at) => move.takes.includes(card) && places.add(at));
    move.builds.forEach((value) => builds.add(value));
  }
  return { places, builds };
}

/** Return the one move that takes just what is picked, or the only one that is left; null if there are more. */
export function settled(view, chosen, moves) {
  if (moves?.length === 1) return moves[0];
  const picked = names(view, chosen);
  if (!picked.length && !chosen.builds.size) return null;
  const exact = (moves ?? []).filter((move) => move.takes.length === picked.length && move.builds.length === chosen.builds.size);
  return exact.length === 1 ? exact[0] : null;
}

/** Return a move as records write it. */
export function written(view, chosen) {
  const taken = names(view, chosen).join("") + [...chosen.builds].map((value) => `[${value}]`).join("");
  return chosen.card + (taken && `x${taken}`);
}

function holds(cards, wanted) {
  const left = [...cards];
  return wanted.every((card) => {
    const at = left.indexOf(card);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}
