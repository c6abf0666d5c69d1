import { screen } from "@solidjs/testing-library";
import { describe, expect, it } from "vitest";
import { channel, message, person, topic } from "../../testing/builders";
import { showPage } from "../../testing/page";
import { FakeServer } from "../../testing/server";

const ann = person("ann");
const plan = channel("plan", [ann]);
const start = topic("start", plan.id);

const opened = (query: string) => {
  const server = new FakeServer(ann).seed(plan, start);
  server.seedMessage(plan.id, message(1, `${"before ".repeat(100)}<b>needle</b>`, { topicId: start.id }));
  return showPage(server, { path: `/search?q=${encodeURIComponent(query)}` });
};

describe("the view of everything a search found", () => {
  it("shows the part of each message that holds the words, marked, and runs none of it", async () => {
    const page = await opened("needle");
    expect(screen.getByText("1 message found")).toBeInTheDocument();
    expect([...page.container.querySelectorAll(".results mark")].map((mark) => mark.textContent)).toEqual(["needle"]);
    expect(page.container.querySelector(".results li p:last-child")?.textContent).toMatch(/^…before .*<b>needle<\/b>$/);
    expect(page.container.querySelector(".results b")).toBeNull();
  });
  it("says what is matched when nothing is found", async () => {
    await opened("need le");
    expect(screen.getByText(/^Nothing found\. Only whole words are matched/)).toBeInTheDocument();
  });
  it.each([["a NUL", "n\0", "at place 2"], ["its length", "ä".repeat(513), "at most 1 KiB, it has 1,026 bytes"]])("what the server would refuse for %s is told and not asked for", async (_, query, said) => {
    const page = await opened(query);
    expect(page.client.called("search")).toHaveLength(0);
    expect(screen.getByText((text) => text.startsWith("The search") && text.includes(said))).toHaveAttribute("role", "alert");
  });
});
