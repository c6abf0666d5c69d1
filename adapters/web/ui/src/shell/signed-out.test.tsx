import { screen } from "@solidjs/testing-library";
import { expect, it, vi } from "vitest";
import { Chunk } from "../lazy-load";
import { Failure } from "../model/client";
import { person } from "../testing/builders";
import { showPage } from "../testing/page";
import { FakeServer } from "../testing/server";

it("no key acts on the page of who is signed out, also while the way back in cannot be loaded", async () => {
  const page = await showPage(new FakeServer(person("ann")));
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await page.later();
  };
  await press("g", "b");
  expect(page.path()).toBe("/browse");
  const file = Promise.withResolvers<never>();
  vi.spyOn(Chunk.prototype, "here", "get").mockReturnValue(undefined);
  vi.spyOn(Chunk.prototype, "get").mockReturnValue(file.promise);
  page.client.stream.fail(new Failure("signed_out", "the session ended"));
  await page.later();
  await press("g", "i");
  expect(page.path()).toBe("/browse");
  expect(screen.queryByText("You are signed out")).toBeNull();
  file.reject(new Error("no network"));
  await page.later();
  expect(screen.getByText("You are signed out")).toBeInTheDocument();
  await press("g", "i");
  expect(page.path()).toBe("/browse");
  page.store.reconnect();
  await page.later();
  await press("g", "i");
  expect(page.path()).toBe("/");
});
