import { fireEvent, render, screen } from "@solidjs/testing-library";
import { createSignal, flush, Show } from "solid-js";
import { describe, expect, it, vi } from "vitest";
import { person } from "../testing/builders";
import { FakeClient } from "../testing/fake";
import { FakeServer } from "../testing/server";
import { testStore } from "../testing/store";
import { StoreContext } from "../store/context";
import { Broken } from "./Broken";

describe("a view that broke", () => {
  it("says so as text, tells the funnel of each error, and offers to go on", async () => {
    const { store, errors } = await testStore(new FakeClient(new FakeServer(person("ann"))));
    const [isBroken, setBroken] = createSignal(false);
    const [error, setError] = createSignal<unknown>(new Error("<b>no</b>"));
    const again = vi.fn();
    render(() => (
      <StoreContext value={store}>
        <Show when={isBroken()}>
          <Broken error={error()} onAgain={again} />
        </Show>
      </StoreContext>
    ));
    setBroken(true);
    flush();
    expect(screen.getByRole("alert")).toHaveTextContent("<b>no</b>");
    expect(errors.map(({ where }) => where)).toEqual(["view"]);
    setError("another");
    flush();
    expect(screen.getByRole("alert")).toHaveTextContent("another");
    expect(errors.map(({ error: told }) => told)).toEqual([expect.any(Error), "another"]);
    expect(screen.getByRole("button", { name: "Reload" })).toBeEnabled();
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(again).toHaveBeenCalledTimes(1);
    store.dispose();
  });
});
