/** What is shown for an address, once it is known what there is. Pure. */
import { resolveLink, takesPartIn } from "../model/select";
import type { State } from "../store/contract";
import { channelPath, inboxPath, messagePath, topicPath } from "./paths";
import type { Route } from "./route";

export type Notice = "no_channel" | "left_channel" | "not_in_channel" | "no_topic" | "topic_moved" | "no_agent";

export type Resolution =
  | { readonly kind: "show"; readonly route: Route }
  /** Nothing can be said before the first snapshot. */
  | { readonly kind: "held" }
  | { readonly kind: "redirect"; readonly to: string; readonly notice: Notice };

/** `awaited` holds ids that were just made and are about to be told. */
export const resolveRoute = (route: Route, state: State, awaited: ReadonlySet<string>): Resolution => {
  // What waits for an answer is read before everything else, and is shown as soon as it is here.
  if (!state.ready) return route.kind === "inbox" && state.openAsks.size > 0 ? { kind: "show", route } : { kind: "held" };
  switch (route.kind) {
    case "agent":
      if (state.accounts.get(route.agentId)?.kind === "agent") return { kind: "show", route };
      return awaited.has(route.agentId) ? { kind: "held" } : { kind: "redirect", to: inboxPath, notice: "no_agent" };
    case "channel":
    case "topic":
      return resolveConversation(route, state, awaited);
    case "inbox":
    case "browse":
    case "search":
    case "settings":
    case "help":
    case "sign_in":
    case "unknown":
      return { kind: "show", route };
  }
};

type Conversation = Extract<Route, { readonly kind: "channel" | "topic" }>;

const resolveConversation = (route: Conversation, state: State, awaited: ReadonlySet<string>): Resolution => {
  const topicId = route.kind === "topic" ? route.topicId : undefined;
  const link = resolveLink(state, route.channelId, topicId);
  switch (link.kind) {
    case "held":
      return { kind: "held" };
    case "found":
      return { kind: "show", route };
    case "channel_gone":
      return awaited.has(route.channelId) ? { kind: "held" } : { kind: "redirect", to: inboxPath, notice: "no_channel" };
    case "topic_gone": {
      const messageId = route.kind === "topic" ? route.messageId : undefined;
      if (link.movedTo !== undefined) {
        const to = messageId === undefined ? topicPath(link.channelId, link.movedTo) : messagePath(link.channelId, link.movedTo, messageId);
        return { kind: "redirect", to, notice: "topic_moved" };
      }
      if (topicId !== undefined && awaited.has(topicId)) return { kind: "held" };
      if (!takesPartIn(state, link.channelId)) return { kind: "redirect", to: channelPath(link.channelId), notice: "not_in_channel" };
      return { kind: "redirect", to: channelPath(link.channelId), notice: "no_topic" };
    }
  }
};
