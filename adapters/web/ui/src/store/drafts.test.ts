import { createEffect, createRoot, flush } from "solid-js";
import { describe, expect, it } from "vitest";
import { channel, person, topic } from "../testing/builders";
import { stillStore } from "../testing/view";
import { askDraft, messageDraft, newTopicDrafts } from "./drafts";

const ann = person("ann");
const plan = channel("plan", [ann]);
const still = () => stillStore({ accounts: [ann], channels: [plan], topics: [topic("b", plan.id)] });

describe("what is being written", () => {
  it("goes along when its topic is joined to another: messages and asks, before what is there", () => {
    const { store } = still();
    const { drafts } = store;
    drafts.write(messageDraft("a"), "from a");
    drafts.write(messageDraft("b"), "from b");
    drafts.write(askDraft("a"), '["asked in a"]');
    drafts.write(askDraft("b"), '["asked in b"]');
    drafts.follow({ ...store.state(), merged: new Map([["a", "b"]]) });
    expect([drafts.read(messageDraft("a")), drafts.read(askDraft("a"))]).toEqual(["", ""]);
    expect(drafts.read(messageDraft("b"))).toBe("from a\n\nfrom b");
    expect(drafts.read(askDraft("b"))).toBe('["asked in a","asked in b"]');
  });
  it("loses nothing to a new topic that comes back where another one is begun", () => {
    const { drafts } = still().store;
    const keys = newTopicDrafts(plan.id);
    drafts.putTopicBefore(plan.id, "launch", "when?");
    expect([drafts.read(keys.name), drafts.read(keys.text)]).toEqual(["launch", "when?"]);
    drafts.putTopicBefore(plan.id, "lunch", "where?");
    expect([drafts.read(keys.name), drafts.read(keys.text)]).toEqual(["launch", "lunch\n\nwhere?\n\nwhen?"]);
  });
  it("is counted by the message, the ask or the new topic that it belongs to", () => {
    const { drafts } = still().store;
    const keys = newTopicDrafts(plan.id);
    drafts.write(messageDraft("a"), "one");
    drafts.write(messageDraft("b"), "  ");
    drafts.write(askDraft("a"), "[]");
    drafts.write(keys.name, "launch");
    drafts.write(keys.text, "when?");
    drafts.write("outbox", "[]");
    expect(drafts.count()).toBe(3);
    drafts.write(messageDraft("a"), "");
    expect(drafts.count()).toBe(2);
  });
  it("is seen wherever it is shown, whoever writes it", () => {
    const { drafts } = still().store;
    const seen: string[] = [];
    const dispose = createRoot((end) => {
      createEffect(() => drafts.read("x"), (text) => {
        seen.push(text);
      });
      return end;
    });
    flush();
    drafts.write("x", "one");
    flush();
    expect(seen).toEqual(["", "one"]);
    dispose();
  });
});
