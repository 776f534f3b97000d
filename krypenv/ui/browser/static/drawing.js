// The page as it stands: everything is drawn anew from what the server told and what the person has chosen.

import { byRank, face, lying, short, spoken } from "./cards.js";
import { fitting, names, settled, takable } from "./choosing.js";
import { h, signed, t } from "./dom.js";
import { sheet } from "./sheet.js";

const page = document.getElementById("page");
const heard = document.getElementById("heard");
const dialog = document.getElementById("dialog");
const KEPT = 8; // what was read out last stays, so that what follows at once does not cut it off

/** Draw the page; `before` is what the server told before, so that what is new can move. */
export function draw(table, before = null) {
  const { told } = table;
  const { view } = told;
  const focus = document.activeElement?.dataset?.focus;
  const log = document.querySelector(".log ol");
  const isNew = before !== null && before.game === told.game && told.moves > before.moves;
  page.removeAttribute("aria-busy");
  page.replaceChildren(head(table), h("main", {}, felt(table, isNew ? before.view : null), history(view)));
  document.title = `${view.turn !== null && view.turn === view.seat ? "● " : ""}${view.title}`;
  const lines = document.querySelector(".log ol");
  lines.scrollTop = lines.scrollHeight;
  if (log && !isNew) lines.scrollTop = log.scrollTop;
  restore(focus);
  readOut(table, before);
}

/** Draw why the table is not there. */
export function drawEnd(reason) {
  page.removeAttribute("aria-busy");
  page.replaceChildren(h("main", { class: "ended" }, h("p", { role: "alert" }, reason)));
}

function restore(focus) {
  if (!focus) return;
  const wanted = [focus, focus.startsWith("hand") || focus.startsWith("move") ? "hand 0" : "", "next", "new"];
  wanted.map((each) => each && document.querySelector(`[data-focus="${each}"]`)).find((each) => each)?.focus();
}

/** Have screen readers say what has happened since the last time, and whose turn it is. */
function readOut(table, before) {
  const { view } = table.told;
  const isSame = before && before.game === table.told.game && before.moves <= table.told.moves;
  const seen = isSame ? before.view.log.length : Math.max(0, view.log.length - 1);
  if (isSame && seen === view.log.length && before.fault === table.told.fault && !table.say) return;
  const news = view.log.slice(seen).map((line) => line.text);
  heard.append(h("p", {}, [...news, table.say || status(table)].join(" ")));
  while (heard.children.length > KEPT) heard.firstChild.remove();
}

// ---------------------------------------------------------------------- head and history

function head({ told, do: act }) {
  const { view } = told;
  const { number, of } = view.session;
  const games = of === 1 && number === 1 ? "" : of ? t("game", { number, of }) : t("games", { number });
  return h(
    "header",
    {},
    h("h1", {}, view.title),
    h("p", {}, [games, t("deal", view.deal), t("stock", { count: view.stock })].filter(Boolean).join(" · ")),
    h(
      "nav",
      {},
      button("rules", t("rules"), () => act("rules")),
      view.seat !== null && [button("again", t("again"), () => act("again")), button("new", t("new"), () => act("new"))],
    ),
  );
}

function history(view) {
  return h(
    "aside",
    { class: "log", "aria-label": t("log") },
    h("h2", {}, t("log")),
    h("ol", { tabindex: 0 }, view.log.map((line) => h("li", { class: line.seat === null ? "deal" : line.seat === view.seat ? "own" : "" }, line.text))),
  );
}

// ---------------------------------------------------------------------- the felt

function felt(table, before) {
  const { told } = table;
  const { view } = told;
  const count = view.players.length;
  const first = view.seat ?? 0;
  const around = [...Array(count).keys()].map((step) => view.players[(first + step) % count]);
  const others = view.seat === null ? around : around.slice(1);
  return h(
    "section",
    { class: view.seat === null ? "felt watching" : "felt" },
    h("div", { class: "others" }, others.map((player) => plaque(table, player, before))),
    view.teams.length > 0 && h("p", { class: "teams" }, view.teams.map((team) => h("span", {}, `${team.name} `, h("b", {}, team.score)))),
    view.over ? sheet(table) : middle(table, before),
    lastPlay(view, before !== null),
    view.seat !== null && [own(table, around[0], before), bar(table)],
  );
}

function plaque({ told }, player, before) {
  const { view } = told;
  const isTurn = view.turn === player.seat;
  const isAway = told.people.includes(player.seat) && !told.here.includes(player.seat);
  const total = view.session.of === 1 ? "" : t("total", { count: player.total });
  const numbers = [
    t("in_hand", { count: player.cards }), t("pile", { count: player.pile }), t("points", { count: player.points }),
    t("sweeps", { count: player.sweeps }), total,
  ];
  const gain = before ? player.score - before.players[player.seat].score : 0;
  return h(
    "div",
    { class: `plaque${isTurn ? " turn" : ""}${player.team === null ? "" : ` team${player.team}`}`, "data-seat": player.seat },
    h("h2", {}, isTurn && h("span", { class: "mark", "aria-hidden": "true" }, "▶"), player.name, player.dealer && h("small", {}, t("dealer")), isAway && h("small", {}, t("away"))),
    h("p", { class: "score" }, h("b", {}, String(player.score).replace("-", "−")), ` ${t("score")}`),
    h("p", { class: "numbers" }, numbers.filter(Boolean).join(" · ")),
    player.seat !== view.seat && h("span", { class: "backs", "aria-hidden": "true" }, Array.from({ length: player.cards }, () => h("i"))),
    gain !== 0 && h("span", { class: gain > 0 ? "gain plus" : "gain minus", "aria-hidden": "true" }, signed(gain)),
  );
}

function middle(table, before) {
  const { view } = table.told;
  const { chosen } = table;
  const moves = chosen.card ? fitting(view, chosen) : null;
  const glow = takable(view, moves);
  const isSettled = chosen.card && settled(view, chosen, moves);
  const places = view.table.map((_, at) => at);
  const sorted = byRank(view.table.map((card, at) => card + String(at).padStart(3, "0"))).map((each) => Number(each.slice(2)));
  const isNew = news(view.table, before?.table);
  const cards = (places.length ? sorted : []).map((at) => tableCard(table, at, glow.places.has(at), isNew(view.table[at])));
  const builds = view.builds.map((build) => buildPile(table, build, glow.builds.has(build.value)));
  return h(
    "div",
    { class: `middle${chosen.card ? " choosing" : ""}${isSettled ? " settled" : ""}` },
    h("div", { class: "table", role: "group", "aria-label": t("table") }, builds, cards, !cards.length && !builds.length && h("p", { class: "empty" }, t("empty"))),
    view.aside.length > 0 && h("p", { class: "aside" }, `${t("aside")}: `, view.aside.map(short).join(" ")),
  );
}

/** Return a function that says whether a card was not among those before; of two copies, one may be. */
function news(cards, before) {
  const left = before ? [...before] : [...cards];
  return (card) => {
    const at = left.indexOf(card);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  };
}

function tableCard(table, at, isGlowing, isNew) {
  const { chosen, told } = table;
  const card = told.view.table[at];
  const kind = isNew ? "new" : "";
  if (!chosen.card) return lying(card, kind);
  const isPicked = chosen.picked.has(at);
  return h(
    "button",
    {
      class: `card ${kind}${isGlowing ? " glow" : ""}${isPicked ? " picked" : ""}`,
      "data-focus": `table ${at}`, "aria-pressed": String(isPicked), "aria-label": spoken(card),
      onclick: () => table.do("pick", at),
    },
    face(card),
  );
}

function buildPile(table, build, isGlowing) {
  const label = t("build_of", { value: build.value, who: table.told.view.players[build.owner].name });
  const cards = h("span", { class: "pile" }, build.cards.map((card) => h("span", { class: "card" }, face(card))));
  const isPicked = table.chosen.builds.has(build.value);
  const more = { class: `build${isGlowing ? " glow" : ""}${isPicked ? " picked" : ""}` };
  const spokenCards = build.cards.map(spoken).join(", ");
  if (!table.chosen.card) return h("span", { ...more, role: "img", "aria-label": `${label}: ${spokenCards}` }, cards, h("em", {}, label));
  return h(
    "button",
    { ...more, "data-focus": `build ${build.value}`, "aria-pressed": String(isPicked), "aria-label": `${label}: ${spokenCards}`, onclick: () => table.do("build", build.value) },
    cards,
    h("em", {}, label),
  );
}

function lastPlay(view, isNew) {
  const { last } = view;
  if (!last) return h("p", { class: "last" });
  const taken = [...last.takes, ...last.builds.flatMap((build) => build.cards)];
  return h(
    "p",
    { class: `last${isNew ? " fresh" : ""}${last.sweep ? " sweep" : ""}` },
    h("span", { class: "trick", "aria-hidden": "true" }, [last.card, ...taken].map((card) => h("span", { class: "card tiny" }, face(card)))),
    h("span", {}, last.text),
  );
}

// ---------------------------------------------------------------------- the person's own place

function own(table, player, before) {
  const { view } = table.told;
  const isNew = news(view.hand, before?.hand);
  const inHand = h(
    "div",
    { class: "hand", role: "group", "aria-label": t("hand"), "aria-description": t("keys"), onkeydown: walk },
    view.hand.map((card, place) => handCard(table, card, place, isNew(card))),
  );
  return h("div", { class: "own" }, plaque(table, player, before), inHand);
}

function handCard(table, card, place, isNew) {
  const { view } = table.told;
  const { chosen } = table;
  const isTurn = view.turn === view.seat;
  const isLegal = !isTurn || view.moves === null || view.moves.some((move) => move.card === card);
  const isChosen = chosen.place === place;
  return h(
    "button",
    {
      class: `card${isNew ? " new" : ""}${isChosen ? " chosen" : ""}${isLegal ? "" : " illegal"}`,
      "data-focus": `hand ${place}`, tabindex: isChosen || (chosen.card === null && place === 0) ? 0 : -1,
      "aria-pressed": String(isChosen), "aria-disabled": String(!isTurn || !isLegal), "aria-label": spoken(card),
      onclick: () => isTurn && table.do("card", place),
    },
    face(card),
  );
}

/** Go from card to card by the arrow keys. */
function walk(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const cards = [...event.currentTarget.children];
  const at = cards.indexOf(event.target);
  if (!step || at < 0) return;
  event.preventDefault();
  cards[(at + step + cards.length) % cards.length].focus();
}

function bar(table) {
  const { told, chosen, do: act } = table;
  const { view } = told;
  const isTurn = view.turn === view.seat;
  const moves = chosen.card ? fitting(view, chosen) : null;
  const alarm = table.isLost ? t("lost") : table.say || told.fault;
  const said = alarm || (view.over ? "" : status(table)); // the sheet has the result
  const hasMoved = view.log.some((line) => line.seat === view.seat);
  return h(
    "div",
    { class: "bar" },
    said && h("p", { class: alarm ? "status alarm" : "status" }, said),
    chosen.card && isTurn && choices(table, moves),
    h(
      "div",
      { class: "actions" },
      told.stuck && button("retry", t("retry"), () => act("go"), "main"),
      isTurn && button("hint", table.isThinkingOfHint ? t("thinking_of_hint") : t("hint"), () => act("hint")),
      told.undo && hasMoved && button("undo", t("undo"), () => act("undo")),
      view.over && !view.session_over && button("next", t("next"), () => act("next"), "main"),
    ),
  );
}

function status({ told, chosen, hint }) {
  const { view } = told;
  if (view.over) return view.result;
  const name = view.turn === null ? "" : view.players[view.turn].name;
  if (told.thinking !== null) return t(told.ready ? "thinks" : "prepares", { who: name });
  if (view.seat === null) return `${t("watching")} ${t("turn", { who: name })}`;
  if (view.turn !== view.seat) return t("turn", { who: name });
  if (hint) return t("hinted", { who: hint.by, text: view.moves?.find((move) => move.move === hint.move)?.text ?? hint.move });
  const said = view.announcement ? `${view.announcement} ` : "";
  if (chosen.card) return said + (view.moves === null ? t("many") : view.whys[chosen.card]);
  return `${said}${t("your_turn")} ${t("choose")}`;
}

function choices(table, moves) {
  const { view } = table.told;
  if (moves === null) return h("div", { class: "choices" }, button("move", `${t("play")} ${short(table.chosen.card)} ${names(view, table.chosen).map(short).join(" ")}`, () => table.do("written"), "main"));
  const groups = ["take", "build", "leave"].map((kind) => [kind, moves.filter((move) => move.kind === kind)]);
  return h(
    "div",
    { class: "choices" },
    groups.filter(([, found]) => found.length).map(([kind, found]) =>
      h("div", { class: "group", role: "group", "aria-label": t(kind) }, h("h3", {}, t(kind)), found.map((move) => choice(table, move, kind)))),
  );
}

function choice(table, move, kind) {
  const isHinted = table.hint?.move === move.move;
  const isOnly = settled(table.told.view, table.chosen, fitting(table.told.view, table.chosen)) === move;
  const what = { take: move.what, leave: short(move.card), build: `${t("builds", { value: move.build })}: ${[...[move.card, ...move.takes].map(short), ...move.builds.map((value) => `[${value}]`)].join(" ")}` }[kind];
  return h(
    "button",
    { class: `move${isHinted ? " hinted" : ""}${isOnly ? " main" : ""}`, "data-focus": `move ${move.move}`, title: move.text, "aria-label": move.text, onclick: () => table.do("play", move.move) },
    isHinted && "★ ",
    what,
    move.sweep > 0 && h("em", {}, t(move.sweep > 1 ? "double_sweep" : "sweep")),
    h("b", {}, signed(move.gain)),
  );
}

function button(focus, text, onclick, kind = "") {
  return h("button", { class: kind, "data-focus": focus, onclick }, text);
}

// ---------------------------------------------------------------------- dialogs

/** Open a dialog: the rules, or whether a game is to be given up. */
export function openDialog(kind, table, what = "") {
  const close = () => dialog.close();
  const inner = kind === "rules"
    ? [h("h2", { id: "dialog-title" }, table.told.view.title), h("dl", {}, table.rules.map(([heading, line]) => [h("dt", {}, heading), h("dd", {}, line)])), button("close", t("close"), close, "main")]
    : [h("h2", { id: "dialog-title" }, t("sure")), h("div", { class: "actions" }, button("yes", t("yes"), () => { close(); table.do(what, true); }, "main"), button("no", t("no"), close))];
  dialog.replaceChildren(...inner.flat());
  dialog.showModal();
}
