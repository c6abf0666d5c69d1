/** A link that was copied before a topic was merged, in a page that was opened after it. */
import { screen } from "@solidjs/testing-library";
import { describe, expect, it } from "vitest";
import { channel, person, topic } from "./testing/builders";
import { showPage } from "./testing/page";
import { FakeServer } from "./testing/server";

const ann = person("ann");
const plan = channel("plan", [ann]);

describe("links", () => {
  it("C42 a link to a topic that was merged before the page was opened leads to the one it is in now, with a notice", async () => {
    const server = new FakeServer(ann).seed(plan, topic("start", plan.id), topic("old", plan.id), topic("older", plan.id));
    server.updateTopic("topic-older", { name: "old" });
    server.updateTopic("topic-old", { name: "start" });
    const page = await showPage(server, { path: `/channel/${plan.id}/topic/topic-older` });
    expect(page.path()).toBe(`/channel/${plan.id}/topic/topic-start`);
    expect(screen.getByText(/That topic was merged into this one/)).toBeInTheDocument();
    expect(page.errors).toEqual([]);
  });
});
