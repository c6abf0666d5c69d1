/** Keys as text: `Mod+k`, `?`, `Escape`. Mod is Cmd on a Mac and Ctrl elsewhere. */

export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

export const isMac = (platform: string): boolean => /mac|iphone|ipad/i.test(platform);

/** Shift is part of the key for characters (`?`) and named for the others (`Shift+Tab`). */
export const chordOf = (press: KeyPress, mac: boolean): string => {
  const mod = mac ? press.metaKey : press.ctrlKey;
  const other = mac ? press.ctrlKey : press.metaKey;
  const named = press.key.length > 1;
  const key = named || !hasModifier(press) ? press.key : press.key.toLowerCase();
  return [mod ? "Mod+" : "", other ? "Other+" : "", press.altKey ? "Alt+" : "", named && press.shiftKey ? "Shift+" : "", key].join("");
};

/** Shift alone does not count: it only picks the character. */
export const hasModifier = (press: KeyPress): boolean => press.ctrlKey || press.metaKey || press.altKey;
