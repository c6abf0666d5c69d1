/** One tab stop for a group of buttons; arrows move inside it. */

/** Where `key` leads from `from` in a group of `count`, or undefined if it is not a key of the group. */
export function rovingTarget(key: string, from: number, count: number): number | undefined {
  if (count === 0) return undefined;
  switch (key) {
    case "ArrowDown":
    case "ArrowRight":
      return (from + 1) % count;
    case "ArrowUp":
    case "ArrowLeft":
      return (from - 1 + count) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}

/** True for elements that take typing, where no bare key may act. */
export function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}
