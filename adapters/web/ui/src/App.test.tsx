import { fireEvent, screen, within } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it, vi } from "vitest";
import { Failure } from "./model/client";
import { LOST_AFTER_MS } from "./shell/Banners";
import { agent, ask, asking, channel, group, message, person, topic } from "./testing/builders";
import { FakeClient } from "./testing/fake";
import { focused } from "./testing/focus";
import { memory } from "./testing/memory";
import { main, rail, showPage } from "./testing/page";
import { FakeServer } from "./testing/server";

const ann = person("ann", { admin: true });
const ben = person("ben");
const bot = agent("bot", ann.id, { homeChannelId: "channel-bot" });
const other = agent("other", ben.id);
const home = channel("bot", [ann, bot], { subscriberIds: [bot.id] });
const team = group("team", ben.id);
const empty = group("empty", ben.id);
const plan = channel("plan", [ann, bot], { subscriberIds: [], groupId: team.id });
const open = channel("open", [ben], { groupId: team.id });
const dm = channel("ann-ben", [ann, ben], { kind: "dm" });
const start = topic("start", plan.id, { createdAt: 1_000 });

const world = (): FakeServer => {
  const server = new FakeServer(ann);
  server.seed(ben, bot, other, team, empty, home, plan, open, dm, start);
  return server;
};
const press = (key: string, on: Element = document.body) => fireEvent.keyDown(on, { key });

describe("the left column", () => {
  it("C39 groups in the server's order without empty ones, then ungrouped, then direct; what one could join is only counted", async () => {
    const server = world();
    const first = group("first", ben.id);
    server.groups.clear();
    server.seed(first, team, empty, channel("zeta", [ann], { groupId: first.id }));
    await showPage(server);
    const headings = within(rail()).getAllByRole("heading", { level: 3 }).map((heading) => heading.textContent);
    expect(headings).toEqual(["first shared", "team shared", "Without a group"]);
    const names = within(rail()).getAllByRole("link").map((link) => link.querySelector(".rail-name")?.textContent).filter((name) => name !== undefined);
    expect(names).toEqual(["Inbox", "zeta", "plan", "start", "bot", "Browse channels", "ben", "bot", "other"]);
    expect(within(rail()).getByRole("link", { name: /Browse channels/ })).toHaveTextContent("1");
  });

  it("C39 a channel lists the three topics that moved last and no archived one", async () => {
    const server = world();
    ["b", "c", "d"].forEach((name, index) => server.seed(topic(name, plan.id, { createdAt: 2_000 + index })));
    server.seed(topic("away", plan.id, { createdAt: 9_000, archived: true }));
    await showPage(server);
    expect([...rail().querySelectorAll(".rail-row.topic .rail-name")].map((row) => row.textContent)).toEqual(["d", "c", "b"]);
  });

  it("C39 an empty list of agents is explained only after the first snapshot", async () => {
    const client = new FakeClient(new FakeServer(ann));
    const held = client.hold("listChannels");
    const page = await showPage(client.server, { client, wait: false });
    await page.later();
    expect(screen.queryByText(/No agents yet/)).toBeNull();
    held.release();
    await page.later();
    expect(screen.getByText(/No agents yet/)).toBeInTheDocument();
  });

  it("C43 pinned agents come first, one that is gone stays until it is unpinned", async () => {
    const kept = memory({ pins: JSON.stringify([{ id: "agent-ghost", handle: "ghost" }]) });
    const page = await showPage(world(), { kept });
    const pins = () => [...rail().querySelectorAll(".pins li")].map((row) => row.textContent.replace(/[☆★]/g, "").trim());
    expect(pins()).toEqual(["ghost no longer there"]);
    screen.getByRole("button", { name: "Pin bot" }).click();
    flush();
    expect(pins()[1]).toContain("bot");
    expect(screen.getAllByRole("button", { name: "Unpin bot" })[0]).toHaveAttribute("aria-pressed", "true");
    screen.getByRole("button", { name: "Unpin ghost" }).click();
    flush();
    expect(pins()).toHaveLength(1);
    expect(kept.read("pins")).toBe(JSON.stringify([{ id: bot.id, handle: "bot" }]));
    await page.later();
  });

  it("hostile names show what is hidden in them and stand isolated", async () => {
    const server = world();
    server.seed(channel("evil", [ann], { name: "pl\u202Ean\u200B" }));
    await showPage(server);
    const name = within(rail()).getByText("pl⟦U+202E⟧an⟦U+200B⟧");
    expect(name.tagName).toBe("BDI");
  });
});

describe("a channel", () => {
  it("C39 topics are ordered by what moved last; an empty one by when it was made; ties by id", async () => {
    const server = world();
    server.seed(topic("late", plan.id, { createdAt: 50_000 }), topic("tie-b", plan.id, { createdAt: 500 }), topic("tie-a", plan.id, { createdAt: 500 }));
    server.seedMessage(plan.id, message(1, "hello", { topicId: start.id, at: 2_000 }));
    await showPage(server, { path: `/channel/${plan.id}` });
    expect([...main().querySelectorAll(".topic-row > a")].map((row) => row.textContent)).toEqual(["late", "start", "tie-a", "tie-b"]);
    const row = within(main()).getByText("start").closest("li");
    expect(row).toHaveTextContent("1 message");
    expect(row).toHaveTextContent("ann");
  });

  const pin = (messageId: string, position: number) => ({ messageId, position, pinnedAt: 1, pinnedBy: ann.id });
  const board = () => [...main().querySelectorAll(".pinned li a")].map((row) => row.getAttribute("href"));
  const link = (id: string) => `/channel/${plan.id}/topic/${start.id}/message/${id}`;
  /** A channel of two messages, an ask and an ordinary one, of which none is loaded by itself but the ask. */
  const withPins = () => {
    const server = world();
    server.seedMessage(plan.id, message(1, "how we work", { topicId: start.id, authorId: bot.id }));
    server.seedMessage(plan.id, message(2, [asking(ask("b"))], { topicId: start.id, authorId: bot.id }));
    server.seed({ ...plan, pins: [pin("message-1", 2), pin("message-2", 1), pin("not-given", 0)] });
    return server;
  };

  it("C40 the pinned board is in its order, without what the server does not give, and follows the channel, each in one read", async () => {
    const page = await showPage(withPins(), { path: `/channel/${plan.id}` });
    expect([board(), page.client.called("listPinned").length]).toEqual([[link("message-2"), link("message-1")], 1]);
    page.client.server.putChannel({ ...plan, pins: [pin("message-1", 0)] });
    await page.later();
    expect([board(), page.client.called("listPinned").length]).toEqual([[link("message-1")], 2]);
    page.client.server.putChannel(plan);
    await page.later();
    expect(main().querySelector(".pinned")).toBeNull();
  });

  it("C40 the pinned board has a line for each that is to come, and a read that fails is told with a way to try again", async () => {
    const client = new FakeClient(withPins());
    const held = client.hold("listPinned");
    const page = await showPage(client.server, { client, path: `/channel/${plan.id}` });
    const lines = () => main().querySelectorAll(".pinned li").length;
    expect([board(), lines()]).toEqual([[link("message-2")], 3]);
    held.fail(new Failure("unavailable", "the server is away"));
    await page.later();
    const told = () => main().querySelector(".pinned [role=alert]")?.textContent;
    expect([told(), lines()]).toEqual(["The server cannot be reached. Try again. Try again", 1]);
    within(main()).getByRole("button", { name: "Try again" }).click();
    await page.later();
    expect([board(), told()]).toEqual([[link("message-2"), link("message-1")], undefined]);
  });

  it("C40 the pinned board is read again once the connection is back", async () => {
    const page = await showPage(withPins(), { path: `/channel/${plan.id}` });
    page.client.stream.fail();
    await page.later(2_000);
    expect(page.client.called("listPinned")).toHaveLength(2);
  });

  it("C41 subscribing shows what the server says, and only once it says it", async () => {
    const client = new FakeClient(world(), { auto: false });
    const page = await showPage(client.server, { client, path: `/channel/${plan.id}` });
    const toggle = () => within(main()).getByRole("button", { name: /^Subscribe/ });
    const press = async () => {
      toggle().click();
      await page.later();
    };
    expect(toggle()).toHaveAttribute("aria-pressed", "false");
    client.failNext("updateMembers", new Failure("not_allowed", "no such luck"));
    await press();
    expect(within(main()).getByText("no such luck")).toHaveAttribute("role", "alert");
    expect(toggle()).toHaveAttribute("aria-pressed", "false");
    await press();
    expect(client.called("updateMembers").at(-1)?.input).toEqual([plan.id, { subscribe: [ann.id] }]);
    expect(toggle()).toHaveAttribute("aria-pressed", "false");
    client.deliver();
    await page.later();
    expect(toggle()).toHaveTextContent("Subscribed");
    expect(toggle()).toHaveAttribute("aria-pressed", "true");
  });

  it("C41 a channel one takes no part in shows no topics and is joined by a real call", async () => {
    const page = await showPage(world(), { path: `/channel/${open.id}` });
    expect(main()).toHaveTextContent("Join this channel to read it.");
    expect(within(main()).queryByRole("heading", { name: "Topics" })).toBeNull();
    within(main()).getByRole("button", { name: "Join" }).click();
    await page.later();
    expect(page.client.called("joinChannel")).toHaveLength(1);
    expect(within(main()).getByRole("heading", { name: "Topics" })).toBeInTheDocument();
  });

  it("C41 where the subscription is not one's own choice there is no control for it", async () => {
    const server = world();
    server.seed({ ...plan, mandatory: true });
    const page = await showPage(server, { path: `/channel/${plan.id}` });
    const controls = () => within(main()).getAllByRole("button").map((button) => button.textContent);
    expect(controls().some((name) => name.startsWith("Subscribe"))).toBe(false);
    expect(controls()).toContain("Leave");
    page.app.router.go(`/channel/${home.id}`);
    await page.later();
    expect(controls().some((name) => name.startsWith("Subscribe") || name === "Leave")).toBe(false);
    expect(main()).toHaveTextContent("the agent gets all that is posted");
  });

  it("C35 only the owner of an owned channel sees its rules", async () => {
    const server = world();
    server.seed({ ...plan, memberIds: [ann.id, ben.id], ownerOnly: true, ownerId: ben.id });
    const page = await showPage(server, { path: `/channel/${plan.id}` });
    within(main()).getByRole("button", { name: "Members and settings" }).click();
    await page.later();
    expect(within(main()).queryByText("Who may post")).toBeNull();
    server.putChannel({ ...plan, ownerOnly: true, ownerId: ann.id });
    await page.later();
    expect(within(main()).getByText("Who may post")).toBeInTheDocument();
  });

  it("leaving asks first", async () => {
    const page = await showPage(world().seed({ ...plan, memberIds: [ann.id, ben.id] }), { path: `/channel/${plan.id}` });
    within(main()).getByRole("button", { name: "Leave" }).click();
    await page.later();
    expect(page.client.called("updateMembers")).toHaveLength(0);
    within(main()).getByRole("button", { name: "Yes" }).click();
    await page.later();
    expect(page.client.called("updateMembers")[0]?.input).toEqual([plan.id, { remove: [ann.id] }]);
    expect(page.path()).toBe("/");
  });

  it("renaming a topic to another one's name says that it merges, and does so only after a yes", async () => {
    const server = world();
    server.seed(topic("Other one", plan.id));
    const page = await showPage(server, { path: `/channel/${plan.id}/topic/${start.id}` });
    within(main()).getByRole("button", { name: "Topic settings" }).click();
    await page.later();
    fireEvent.input(within(main()).getByRole("textbox", { name: /^Name/ }), { target: { value: " oTHER one " } });
    flush();
    within(main()).getByRole("button", { name: "Merge" }).click();
    await page.later();
    expect(page.client.called("updateTopic")).toHaveLength(0);
    const sure = within(main()).getByRole("group", { name: /There is a topic/ });
    within(sure).getByRole("button", { name: "Merge" }).click();
    await page.later();
    expect(page.client.called("updateTopic")[0]?.input).toEqual([start.id, { name: "oTHER one" }]);
    expect(page.path()).toBe(`/channel/${plan.id}/topic/topic-Other%20one`);
  });
});

describe("an agent", () => {
  it("C44 stop is there only while something runs; a refusal is shown and goes with the next attempt", async () => {
    const client = new FakeClient(world());
    client.sessionList = [{ sessionId: "s1", state: "working", agentId: bot.id }];
    const page = await showPage(client.server, { client, path: `/agent/${bot.id}` });
    const stop = () => within(main()).getAllByRole("button", { name: "Stop" }).at(-1);
    const refuse = async () => {
      within(main()).getByRole("button", { name: "Stop" }).click();
      await page.later();
      stop()?.click();
      await page.later();
    };
    client.failNext("stopSession", new Failure("precondition", "the runner is away"));
    await refuse();
    expect(main()).toHaveTextContent("Refused: the runner is away");
    expect(page.errors.map((each) => each.where)).toContain("stop");
    await refuse();
    expect(main()).not.toHaveTextContent("Refused");
    expect(within(main()).getByRole("button", { name: "Stop" })).toBeDisabled();
    expect(within(main()).getByRole("button", { name: "Start" })).toBeEnabled();
  });

  it("C44 stopping keeps the focus on what stops, though nothing runs any more", async () => {
    const client = new FakeClient(world());
    client.sessionList = [{ sessionId: "s1", state: "working", agentId: bot.id }];
    const page = await showPage(client.server, { client, path: `/agent/${bot.id}` });
    const stop = within(main()).getByRole("button", { name: "Stop" });
    stop.focus();
    stop.click();
    await page.later();
    const yes = within(screen.getByRole("group", { name: /^Stop/ })).getByRole("button", { name: "Stop" });
    yes.focus();
    yes.click();
    await page.later();
    expect(stop).toHaveAttribute("aria-disabled", "true");
    expect(focused()).toBe(stop);
  });

  it("C44 whether one agent's session is to be stopped is not asked of the next agent's", async () => {
    const client = new FakeClient(world().seed(agent("next", ann.id)));
    client.sessionList = [{ sessionId: "s1", state: "working", agentId: bot.id }, { sessionId: "s2", state: "working", agentId: "agent-next" }];
    const page = await showPage(client.server, { client, path: `/agent/${bot.id}` });
    const asked = () => screen.queryByRole("group", { name: /^Stop/ });
    within(main()).getByRole("button", { name: "Stop" }).click();
    await page.later();
    expect(asked()).toBeInTheDocument();
    page.app.router.go("/agent/agent-next");
    await page.later();
    expect(within(main()).getByRole("heading", { level: 1 })).toHaveTextContent("next");
    expect(asked()).toBeNull();
    expect(within(main()).getByRole("button", { name: "Stop" })).toBeEnabled();
  });

  it("C44 starting is a real call and a refusal is shown, never thrown", async () => {
    const client = new FakeClient(world());
    const page = await showPage(client.server, { client, path: `/agent/${bot.id}` });
    client.failNext("startAgent", new Failure("precondition", "no runner is attached"));
    within(main()).getByRole("button", { name: "Start" }).click();
    await page.later();
    expect(main()).toHaveTextContent("Refused: no runner is attached");
    within(main()).getByRole("button", { name: "Start" }).click();
    await page.later();
    expect(main()).not.toHaveTextContent("Refused");
    expect(main()).toHaveTextContent("starting");
  });

  it("C44 whoever neither owns the agent nor administrates has neither button, and nobody an input", async () => {
    const server = new FakeServer(person("cat"));
    server.seed(ann, bot);
    await showPage(server, { path: `/agent/${bot.id}` });
    expect(within(main()).queryByRole("button", { name: "Stop" })).toBeNull();
    expect(within(main()).queryByRole("button", { name: "Start" })).toBeNull();
    expect(within(main()).queryByRole("textbox")).toBeNull();
  });
});

describe("being told", () => {
  it("the title counts what waits and what is unread, and a new ask is announced once", async () => {
    const server = world();
    server.seedMessage(plan.id, message(1, [asking(ask("a"))], { topicId: start.id, authorId: bot.id }));
    const page = await showPage(server);
    expect(document.title).toBe("(1 ask) Inbox · Compass");
    const said = () => [...page.container.querySelectorAll("[data-said] p")].map((line) => line.textContent);
    expect(said()).toEqual([]);
    server.ask(plan.id, { kind: "id", id: start.id }, "Now?", bot.id);
    await page.later();
    expect(said()).toEqual(["New ask from bot in plan"]);
    expect(document.title).toBe("(2 asks) Inbox · Compass");
    server.post(plan.id, { kind: "id", id: start.id }, [{ kind: "text", text: "only words" }], bot.id);
    await page.later();
    expect(said()).toHaveLength(1);
    // The messages that ask are not counted twice.
    expect(document.title).toBe("(2 asks, 1 unread) Inbox · Compass");
  });

  it("a desktop notification needs the setting and the permission, carries text only, and opens the ask", async () => {
    const shown: { title: string; options: NotificationOptions | undefined; at: { onclick: (() => void) | null; close: () => void } }[] = [];
    class FakeNotification {
      static permission = "granted";
      onclick: (() => void) | null = null;
      constructor(title: string, options?: NotificationOptions) {
        shown.push({ title, options, at: this });
      }
      close(): void {
        shown.length = 0;
      }
    }
    vi.stubGlobal("Notification", FakeNotification);
    vi.spyOn(document, "hasFocus").mockReturnValue(false);
    const server = world();
    const page = await showPage(server);
    const raise = async (question: string) => {
      server.ask(plan.id, { kind: "id", id: start.id }, question, bot.id);
      await page.later();
    };
    await raise("first");
    expect(shown).toHaveLength(0);
    page.prefs.setNotify(true);
    flush();
    await raise("<b>bold</b> \u202E?");
    expect(shown.map((each) => [each.title, each.options?.body])).toEqual([["New ask from bot in plan", "<b>bold</b> ⟦U+202E⟧?"]]);
    shown[0]?.at.onclick?.();
    await page.later();
    expect(page.path()).toMatch(new RegExp(`^/channel/${plan.id}/topic/${start.id}/message/`));
  });
});

describe("the connection", () => {
  it("a loss is shown once it has lasted, says when it tries again, and can be tried now", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    const page = await showPage(world());
    vi.setSystemTime(page.world.now());
    page.client.stream.fail();
    await page.later(0);
    const lost = () => screen.queryByText(/connection to the server is lost/);
    vi.advanceTimersByTime(LOST_AFTER_MS - 500);
    flush();
    expect(lost()).toBeNull();
    vi.advanceTimersByTime(500);
    flush();
    expect(lost()).toHaveTextContent(/Trying again/);
    const streams = page.client.streams.length;
    screen.getByRole("button", { name: "Try now" }).click();
    await page.later();
    expect(page.client.streams.length).toBeGreaterThan(streams);
    page.client.server.setPresence(bot.id, "idle");
    await page.later();
    expect(lost()).toBeNull();
  });

  it("signed out in mid-session: a dialog keeps the page and leads back in; another account starts anew", async () => {
    const page = await showPage(world(), { path: `/channel/${plan.id}` });
    page.client.stream.fail(new Failure("signed_out", "the session ended"));
    await page.later();
    const dialog = screen.getByRole("dialog", { name: "You are signed out" });
    expect(within(main()).getByRole("heading", { level: 1, hidden: true })).toHaveTextContent("plan");
    fireEvent.input(within(dialog).getByLabelText("Paste it here"), { target: { value: "http://x/sign-in#s3cret" } });
    flush();
    const streams = page.client.streams.length;
    within(dialog).getByRole("button", { name: "Sign in" }).click();
    await page.later(40_000);
    expect(page.pageSession.calls).toEqual([{ secret: "s3cret" }]);
    expect(page.client.streams.length).toBeGreaterThan(streams);
    expect(screen.queryByRole("dialog")).toBeNull();
  });
});

describe("keys", () => {
  it("C45 g i goes to the inbox, ? to the help, Escape leaves; nothing happens while somebody types", async () => {
    const page = await showPage(world(), { path: `/channel/${plan.id}` });
    press("?");
    await page.later();
    expect(page.path()).toBe("/help");
    const field = screen.getByRole("combobox", { name: "Search messages" });
    press("/");
    expect(document.activeElement).toBe(field);
    press("g", field);
    press("i", field);
    expect(page.path()).toBe("/help");
    press("Escape", field);
    expect(document.activeElement).not.toBe(field);
    press("g", main());
    press("i", main());
    await page.later();
    expect(page.path()).toBe("/");
    expect(document.activeElement).toBe(main());
  });

  it("C45 a push does not move the focus", async () => {
    const server = world();
    const page = await showPage(server);
    screen.getByRole("combobox", { name: "Search messages" }).focus();
    server.ask(plan.id, { kind: "id", id: start.id }, "Now?", bot.id);
    await page.later();
    expect(document.activeElement).toBe(screen.getByRole("combobox", { name: "Search messages" }));
  });
});
