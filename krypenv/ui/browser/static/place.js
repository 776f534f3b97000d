// The person's own place: the hand, what is to be said, and what may be chosen.

import { face, short, spoken } from "./cards.js";
import { fitting, names, settled } from "./choosing.js";
import { button, h, signed, t } from "./dom.js";
import { dragging, targetAt } from "./dragging.js";
import { news } from "./felt.js";

/** @type {Move["kind"][]} */
const KINDS = ["take", "build", "leave"];

/**
 * Return the person's hand, with the moves of the chosen card above it.
 * @param {Table} table
 * @param {View | null} before the view before the last play, if that is new
 */
export function hand(table, before) {
  const { view } = table.told;
  const isNew = news(view.hand, before?.hand);
  return h(
    "div.held",
    h(
      "div.hand",
      { role: "group", "aria-label": t("hand"), "aria-description": t("keys"), onkeydown: walk },
      view.hand.map((card, place) => handCard(table, card, place, isNew(card))),
    ),
    table.chosen.card && view.turn === view.seat && choices(table, table.chosen.card),
  );
}

/**
 * @param {Table} table
 * @param {Card} card
 * @param {number} place
 * @param {boolean} isNew
 */
function handCard({ told, chosen, acts }, card, place, isNew) {
  const { view } = told;
  const isTurn = view.turn === view.seat;
  const isLegal = !isTurn || view.moves === null || view.moves.some((move) => move.card === card);
  const isChosen = chosen.place === place;
  return h(
    "button",
    {
      class: `card${isNew ? " new" : ""}${isChosen ? " chosen" : ""}${isLegal ? "" : " illegal"}`,
      "data-focus": `hand ${place}`,
      "data-card": `hand ${card}`,
      tabindex: isChosen || (chosen.card === null && place === 0) ? 0 : -1,
      "aria-pressed": String(isChosen),
      "aria-disabled": String(!isTurn || !isLegal),
      "aria-label": spoken(card),
      onclick: (/** @type {MouseEvent} */ { detail }) => isTurn && acts.card(place, detail === 2),
      onpointerdown: (/** @type {PointerEvent} */ event) =>
        isTurn &&
        dragging(
          event,
          () => acts.lift(place),
          (x, y) => acts.drop(targetAt(x, y)),
        ),
    },
    face(card),
  );
}

/**
 * Go from card to card by the arrow keys.
 * @param {KeyboardEvent} event
 */
function walk(event) {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (!step || !(event.currentTarget instanceof Element) || !(event.target instanceof Element)) return;
  const cards = [...event.currentTarget.children];
  const at = cards.indexOf(event.target);
  if (at < 0) return;
  event.preventDefault();
  const next = cards[(at + step + cards.length) % cards.length];
  if (next instanceof HTMLElement) next.focus();
}

/**
 * Return the prompt to the person, with the buttons beside it.
 * @param {Table} table
 */
export function bar(table) {
  const { told, acts } = table;
  const { view } = told;
  const alarm = table.isLost ? t("lost") : table.say || told.fault;
  const enders = told.enders.filter((seat) => seat !== view.seat).map((seat) => view.players[seat]?.name ?? "");
  const isEnder = view.seat !== null && told.enders.includes(view.seat);
  const ending = isEnder ? `${t("ends_own")} ` : enders.length > 0 ? `${t("ends", { who: enders.join(", ") })} ` : "";
  const said = alarm || (view.over ? t("why.over") : ending + status(table)); // the sheet has the result
  const mayAct = view.seat !== null || told.leads;
  const isAdvised = isOwnTurn(view) && !alarm && !table.chosen.card;
  return h(
    "div.bar.prompt",
    h("p", { tabindex: 0, class: alarm ? "status alarm" : "status" }, (isAdvised && advice(table)) || said),
    h(
      "div.actions",
      mayAct && told.stuck && button("retry", t("retry"), () => acts.ask("go"), "main"),
      !view.over && (view.seat === null ? told.leads && stepping(table) : helping(table)),
      told.undo &&
        button("undo", t("undo"), () => acts.ask("undo"), "", {
          disabled: !view.log.some(({ seat }) => seat === view.seat),
        }),
      mayAct && view.over && !view.session_over && button("next", t("next"), () => acts.ask("next"), "main"),
    ),
  );
}

/** @param {View} view */
const isOwnTurn = (view) => view.seat !== null && view.turn === view.seat;

/**
 * Return what who leads a table of agents may do.
 * @param {Table} table
 */
const stepping = ({ told, acts }) => [
  button("pause", told.paused ? t("go_on") : t("pause"), () => acts.pause(!told.paused), "main"),
  told.paused && button("step", t("step"), () => acts.ask("step")),
];

/**
 * Return what a person may do during a game: ask for a hint, have agents stand in, and agree to an end.
 * @param {Table} table
 */
function helping({ told, hint, isThinkingOfHint, acts }) {
  const { view } = told;
  const isTurn = isOwnTurn(view);
  const isValued = isTurn && (hint?.rows[0]?.margin ?? null) !== null;
  return [
    told.hints &&
      (isValued
        ? button("hint", t("hint_values"), acts.values)
        : button("hint", t("hint"), acts.hint, "", { disabled: !isTurn || isThinkingOfHint || Boolean(hint) })),
    told.people
      .filter((seat) => !told.here.includes(seat) && !told.stand_ins.includes(seat))
      .map((seat) => {
        const who = view.players[seat]?.name ?? "";
        return button(`stand in ${seat}`, t("stand_in", { agent: told.adviser, who }), () => acts.standIn(seat));
      }),
    told.enders.length > 0 &&
      button("end", t(view.seat !== null && told.enders.includes(view.seat) ? "end_not" : "end_too"), () =>
        acts.ask("end"),
      ),
  ];
}

/**
 * Return whose turn it is, and what the person may do.
 * @param {Table} table
 * @returns {string}
 */
export function status({ told, chosen }) {
  const { view } = told;
  if (view.turn === null) return view.result;
  const name = view.players[view.turn]?.name ?? "";
  if (told.thinking !== null) return t(told.ready ? "thinks" : "prepares", { who: name });
  if (view.seat === null) return `${t("watching")} ${t("turn", { who: name })}`;
  if (view.turn !== view.seat) return t("turn", { who: name });
  if (chosen.card) {
    if (view.moves === null) return t("many");
    const builds = fitting(view, chosen)?.filter((move) => move.kind === "build") ?? [];
    return builds.length > 1 ? t("to_build", { card: short(chosen.card) }) : (view.whys[chosen.card] ?? "");
  }
  return `${t("your_turn")} ${view.announcement || t("choose")}`;
}

/**
 * Return the moves of a card, by what they do; where they are too many, only what is picked can be played.
 * @param {Table} table
 * @param {Card} card
 */
function choices(table, card) {
  const { view } = table.told;
  const moves = fitting(view, table.chosen);
  if (moves === null) {
    const picked = [
      short(card),
      ...names(view, table.chosen).map((each) => (each.startsWith("[") ? each : short(each))),
    ].join(" ");
    return h("div.choices", button("move", `${t("play")} ${picked}`, table.acts.written, "move main"));
  }
  const only = settled(view, table.chosen, moves);
  return h(
    "div.choices",
    KINDS.filter((kind) => moves.some((move) => move.kind === kind)).map((kind) =>
      h(
        "div.group",
        { role: "group", "aria-label": t(`group.${kind}`) },
        h("h3", t(`group.${kind}`)),
        moves.filter((move) => move.kind === kind).map((move) => choice(table, move, move === only)),
      ),
    ),
  );
}

/**
 * @param {Table} table
 * @param {Move} move
 * @param {boolean} isOnly
 */
function choice({ hint, acts }, move, isOnly) {
  const isHinted = hint?.rows[0]?.move === move.move;
  const inner = [
    isHinted && "★ ",
    inWords(move),
    move.sweep > 0 && h("em", t(move.sweep > 1 ? "double_sweep" : "sweep")),
  ];
  return button(
    `move ${move.move}`,
    [...inner, h("b", signed(move.gain))],
    () => acts.play(move.move),
    `move${isHinted ? " hinted" : ""}${isOnly ? " main" : ""}`,
    { title: move.text, "aria-label": move.text },
  );
}

/** @param {Move} move */
function inWords(move) {
  if (move.kind === "take") return move.what;
  if (move.kind === "leave") return short(move.card);
  const laid = [...[move.card, ...move.takes].map(short), ...move.builds.map((value) => `[${value}]`)];
  return `${t("builds", { value: move.build ?? 0 })}: ${laid.join(" ")}`;
}

/**
 * Return what an agent advises, or a sign that it thinks of it; it does not stop anybody from playing.
 * @param {Table} table
 */
function advice({ hint, isThinkingOfHint, acts }) {
  const said = t("thinking_of_hint");
  if (isThinkingOfHint) return h("span.hint", { role: "status" }, h("progress", { "aria-label": said }), ` ${said}`);
  const [best] = hint?.rows ?? [];
  const choose = () => best && acts.choose(best.move);
  return best && h("button.hint", { "data-focus": "hint best", onclick: choose }, `★ ${hint?.said}`);
}
