/** Why a text cannot be a name or a handle, by the server's rules. Pure. */
import { codePoints, LIMITS } from "../model/limits";
import { fieldText, namedText } from "../strings";
import { bytesProblem, nulProblem } from "./field";

/** Handles that no person and no agent may take. */
const RESERVED: ReadonlySet<string> = new Set(["compass", "everyone", "agents", "users"]);
const HANDLE_BYTES = 64;

export const charactersProblem = (field: string, text: string, most: number): string | undefined => {
  const actual = codePoints(text);
  return nulProblem(field, text) ?? (actual > most ? fieldText.tooLong(field, namedText.characters(most), String(actual)) : undefined);
};

/** Names of topics, channels, groups and people have one limit; white space around them does not count. */
export const nameProblem = (field: string, name: string): string | undefined => charactersProblem(field, name.trim(), LIMITS.nameCharacters);

/** Nothing is said of an empty one: it is yet to be written. */
export const handleProblem = (typed: string): string | undefined => {
  const handle = typed.trim();
  if (RESERVED.has(handle)) return namedText.reserved(handle);
  const bad = Array.from(handle).findIndex((character, index) => !(index === 0 ? /[a-z0-9]/ : /[a-z0-9._-]/).test(character));
  return bytesProblem(namedText.theHandle, handle, HANDLE_BYTES) ?? (bad < 0 ? undefined : namedText.notInHandles(bad + 1));
};
