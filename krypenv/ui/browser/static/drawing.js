// The page as it stands: everything is drawn anew from what the server told and what the person has chosen.

import { button, grid, h, menu, points, refocus, signed, t, withMinus } from "./dom.js";
import { lastPlay, middle } from "./felt.js";
import { fly, whereTheyLie } from "./flying.js";
import { bar, hand, status } from "./place.js";
import { soundButton } from "./sound.js";

const page = /** @type {HTMLElement} */ (document.getElementById("page"));
const heard = /** @type {HTMLElement} */ (document.getElementById("heard"));
const SMALLEST = 28; // pixels of a card's width
const ASIDE = 32; // pixels of the line below the table
const KEPT = 8; // what was read out last stays, so that what follows at once does not cut it off

/**
 * Draw the page.
 * @param {Table} table
 * @param {Told | null} before what the server told before, so that what is new can move
 */
export function draw(table, before = null) {
  const { told } = table;
  const { view } = told;
  const active = document.activeElement;
  const log = document.querySelector(".log ol");
  const [scrolled, isAtEnd] = log
    ? [log.scrollTop, log.scrollTop + log.clientHeight > log.scrollHeight - 9]
    : [0, true];
  const isNew = before !== null && before.game === told.game && told.moves > before.moves;
  const lay = isNew && told.moves === before.moves + 1 ? whereTheyLie() : null;
  page.removeAttribute("aria-busy");
  page.replaceChildren(head(table), h("main", felt(table, isNew ? before.view : null), history(table)));
  document.title = `${view.turn !== null && view.turn === view.seat ? "● " : ""}${view.title}`;
  const lines = document.querySelector(".log ol");
  if (lines) lines.scrollTop = isAtEnd ? lines.scrollHeight : scrolled;
  arrange();
  if (lay && before) fly(table, before.view, lay);
  const isOfTurn = active?.matches('[data-focus^="hand"], [data-focus^="move"]');
  refocus(active, ...(isOfTurn ? ["hand 0"] : []), "next", "new");
  readOut(table, before);
}

/**
 * Draw only what lies on the table, so that the hand stays as it is while a card of it is dragged.
 * @param {Table} table
 */
export function drawMiddle(table) {
  document.querySelector(".middle")?.replaceWith(middle(table, null));
  document.querySelector(".choices")?.remove();
  arrange();
}

/** Make the cards on the table as large as fits, and lay the choice above the chosen card. */
function arrange() {
  const laid = document.querySelector(".middle .table");
  if (laid instanceof HTMLElement && laid.parentElement) fit(laid, laid.parentElement);
  const card = document.querySelector(".hand .chosen .face");
  const choices = document.querySelector(".choices");
  if (!card || !(choices instanceof HTMLElement) || !choices.parentElement) return;
  const at = card.getBoundingClientRect();
  const within = choices.parentElement.getBoundingClientRect();
  const left = at.left + at.width / 2 - choices.offsetWidth / 2 - within.left;
  choices.style.left = `${Math.max(0, Math.min(left, within.width - choices.offsetWidth))}px`;
}

/**
 * Give what lies on the table the width at which all of it fits into its middle, in rows of the same length.
 * @param {HTMLElement} laid
 * @param {HTMLElement} middle
 */
function fit(laid, middle) {
  laid.style.maxWidth = ""; // else the rows of a smaller window would hold the cards small
  const gap = Number.parseFloat(getComputedStyle(laid).columnGap) || 0;
  const count = laid.querySelectorAll(":scope > .card").length + 2 * laid.querySelectorAll(".build").length;
  const height = middle.clientHeight - (middle.querySelector(".aside") ? ASIDE : 0);
  let size = 0;
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    size = Math.max(size, Math.min(middle.clientWidth / columns - gap, (height / rows - gap) / 1.4));
  }
  laid.style.setProperty("--card", `min(var(--most), ${Math.max(SMALLEST, Math.floor(size) - 1)}px)`);
  const each = (laid.querySelector(".card")?.clientWidth ?? SMALLEST) + gap;
  const rows = Math.ceil(count / Math.max(1, Math.floor((middle.clientWidth + gap) / each)));
  laid.style.maxWidth = `${Math.ceil(count / rows) * each + 1}px`;
}

addEventListener("resize", arrange);

/**
 * Have screen readers say what has happened since the last time, and whose turn it is.
 * @param {Table} table
 * @param {Told | null} before
 */
function readOut(table, before) {
  const { view } = table.told;
  const isSame = before !== null && before.game === table.told.game && before.moves <= table.told.moves;
  const seen = isSame ? before.view.log.length : Math.max(0, view.log.length - 1);
  if (isSame && seen === view.log.length && before.fault === table.told.fault && !table.say) return;
  const news = view.log.slice(seen).map((line) => line.text);
  heard.append(h("p", [...news, table.say || status(table)].join(" ")));
  while (heard.children.length > KEPT) heard.firstChild?.remove();
}

/** @param {Table} table */
function head(table) {
  const { told, acts } = table;
  const { view } = told;
  const { number, of } = view.session;
  const games = of === 1 && number === 1 ? "" : of ? t("game", { number, of }) : t("games", { number });
  return h(
    "header",
    h("h1", view.title),
    h("p", [games, t("deal", view.deal), t("stock", { count: view.stock })].filter(Boolean).join(" · ")),
    h(
      "nav",
      paces(table),
      soundButton(),
      button("rules", t("rules"), acts.rules),
      told.links.length > 0 && button("links", t("links"), acts.links),
      view.seat !== null &&
        told.people.length > 1 &&
        !view.over &&
        !told.enders.length &&
        button("end", t("end"), () => acts.ask("end")),
      told.host && button("new", t("new"), acts.start),
    ),
  );
}

/**
 * Return the choice of a pace, where there are agents and the page may choose.
 * @param {Table} table
 */
function paces({ told, acts }) {
  if (!told.leads || told.people.length === told.view.players.length) return null;
  const options = ["slow", "normal", "fast"].map((pace) => /** @type {[string, string]} */ ([pace, t(`pace.${pace}`)]));
  return menu("pace", t("pace"), options, told.pace, (pace) => acts.pace(/** @type {Pace} */ (pace)));
}

/** @param {Table} table */
function history({ told: { view } }) {
  return h(
    "aside.log",
    { "aria-label": t("log") },
    h("h2", t("log")),
    h(
      "ol",
      { tabindex: 0 },
      view.log.map((line) =>
        h("li", { class: line.seat === null ? "deal" : line.seat === view.seat ? "own" : "" }, line.text),
      ),
    ),
  );
}

/**
 * @param {Table} table
 * @param {View | null} before the view before the last play, if that is new
 */
function felt(table, before) {
  const { view } = table.told;
  const first = view.seat ?? 0;
  const around = [...view.players.slice(first), ...view.players.slice(0, first)];
  const [own, ...others] = around;
  const isPlaying = view.seat !== null && own !== undefined;
  return h(
    "section",
    { class: `felt${isPlaying ? "" : " watching"}${view.over ? " over" : ""}` },
    h(
      "div.others",
      (isPlaying ? others : around).map((player) => plaque(table, player, before)),
    ),
    view.teams.length > 0 &&
      h(
        "p.teams",
        view.teams.map((team) => h("span", `${team.name} `, h("b", points(team.score)))),
      ),
    view.over ? sheet(table) : middle(table, before),
    lastPlay(table.told, before !== null),
    isPlaying ? h("div.own", hand(table, before), plaque(table, own, before), bar(table)) : bar(table),
  );
}

/**
 * Return the plaque of a seat: its name, its score and what is counted for it.
 * @param {Table} table
 * @param {Player} player
 * @param {View | null} before the view before the last play, if that is new
 */
function plaque({ told, acts }, player, before) {
  const { view } = told;
  const isTurn = view.turn === player.seat;
  const isStoodIn = told.stand_ins.includes(player.seat);
  const isAway = told.people.includes(player.seat) && !told.here.includes(player.seat);
  const numbers = [withMinus(player.account), view.session.of === 1 ? "" : t("total", { count: player.total })];
  const gain = before ? (view.last?.gains[player.seat] ?? 0) : 0;
  return h(
    "div",
    {
      class: `plaque${isTurn ? " turn" : ""}${player.team === null ? "" : ` team${player.team}`}`,
      "data-seat": player.seat,
    },
    h(
      "h2",
      h("span.mark", { "aria-hidden": "true" }, isTurn && "▶"),
      h("span", player.name),
      player.dealer && h("small.badge", t("dealer")),
      isAway && h("small.badge.left", isStoodIn ? t("stood_in", { agent: told.adviser }) : t("away")),
    ),
    h("p.score", h("b", points(player.score)), h("span", ` ${t("sheet.score")}`)),
    h(
      "p.numbers",
      button(`pile ${player.seat}`, t("pile", { count: player.pile }), () =>
        acts.pile(player, player.seat === view.seat),
      ),
      ` · ${numbers.filter(Boolean).join(" · ")}`,
    ),
    player.seat !== view.seat &&
      h(
        "span.backs",
        { role: "img", "aria-label": t("in_hand", { count: player.cards }) },
        Array.from({ length: player.cards }, () => h("i")),
      ),
    gain !== 0 && h("span", { class: gain > 0 ? "gain plus" : "gain minus", "aria-hidden": "true" }, signed(gain)),
  );
}

/**
 * Return the sheet, with who won above it.
 * @param {Table} table
 */
function sheet({ told, acts }) {
  const { view } = told;
  if (!view.sheet) return null;
  const { names, entries, scores, sides, totals } = view.sheet;
  const lines = entries.map((entry) => [
    withMinus(entry.label),
    ...entry.points.map((each) => (each ? points(each) : "")),
  ]);
  const sums = /** @type {[string, number[]][]} */ ([
    ["sheet.score", scores],
    ["side", sides],
    ["totals", totals],
  ])
    .filter(([, each]) => each.length > 0)
    .map(([key, each]) => [t(key), ...each.map((score) => points(score))]);
  return h(
    "div.sheet",
    h("h2", view.result),
    told.compared && h("p", told.compared),
    told.leads &&
      h(
        "div.actions",
        view.session_over && told.host && button("end new", t("new"), acts.start, "main"),
        button("end again", t("again"), () => acts.ask("again")),
        h("a.button", { "data-focus": "end study", href: `study.html${location.hash}` }, t("study")),
      ),
    h(
      "div.wide",
      { tabindex: 0, role: "region", "aria-label": t("sheet") },
      grid("", t("sheet"), ["", ...names], lines, sums),
    ),
  );
}
