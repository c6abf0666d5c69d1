/** Agents that a person keeps at hand in this browser, in the order they were pinned. */
import type { Agent, AccountId } from "../model/types";
import { isRecord, isText } from "./kept";
import type { Kept } from "./kept";

export interface AgentPin {
  readonly id: AccountId;
  /** As it was last seen, for one that is not there any more. */
  readonly handle: string;
}

/** Where they are kept: apart for every server and every person. */
export const pinsName = (server: string, me: AccountId): string => `compass:pins:${server}:${me}`;

const pin = (value: unknown): AgentPin | undefined => {
  // Once only ids were kept.
  if (isText(value)) return value === "" ? undefined : { id: value, handle: value };
  if (!isRecord(value)) return undefined;
  const { id, handle } = value;
  return isText(id) && id !== "" ? { id, handle: isText(handle) && handle !== "" ? handle : id } : undefined;
};

/** What is kept, as far as it can be understood; everyone once. */
export const readPins = (kept: Kept): readonly AgentPin[] => {
  const value = kept.read();
  const pins = (Array.isArray(value) ? value : []).flatMap((each: unknown) => pin(each) ?? []);
  return pins.filter((each, index) => pins.findIndex((other) => other.id === each.id) === index);
};

export const writePins = (kept: Kept, pins: readonly AgentPin[]): void => kept.write(pins.map(({ id, handle }) => ({ id, handle })));

export const isPinned = (pins: readonly AgentPin[], id: AccountId): boolean => pins.some((each) => each.id === id);

/** Pins an agent at the end, or takes its pin away, whether or not it is still there. */
export const toggledPin = (pins: readonly AgentPin[], agent: AgentPin): readonly AgentPin[] =>
  isPinned(pins, agent.id) ? pins.filter((each) => each.id !== agent.id) : [...pins, { id: agent.id, handle: agent.handle }];

/** Pins with the handles that agents have now; those of agents that are not there are kept as they were. */
export const seenPins = (pins: readonly AgentPin[], agents: ReadonlyMap<AccountId, Pick<Agent, "handle">>): readonly AgentPin[] => {
  const changed = pins.map((each) => {
    const handle = agents.get(each.id)?.handle ?? each.handle;
    return handle === each.handle ? each : { id: each.id, handle };
  });
  return changed.some((each, index) => each !== pins[index]) ? changed : pins;
};
