import { screen, within } from "@solidjs/testing-library";
import { describe, expect, it } from "vitest";
import { Failure } from "./model/client";
import { agent, ask, asking, channel, message, person, topic } from "./testing/builders";
import { messageDraft } from "./store/drafts";
import { main, showPage } from "./testing/page";
import type { TestPage } from "./testing/page";
import { FakeServer } from "./testing/server";

const ann = person("ann", { admin: true });
const bot = agent("bot", ann.id);
const plan = channel("plan", [ann, bot]);
const world = () => new FakeServer(ann).seed(bot, plan);

describe("sessions that end", () => {
  it("signed out in one tab and in again in another: trying again goes on, once that is so", async () => {
    const page = await showPage(world(), { path: `/channel/${plan.id}` });
    page.pageSession.open = false;
    page.client.stream.fail(new Failure("signed_out", "the session ended"));
    await page.later();
    const dialog = screen.getByRole("dialog", { name: "You are signed out" });
    const again = within(dialog).getByRole("button", { name: "Try again" });
    again.click();
    await page.later();
    expect(within(dialog).getByText("This browser is not signed in yet.")).toBeInTheDocument();
    const streams = page.client.streams.length;
    page.pageSession.open = true;
    again.click();
    await page.later(40_000);
    expect(page.pageSession.calls).toEqual(["open?", "open?"]);
    expect(page.client.streams.length).toBeGreaterThan(streams);
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("who is signed out reads and reaches nothing but the way back in, and finds what was picked and written afterwards", async () => {
    const server = world();
    server.seed(topic("start", plan.id));
    server.seedMessage(plan.id, message(1, [asking(ask("a"))], { topicId: "topic-start", authorId: bot.id }));
    const page = await showPage(server);
    const shell = () => page.container.querySelector(".shell");
    page.store.asks.pick("message-1", "a", "q1", "1");
    await page.later();
    expect(shell()).not.toHaveAttribute("inert");
    page.client.stream.fail(new Failure("signed_out", "the session ended"));
    await page.later();
    expect(shell()).toHaveAttribute("inert");
    expect(shell()).toContainElement(main());
    expect(shell()?.contains(screen.getByRole("dialog", { name: "You are signed out" }))).toBe(false);
    expect(document.title).toBe("You are signed out · Compass");
    for (const key of ["g", "b"]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await page.later();
    expect(page.path()).toBe("/");
    page.store.reconnect();
    await page.later();
    expect(shell()).not.toHaveAttribute("inert");
    expect(within(main()).getByRole("button", { name: "Option 1" })).toHaveAttribute("aria-pressed", "true");
    expect(document.title).toBe("(1 ask) Inbox · Compass");
  });

  const signOut = async (page: TestPage, inside: HTMLElement = main()) => {
    within(inside).getByRole("button", { name: "Sign out" }).click();
    await page.later();
  };

  it("signing out removes what the tab keeps of the person", async () => {
    const page = await showPage(world(), { path: "/settings/profile" });
    page.store.drafts.write("x", "no draft of anything");
    expect(page.session.items.size).toBe(1);
    await signOut(page);
    expect(page.pageSession.calls).toEqual(["out"]);
    expect([...page.session.items]).toEqual([]);
  });

  it("signing out asks first where something is not sent, and says what would be lost", async () => {
    const server = world();
    server.seed(topic("start", plan.id));
    server.seedMessage(plan.id, message(1, [asking(ask("a"))], { topicId: "topic-start", authorId: bot.id }));
    const page = await showPage(server, { path: "/settings/profile" });
    page.client.failNext("post");
    page.store.outbox.send({ kind: "message", channelId: plan.id, topicId: "topic-start", text: "lost on its way" });
    page.store.drafts.write(messageDraft("topic-start"), "half a sentence");
    page.store.drafts.write(messageDraft("topic-other"), "another half");
    await page.later();
    await signOut(page);
    const asked = () => screen.queryByRole("group", { name: /^Sign out\?/ });
    expect(asked()).toHaveTextContent("2 drafts and 1 unsent message.");
    page.store.asks.pick("message-1", "a", "q1", "1");
    await page.later();
    expect(asked()).toHaveTextContent("2 drafts, 1 unsent message and 1 unsent answer.");
    within(asked() ?? main()).getByRole("button", { name: "Cancel" }).click();
    await page.later();
    expect(page.pageSession.calls).toEqual([]);
    expect(page.store.drafts.read(messageDraft("topic-start"))).toBe("half a sentence");
    await signOut(page);
    await signOut(page, asked() ?? main());
    expect(page.pageSession.calls).toEqual(["out"]);
    expect([...page.session.items]).toEqual([]);
  });
});
