/** Agents a person keeps at the top. Kept per server and account; a pin whose agent is gone stays until it is taken out. */
import type { AccountId } from "../model/types";
import type { Kept } from "./storage";

export interface AgentPin {
  readonly id: AccountId;
  /** The handle when it was last seen, for an agent that is gone. */
  readonly handle: string;
}

export const pinsKey = (server: string, me: AccountId): string => `compass.agent-pins:${server}:${me}`;

/** Reads what was kept; a list of bare ids, as older pages wrote it, is taken as well. What is not a pin is left out. */
export const parsePins = (text: string | undefined): readonly AgentPin[] => {
  if (text === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(value)) return [];
  const pins = value.flatMap((each: unknown): readonly AgentPin[] => {
    if (typeof each === "string") return each === "" ? [] : [{ id: each, handle: each }];
    if (typeof each !== "object" || each === null || !("id" in each) || typeof each.id !== "string" || each.id === "") return [];
    return [{ id: each.id, handle: "handle" in each && typeof each.handle === "string" ? each.handle : each.id }];
  });
  return pins.filter((pin, index) => pins.findIndex((other) => other.id === pin.id) === index);
};

/** Pins at the end or takes out, keeping the order of the others. */
export const togglePin = (pins: readonly AgentPin[], agent: AgentPin): readonly AgentPin[] =>
  pins.some((pin) => pin.id === agent.id) ? pins.filter((pin) => pin.id !== agent.id) : [...pins, agent];

/** The pins with the handles their agents have now. */
export const refreshPins = (pins: readonly AgentPin[], handleNow: (id: AccountId) => string | undefined): readonly AgentPin[] =>
  pins.map((pin) => ({ id: pin.id, handle: handleNow(pin.id) ?? pin.handle }));

export const readPins = (store: Kept, key: string): readonly AgentPin[] => parsePins(store.read(key));
export const writePins = (store: Kept, key: string, pins: readonly AgentPin[]): void => store.write(key, JSON.stringify(pins));
