import { render } from "@solidjs/testing-library";
import { expect, it, vi } from "vitest";
import { createPage } from "./page";
import { createStore } from "./store/store";
import { FakeClient } from "./testing/fake";
import { FakeSession } from "./testing/page";
import { FakeKeep, FakeWorld } from "./testing/store";

/** Notes what listens at a target from now on. */
const listeners = (target: EventTarget): Set<string> => {
  const names = new Map<unknown, string>();
  const listening = new Set<string>();
  const nameOf = (type: string, listener: unknown) => {
    const name = names.get(listener) ?? `${type} ${names.size.toString()}`;
    names.set(listener, name);
    return name;
  };
  const [add, remove] = [target.addEventListener.bind(target), target.removeEventListener.bind(target)];
  vi.spyOn(target, "addEventListener").mockImplementation((type, listener, options) => {
    listening.add(nameOf(type, listener));
    add(type, listener, options);
  });
  vi.spyOn(target, "removeEventListener").mockImplementation((type, listener, options) => {
    listening.delete(nameOf(type, listener));
    remove(type, listener, options);
  });
  return listening;
};

/** The tests' browser has no media queries: nothing is asked of the system there. */
class NoMedia extends EventTarget implements MediaQueryList {
  readonly matches = false;
  readonly onchange = null;
  constructor(readonly media: string) {
    super();
  }
  addListener(): void {}
  removeListener(): void {}
}

it("a page that is gone listens to nothing any more, and waits for nothing", async () => {
  vi.stubGlobal("matchMedia", (query: string) => new NoMedia(query));
  const [atWindow, atDocument] = [listeners(window), listeners(document)];
  const [world, client] = [new FakeWorld(), new FakeClient()];
  const Page = createPage({
    session: new FakeSession(), client, me: client.server.me.id,
    createStore: (over, me) => createStore({ client: over, me, world, session: new FakeKeep() }),
  });
  const { unmount } = render(() => <Page />);
  await world.pass(60);
  await vi.dynamicImportSettled();
  await world.pass(60);
  expect([...atWindow].join()).toMatch(/keydown/);
  expect([...atWindow].join()).toMatch(/storage/);
  unmount();
  await world.pass(0);
  expect([...atWindow, ...atDocument]).toEqual([]);
  expect(world.waiting).toBe(0);
});
