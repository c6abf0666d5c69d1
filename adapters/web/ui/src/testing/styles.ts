/**
 * The tests' document has no styles of the page. Those of the browser hang on the kind of an element alone, but for a few
 * attributes; to work them out for each element again takes half of the time of all tests.
 */

/** What hides itself or looks otherwise by its attributes. */
const STYLED = "[hidden], [style], dialog, details, input[type=hidden]";

// Once for all files of a worker, as this module is loaded once; some tests have no document at all.
if (typeof window !== "undefined") {
  const workOut = window.getComputedStyle.bind(window);
  const known = new Map<string, CSSStyleDeclaration>();
  window.getComputedStyle = (element, pseudo) => {
    if (pseudo != null || !(element instanceof HTMLElement) || element.matches(STYLED)) return workOut(element, pseudo);
    const style = known.get(element.localName) ?? workOut(document.createElement(element.localName));
    known.set(element.localName, style);
    return style;
  };
}
