import { screen, within } from "@solidjs/testing-library";
import { describe, expect, it } from "vitest";
import { agent, person } from "../testing/builders";
import { focused } from "../testing/focus";
import { memory } from "../testing/memory";
import { rail, showPage } from "../testing/page";
import { FakeServer } from "../testing/server";

const ann = person("ann");
const bot = agent("bot", ann.id);
const other = agent("other", ann.id);
const world = () => new FakeServer(ann).seed(bot, other);

describe("agents of the left column", () => {
  it("C43 a pinned agent is listed once, unless somebody who is not pinned stands below it", async () => {
    const server = world();
    const [lead, helper] = [agent("lead", ann.id), agent("helper", ann.id, { parentId: "agent-lead" })];
    server.seed(lead, helper);
    const page = await showPage(server);
    const listed = (name: string) => within(rail()).getAllByRole("link").filter((link) => link.classList.contains("agent") && link.querySelector(".rail-name")?.textContent === name).length;
    const press = async (name: string) => {
      screen.getAllByRole("button", { name })[0]?.click();
      await page.later();
    };
    await press("Pin other");
    expect(listed("other")).toBe(1);
    await press("Pin lead");
    expect(listed("lead")).toBe(2);
    await press("Pin helper");
    expect([listed("lead"), listed("helper")]).toEqual([1, 1]);
    await press("Pin bot");
    expect(screen.queryByText(/No agents yet/)).toBeNull();
    await press("Unpin lead");
    expect([listed("lead"), listed("helper")]).toEqual([1, 1]);
  });

  it("C43 what another tab pins is shown, and not undone by what is pinned here", async () => {
    const text = new Map<string, string>();
    const kept = { read: (key: string) => text.get(key), write: (key: string, value: string) => void text.set(key, value) };
    const page = await showPage(world(), { kept });
    const pinned = () => within(rail()).getAllByRole("button", { name: /^Unpin/ }).map((button) => button.getAttribute("aria-label"));
    kept.write("pins", JSON.stringify([{ id: other.id, handle: "other" }]));
    screen.getAllByRole("button", { name: "Pin bot" })[0]?.click();
    await page.later();
    expect(new Set(pinned())).toEqual(new Set(["Unpin other", "Unpin bot"]));
    kept.write("pins", JSON.stringify([{ id: bot.id, handle: "bot" }]));
    window.dispatchEvent(new StorageEvent("storage", { key: "pins" }));
    await page.later();
    expect(new Set(pinned())).toEqual(new Set(["Unpin bot"]));
    // Another tab removed all that this browser keeps.
    text.clear();
    window.dispatchEvent(new StorageEvent("storage", { key: null }));
    await page.later();
    expect(within(rail()).queryAllByRole("button", { name: /^Unpin/ })).toEqual([]);
  });
});

describe("the focus in the left column", () => {
  it("follows an agent that is pinned or unpinned to where it stands now", async () => {
    const page = await showPage(world());
    for (const [pressed, now] of [["Pin bot", "Unpin bot"], ["Pin other", "Unpin other"], ["Unpin bot", "Pin bot"], ["Unpin other", "Pin other"]] as const) {
      const button = within(rail()).getByRole("button", { name: pressed });
      button.focus();
      button.click();
      await page.later();
      expect(focused()).toHaveAccessibleName(now);
    }
  });

  it("goes to the next pinned one when one that is no longer there is unpinned", async () => {
    const kept = memory({ pins: JSON.stringify([{ id: "agent-gone", handle: "gone" }, { id: bot.id, handle: "bot" }]) });
    const page = await showPage(world(), { kept });
    const button = within(rail()).getByRole("button", { name: "Unpin gone" });
    button.focus();
    button.click();
    await page.later();
    expect(focused()).toHaveAccessibleName("Unpin bot");
  });
});
