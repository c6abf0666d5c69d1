import { fireEvent, screen } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it, vi } from "vitest";
import { channel, message, person, topic } from "../testing/builders";
import { showPage } from "../testing/page";
import { FakeServer } from "../testing/server";
import { SEARCH_BYTES } from "./query";
import { PAUSE_MS } from "./SearchBox";

const ann = person("ann");
const plan = channel("plan", [ann]);
const start = topic("start", plan.id);

const opened = async () => {
  const server = new FakeServer(ann);
  server.seed(plan, start);
  ["apple one", "apple two", "pear"].forEach((text, index) => server.seedMessage(plan.id, message(index + 1, text, { topicId: start.id })));
  const page = await showPage(server);
  const field = screen.getByRole("combobox", { name: "Search messages" });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const type = (value: string) => {
    fireEvent.input(field, { target: { value } });
    flush();
  };
  const pause = async (ms = PAUSE_MS) => {
    vi.advanceTimersByTime(ms);
    await page.later();
  };
  const options = () => screen.queryAllByRole("option").map((option) => option.textContent);
  const press = (key: string) => {
    fireEvent.keyDown(field, { key });
    flush();
  };
  const active = () => document.getElementById(field.getAttribute("aria-activedescendant") ?? "")?.textContent;
  return { page, field, type, pause, options, press, active };
};

describe("the search of the top bar", () => {
  it("asks once the typing pauses, and shows what was found", async () => {
    const { page, type, pause, options, field } = await opened();
    type("a");
    await pause(PAUSE_MS - 1);
    type("apple");
    await pause(PAUSE_MS - 1);
    expect(page.client.called("search")).toHaveLength(0);
    await pause(1);
    expect(page.client.called("search").map((call) => call.input[0])).toEqual(["apple"]);
    expect(options()).toEqual(["ann plan › startapple one", "ann plan › startapple two", "Show all results"]);
    expect(field).toHaveAttribute("aria-expanded", "true");
  });

  it("marks in each result what was looked for", async () => {
    const { type, pause } = await opened();
    type("apple");
    await pause();
    const [first] = screen.getAllByRole("option");
    expect([...(first?.querySelectorAll("mark") ?? [])].map((mark) => mark.textContent)).toEqual(["apple"]);
  });

  it("says what is matched when nothing is found", async () => {
    const { type, pause, options } = await opened();
    type("apricot");
    await pause();
    expect(options()).toEqual([expect.stringMatching(/^Nothing found\. Only whole words are matched/)]);
  });

  it("a query with a NUL is not sent", async () => {
    const { page, type, pause, options } = await opened();
    type("a\0");
    await pause();
    expect(page.client.called("search")).toHaveLength(0);
    expect(options()).toEqual(["The search holds a NUL character, at place 2, which cannot be sent."]);
  });

  it("a late answer to an older question is dropped", async () => {
    const { page, type, pause, options } = await opened();
    const held = page.client.hold("search");
    type("apple");
    await pause();
    type("pear");
    await pause();
    held.release();
    await page.later();
    expect(options()).toEqual(["ann plan › startpear", "Show all results"]);
  });

  it("arrows wrap, Enter takes the first or the chosen one, Escape clears and gives the focus back", async () => {
    const { page, field, type, pause, press, active } = await opened();
    const before = screen.getByRole("link", { name: "Help" });
    before.focus();
    field.focus();
    type("apple");
    await pause();
    expect(active()).toContain("apple one");
    press("ArrowUp");
    expect(active()).toBe("Show all results");
    press("ArrowDown");
    press("Enter");
    await page.later();
    expect(page.path()).toBe(`/channel/${plan.id}/topic/${start.id}/message/message-1`);
    before.focus();
    field.focus();
    type("pear");
    press("Escape");
    expect(field).toHaveValue("");
    expect(document.activeElement).toBe(before);
  });

  it("a query that is too long is not sent; the limit and its size are named", async () => {
    const { page, type, pause, options } = await opened();
    type("ä".repeat(SEARCH_BYTES / 2 + 1));
    await pause();
    expect(page.client.called("search")).toHaveLength(0);
    expect(options()).toEqual(["The search is too long: at most 1 KiB, it has 1,026 bytes."]);
  });
});
