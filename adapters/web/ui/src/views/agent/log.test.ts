// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { AgentSession, SessionEvent } from "../../model/types";
import { emptyLog, LIMIT, logged, TEXT_LIMIT } from "./log";
import type { Log } from "./log";
import { isRunning, newestSession } from "./session";

const said = (id: string, text: string, groupId = "g"): SessionEvent => ({ kind: "text", id, at: 1, groupId, text });
const all = (events: readonly SessionEvent[], from: Log = emptyLog): Log => events.reduce(logged, from);

describe("the log of a session", () => {
  it("pieces of one text are put together, a repeated piece only once, and its length is bounded", () => {
    expect(all([said("1", "Hel"), said("2", "lo"), said("2", "lo"), said("3", "x", "other")]).entries).toMatchObject([{ text: "Hello" }, { text: "x" }]);
    const long = all([said("1", "a".repeat(TEXT_LIMIT)), said("2", "bc")]).entries[0];
    expect(long?.kind === "text" && [long.text.length, long.text.endsWith("abc")]).toEqual([TEXT_LIMIT, true]);
  });
  it("thinking and saying of one group stay apart; without a group every piece stands alone", () => {
    expect(all([said("1", "a"), { kind: "thinking", id: "2", at: 1, groupId: "g", text: "b" }, said("3", "c", ""), said("4", "d", "")]).entries).toHaveLength(4);
  });
  it("an update of a call keeps its title, and its output where it brings none; an unknown call is shown by its id", () => {
    const log = all([
      { kind: "tool_call", id: "1", at: 1, callId: "c", title: "Read file", status: "pending" },
      { kind: "tool_update", id: "2", at: 2, callId: "c", status: "in_progress", output: "half", paths: ["a"] },
      { kind: "tool_update", id: "3", at: 3, callId: "c", status: "completed", output: "", paths: ["b"] },
      { kind: "tool_update", id: "4", at: 4, callId: "d", status: "failed", output: "no", paths: [] },
    ]);
    expect(log.entries).toMatchObject([{ title: "Read file", status: "completed", output: "half", changed: 2, at: 1 }, { title: "d", status: "failed" }]);
  });
  it("a plan replaces the one before; remarks are kept", () => {
    const plan = (id: string, content: string): SessionEvent => ({ kind: "plan", id, at: 1, entries: [{ content, status: "pending" }] });
    expect(all([plan("1", "a"), { kind: "notice", id: "2", at: 1, text: "n", link: undefined }, plan("3", "b")]).entries).toMatchObject([{ kind: "plan", entries: [{ content: "b" }] }, { text: "n" }]);
  });
  it("only the newest entries are kept, and it is said", () => {
    const log = all(Array.from({ length: LIMIT + 5 }, (_, index) => said(String(index), String(index), String(index))));
    expect(log.entries).toHaveLength(LIMIT);
    expect(log.entries[0]).toMatchObject({ text: "5" });
    expect([log.clipped, all([said("1", "a")]).clipped]).toEqual([true, false]);
  });
});

describe("the session of an agent", () => {
  const at = (sessionId: string, state: AgentSession["state"], agentId = "a"): AgentSession => ({ sessionId, state, agentId });
  it("C44 only what runs can be stopped", () => {
    const states: readonly AgentSession["state"][] = ["starting", "ready", "working", "stopped", "errored", "disconnected", "unspecified"];
    expect(states.filter((state) => isRunning(at("s", state)))).toEqual(["starting", "ready", "working"]);
  });
  it("C44 is the one that runs, else the last one, never another agent's", () => {
    expect(newestSession([at("1", "ready"), at("2", "stopped"), at("3", "working", "b")], "a")?.sessionId).toBe("1");
    expect(newestSession([at("1", "errored"), at("2", "stopped")], "a")?.sessionId).toBe("2");
    expect(newestSession([at("1", "ready", "b")], "a")).toBeUndefined();
  });
});
