/** What an address of the page names. The inverse of `paths.ts`. */
import type { AccountId, ChannelId, MessageId, TopicId } from "../model/types";

export const SETTINGS_SECTIONS = ["profile", "tokens", "agents", "people", "notifications", "appearance", "keyboard"] as const;
export type SettingsSection = (typeof SETTINGS_SECTIONS)[number];
export type BrowseForm = "new-channel" | "new-group" | "new-message";

export type Route =
  | { readonly kind: "inbox" }
  | { readonly kind: "channel"; readonly channelId: ChannelId }
  | { readonly kind: "topic"; readonly channelId: ChannelId; readonly topicId: TopicId; readonly messageId: MessageId | undefined }
  | { readonly kind: "agent"; readonly agentId: AccountId }
  | { readonly kind: "browse"; readonly form: BrowseForm | undefined }
  | { readonly kind: "search"; readonly query: string }
  | { readonly kind: "settings"; readonly section: SettingsSection }
  | { readonly kind: "help" }
  | { readonly kind: "sign_in" }
  | { readonly kind: "unknown"; readonly path: string };

/** Never throws: what cannot be read is `unknown`. */
export const parseRoute = (path: string, query = ""): Route => {
  const unknown: Route = { kind: "unknown", path };
  const parts = decoded(path);
  if (!parts) return unknown;
  const [first, second, third, fourth, fifth, sixth] = parts;
  const { length } = parts;
  if (first === undefined) return { kind: "inbox" };
  switch (first) {
    case "channel": {
      if (second === undefined) return unknown;
      if (length === 2) return { kind: "channel", channelId: second };
      if (third !== "topic" || fourth === undefined) return unknown;
      if (length === 4) return { kind: "topic", channelId: second, topicId: fourth, messageId: undefined };
      return fifth === "message" && sixth !== undefined && length === 6 ? { kind: "topic", channelId: second, topicId: fourth, messageId: sixth } : unknown;
    }
    case "agent":
      return second !== undefined && length === 2 ? { kind: "agent", agentId: second } : unknown;
    case "browse":
      return length === 1 ? { kind: "browse", form: undefined } : (length === 2 && browseForm(second)) || unknown;
    case "search":
      return length === 1 ? { kind: "search", query: new URLSearchParams(query).get("q") ?? "" } : unknown;
    case "settings": {
      const section = length === 1 ? "profile" : SETTINGS_SECTIONS.find((each) => each === second);
      return section && length <= 2 ? { kind: "settings", section } : unknown;
    }
    case "help":
      return length === 1 ? { kind: "help" } : unknown;
    case "sign-in":
      return length === 1 ? { kind: "sign_in" } : unknown;
    default:
      return unknown;
  }
};

const browseForm = (name: string | undefined): Route | undefined =>
  name === "new-channel" || name === "new-group" || name === "new-message" ? { kind: "browse", form: name } : undefined;

/** The parts of a path, or undefined if one is not text once it is unescaped. */
const decoded = (path: string): readonly string[] | undefined => {
  try {
    return path.split("/").filter((part) => part !== "").map(decodeURIComponent);
  } catch {
    return undefined;
  }
};
