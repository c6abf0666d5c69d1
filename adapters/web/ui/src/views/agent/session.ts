/** Which of the sessions the server lists is the agent's. Pure. */
import type { AccountId, AgentSession } from "../../model/types";

const RUNNING: ReadonlySet<AgentSession["state"]> = new Set<AgentSession["state"]>(["starting", "ready", "working"]);

/** Only what runs can be stopped; what is stopped, failed or cut off cannot. */
export const isRunning = (session: AgentSession): boolean => RUNNING.has(session.state);

/** The one that runs, else the last one listed. */
export const newestSession = (sessions: readonly AgentSession[], agentId: AccountId): AgentSession | undefined => {
  const own = sessions.filter((session) => session.agentId === agentId);
  return own.findLast(isRunning) ?? own.at(-1);
};
