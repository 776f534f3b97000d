// Dialogs: the rules, a pile, the links to the table, and what moves are worth.

import { byRank, lying } from "./cards.js";
import { button, h, t, worths } from "./dom.js";

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("dialog"));
const MOST_BACKS = 30;

/** Close what is open. */
export const closeDialog = () => dialog.close();

/**
 * Show the rules of a game, with examples.
 * @param {string} of the rules, as text
 * @param {boolean} canLearn whether a link leads to the lessons
 */
export async function showRules(of, canLearn = true) {
  const learn = h("a.button", { "data-focus": "learn", href: `learn.html${location.hash}` }, t("learn"));
  const told = h("div.rulebook", { tabindex: 0, role: "region", "aria-label": t("rules") }, "…");
  open(t("rules"), [told], canLearn && document.documentElement.dataset.socket !== "learn" && learn);
  const query = new URLSearchParams({ of, language: document.documentElement.lang });
  try {
    const { title, parts, say } = await (await fetch(`rules?${query}`)).json();
    const heading = document.getElementById("dialog-title");
    if (heading && title) heading.textContent = title;
    const lines = parts ?? [["", [say]]];
    told.replaceChildren(
      ...lines.flatMap((/** @type {[string, string[]]} */ [about, paragraphs]) => [
        h("h3", about),
        ...paragraphs.map((each) => h("p", each)),
      ]),
    );
  } catch {
    told.replaceChildren(h("p", { role: "alert" }, t("lost")));
  }
}

/**
 * Show what a seat has taken: face down while the game is played, but for the cards that swept.
 * @param {Player} player
 */
export function showPile({ name, pile, swept, taken }, isOwn = false) {
  const cards = byRank(taken ?? []).flatMap((at) => taken?.[at] ?? []);
  const lies = (/** @type {string} */ card) => lying(card, "small");
  open(isOwn ? t("your_pile") : t("pile_of", { who: name }), [
    h("p", pile === 0 ? t("nothing_taken") : taken ? t("pile", { count: pile }) : t("face_down", { count: pile })),
    taken ? h("p.laid", cards.map(lies)) : h("p.laid", { "aria-hidden": "true" }, backs(pile)),
    swept.length > 0 && h("h3", t("face_up")),
    swept.length > 0 && h("p.laid", swept.map(lies)),
  ]);
}

/** @param {number} count */
const backs = (count) =>
  h(
    "span.backs",
    Array.from({ length: Math.min(count, MOST_BACKS) }, () => h("i")),
  );

/**
 * Show who may be let in by which link, and what a link is.
 * @param {[string, string][]} links
 */
export function showLinks(links) {
  const first = new URL(links[0]?.[1] ?? "", location.href);
  const isHere = /^(localhost|127\.|\[::1\])/.test(first.hostname);
  open(t("links"), [
    h("ul.links", links.map(linkOf)),
    h("p", t("links_secret")),
    h("p", isHere ? t("links_here") : first.protocol === "http:" ? t("links_plain") : ""),
  ]);
}

/** @param {[string, string]} link */
function linkOf([who, link]) {
  const shown = h("input", { value: link, readonly: true, "aria-label": who });
  const copy = () => {
    shown.select();
    if (document.execCommand("copy")) copied.textContent = `✓ ${t("copied")}`; // also where pages are not encrypted
  };
  const copied = button(`copy ${link}`, t("copy"), copy);
  return h("li", h("b", who), copied, shown);
}

/**
 * Show what the best moves are worth; one that is clicked is chosen.
 * @param {Hint} hint
 * @param {(move: string) => void} choose
 */
export function showValues({ rows, head, columns, remark, legend }, choose) {
  const lines = rows.map((row, at) => {
    return { ...row, button: button(`hint ${at}`, [at === 0 && "★ ", row.text], () => choose(row.move)) };
  });
  open(t("hint_more"), [
    worths("values", t("hint_more"), [head, "", ...columns], lines),
    remark && h("p", remark),
    h("p", legend),
  ]);
}

/**
 * Open a dialog, which a button closes.
 * @param {string} title
 * @param {(HTMLElement | "" | false)[]} inner
 * @param {HTMLElement | false} more beside the button
 */
function open(title, inner, more = false) {
  const ending = h(
    "div.actions",
    h("button.main", { "data-focus": "close", autofocus: true, onclick: closeDialog }, t("close")),
    more,
  );
  dialog.replaceChildren(
    h("h2", { id: "dialog-title" }, title),
    ...inner.filter((each) => each !== false && each !== ""),
    ending,
  );
  dialog.showModal();
}
