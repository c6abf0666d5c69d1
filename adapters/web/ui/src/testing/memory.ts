/** A browser's storage that begins with these and keeps what is written. */
import type { Kept } from "../prefs/storage";

export const memory = (items: Record<string, string> = {}): Kept => {
  const kept = new Map(Object.entries(items));
  return { read: (key) => kept.get(key), write: (key, value) => void kept.set(key, value) };
};
