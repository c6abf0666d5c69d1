import { screen, within } from "@solidjs/testing-library";
import { describe, expect, it, vi } from "vitest";
import { channelPath } from "../router/paths";
import { channel, person } from "../testing/builders";
import { showPage } from "../testing/page";
import { FakeServer } from "../testing/server";
import { whenIdle } from "./idle";

vi.mock("./idle", () => ({ whenIdle: vi.fn(() => () => undefined) }));

const ann = person("ann");
const rooms = Array.from({ length: 100 }, (_, index) => channel(`c-${String(index).padStart(3, "0")}`, [ann]));
const rail = () => screen.getByRole("navigation", { name: "Channels and agents" });
const stops = () => [...rail().querySelectorAll<HTMLElement>("[data-stop]")];

describe("a column of many channels", () => {
  it("is made as a whole when the focus comes into it, so that End leads to its end", async () => {
    const page = await showPage(new FakeServer(ann).seed(...rooms));
    expect(within(rail()).queryByText("c-099")).toBeNull();
    stops()[0]?.focus();
    await page.later();
    expect(within(rail()).queryByText("c-099")).not.toBeNull();
  });

  it("brings the row of what is shown into view and makes it the tab stop, once it is made", async () => {
    const shown: string[] = [];
    vi.spyOn(Element.prototype, "scrollIntoView").mockImplementation(function (this: Element) {
      shown.push(this.getAttribute("href") ?? "");
    });
    const later: (() => void)[] = [];
    vi.mocked(whenIdle).mockImplementation((then) => {
      later.push(then);
      return () => undefined;
    });
    const path = channelPath("channel-c-090");
    const page = await showPage(new FakeServer(ann).seed(...rooms), { path });
    for (let step = 0; step < 3; step += 1) {
      later.splice(0).forEach((then) => then());
      await page.later();
    }
    expect(shown).toContain(path);
    expect(stops().filter((stop) => stop.tabIndex === 0).map((stop) => stop.getAttribute("href"))).toEqual([path]);
  });
});
