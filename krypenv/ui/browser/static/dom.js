// Elements in one call, and the texts of the page.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {{ handle(event: Event): void }["handle"]} Handler it may take an event of one kind only */
/** @typedef {Record<string, string | number | boolean | null | undefined | Handler>} Attributes */
/** @typedef {Node | string | number | false | null | undefined} Leaf */
/** @typedef {Leaf | Leaf[] | (Leaf | Leaf[])[]} Child */

/** @type {Record<string, string>} */
let texts = {};

/**
 * Take the texts of a language.
 * @param {Record<string, string>} given
 */
export function setTexts(given) {
  texts = given;
}

/**
 * Return a text with its parts, as in t("deal", { number: 1, of: 12 }).
 * @param {string} key
 * @param {Record<string, string | number>} parts
 */
export function t(key, parts = {}) {
  return (texts[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => String(parts[name]));
}

/**
 * @template {string} Name
 * @typedef {HTMLElementTagNameMap[(Name extends `${infer Tag}.${string}` ? Tag : Name) & keyof HTMLElementTagNameMap]} Named
 */

/**
 * Return an element; what is null, false or "" among its children is left out.
 * @template {string} Name
 * @param {Name} name its tag, and perhaps its classes, as in "p.small"
 * @param {...(Attributes | Child)} parts its children, and before them perhaps its attributes
 */
export function h(name, ...parts) {
  const [tag = "", ...classes] = name.split(".");
  const element = document.createElement(tag);
  element.classList.add(...classes);
  return /** @type {Named<Name>} */ (filled(element, parts));
}

/**
 * Return an element of a drawing.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {...(Attributes | Child)} parts
 */
export function s(tag, ...parts) {
  return filled(document.createElementNS(SVG, tag), parts);
}

/**
 * Return a button that keeps the focus when the page is drawn anew.
 * @param {string} focus its name
 * @param {Leaf | Leaf[]} text
 * @param {() => void} onclick
 * @param {Attributes} more
 */
export function button(focus, text, onclick, kind = "", more = {}) {
  return h("button", { class: kind, "data-focus": focus, onclick, ...more }, text);
}

/**
 * Return a menu with its label.
 * @param {string} focus its name
 * @param {string} label
 * @param {[string, string][]} options value and text
 * @param {string} value
 * @param {(value: string) => void} take
 */
export function menu(focus, label, options, value, take) {
  const onchange = (/** @type {Event} */ { target }) => {
    if (target instanceof HTMLSelectElement) take(target.value);
  };
  return h(
    "label.pace",
    h("span", `${label} `),
    h(
      "select",
      { "data-focus": focus, onchange },
      options.map(([each, text]) => h("option", { value: each, selected: each === value }, text)),
    ),
  );
}

/**
 * Return a table of what moves are worth, with bars that compare their margins: full for the best of them.
 * @param {string} kind
 * @param {string} caption which is only heard
 * @param {string[]} heads
 * @param {{ button: Leaf | Leaf[], margin: number | null, half: number | null, sweeps: number | null, played?: boolean }[]} moves
 */
export function worths(kind, caption, heads, moves) {
  const margins = moves.map((each) => each.margin ?? 0);
  const [low, high] = [Math.min(...margins), Math.max(...margins)];
  const lines = moves.map(({ button, margin, half, sweeps, played }) => {
    const share = high > low ? ((margin ?? 0) - low) / (high - low) : 1;
    return h(
      "tr",
      { class: played ? "played" : "" },
      h("th", { scope: "row" }, button),
      h("td.meter", h("meter", { value: (0.08 + 0.92 * share).toFixed(3), "aria-hidden": "true" })),
      h("td", signed(margin ?? 0, 1), half !== null && ` ± ${half.toFixed(1)}`),
      h("td", `${Math.round(100 * (sweeps ?? 0))}%`),
    );
  });
  return grid(kind, caption, heads, lines);
}

/**
 * Draw why there is nothing to see.
 * @param {string} reason
 */
export function drawEnd(reason) {
  const page = document.getElementById("page");
  page?.removeAttribute("aria-busy");
  page?.replaceChildren(h("main.ended", h("p", { role: "alert" }, reason)));
}

/**
 * Return a table.
 * @param {string} kind
 * @param {string} caption which is only heard
 * @param {string[]} heads
 * @param {(HTMLElement | (Leaf | Leaf[])[])[]} lines rows, or the cells of rows that begin with what they are about
 * @param {(Leaf | Leaf[])[][]} feet sums below them
 */
export function grid(kind, caption, heads, lines, feet = []) {
  const row = (/** @type {HTMLElement | (Leaf | Leaf[])[]} */ line) => {
    if (line instanceof HTMLElement) return line;
    const [about, ...cells] = line;
    return h(
      "tr",
      h("th", { scope: "row" }, about),
      cells.map((cell) => h("td", cell)),
    );
  };
  return h(
    "table",
    { class: kind },
    h("caption.unseen", caption),
    h("thead", h("tr", ...heads.map((name) => (name ? h("th", { scope: "col" }, name) : h("td"))))),
    h("tbody", lines.map(row)),
    h("tfoot", feet.map(row)),
  );
}

/**
 * Give the focus to the first of some names that is on the page.
 * @param {...string} names
 * @returns {HTMLElement | null} what has it now
 */
export function focusOn(...names) {
  for (const name of names) {
    const found = document.querySelector(`[data-focus="${name}"]`);
    if (!(found instanceof HTMLElement)) continue;
    found.focus();
    return found;
  }
  return null;
}

/**
 * Give the focus back, after the page was drawn anew, to what had it before, and select in it what was selected.
 * @param {Element | null} active what had the focus
 * @param {...string} instead who gets it where that is gone
 */
export function refocus(active, ...instead) {
  const name = active instanceof HTMLElement && active.dataset.focus;
  if (!name) return;
  const again = focusOn(name, ...instead);
  if (again === active || !(again instanceof HTMLInputElement) || !(active instanceof HTMLInputElement)) return;
  if (active.selectionStart === null) {
    again.select(); // a number doesn't tell where its caret was
  } else again.setSelectionRange(active.selectionStart, active.selectionEnd);
}

/**
 * @template {Element} Made
 * @param {Made} element
 * @param {(Attributes | Child)[]} parts
 * @returns {Made}
 */
function filled(element, parts) {
  for (const part of /** @type {(Attributes | Leaf)[]} */ (parts.flat(3))) {
    if (part instanceof Node) element.append(part);
    else if (typeof part === "object" && part !== null) assign(element, part);
    else if (part !== null && part !== false && part !== "" && part !== undefined) element.append(String(part));
  }
  return element;
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
}

/**
 * Return a text whose negative numbers have a minus that is as wide as a plus, with a sum on the line of its sign.
 * @param {string} text
 */
export const withMinus = (text) => text.replace(/-(?= ?\d)/g, "−").replace("= ", "=\u00a0");

/**
 * Return a number with a minus that is as wide as a plus; zero has none.
 * @param {number} number
 * @param {number} digits after the point
 */
export function points(number, digits = 0) {
  const text = Math.abs(number).toFixed(digits);
  return number < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/**
 * Return a number with its sign.
 * @param {number} number
 * @param {number} digits after the point
 */
export function signed(number, digits = 0) {
  const text = points(number, digits);
  return number > 0 && Number(text) !== 0 ? `+${text}` : text;
}
