// The lesson above the table: what is to be done, what came of it, and the way to the next one.

import { button, focusOn, h, refocus, t } from "./dom.js";
import { keep, kept } from "./kept.js";

/** @typedef {{ number: number, titles: string[], task: string, said: string, solved: boolean, wrong: boolean }} Lesson */

const SOLVED = "krypenv lessons solved"; // under which this browser keeps which lessons were solved
const PLACE = "krypenv lesson"; // and which one was open last
const place = /** @type {HTMLElement} */ (document.getElementById("lesson"));
/** @type {Set<number>} */
const solved = new Set(kept(SOLVED, []));
/** @type {Lesson | null} */
let before = null;

document.addEventListener("told", (event) => {
  const lesson = event instanceof CustomEvent ? /** @type {Lesson | undefined} */ (event.detail.lesson) : undefined;
  if (!lesson) return;
  const last = before ? lesson.number : kept(PLACE, 0);
  before ??= lesson;
  if (last > lesson.number) return go(last);
  keep(PLACE, lesson.number);
  if (lesson.solved && !solved.has(lesson.number)) {
    solved.add(lesson.number);
    keep(SOLVED, [...solved]);
  }
  draw(lesson, lesson.solved && !before.solved);
  before = lesson;
});

/**
 * @param {Lesson} lesson
 * @param {boolean} isNews whether it has just been solved
 */
function draw(lesson, isNews) {
  const { number, titles } = lesson;
  const last = titles.length - 1;
  const isOver = lesson.solved && number === last;
  const active = document.activeElement;
  place.hidden = false;
  document.body.dataset.lesson = number === last ? "deal" : "position";
  document.title = `${t("learn")} · ${titles[number] ?? ""}`;
  place.replaceChildren(
    h(
      "nav.lessons",
      { "aria-label": t("lesson_all") },
      titles.map((title, at) => stop(title, at, at === number, at === last)),
    ),
    h("h2", number === last ? "" : `${number + 1}. `, titles[number] ?? ""),
    h("p.task", lesson.task),
    h(
      "p",
      { class: `said ${lesson.solved ? "right" : lesson.wrong ? "wrong" : ""}`, role: "status" },
      lesson.said && h("b", { "aria-hidden": "true" }, lesson.solved ? "✓ " : lesson.wrong ? "✗ " : "☞ "),
      lesson.said,
    ),
    h(
      "p.actions",
      number < last &&
        button(
          "lesson next",
          t(lesson.solved ? "lesson_next" : "lesson_skip"),
          () => go(number + 1),
          lesson.solved ? "main" : "",
        ),
      (lesson.solved || number === last) && button("lesson again", t("lesson_again"), () => go(number)),
      h("a", { class: isOver ? "button main" : "button", href: `./${location.hash}` }, t("lesson_leave")),
    ),
  );
  if (isNews) focusOn("lesson next");
  else refocus(active);
}

/**
 * Return a lesson in the row of all.
 * @param {string} title
 * @param {number} at
 * @param {boolean} isHere
 * @param {boolean} isLast
 */
function stop(title, at, isHere, isLast) {
  const isSolved = solved.has(at);
  const label = isSolved ? `${title}: ${t("lesson_done")}` : title;
  return button(`lesson ${at}`, isSolved ? "✓" : isLast ? "★" : at + 1, () => go(at), "", {
    "aria-current": isHere ? "step" : null,
    "aria-label": label,
    title: label,
  });
}

/** @param {number} lesson */
function go(lesson) {
  document.dispatchEvent(new CustomEvent("ask", { detail: { do: "lesson", lesson } }));
}
