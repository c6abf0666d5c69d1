/** What this browser keeps for the person. A browser that refuses keeps it until the page is left. */

export interface Kept {
  read(key: string): string | undefined;
  write(key: string, value: string): void;
}

/** Over `localStorage`, or over nothing where it is denied or full. */
export const kept = (storage: () => Storage = () => window.localStorage): Kept => {
  const memory = new Map<string, string>();
  return {
    read: (key) => {
      const known = memory.get(key);
      if (known !== undefined) return known;
      try {
        return storage().getItem(key) ?? undefined;
      } catch {
        return undefined;
      }
    },
    write: (key, value) => {
      try {
        storage().setItem(key, value);
        memory.delete(key);
      } catch {
        memory.set(key, value);
      }
    },
  };
};
