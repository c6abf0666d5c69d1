import { fireEvent, render, screen } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it, vi } from "vitest";
import { Boot } from "../../Boot";
import { Failure } from "../../model/client";
import { FakeSession } from "../../testing/page";
import { settle } from "../../testing/store";
import { credentialOf, takeSecret } from "./credential";

describe("what somebody has in hand", () => {
  it("a whole link counts as its secret, whatever was said; blanks are nothing", () => {
    expect(credentialOf("token", " https://host/sign-in#abc ")).toEqual({ secret: "abc" });
    expect(credentialOf("secret", " abc\n")).toEqual({ secret: "abc" });
    expect(credentialOf("token", "abc")).toEqual({ token: "abc" });
    expect(credentialOf("secret", " ")).toBeUndefined();
  });
  it("the secret leaves the address bar at once, and only that of the sign-in's address is taken", () => {
    const replaceState = vi.fn();
    const at = (pathname: string, hash: string) => ({ location: { pathname, hash, search: "" }, history: { replaceState } });
    expect(takeSecret(at("/sign-in", "#abc"))).toBe("abc");
    expect(replaceState).toHaveBeenCalledWith(null, "", "/sign-in");
    replaceState.mockClear();
    expect(takeSecret(at("/sign-in", ""))).toBeUndefined();
    expect(takeSecret(at("/channel/x", "#abc"))).toBeUndefined();
    expect(replaceState).not.toHaveBeenCalled();
  });
});

const boot = async (change: { session?: FakeSession; secret?: string; asks?: boolean; start?: () => Promise<never> } = {}) => {
  const session = change.session ?? new FakeSession();
  const start = vi.fn(change.start ?? (() => Promise.resolve({ Page: () => <p>the page</p> })));
  const onSignedIn = vi.fn();
  render(() => <Boot session={session} secret={change.secret} asksToSignIn={change.asks ?? false} start={start} onSignedIn={onSignedIn} />);
  await settle();
  // The form is loaded when it is wanted.
  await vi.dynamicImportSettled();
  await settle();
  return { session, start, onSignedIn };
};
const button = (name: string) => screen.getAllByRole("button", { name })[0];
const closed = () => {
  const session = new FakeSession();
  session.open = false;
  return session;
};

describe("the start", () => {
  it("a session that goes on leads to the page", async () => {
    const { start } = await boot();
    expect(start).toHaveBeenCalledTimes(1);
    expect(screen.getByText("the page")).toBeInTheDocument();
  });

  it("a link is not spent by opening it, only by the button", async () => {
    const { session, onSignedIn } = await boot({ session: closed(), secret: "abc", asks: true });
    expect(session.calls).toEqual(["open?"]);
    button("Sign in")?.click();
    await settle();
    expect(session.calls).toEqual(["open?", { secret: "abc" }]);
    expect(onSignedIn).toHaveBeenCalledTimes(1);
    expect(screen.getByText("the page")).toBeInTheDocument();
  });

  it("a refused link says the server's words and leaves the form usable", async () => {
    const { session, start } = await boot({ session: closed(), secret: "abc", asks: true });
    session.failure = new Failure("signed_out", "the sign-in secret does not work; ask an admin for a new one");
    button("Sign in")?.click();
    await settle();
    expect(screen.getByRole("alert")).toHaveTextContent(/ask an admin for a new one/);
    expect(button("Sign in")).toBeEnabled();
    expect(start).not.toHaveBeenCalled();
  });

  it("a link that was used says what to do now; a server that is away and a token do not", async () => {
    const { session } = await boot({ session: closed(), secret: "abc", asks: true });
    session.failure = new Failure("unavailable", "");
    button("Sign in")?.click();
    await settle();
    expect(screen.queryByText(/works once, and only for a week/)).toBeNull();
    session.failure = new Failure("signed_out", "the sign-in secret does not work; ask an admin for a new one");
    button("Sign in")?.click();
    await settle();
    expect(screen.getByRole("alert")).toHaveTextContent(/ask an admin for a new one.*works once, and only for a week.*you are signed in where you did.*an administrator makes it/);
    fireEvent.click(screen.getByLabelText("A token of yours"));
    fireEvent.input(screen.getByLabelText("Paste it here"), { target: { value: "t0ken" } });
    flush();
    screen.getAllByRole("button", { name: "Sign in" })[1]?.click();
    await settle();
    expect(session.calls.at(-1)).toEqual({ token: "t0ken" });
    expect(screen.queryByText(/works once, and only for a week/)).toBeNull();
  });

  it("a token is traded as one; nothing pasted sends nothing", async () => {
    const { session } = await boot({ session: closed() });
    button("Sign in")?.click();
    await settle();
    expect(session.calls).toEqual(["open?"]);
    fireEvent.click(screen.getByLabelText("A token of yours"));
    fireEvent.input(screen.getByLabelText("Paste it here"), { target: { value: "t0ken" } });
    flush();
    button("Sign in")?.click();
    await settle();
    expect(session.calls.at(-1)).toEqual({ token: "t0ken" });
  });

  it("somebody who is signed in and opens a link is asked first", async () => {
    const { start } = await boot({ secret: "abc", asks: true });
    expect(start).not.toHaveBeenCalled();
    button("Stay signed in")?.click();
    await settle();
    expect(screen.getByText("the page")).toBeInTheDocument();
  });

  it("without knowing who is signed in nothing of the page renders; the reason is text", async () => {
    await boot({ start: () => Promise.reject(new Failure("internal", "<b>no</b> account")) });
    expect(screen.queryByText("the page")).toBeNull();
    expect(screen.getByText("<b>no</b> account")).toBeInTheDocument();
    expect(document.querySelector("b")).toBeNull();
  });

  it("a server that is away is no sign-out", async () => {
    const session = new FakeSession();
    session.failure = new Failure("unavailable", "");
    await boot({ session });
    expect(screen.getByRole("heading")).toHaveTextContent("Compass could not start");
    session.failure = undefined;
    button("Try again")?.click();
    await settle();
    expect(screen.getByText("the page")).toBeInTheDocument();
  });

  it("a session that ended meanwhile leads to the sign-in", async () => {
    await boot({ start: () => Promise.reject(new Failure("signed_out", "")) });
    expect(screen.getByRole("heading", { level: 1 })).toHaveTextContent("Sign in to Compass");
  });
});
