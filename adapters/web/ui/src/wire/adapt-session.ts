/** Sessions of agents and tokens, as the page's model. */
import { AgentPlanEntryStatus, AgentSessionState, AgentToolCallStatus } from "../gen/compass/v1/compass_pb";
import type * as pb from "../gen/compass/v1/compass_pb";
import type { TokenInfo as PbTokenInfo } from "../gen/compass/v1/session_pb";
import type { AgentSession, SessionEvent, SessionFrame, TokenInfo, ToolStatus } from "../model/types";

const sessionState = (from: AgentSessionState): AgentSession["state"] => {
  switch (from) {
    case AgentSessionState.STARTING:
      return "starting";
    case AgentSessionState.READY:
      return "ready";
    case AgentSessionState.WORKING:
      return "working";
    case AgentSessionState.STOPPED:
      return "stopped";
    case AgentSessionState.ERRORED:
      return "errored";
    case AgentSessionState.DISCONNECTED:
      return "disconnected";
    case AgentSessionState.UNSPECIFIED:
    default:
      return "unspecified";
  }
};

const toolStatus = (from: AgentToolCallStatus): ToolStatus => {
  switch (from) {
    case AgentToolCallStatus.PENDING:
      return "pending";
    case AgentToolCallStatus.IN_PROGRESS:
      return "in_progress";
    case AgentToolCallStatus.COMPLETED:
      return "completed";
    case AgentToolCallStatus.FAILED:
      return "failed";
    case AgentToolCallStatus.UNSPECIFIED:
    default:
      return "unspecified";
  }
};

const planStatus = (from: AgentPlanEntryStatus): ToolStatus => {
  switch (from) {
    case AgentPlanEntryStatus.PENDING:
      return "pending";
    case AgentPlanEntryStatus.IN_PROGRESS:
      return "in_progress";
    case AgentPlanEntryStatus.COMPLETED:
      return "completed";
    case AgentPlanEntryStatus.UNSPECIFIED:
    default:
      return "unspecified";
  }
};

export const session = (from: pb.AgentSessionStatus): AgentSession => ({ sessionId: from.sessionId, state: sessionState(from.state), agentId: from.agentAccountId });

const sessionEvent = (from: pb.SessionEvent): SessionEvent | undefined => {
  const base = { id: from.eventId, at: Number(from.atUnixMs) };
  const { event } = from;
  switch (event.case) {
    case "assistantText":
      return { ...base, kind: "text", groupId: event.value.messageId, text: event.value.text };
    case "thinking":
      return { ...base, kind: "thinking", groupId: event.value.messageId, text: event.value.text };
    case "toolCall":
      return { ...base, kind: "tool_call", callId: event.value.toolCallId, title: event.value.title, status: toolStatus(event.value.status) };
    case "toolCallUpdate": {
      const paths = event.value.diffs.map((diff) => diff.path);
      return { ...base, kind: "tool_update", callId: event.value.toolCallId, status: toolStatus(event.value.status), output: event.value.output, paths };
    }
    case "plan":
      return { ...base, kind: "plan", entries: event.value.entries.map((entry) => ({ content: entry.content, status: planStatus(entry.status) })) };
    case "notice":
      return { ...base, kind: "notice", text: event.value.text, link: event.value.link };
    case undefined:
      return undefined;
  }
};

export const sessionFrame = (from: pb.AgentSessionFrame): SessionFrame => ({
  sessionId: from.sessionId, event: from.event ? sessionEvent(from.event) : undefined, state: sessionState(from.state),
});

export const tokenInfo = (from: PbTokenInfo): TokenInfo => ({
  id: from.id, createdAt: Number(from.createdAtUnixMs), expiresAt: from.expiresAtUnixMs === 0n ? undefined : Number(from.expiresAtUnixMs),
});
