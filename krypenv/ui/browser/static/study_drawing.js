// The page on which a game is studied, as it stands: the hands, the table, and what the moves were worth.

import { byRank, lying } from "./cards.js";
import { showRules } from "./dialogs.js";
import { button, h, points, refocus, t, worths } from "./dom.js";
import { lies, news, pileOf } from "./felt.js";
import { challengePart, curve, luckPart } from "./study_charts.js";
import { games, isHidden, mistakes, moveList, puzzle, summary, verdictOfTry } from "./study_summary.js";

const page = /** @type {HTMLElement} */ (document.getElementById("page"));
const heard = /** @type {HTMLElement} */ (document.getElementById("heard"));
const SCROLLED = [".moves", ".values"]; // what keeps its place when the page is drawn anew
let shown = -1; // the move that the list of moves was scrolled to
const MARKS = /** @type {Record<string, string>} */ ({ "?!": "study_mark1", "?": "study_mark2", "??": "study_mark3" });

/** Draw the page. @param {State} state */
export function drawStudy(state) {
  const { study } = state;
  const active = document.activeElement;
  const scrolled = SCROLLED.map((kind) => page.querySelector(kind)?.scrollTop ?? 0);
  if (!input.isConnected) document.body.append(input);
  page.removeAttribute("aria-busy");
  page.replaceChildren(
    head(state),
    study
      ? h(
          "main.studying",
          summary(state, study),
          board(state, study),
          h("aside.figures", moveList(state, study), (study.over || study.steps.length > 3) && curve(state, study)),
          h(
            "section.figures.more",
            luckPart(state, study),
            challengePart(state, study),
            games(state),
            h("section", opening(state)),
          ),
        )
      : empty(state),
  );
  document.title = `${t("study_title")}${study ? ` · ${study.title}` : ""}`;
  const [moves, values] = SCROLLED.map((kind) => page.querySelector(kind));
  const here = moves?.querySelector("[aria-current]");
  const isNew = shown !== state.at && here instanceof HTMLElement;
  if (moves) moves.scrollTop = isNew ? here.offsetTop - moves.clientHeight / 2 : (scrolled[0] ?? 0);
  if (values && shown === state.at) values.scrollTop = scrolled[1] ?? 0;
  if (isNew && state.finding) page.querySelector(".told")?.scrollIntoView({ block: "nearest" });
  shown = state.at;
  refocus(active);
}

/** Have screen readers say something. @param {string} text */
export function readAloud(text) {
  if (text) heard.replaceChildren(h("p", text));
}

// ---------------------------------------------------------------------- head

/** @param {State} state */
function head(state) {
  const { study } = state;
  return h(
    "header",
    h("h1", study ? study.title : t("study_title")),
    h("p", study?.result ?? ""),
    h(
      "nav",
      study && button("rules", t("rules"), () => void showRules(study.of, state.hasTable)),
      study &&
        !study.line &&
        h(
          "a.button",
          {
            download: "krypenv.krk",
            href: `data:text/plain;charset=utf-8,${encodeURIComponent(study.record)}`,
            "data-focus": "save",
          },
          t("study_save"),
        ),
      state.hasTable && h("a.button", { href: `./${location.hash}`, "data-focus": "table" }, t("study_table")),
    ),
  );
}

const input = h("input", { type: "file", class: "unseen", tabindex: -1, "aria-hidden": "true" }); // outlives each drawing
const pasted = h("textarea", { rows: 2, spellcheck: "false", "data-focus": "paste" }); // this too

/** Return what opens another game: a file, or a text that is pasted. @param {State} state */
function opening(state) {
  input.onchange = () => {
    const file = input.files?.[0];
    if (file) state.read(file);
    input.value = ""; // so that the same file may be chosen again
  };
  pasted.placeholder = t("study_paste");
  pasted.setAttribute("aria-label", t("study_paste"));
  pasted.onchange = () => state.take(pasted.value);
  return h(
    "div.opening",
    h("p", t("study_none")),
    pasted,
    button("open", t("study_open"), () => input.click()),
  );
}

/** @param {State} state */
function empty(state) {
  return h(
    "main.ended",
    h("p", { role: "status" }, state.say || t("study_waiting")),
    state.say && h("div", opening(state)),
  );
}

// ---------------------------------------------------------------------- the position

/** @param {State} state @param {Study} study */
function board(state, study) {
  const step = /** @type {Step} */ (study.steps[state.at]);
  const first = study.seat ?? 0;
  const around = study.names.map((_, each) => (first + 1 + each) % study.names.length);
  const others = around.slice(0, -1);
  return h(
    "section.felt",
    { "aria-label": t("screen.table") },
    h(
      "div.open-hands",
      others.map((seat) => openHand(study, step, seat, isHidden(state))),
    ),
    lie(step),
    openHand(study, step, first),
    h(
      "div.told",
      state.say && h("p.alarm", state.say),
      study.line && h("p.left", ...wayBack(state, study)),
      h("p", step.told),
      step.note && h("p.note", `${t("study_note")}: ${step.note}`),
      steps(state, study),
      values(state, study, step),
    ),
  );
}

/** Return what a line of play is, and the way back to the game that it leaves. @param {State} state @param {Study} study */
const wayBack = (state, { left }) =>
  left === null
    ? [t("study_line")]
    : [t("study_left", { number: left + 1 }), " ", button("return", t("study_return"), state.back, "link")];

/** @param {Study} study @param {Step} step @param {number} seat */
function openHand(study, step, seat, isClosed = false) {
  const isTurn = step.turn === seat;
  const hand = step.hands[seat] ?? [];
  const played = isTurn ? byRank(hand).find((at) => hand[at] === step.move?.card) : undefined;
  return h(
    "div",
    { class: `plaque${isTurn ? " turn" : ""}` },
    h("h2", isTurn && h("span.mark", { "aria-hidden": "true" }, "▶"), study.names[seat]),
    h("p.score", h("b", points(step.scores[seat] ?? 0)), ` ${t("sheet.score")}`),
    h(
      "div.cards",
      {
        role: "group",
        "aria-label": `${study.names[seat]}: ${t("in_hand", { count: hand.length })}`,
      },
      byRank(hand).map((at) =>
        isClosed
          ? h("span.backs", h("i"))
          : lying(/** @type {string} */ (hand[at]), at === played ? "glow played" : ""),
      ),
    ),
  );
}

/** @param {Step} step */
function lie({ aside, builds, move, table }) {
  const isLeft = news(table, move?.takes ?? []);
  return lies(
    builds.map(({ cards, value }) =>
      h(
        "span",
        { class: `build${move?.builds.includes(value) ? " glow" : ""}` },
        ...pileOf(cards, t("builds", { value })),
      ),
    ),
    table.map((card) => lying(card, isLeft(card) ? "" : "glow")),
    aside,
  );
}

/** @param {State} state @param {Study} study */
function steps(state, study) {
  const last = study.steps.length - 1;
  const step = /** @type {Step} */ (study.steps[state.at]);
  const end = study.over ? t("study_end") : t("turn", { who: study.names[step.turn ?? 0] ?? "" });
  const place = state.at < last ? t("study_at", { number: state.at + 1, of: last }) : end;
  /** @param {string} name @param {string} sign @param {() => void} what @param {boolean} isOff */
  const stepper = (name, sign, what, isOff) =>
    button(name, sign, what, "", { "aria-label": t(name), title: t(name), "aria-disabled": String(isOff) });
  const marked = mistakes(state);
  return h(
    "div.steps",
    { "aria-description": t("study_keys") },
    stepper("study_first", "|◀", () => state.go(0), state.at === 0),
    stepper("study_back", "◀", () => state.go(state.at - 1), state.at === 0),
    stepper("study_on", "▶", () => state.go(state.at + 1), state.at === last),
    stepper("study_last", "▶|", () => state.go(last), state.at === last),
    stepper("study_before", "◀ ??", () => state.jump(-1), !marked.some((at) => at < state.at)),
    stepper("study_next", "?? ▶", () => state.jump(1), !marked.some((at) => at > state.at)),
    h("span.place", `${place} · ${t("deal", { number: step.deal, of: study.deals })}`),
  );
}

// ---------------------------------------------------------------------- what moves were worth

/** @param {State} state @param {Study} study @param {Step} step */
function values(state, study, step) {
  if (step.turn === null || (!step.move && !study.line)) return null;
  const who = study.names[step.turn] ?? "";
  const decision = state.decisions.get(state.at);
  if (decision && isHidden(state)) return puzzle(state, decision);
  const made = step.move && h("p.made", h("b", `${who}: ${step.move.text}`), " ", decision && verdict(decision));
  if (!decision) return h("div.values", made, h("p", t("study_waiting")));
  return h(
    "div.values",
    { tabindex: 0, role: "region", "aria-label": t("study_values") },
    state.finding?.has(state.at) &&
      h(
        "p",
        h("b", `${verdictOfTry(state)} `),
        mistakes(state).some((at) => at > state.at) &&
          button("find next", t("study_next"), () => state.jump(1), "main pill"),
      ),
    made,
    worths(
      "",
      t("study_values"),
      [t("study_move"), "", t("hint.margin"), t("hint.sweeps")],
      decision.moves.map((value) => ({ ...value, button: playing(state, value) })),
    ),
    h(
      "p.small",
      t("study_values_note", { who: study.within[step.turn] ?? "", by: study.by }),
      " ",
      decision.more && t("study_more"),
    ),
  );
}

/** @param {Decision} decision */
function verdict(decision) {
  if (decision.moves.length === 1 && !decision.more) return t("study_only");
  if (decision.regret < 0.05) return t("study_best");
  const name = MARKS[decision.mark];
  const said = t("study_regret", { points: decision.regret.toFixed(1) });
  return name ? [h("strong.verdict", `${t(name)} ${decision.mark}`), " ", said] : said;
}

/** Return a move whose click plays on from here. @param {State} state @param {Value} value */
function playing(state, { move, played, text }) {
  const onclick = () => (played ? state.go(state.at + 1) : state.play(move));
  const named = { class: "link", "data-focus": `move ${move}`, title: t("study_play_on"), onclick };
  return [h("button", named, text), played && h("em", ` ${t("study_played")}`)];
}
