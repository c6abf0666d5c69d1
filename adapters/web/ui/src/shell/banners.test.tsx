import { fireEvent, screen, within } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it, vi } from "vitest";
import { Failure } from "../model/client";
import { shellText } from "../strings";
import { WATCHED_PATIENCE } from "../sync/run";
import { channel, person, topic } from "../testing/builders";
import { focused } from "../testing/focus";
import { showPage } from "../testing/page";
import { FakeClient, FakeStream } from "../testing/fake";
import { FakeServer } from "../testing/server";

/** Says that the browser has no network, until the test is over. */
const goOffline = () => vi.spyOn(window.navigator, "onLine", "get").mockReturnValue(false);

describe("bars above the content", () => {
  it("a browser that goes offline is told of at once", async () => {
    const page = await showPage(new FakeServer(person("ann")));
    goOffline();
    page.client.stream.fail();
    await page.later(0);
    expect(screen.getByText(/This browser is offline/)).toBeInTheDocument();
  });

  it("a stream that something on the way holds back from the beginning is told of", async () => {
    const client = new FakeClient(new FakeServer(person("ann")));
    client.subscribe = (since, signal) => new FakeStream(since, signal);
    const page = await showPage(client.server, { client, wait: false });
    await page.later(WATCHED_PATIENCE.silence);
    expect(screen.getByText(new RegExp(shellText.notYet))).toBeInTheDocument();
  });

  it("what is said of the connection is true while it is shown", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const page = await showPage(new FakeServer(person("ann")));
    const network = goOffline();
    page.client.stream.fail();
    await page.later(0);
    expect(screen.getByText(new RegExp(shellText.offline))).toBeInTheDocument();
    network.mockReturnValue(true);
    vi.advanceTimersByTime(500);
    await page.later(0);
    expect(screen.getByText(new RegExp(shellText.lost))).toBeInTheDocument();
    network.mockReturnValue(false);
    vi.advanceTimersByTime(500);
    await page.later(0);
    expect(screen.getByText(new RegExp(shellText.offline))).toBeInTheDocument();
  });
});

describe("the focus in a bar that goes", () => {
  const field = () => screen.getByRole("combobox", { name: "Search messages" });
  const press = (button: HTMLElement) => {
    fireEvent.click(button);
    flush();
  };
  const enter = (button: HTMLElement) => {
    field().focus();
    button.focus();
  };

  it("goes back to where it came from when a notice is dismissed; to the content if that is gone", async () => {
    const page = await showPage(new FakeServer(person("ann")), { path: "/channel/none" });
    enter(screen.getByRole("button", { name: "Dismiss" }));
    press(screen.getByRole("button", { name: "Dismiss" }));
    await page.later();
    expect(focused()).toBe(field());
    page.app.redirect("/", { kind: "no_channel", name: "" });
    await page.later();
    const gone = document.createElement("button");
    document.body.append(gone);
    gone.focus();
    screen.getByRole("button", { name: "Dismiss" }).focus();
    gone.remove();
    press(screen.getByRole("button", { name: "Dismiss" }));
    await page.later();
    expect(focused()).toBe(screen.getByRole("main"));
  });

  it("goes to the next problem, then back to where it came from", async () => {
    const page = await showPage(new FakeServer(person("ann")));
    for (const word of ["one", "two"]) page.store.report("pin", new Failure("invalid", word));
    await page.later();
    const dismiss = () => within(screen.getByRole("alert", { name: "Problems" })).getAllByRole("button", { name: "Dismiss" });
    const [first, second] = dismiss();
    if (!first || !second) throw new Error("two problems");
    enter(first);
    press(first);
    await page.later();
    expect(focused()).toBe(second);
    press(second);
    await page.later();
    expect(focused()).toBe(field());
  });

  it("goes back to where it came from when the connection is there again", async () => {
    const page = await showPage(new FakeServer(person("ann")));
    goOffline();
    page.client.stream.fail();
    await page.later(0);
    const now = screen.getByRole("button", { name: "Try now" });
    enter(now);
    press(now);
    await page.later();
    expect(now).not.toBeInTheDocument();
    expect(focused()).toBe(field());
  });

  it("goes back to where it was when somebody signs in again", async () => {
    const plan = channel("plan", [person("ann")]);
    const page = await showPage(new FakeServer(person("ann")).seed(plan, topic("start", plan.id)), { path: `/channel/${plan.id}/topic/topic-start` });
    const message = screen.getByRole("textbox", { name: "Message" });
    message.focus();
    page.client.stream.fail(new Failure("signed_out", "the session ended"));
    await page.later();
    const again = within(screen.getByRole("dialog")).getByRole("button", { name: "Try again" });
    again.focus();
    press(again);
    await page.later(40_000);
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(focused()).toBe(message);
  });
});
