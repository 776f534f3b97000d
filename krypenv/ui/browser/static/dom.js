// Elements in one call, and the texts of the page.

const SVG = "http://www.w3.org/2000/svg";

let texts = {};

/** Take the texts of a language. */
export function setTexts(given) {
  texts = given;
}

/** Return a text with its parts, as in t("deal", { number: 1, of: 12 }). */
export function t(key, parts = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (_, name) => String(parts[name]));
}

/** Return an element; what is null, false or "" among its children is left out. */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Return an element of a drawing. */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== false && child !== "" && child !== undefined));
  return element;
}

/** Return a number with its sign, and a minus that is as wide as a plus. */
export function signed(points) {
  return points > 0 ? `+${points}` : points < 0 ? `−${-points}` : "0";
}
