import { fireEvent, render, screen } from "@solidjs/testing-library";
import { createSignal, flush, Loading, Show } from "solid-js";
import type { Component } from "solid-js";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { lazyPart, preloadParts } from "./lazy";
import { Chunk, PAUSE_MS } from "./lazy-load";
import { settle } from "./testing/store";

const Dialog: Component<{ readonly name: string }> = (props) => <p>part of {props.name}</p>;
const here = { default: Dialog };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout"] }));

const later = async () => {
  await settle();
  await vi.advanceTimersByTimeAsync(PAUSE_MS);
  await settle();
};

/** A page that goes on beside a part, and what the part's file does. */
const world = () => {
  const file = { load: (): Promise<typeof here> => Promise.reject(new Error("no network")), asked: 0 };
  const Late = lazyPart(() => {
    file.asked += 1;
    return file.load();
  });
  const [isOpen, setOpen] = createSignal(false);
  const [name, setName] = createSignal("one");
  render(() => (
    <>
      <button onClick={() => setName("two")}>rename</button>
      <output>{name()}</output>
      <Show when={isOpen()}>
        <Loading fallback={<i>wait</i>}>
          <Late name={name()} />
        </Loading>
      </Show>
    </>
  ));
  return { file, open: () => setOpen(true) };
};

describe("a part of the page whose file does not come", () => {
  it("is told of in its place, and the rest goes on", async () => {
    const { open } = world();
    open();
    await later();
    expect(screen.getByRole("alert")).toHaveTextContent("could not be loaded");
    expect(screen.getByRole("button", { name: "Reload" })).toBeVisible();
    screen.getByRole("button", { name: "rename" }).click();
    flush();
    expect(screen.getByRole("status")).toHaveTextContent("two");
  });

  it("comes when it is tried again, with what it is given", async () => {
    const { file, open } = world();
    open();
    await later();
    screen.getByRole("button", { name: "Try again" }).click();
    await later();
    expect(screen.getByRole("alert")).toBeVisible();
    file.load = () => Promise.resolve(here);
    screen.getByRole("button", { name: "Try again" }).click();
    await later();
    expect(screen.queryByRole("alert")).toBeNull();
    expect(screen.getByText("part of one")).toBeVisible();
    screen.getByRole("button", { name: "rename" }).click();
    flush();
    expect(screen.getByText("part of two")).toBeVisible();
  });

  it("comes by itself once the browser is online", async () => {
    const { file, open } = world();
    open();
    await later();
    file.load = () => Promise.resolve(here);
    fireEvent(window, new Event("online"));
    await later();
    expect(screen.getByText("part of one")).toBeVisible();
  });

  it("is tried twice before it is told of", async () => {
    const { file, open } = world();
    const load = file.load;
    file.load = () => (file.asked === 1 ? load() : Promise.resolve(here));
    open();
    await later();
    expect(screen.getByText("part of one")).toBeVisible();
    expect(file.asked).toBe(2);
  });

  it("that breaks is told of in its place, too", async () => {
    const { file, open } = world();
    file.load = () =>
      Promise.resolve({
        default: () => {
          throw new Error("it broke");
        },
      });
    open();
    await later();
    expect(screen.getByRole("alert")).toHaveTextContent("it broke");
    screen.getByRole("button", { name: "rename" }).click();
    flush();
    expect(screen.getByRole("status")).toHaveTextContent("two");
  });

  it("is there without the network if it was loaded ahead", async () => {
    const { file, open } = world();
    file.load = () => Promise.resolve(here);
    const loaded = vi.fn();
    void preloadParts().then(loaded);
    // Those of other tests are among them, also such as never come.
    while (loaded.mock.calls.length === 0) {
      await vi.dynamicImportSettled();
      await later();
    }
    file.load = () => Promise.reject(new Error("no network"));
    open();
    flush();
    expect(screen.getByText("part of one")).toBeVisible();
    expect(file.asked).toBe(1);
  });
});

describe("trying again", () => {
  const isModule = (module: unknown): module is typeof here => typeof module === "object" && module !== null && "default" in module;
  const failing = (address: string) => () => Promise.reject(new TypeError(`Failed to fetch dynamically imported module: ${address}`));
  const pause = () => Promise.resolve();
  const address = `${window.location.origin}/assets/Dialog-1.js`;

  it("asks under another address each time, since a browser keeps that an address failed", async () => {
    const asked: string[] = [];
    const importUrl = (url: string) => {
      asked.push(url);
      return asked.length < 3 ? Promise.reject(new Error("still away")) : Promise.resolve(here);
    };
    const chunk = new Chunk(failing(address), isModule, { importUrl, pause });
    await expect(chunk.get()).rejects.toThrow("still away");
    await expect(chunk.get()).resolves.toBe(here);
    expect(asked).toEqual([`${address}?again=2`, `${address}?again=3`, `${address}?again=4`]);
    expect(chunk.here).toBe(here);
  });

  it("imports nothing from another origin, and nothing that is no part", async () => {
    const importUrl = vi.fn(() => Promise.resolve("a page instead"));
    const foreign = new Chunk(failing("https://elsewhere.example/x.js"), isModule, { importUrl, pause });
    await expect(foreign.get()).rejects.toThrow("elsewhere.example");
    expect(importUrl).not.toHaveBeenCalled();
    await expect(new Chunk(failing(address), isModule, { importUrl, pause }).get()).rejects.toThrow("Failed to fetch");
    expect(importUrl).toHaveBeenCalledTimes(1);
  });

  it("asks again for a style sheet that did not come", async () => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = "/assets/Dialog-1.css";
    document.head.append(link);
    fireEvent(link, new Event("error"));
    const load = vi.fn(() => Promise.resolve(here));
    const got = new Chunk(load, isModule, { importUrl: () => Promise.reject(new Error("not wanted")), pause }).get();
    const sheet = () => {
      const found = document.head.querySelector('link[href$="/assets/Dialog-1.css"]');
      if (!found) throw new Error("no style sheet");
      return found;
    };
    const again = sheet();
    expect(again).not.toBe(link);
    expect(load).not.toHaveBeenCalled();
    // Of a sheet that fails for good the part does not depend.
    fireEvent(again, new Event("error"));
    await expect(got).resolves.toBe(here);
    const next = new Chunk(load, isModule, { importUrl: () => Promise.reject(new Error("not wanted")), pause }).get();
    const last = sheet();
    expect(last).not.toBe(again);
    fireEvent(last, new Event("load"));
    await expect(next).resolves.toBe(here);
    last.remove();
  });
});
