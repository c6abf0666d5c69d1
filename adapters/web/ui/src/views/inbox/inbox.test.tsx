import { fireEvent, screen, within } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it } from "vitest";
import { agent, ask, asking, channel, message, person, question, topic } from "../../testing/builders";
import { showPage } from "../../testing/page";
import { FakeServer } from "../../testing/server";
import { askCommand, quoted } from "./command";

const ann = person("ann");
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
const order = () => [...screen.getByRole("main").querySelectorAll("[data-ask]")].map((block) => block.getAttribute("data-ask"));
const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });
const focused = () => document.activeElement?.getAttribute("data-ask");

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

  it("an ask of an offline agent stays, is marked, and can be answered", async () => {
    const page = await showPage(world("a", "b"));
    const items = screen.getAllByRole("article");
    expect(items[0]).toHaveTextContent("offline");
    expect(items[0]).toHaveTextContent("It gets your answer when it is back.");
    expect(items[1]).toHaveTextContent("waiting for an answer");
    expect(items[1]).not.toHaveTextContent("It gets your answer when it is back.");
    expect(within(screen.getByRole("main")).getAllByRole("link", { name: "start" })[0]).toHaveAttribute("href", `/channel/${plan.id}/topic/${start.id}/message/message-1`);
    page.store.asks.pick("message-1", "a", "q1", "0");
    page.store.asks.submit("message-1", "a");
    await page.later();
    expect(page.client.called("respond")).toHaveLength(1);
    expect(order()).toEqual(["b"]);
  });

  it("C45 j and k move between asks and stop at the ends", async () => {
    await showPage(world("a", "b"));
    press("j");
    expect(focused()).toBe("a");
    press("j");
    press("j");
    expect(focused()).toBe("b");
    press("k");
    expect(focused()).toBe("a");
  });

  it("C45 the focus goes to the ask that takes an answered one's place, and stays out if it was out", async () => {
    const server = world("a", "b", "c");
    const page = await showPage(server);
    press("j");
    press("j");
    expect(focused()).toBe("b");
    server.cancel("b");
    await page.later();
    expect(focused()).toBe("c");
    const field = screen.getByRole("combobox", { name: "Search messages" });
    field.focus();
    server.cancel("c");
    await page.later();
    expect(document.activeElement).toBe(field);
  });

  it("says so when nothing waits", async () => {
    const server = world("a");
    const page = await showPage(server);
    server.cancel("a");
    await page.later();
    expect(screen.getByRole("heading", { name: "No open asks" })).toBeInTheDocument();
  });
});

describe("the first run", () => {
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
    const made = [...server.accounts.values()].find((account) => account.handle === "helper");
    if (made?.kind !== "agent" || made.homeChannelId === undefined) throw new Error("no agent");
    server.post(made.homeChannelId, { kind: "name", name: "Questions" }, [{ kind: "ask", ask: { questions: [{ id: "q", question: "Deploy 4.2?", header: "", options: [], multiple: false, recommended: undefined }] } }], made.id);
    await page.later();
    expect(screen.queryByRole("heading", { name: "Get your first ask" })).toBeNull();
    expect(screen.getByRole("heading", { level: 1 })).toHaveTextContent("Inbox: 1 open ask");
  });

  it("a refused handle is told and nothing is made", async () => {
    const page = await showPage(new FakeServer(ann));
    const { Failure } = await import("../../model/client");
    page.client.failNext("createAgent", new Failure("invalid", "handle: must start with a lower-case letter"));
    fireEvent.input(screen.getByLabelText(/Handle of the agent/), { target: { value: "Helper" } });
    flush();
    screen.getByRole("button", { name: "Create agent and token" }).click();
    await page.later();
    expect(screen.getByText("handle: must start with a lower-case letter")).toHaveAttribute("role", "alert");
    expect(page.client.called("issueToken")).toHaveLength(0);
  });

  it("the command survives a shell, whatever is in it", () => {
    expect(quoted("it's $HOME `x`")).toBe("'it'\\''s $HOME `x`'");
    expect(askCommand("http://h:1", "t-_k", "Now?", ["a b"])).toBe("COMPASS_URL=http://h:1 COMPASS_TOKEN=t-_k compass ask 'Now?' --option 'a b' --wait");
  });
});
