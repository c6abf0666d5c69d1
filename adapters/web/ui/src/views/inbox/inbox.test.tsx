import { fireEvent, screen, within } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it } from "vitest";
import { agent, ask, asking, channel, message, person, question, topic } from "../../testing/builders";
import { Failure } from "../../model/client";
import { FakeClient } from "../../testing/fake";
import { focused } from "../../testing/focus";
import { memory } from "../../testing/memory";
import { main, showPage } from "../../testing/page";
import { FakeServer } from "../../testing/server";
import { askCommand, quoted } from "./command";

const ann = person("ann");
const ben = person("ben");
const bot = agent("bot", ann.id);
const late = agent("late", ann.id);
const plan = channel("plan", [ann, bot, late]);
const start = topic("start", plan.id);

const world = (...ids: readonly string[]): FakeServer => {
  const server = new FakeServer(ann);
  server.seed(bot, late, plan, start);
  ids.forEach((id, index) => server.seedMessage(plan.id, message(index + 1, [asking(ask(id, [question("q1", { question: `Ask ${id}?` })]))], { topicId: start.id, authorId: index === 0 ? bot.id : late.id })));
  server.setPresence(late.id, "waiting");
  return server;
};
const order = () => [...main().querySelectorAll("[data-ask]")].map((block) => block.getAttribute("data-ask"));
const openOrder = () => [...main().querySelectorAll("[data-ask]:not(.answered, .cancelled)")].map((block) => block.getAttribute("data-ask"));
const item = (id: string): HTMLElement => {
  const found = document.querySelector(`[data-ask="${id}"]`)?.closest("article");
  if (!found) throw new Error(`no ask ${id}`);
  return found;
};
const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });
/** The ask that holds the focus. */
const focusedAsk = () => document.activeElement?.getAttribute("data-ask");

describe("the inbox", () => {
  it("lists every open ask, oldest first, or newest first for those who like it", async () => {
    const page = await showPage(world("a", "b", "c"));
    expect(screen.getByRole("heading", { level: 1 })).toHaveTextContent("Inbox: 3 open asks");
    expect(order()).toEqual(["a", "b", "c"]);
    fireEvent.change(screen.getByRole("combobox", { name: /Order/ }), { target: { value: "newest" } });
    flush();
    expect(order()).toEqual(["c", "b", "a"]);
    expect(page.prefs.inboxOrder()).toBe("newest");
  });

  it("C1 what waits is shown as soon as it is read, before the topics are", async () => {
    const server = world("a", "b");
    const client = new FakeClient(server);
    const held = client.hold("listTopics");
    const page = await showPage(server, { client, wait: false });
    await page.later();
    expect(page.store.state().ready).toBe(false);
    expect(openOrder()).toEqual(["a", "b"]);
    expect(screen.getByRole("heading", { level: 1 })).toHaveTextContent("Inbox: 2 open asks");
    held.release();
    await page.later();
    expect(openOrder()).toEqual(["a", "b"]);
  });

  it("an ask of an offline agent stays, is marked, and can be answered", async () => {
    const page = await showPage(world("a", "b"));
    const items = screen.getAllByRole("article");
    expect(items[0]).toHaveTextContent("offline");
    // A program that waits without a session looks just as one that is away.
    expect(items[0]).toHaveTextContent("The asker is not connected. It may still be waiting. Your answer is kept for it until it takes it.");
    expect(items[1]).toHaveTextContent("waiting for an answer");
    expect(items[1]).not.toHaveTextContent("not connected");
    expect(within(main()).getAllByRole("link", { name: "start" })[0]).toHaveAttribute("href", `/channel/${plan.id}/topic/${start.id}/message/message-1`);
    page.store.asks.pick("message-1", "a", "q1", "0");
    page.store.asks.submit("message-1", "a");
    await page.later();
    expect(page.client.called("respond")).toHaveLength(1);
    expect(openOrder()).toEqual(["b"]);
  });

  it("C45 j and k move between asks and stop at the ends", async () => {
    await showPage(world("a", "b"));
    press("j");
    expect(focusedAsk()).toBe("a");
    press("j");
    press("j");
    expect(focusedAsk()).toBe("b");
    press("k");
    expect(focusedAsk()).toBe("a");
  });

  it("C45 when the ask that holds the focus ends, the next open one's heading takes it, or the view's; it stays out if it was out", async () => {
    const server = world("a", "b", "c");
    const page = await showPage(server);
    press("j");
    press("j");
    expect(focusedAsk()).toBe("b");
    server.cancel("b");
    await page.later();
    const heading = () => within(item("c")).getByRole("heading", { level: 2 });
    expect(document.activeElement).toBe(heading());
    press("j");
    expect(focusedAsk()).toBe("c");
    const field = screen.getByRole("combobox", { name: "Search messages" });
    field.focus();
    server.cancel("c");
    await page.later();
    expect(document.activeElement).toBe(field);
    page.store.asks.type("message-1", "a", "q1", "yes");
    await page.later();
    const send = within(item("a")).getByRole("button", { name: "Send answer" });
    send.focus();
    send.click();
    await page.later();
    expect(document.activeElement).toBe(screen.getByRole("heading", { level: 1 }));
  });

  it("says so when nothing waits", async () => {
    const server = world("a");
    const page = await showPage(server);
    server.cancel("a");
    await page.later();
    expect(screen.getByRole("heading", { name: "No open asks" })).toBeInTheDocument();
  });
});

describe("asks that come while the inbox is looked at", () => {
  const raise = (server: FakeServer): string => server.ask(plan.id, { kind: "id", id: start.id }, "Now?", bot.id);
  const newestFirst = () => memory({ "compass.inbox-order": "newest" });
  const button = () => screen.queryByRole("button", { name: /^\d+ new asks?$/ });

  it("newest first: they wait, counted, until they are asked for, and nothing that is shown moves", async () => {
    const server = world("a", "b");
    const page = await showPage(server, { kept: newestFirst() });
    expect(order()).toEqual(["b", "a"]);
    press("j");
    const [first, second] = [raise(server), raise(server)];
    await page.later();
    expect(order()).toEqual(["b", "a"]);
    expect(focusedAsk()).toBe("b");
    expect(button()).toHaveTextContent("2 new asks");
    expect(screen.getByRole("heading", { level: 1 })).toHaveTextContent("Inbox: 4 open asks");
    // One that ends before it was shown is none any more.
    server.cancel(first);
    await page.later();
    expect(button()).toHaveTextContent("1 new ask");
    button()?.click();
    await page.later();
    expect(order()).toEqual([second, "b", "a"]);
    expect(button()).toBeNull();
    expect(document.activeElement).toBe(within(item(second)).getByRole("heading", { level: 2 }));
  });

  it("who leaves and comes back finds them in their places, and so does who chooses an order", async () => {
    const server = world("a");
    const page = await showPage(server, { kept: newestFirst() });
    const first = raise(server);
    await page.later();
    page.app.router.go("/help");
    await page.later();
    page.app.router.go("/");
    await page.later();
    expect(order()).toEqual([first, "a"]);
    const second = raise(server);
    await page.later();
    expect(order()).toEqual([first, "a"]);
    fireEvent.change(screen.getByRole("combobox", { name: /Order/ }), { target: { value: "oldest" } });
    flush();
    expect(order()).toEqual(["a", first, second]);
  });

  it("what takes its place behind everything that is shown, or where nothing is shown, is there at once", async () => {
    const server = world("a");
    const page = await showPage(server);
    const first = raise(server);
    await page.later();
    expect(order()).toEqual(["a", first]);
    expect(button()).toBeNull();
    fireEvent.change(screen.getByRole("combobox", { name: /Order/ }), { target: { value: "newest" } });
    flush();
    for (const id of ["a", first]) server.cancel(id);
    await page.later();
    const second = raise(server);
    await page.later();
    expect(button()).toHaveTextContent("1 new ask");
    expect(screen.queryByRole("heading", { name: "No open asks" })).toBeNull();
    screen.getByRole("button", { name: "Dismiss closed asks" }).click();
    await page.later();
    expect(order()).toEqual([second]);
  });

  it("a way to dismiss what is closed stands behind it: it moves nothing when it comes", async () => {
    const server = world("a", "b", "c");
    const page = await showPage(server);
    for (const id of ["a", "b"]) server.cancel(id);
    await page.later();
    const list = item("c");
    expect(list.compareDocumentPosition(screen.getByRole("button", { name: "Dismiss closed asks" }))).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  });
});

describe("an ask that ends while the inbox shows it", () => {
  const answers = (chosen: string) => [{ questionId: "q1", chosen: [chosen], customText: "" }];

  it("stays in its place as answered, with a way to its topic, until it is dismissed, and counts no more", async () => {
    const page = await showPage(world("a", "b"));
    page.store.asks.pick("message-1", "a", "q1", "0");
    page.store.asks.submit("message-1", "a");
    await page.later();
    expect(order()).toEqual(["a", "b"]);
    expect(screen.getByRole("heading", { level: 1 })).toHaveTextContent("Inbox: 1 open ask");
    // Neither the ask nor the answer is news to the one who gave it.
    expect(document.title).toMatch(/^\(1 ask\) /);
    expect(item("a")).toHaveTextContent("Answered by ann");
    expect(item("a")).not.toHaveTextContent("not connected");
    expect(within(item("a")).getByRole("link", { name: "Show in its topic" })).toHaveAttribute("href", `/channel/${plan.id}/topic/${start.id}/message/message-1`);
    expect(within(item("a")).queryByText(/not sent|not taken/)).toBeNull();
    within(item("a")).getByRole("button", { name: "Dismiss" }).click();
    flush();
    expect(order()).toEqual(["b"]);
    expect(document.activeElement).toBe(screen.getByRole("heading", { level: 1 }));
  });

  it("quality failure 3: the loser of a race sees the answer that counts, whose it is, and that theirs was not taken", async () => {
    const server = world("a");
    const page = await showPage(server);
    const held = page.client.holdBack("respond");
    page.store.asks.pick("message-1", "a", "q1", "1");
    page.store.asks.submit("message-1", "a");
    server.seed(ben);
    server.answer("a", answers("0"), ben.id);
    await page.later();
    held.fail(new Failure("already", "too late"));
    await page.later();
    expect(item("a")).toHaveTextContent("Answered by");
    expect(within(item("a")).getByRole("button", { name: "Option 0" })).toHaveAttribute("aria-pressed", "true");
    const alert = within(item("a")).getByRole("alert");
    expect(alert).toHaveTextContent("Your answer was not taken");
    expect(item("a")).toHaveTextContent("You had: Option 1");
    // It is still told after a look elsewhere.
    page.app.router.go("/help");
    await page.later();
    page.app.router.go("/");
    await page.later();
    expect(within(item("a")).getByRole("alert")).toHaveTextContent("Your answer was not taken");
  });

  it("says that staged picks were not sent, whoever ended the ask", async () => {
    const server = world("a", "b");
    const page = await showPage(server);
    page.store.asks.pick("message-1", "a", "q1", "1");
    page.store.asks.type("message-2", "b", "q1", "my words");
    await page.later();
    server.seed(ben);
    server.answer("a", answers("0"), ben.id);
    server.cancel("b");
    await page.later();
    expect(within(item("a")).getByText(/was not sent: the ask was answered first/)).toHaveAttribute("role", "status");
    expect(item("b")).toHaveTextContent("Withdrawn by the asker — no longer taking answers.");
    expect(within(item("b")).getByText(/was not sent: the ask was withdrawn first/)).toHaveAttribute("role", "status");
    expect(item("b")).toHaveTextContent("You had: my words");
    expect(within(main()).queryByRole("alert")).toBeNull();
    screen.getByRole("button", { name: "Dismiss closed asks" }).click();
    flush();
    expect(order()).toEqual([]);
    expect(page.store.unsent().size).toBe(0);
  });

  it("one that ended while the connection was away is closed, and shown as it ended once that is read", async () => {
    const server = world("a");
    const page = await showPage(server, { client: new FakeClient(server, { auto: false }) });
    server.seed(ben);
    server.answer("a", answers("0"), ben.id);
    page.client.epoch += 1n;
    page.client.stream.fail();
    const held = page.client.hold("listMessages");
    await page.later(60_000);
    expect(screen.getByText(/This ask is no longer open/)).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Send answer" })).toBeNull();
    held.release();
    await page.later();
    expect(item("a")).toHaveTextContent("Answered by");
  });
});

describe("the first run", () => {
  /** What was made asks in its own channel. */
  const asksAtHome = (server: FakeServer) => {
    const made = [...server.accounts.values()].find((account) => account.handle === "helper");
    if (made?.kind !== "agent" || made.homeChannelId === undefined) throw new Error("no agent");
    server.ask(made.homeChannelId, { kind: "name", name: "Questions" }, "Deploy 4.2?", made.id);
  };
  it("walks from nothing to the first ask: an agent, its token, the command, the ask itself", async () => {
    const server = new FakeServer(ann);
    const page = await showPage(server);
    expect(screen.getByRole("heading", { name: "Get your first ask" })).toBeInTheDocument();
    fireEvent.input(screen.getByLabelText(/Handle of the agent/), { target: { value: " helper " } });
    flush();
    screen.getByRole("button", { name: "Create agent and token" }).click();
    await page.later();
    expect(page.client.called("createAgent")[0]?.input).toEqual(["helper", ""]);
    const command = document.querySelector(".secret")?.textContent ?? "";
    expect(command).toMatch(/^COMPASS_URL=http:\/\/localhost:\d+ COMPASS_TOKEN=token-\d+ compass ask 'Deploy 4.2\?' --option Yes --option 'Not today' --wait$/);
    asksAtHome(server);
    await page.later();
    expect(screen.queryByRole("heading", { name: "Get your first ask" })).toBeNull();
    expect(screen.getByRole("heading", { level: 1 })).toHaveTextContent("Inbox: 1 open ask");
  });

  it("keeps the focus: what makes the agent takes it from the handle, the heading from the steps", async () => {
    const server = new FakeServer(ann);
    const page = await showPage(server);
    const field = screen.getByLabelText(/Handle of the agent/);
    fireEvent.input(field, { target: { value: "helper" } });
    field.focus();
    flush();
    const held = page.client.hold("createAgent");
    const form = field.closest("form") ?? document.body;
    for (let press = 0; press < 2; press += 1) fireEvent.submit(form);
    await page.later();
    expect(field).not.toBeInTheDocument();
    const make = within(form).getByRole("button");
    expect(focused()).toBe(make);
    held.release();
    await page.later();
    expect(page.client.called("createAgent")).toHaveLength(1);
    expect(focused()).toBe(make);
    screen.getByRole("button", { name: "Copy command" }).focus();
    asksAtHome(server);
    await page.later();
    expect(screen.queryByRole("button", { name: "Copy command" })).toBeNull();
    expect(focused()).toBe(screen.getByRole("heading", { level: 1 }));
  });

  it("a refused handle is told and nothing is made", async () => {
    const page = await showPage(new FakeServer(ann));
    page.client.failNext("createAgent", new Failure("already", "handle \"helper\" is taken"));
    fireEvent.input(screen.getByLabelText(/Handle of the agent/), { target: { value: "Helper" } });
    flush();
    expect(screen.getByText(/^The handle starts with a character that cannot be there/)).toHaveAttribute("role", "alert");
    expect(screen.getByRole("button", { name: "Create agent and token" })).toBeDisabled();
    fireEvent.input(screen.getByLabelText(/Handle of the agent/), { target: { value: "helper" } });
    flush();
    screen.getByRole("button", { name: "Create agent and token" }).click();
    await page.later();
    expect(screen.getByText('handle "helper" is taken')).toHaveAttribute("role", "alert");
    expect(page.client.called("issueToken")).toHaveLength(0);
  });

  it("the command survives a shell, whatever is in it", () => {
    expect(quoted("it's $HOME `x`")).toBe("'it'\\''s $HOME `x`'");
    expect(askCommand("http://h:1", "t-_k", "Now?", ["a b"])).toBe("COMPASS_URL=http://h:1 COMPASS_TOKEN=t-_k compass ask 'Now?' --option 'a b' --wait");
  });
});
