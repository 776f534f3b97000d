// What everybody may know of a seat.

import { button, h, points, signed, t } from "./dom.js";

/** @import { Player, Table, View } from "./shapes.js" */

/**
 * Return the plaque of a seat: its name, its score and what is counted for it.
 * @param {Table} table
 * @param {Player} player
 * @param {View | null} before the view before the last play, if that is new
 */
export function plaque({ told, acts }, player, before) {
  const { view } = told;
  const isTurn = view.turn === player.seat;
  const isStoodIn = told.stand_ins.includes(player.seat);
  const isAway = told.people.includes(player.seat) && !told.here.includes(player.seat);
  const numbers = [
    player.account.replaceAll("-", "−"),
    view.session.of === 1 ? "" : t("total", { count: player.total }),
  ];
  const gain = before ? (view.last?.gains[player.seat] ?? 0) : 0;
  return h(
    "div",
    {
      class: `plaque${isTurn ? " turn" : ""}${player.team === null ? "" : ` team${player.team}`}`,
      "data-seat": player.seat,
    },
    h(
      "h2",
      h("span", { class: "mark", "aria-hidden": "true" }, isTurn && "▶"),
      h("span", player.name),
      player.dealer && h("small", { class: "badge" }, t("dealer")),
      isAway && h("small", { class: "badge left" }, isStoodIn ? t("stood_in", { agent: told.adviser }) : t("away")),
    ),
    h("p", { class: "score" }, h("b", points(player.score)), h("span", ` ${t("sheet.score")}`)),
    h(
      "p",
      { class: "numbers" },
      button(`pile ${player.seat}`, t("pile", { count: player.pile }), () =>
        acts.pile(player, player.seat === view.seat),
      ),
      ` · ${numbers.filter(Boolean).join(" · ")}`,
    ),
    player.seat !== view.seat &&
      h(
        "span",
        { class: "backs", role: "img", "aria-label": t("in_hand", { count: player.cards }) },
        Array.from({ length: player.cards }, () => h("i")),
      ),
    gain !== 0 && h("span", { class: gain > 0 ? "gain plus" : "gain minus", "aria-hidden": "true" }, signed(gain)),
  );
}
