import { within } from "@solidjs/testing-library";
import { beforeEach, describe, expect, it, vi } from "vitest";
import * as select from "../model/select";
import { channelPath } from "../router/paths";
import { channel, person, topic } from "../testing/builders";
import { rail, showPage } from "../testing/page";
import { FakeServer } from "../testing/server";

/** What waits until the page is idle, which it is when a test says so. */
let waiting: (() => void)[] = [];
beforeEach(() => {
  waiting = [];
  vi.stubGlobal("requestIdleCallback", (then: () => void) => waiting.push(then));
  vi.stubGlobal("cancelIdleCallback", () => undefined);
});

const ann = person("ann");
const rooms = Array.from({ length: 100 }, (_, index) => channel(`c-${String(index).padStart(3, "0")}`, [ann]));
const stops = () => [...rail().querySelectorAll<HTMLElement>("[data-stop]")];

/** The page at a channel far down, with all of the column made; and which rows were brought into view. */
const whole = async () => {
  const shown: string[] = [];
  vi.spyOn(Element.prototype, "scrollIntoView").mockImplementation(function (this: Element) {
    shown.push(this.getAttribute("href") ?? "");
  });
  const path = channelPath("channel-c-090");
  const server = new FakeServer(ann).seed(...rooms, topic("talk", "channel-c-001"));
  const page = await showPage(server, { path });
  for (let step = 0; step < 3; step += 1) {
    waiting.splice(0).forEach((then) => then());
    await page.later();
  }
  return { page, server, shown, path };
};

describe("a column of many channels", () => {
  it("is made as a whole when the focus comes into it, so that End leads to its end", async () => {
    const page = await showPage(new FakeServer(ann).seed(...rooms));
    expect(within(rail()).queryByText("c-099")).toBeNull();
    stops()[0]?.focus();
    await page.later();
    expect(within(rail()).queryByText("c-099")).not.toBeNull();
  });

  it("brings the row of what is shown into view and makes it the tab stop, once it is made", async () => {
    const { shown, path } = await whole();
    expect(shown).toContain(path);
    expect(stops().filter((stop) => stop.tabIndex === 0).map((stop) => stop.getAttribute("href"))).toEqual([path]);
  });

  it("stays where it was scrolled to when something happens", async () => {
    const { page, shown, server } = await whole();
    shown.length = 0;
    server.post("channel-c-001", { kind: "name", name: "start" }, [{ kind: "text", text: "Hello" }]);
    await page.later();
    expect(within(rail()).queryByText("start")).not.toBeNull();
    expect(shown).toEqual([]);
  });

  it("is sorted and named anew by what is about its channels only", async () => {
    const { page, server } = await whole();
    const [sorted, named] = [vi.spyOn(select, "rail"), vi.spyOn(select, "channelLabel")];
    server.post("channel-c-001", { kind: "id", id: "topic-talk" }, [{ kind: "text", text: "Hello" }]);
    await page.later();
    expect(sorted).not.toHaveBeenCalled();
    // The view and the title name the channel that is shown.
    expect(named.mock.calls.filter(([, each]) => each.id !== "channel-c-090")).toEqual([]);
    server.putChannel(channel("c-000", [ann], { name: "first" }));
    await page.later();
    expect(sorted).toHaveBeenCalledTimes(1);
    expect(within(rail()).queryByText("first")).not.toBeNull();
  });
});
