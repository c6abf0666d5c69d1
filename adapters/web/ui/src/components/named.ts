/** Why a text cannot be a name or a handle, by the server's rules. Pure. */
import { LIMITS } from "../model/limits";
import { namedText } from "../strings";
import { bytesProblem, charactersProblem } from "./field";

/** Handles that no person and no agent may take. */
export const RESERVED_HANDLES: ReadonlySet<string> = new Set(["compass", "everyone", "agents", "users"]);

/** Names of topics, channels, groups and people have one limit; white space around them does not count. */
export const nameProblem = (field: string, name: string): string | undefined => charactersProblem(field, name.trim(), LIMITS.nameCharacters);

/** Nothing is said of an empty one: it is yet to be written. */
export const handleProblem = (typed: string): string | undefined => {
  const handle = typed.trim();
  if (RESERVED_HANDLES.has(handle)) return namedText.reserved(handle);
  const bad = Array.from(handle).findIndex((character, index) => !(index === 0 ? /[a-z0-9]/ : /[a-z0-9._-]/).test(character));
  return bytesProblem(namedText.theHandle, handle, LIMITS.handleBytes) ?? (bad < 0 ? undefined : namedText.notInHandles(bad + 1));
};
