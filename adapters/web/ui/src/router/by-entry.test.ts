// @vitest-environment node
import { expect, it } from "vitest";
import { byEntry, MOST_ENTRIES } from "./by-entry";

it("what is kept by entries of the history is found on coming back only, and the entry left longest ago is forgotten first", () => {
  let [entry, isBack] = [0, false];
  const kept = byEntry<string>({ entry: () => entry, isBack: () => isBack });
  const keep = (at: number) => {
    entry = at;
    kept.keep(`of ${at.toString()}`);
  };
  for (let at = 0; at < MOST_ENTRIES; at += 1) keep(at);
  keep(0);
  keep(MOST_ENTRIES);
  const back = (at: number) => {
    entry = at;
    return kept.back();
  };
  expect(back(0)).toBeUndefined();
  isBack = true;
  expect(back(0)).toBe("of 0");
  expect(back(1)).toBeUndefined();
  expect(back(2)).toBe("of 2");
  expect(back(MOST_ENTRIES)).toBe(`of ${MOST_ENTRIES.toString()}`);
});
