import { screen } from "@solidjs/testing-library";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { PAUSE_MS } from "../lazy-load";
import { Failure } from "../model/client";
import { person } from "../testing/builders";
import { showPage } from "../testing/page";
import { FakeServer } from "../testing/server";

vi.mock("./SignedOutDialog", () => {
  throw new Error("no network");
});

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout"] }));
afterEach(() => void vi.useRealTimers());

it("no key acts on the page of who is signed out, also while the way back in cannot be loaded", async () => {
  const page = await showPage(new FakeServer(person("ann")));
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await page.later();
  };
  await press("g", "b");
  expect(page.path()).toBe("/browse");
  page.client.stream.fail(new Failure("signed_out", "the session ended"));
  await page.later();
  await press("g", "i");
  expect(page.path()).toBe("/browse");
  await vi.advanceTimersByTimeAsync(PAUSE_MS);
  await page.later();
  expect(screen.getByText("You are signed out")).toBeInTheDocument();
  await press("g", "i");
  expect(page.path()).toBe("/browse");
  page.store.reconnect();
  await page.later();
  await press("g", "i");
  expect(page.path()).toBe("/");
});
