/** What one looks at next has nothing of what one looked at before: no refusal, no call that is under way, no late answer. */
import { fireEvent, screen, within } from "@solidjs/testing-library";
import { describe, expect, it } from "vitest";
import { Failure } from "../model/client";
import { agent, channel, message, person, topic } from "../testing/builders";
import { FakeClient } from "../testing/fake";
import type { Method } from "../testing/fake";
import { showPage } from "../testing/page";
import type { TestPage } from "../testing/page";
import { FakeServer } from "../testing/server";

const ann = person("ann");
const ben = person("ben");
const [one, two] = [agent("one", ann.id), agent("two", ann.id)];
const [plan, other] = [channel("plan", [ann, ben], { subscriberIds: [] }), channel("other", [ann, ben], { subscriberIds: [] })];
const [start, end] = [topic("start", plan.id), topic("end", plan.id)];
const no = new Failure("precondition", "no, says the server");

const at = async (path: string, client = new FakeClient(new FakeServer(ann))) => {
  client.server.seed(ben, one, two, plan, other, start, end);
  for (const [seq, of] of [start, end].entries()) client.server.seedMessage(plan.id, message(seq + 1, of.name, { topicId: of.id }));
  return showPage(client.server, { client, path });
};
const main = () => within(screen.getByRole("main"));
const go = async (page: TestPage, path: string) => {
  page.app.router.go(path);
  await page.later();
};

interface Press {
  readonly path: string;
  readonly next: string;
  /** What it stands in is opened first. */
  readonly via?: string;
  readonly fill?: Readonly<Record<string, string>>;
  readonly button: string;
  readonly method: Method;
}

const ofAgents = { path: `/agent/${one.id}`, next: `/agent/${two.id}` };
const ofTopics = { path: `/channel/${plan.id}/topic/${start.id}`, next: `/channel/${plan.id}/topic/${end.id}`, via: "Topic settings", method: "updateTopic" } as const;
const ofChannels = { path: `/channel/${plan.id}`, next: `/channel/${other.id}`, method: "updateMembers" } as const;
const PRESSES: Readonly<Record<string, Press>> = {
  "Start of an agent": { ...ofAgents, button: "Start", method: "startAgent" },
  "Message to an agent": { ...ofAgents, button: "Message", method: "openDm" },
  "Archive of a topic": { ...ofTopics, button: "Archive" },
  "Rename of a topic": { ...ofTopics, fill: { Name: "begin" }, button: "Rename" },
  "Subscribe of a channel": { ...ofChannels, button: "Subscribe" },
  "Save of a channel's name": { ...ofChannels, via: "Members and settings", fill: { "Rename channel": "plans" }, button: "Save" },
};

const ready = async (page: TestPage, { via, fill = {}, button, method }: Press) => {
  if (via !== undefined) fireEvent.click(main().getByRole("button", { name: via }));
  await page.later();
  // Never the same name twice: it would be taken.
  const times = page.client.called(method).length;
  for (const [name, value] of Object.entries(fill)) fireEvent.input(main().getByLabelText(name, { exact: false }), { target: { value: `${value} ${times}` } });
  await page.later();
  // Two forms of a channel have such a button.
  return main().getAllByRole("button", { name: button })[0];
};
const press = async (page: TestPage, what: Press) => {
  const button = await ready(page, what);
  expect(button).toBeEnabled();
  button?.click();
  await page.later();
};

describe.each(Object.entries(PRESSES))("%s", (_, what) => {
  it("a refusal stays behind", async () => {
    const page = await at(what.path);
    page.client.failNext(what.method, no);
    await press(page, what);
    expect(main().getByText(/no, says the server/)).toBeInTheDocument();
    await go(page, what.next);
    expect(main().queryByText(/no, says the server/)).toBeNull();
  });
  it("so does what is under way, and the refusal that comes of it", async () => {
    const page = await at(what.path);
    const held = page.client.hold(what.method);
    await press(page, what);
    await go(page, what.next);
    const button = await ready(page, what);
    expect(button).toHaveAttribute("aria-disabled", "false");
    held.fail(no);
    await page.later();
    expect(main().queryByText(/no, says the server/)).toBeNull();
    expect(main().getAllByRole("button", { name: what.button })[0]).toBe(button);
  });
});

describe("a late answer", () => {
  it.each([
    ["of a conversation with an agent", `/agent/${one.id}`, "Message", "openDm"],
    ["of a conversation that was picked from a list", "/browse/new-message", /^Open .*ben/, "openDm"],
    ["of a channel that is made", "/browse/new-channel", "Create", "createChannel"],
    ["of a channel that is left", `/channel/${plan.id}`, "Leave", "updateMembers"],
  ] as const)("%s leads nobody away who went on", async (_, path, name, method) => {
    const page = await at(path);
    for (const field of main().queryAllByLabelText("Name")) fireEvent.input(field, { target: { value: "fresh" } });
    await page.later();
    const held = page.client.hold(method);
    main().getByRole("button", { name }).click();
    await page.later();
    for (const yes of main().queryAllByRole("button", { name: "Yes" })) yes.click();
    await page.later();
    expect(page.client.called(method)).toHaveLength(1);
    await go(page, `/channel/${other.id}`);
    held.release();
    await page.later();
    expect(page.path()).toBe(`/channel/${other.id}`);
  });
  it("about one agent's sessions keeps nobody from reading the next one's", async () => {
    const client = new FakeClient(new FakeServer(ann));
    client.sessionList = [{ sessionId: "s2", state: "working", agentId: two.id }];
    const held = client.hold("sessions");
    const page = await at(`/agent/${one.id}`, client);
    await go(page, `/agent/${two.id}`);
    expect(main().getByText("working")).toBeInTheDocument();
    client.sessionList = [{ sessionId: "s1", state: "ready", agentId: one.id }];
    held.release();
    await page.later();
    expect(main().getByText("working")).toBeInTheDocument();
  });
  it.each(["release", "fail"] as const)("of one search is not shown for the next: %s", async (how) => {
    const page = await at("/search?q=start");
    const held = page.client.hold("search");
    await go(page, "/search?q=end");
    await go(page, "/search?q=nothing");
    expect(main().getByText(/^Nothing found/)).toBeInTheDocument();
    if (how === "release") held.release();
    else held.fail(no);
    await page.later();
    expect(main().getByText(/^Nothing found/)).toBeInTheDocument();
    expect(main().queryByRole("alert")).toBeNull();
  });
});
