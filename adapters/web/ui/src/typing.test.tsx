/** What becomes of a sentence that somebody is typing when the page changes under it. */
import { screen, within } from "@solidjs/testing-library";
import { describe, expect, it } from "vitest";
import { keptForm, newQuestion } from "./store/ask-form";
import { agent, ask, asking, channel, message, person, question, topic } from "./testing/builders";
import { focused, typeOn } from "./testing/focus";
import { main, showPage } from "./testing/page";
import { FakeServer } from "./testing/server";

const ann = person("ann");
const ben = person("ben");
const bot = agent("bot", ann.id);
const plan = channel("plan", [ann, ben, bot]);
const [start, other] = [topic("start", plan.id), topic("other", plan.id)];
const at = (id: string) => `/channel/${plan.id}/topic/${id}`;

const world = (): FakeServer => new FakeServer(ann).seed(ben, bot, plan, start, other);
const asked = (): FakeServer => {
  const server = world();
  ["a", "b"].forEach((id, index) =>
    server.seedMessage(plan.id, message(index + 1, [asking(ask(id, [question("q1", { question: `May I ${id}?` })]))], { authorId: bot.id, topicId: start.id })),
  );
  return server;
};
const composer = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
const answer = (id: string) => screen.getByRole<HTMLInputElement>("textbox", { name: `May I ${id}?` });
const caret = (field: HTMLTextAreaElement) => [field.selectionStart, field.selectionEnd];

/** What would lead away, move between asks, answer one, press a button. */
const SHORTCUTS = "g s j 1 k 2 ?";

describe("whoever types into a topic that is merged into another one", () => {
  const merged = async (there: string) => {
    const server = world();
    const page = await showPage(server, { path: at(start.id) });
    page.store.drafts.write(`message:${other.id}`, there);
    composer().focus();
    typeOn("look at of it");
    composer().setSelectionRange(8, 8);
    server.updateTopic(start.id, { name: "other" });
    await page.later();
    expect(page.path()).toBe(at(other.id));
    return page;
  };

  it("C45 goes on in the composer of that one, where the caret was", async () => {
    const page = await merged("");
    expect(focused()).toBe(composer());
    expect(caret(composer())).toEqual([8, 8]);
    typeOn("the logs ");
    expect(composer()).toHaveValue("look at the logs of it");
    expect(page.path()).toBe(at(other.id));
  });

  it("goes on before what was begun there", async () => {
    await merged("done already?");
    typeOn("the logs ");
    expect(composer()).toHaveValue("look at the logs of it\n\ndone already?");
  });

  it("goes on in the ask that was being composed", async () => {
    const server = world();
    const page = await showPage(server, { path: at(start.id) });
    page.store.drafts.write(`ask:${other.id}`, keptForm({ questions: [{ ...newQuestion(), question: "Stop?" }] }));
    screen.getByRole("button", { name: "Ask…" }).click();
    await page.later();
    screen.getByRole("textbox", { name: "Question" }).focus();
    typeOn("Go?");
    server.updateTopic(start.id, { name: "other" });
    await page.later();
    typeOn("!");
    expect(screen.getAllByRole("textbox", { name: "Question" }).map((field) => (field instanceof HTMLTextAreaElement ? field.value : ""))).toEqual(["Go?!", "Stop?"]);
    expect(composer()).toHaveValue("");
  });

  it("is not called to the composer from elsewhere", async () => {
    const server = world();
    const page = await showPage(server, { path: at(start.id) });
    const search = screen.getByRole("combobox", { name: "Search messages" });
    composer().focus();
    search.focus();
    server.updateTopic(start.id, { name: "other" });
    await page.later();
    expect(page.path()).toBe(at(other.id));
    expect(focused()).toBe(search);
  });
});

describe("whoever types into an ask that ends", () => {
  it.each<readonly [string, string, (server: FakeServer) => void]>([
    ["is withdrawn, in its topic", at(start.id), (server) => server.cancel("a")],
    ["is withdrawn, in the inbox", "/", (server) => server.cancel("a")],
    ["is answered by another, in the inbox", "/", (server) => server.answer("a", [{ questionId: "q1", chosen: ["0"], customText: "" }], ben.id)],
  ])("C45 runs no shortcut and picks nothing when it %s", async (_, path, end) => {
    const server = asked();
    const page = await showPage(server, { path });
    await page.later();
    answer("a").focus();
    typeOn("I think");
    end(server);
    await page.later();
    typeOn(SHORTCUTS);
    await page.later();
    expect(page.path()).toBe(path);
    expect(page.store.staged().size).toBe(0);
    expect(main()).toHaveTextContent("You had: I think");
    expect(focused()).not.toBe(document.body);
  });
});

it("C45 whoever types into a channel that is closed to them keeps the field, and its letters are no shortcuts", async () => {
  const server = world();
  const page = await showPage(server, { path: at(start.id) });
  composer().focus();
  typeOn("look at");
  server.putChannel({ ...plan, ownerOnly: true, ownerId: ben.id });
  await page.later();
  expect(composer()).toHaveAttribute("readonly");
  typeOn(SHORTCUTS);
  await page.later();
  expect(focused()).toBe(composer());
  expect(composer()).toHaveValue("look at");
  expect(page.path()).toBe(at(start.id));
});

it("whoever types into a channel that is gone is led away, and runs no shortcut there", async () => {
  const server = world();
  const page = await showPage(server, { path: at(start.id) });
  composer().focus();
  typeOn("look at");
  server.setMembers(plan.id, [ben.id]);
  await page.later();
  expect(page.path()).toBe("/");
  expect(focused()).toBe(main());
  typeOn(SHORTCUTS);
  await page.later();
  expect(page.path()).toBe("/");
  expect(within(main()).getByRole("heading", { level: 1 })).toHaveTextContent("Inbox");
});
