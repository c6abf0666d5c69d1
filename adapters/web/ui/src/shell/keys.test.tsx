/** Keys that lead somewhere, and what the help says of them. */
import { fireEvent, screen } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { expect, it, vi } from "vitest";
import { channel, person, topic } from "../testing/builders";
import { main, showPage } from "../testing/page";
import { FakeServer } from "../testing/server";

const ann = person("ann");
const plan = channel("plan", [ann]);
const start = topic("start", plan.id);
const world = () => new FakeServer(ann).seed(plan, start);
const press = (key: string, on: Element = document.body) => {
  fireEvent.keyDown(on, { key });
  flush();
};

it("C45 c goes to the message field of a topic", async () => {
  const page = await showPage(world(), { path: `/channel/${plan.id}/topic/${start.id}` });
  press("c", main());
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Message" }));
  page.app.router.go("/");
  await page.later();
  press("c", main());
  expect(document.activeElement).toBe(main());
});

const before = `/channel/${plan.id}/topic/${start.id}`;
it.each([
  ["?", before, before],
  ["Escape", before, before],
  ["?", "/help", "/"],
  ["Escape", "/help", "/"],
])("the help is left by %s: where the page began at %s, one comes to %s", async (key, began, after) => {
  const page = await showPage(world(), { path: began });
  if (began !== "/help") press("?");
  await page.later();
  expect(page.path()).toBe("/help");
  const search = screen.getByRole("combobox", { name: "Search messages" });
  search.focus();
  press("?", search);
  press("Escape", search);
  expect(page.path()).toBe("/help");
  const moves = page.app.router.moves();
  press(key, main());
  await vi.waitUntil(() => page.app.router.moves() > moves);
  await page.later();
  expect(page.path()).toBe(after);
  expect(page.app.router.isBack()).toBe(began !== "/help");
});

it("the list of keys has each of them once, wherever one comes from", async () => {
  const page = await showPage(world());
  press("?");
  await page.later();
  const keys = [...main().querySelectorAll("dt")].flatMap((each) => each.textContent.split(" or "));
  expect(keys).toEqual([...new Set(keys)]);
  for (const key of ["j", "k", "c", "?", "Escape"]) expect(keys).toContain(key);
});
