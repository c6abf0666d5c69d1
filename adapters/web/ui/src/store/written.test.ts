import { describe, expect, it } from "vitest";
import { channel, person, topic } from "../testing/builders";
import { stillStore } from "../testing/view";
import { askDraft, messageDraft, newTopicDrafts, Written } from "./written";

const ann = person("ann");
const plan = channel("plan", [ann]);
const still = () => stillStore({ accounts: [ann], channels: [plan], topics: [topic("b", plan.id)] });

describe("what is being written", () => {
  it("goes along when its topic is joined to another: messages and asks, before what is there", () => {
    const { store } = still();
    const written = new Written(store);
    written.write(messageDraft("a"), "from a");
    written.write(messageDraft("b"), "from b");
    written.write(askDraft("a"), '["asked in a"]');
    written.write(askDraft("b"), '["asked in b"]');
    written.follow({ ...store.state(), merged: new Map([["a", "b"]]) });
    expect([written.read(messageDraft("a")), written.read(askDraft("a"))]).toEqual(["", ""]);
    expect(written.read(messageDraft("b"))).toBe("from a\n\nfrom b");
    expect(written.read(askDraft("b"))).toBe('["asked in a","asked in b"]');
  });
  it("loses nothing to a new topic that comes back where another one is begun", () => {
    const written = new Written(still().store);
    const drafts = newTopicDrafts(plan.id);
    written.putTopicBefore(plan.id, "launch", "when?");
    expect([written.read(drafts.name), written.read(drafts.text)]).toEqual(["launch", "when?"]);
    written.putTopicBefore(plan.id, "lunch", "where?");
    expect([written.read(drafts.name), written.read(drafts.text)]).toEqual(["launch", "lunch\n\nwhere?\n\nwhen?"]);
  });
});
