/** The ask that a person composes below a topic. */
import { fireEvent, screen, within } from "@solidjs/testing-library";
import { createSignal, flush } from "solid-js";
import { describe, expect, it, vi } from "vitest";
import { Failure } from "../model/client";
import { LIMITS } from "../model/limits";
import type { Topic } from "../model/types";
import { keptForm, newOption, newQuestion } from "../store/ask-form";
import { channel, message, person, topic } from "../testing/builders";
import { focused } from "../testing/focus";
import { settle } from "../testing/store";
import { show, stillStore } from "../testing/view";
import { Composer } from "./Composer";

const ann = person("ann");
const room = channel("room", [ann]);
const [plan, other] = [topic("plan", room.id), topic("other", room.id)];

function view() {
  const still = stillStore({ accounts: [ann], channels: [room], topics: [plan, other] });
  const [at, setAt] = createSignal<Topic>(plan);
  show(still, () => <Composer channel={room} topic={at()} />);
  return {
    store: still.store,
    setState: still.setState,
    go: (to: Topic) => {
      setAt(to);
      flush();
    },
    posts: () => still.recorded.filter((each) => each.name === "post").map((each) => each.input),
  };
}

const openAsk = async () => {
  screen.getByRole("button", { name: "Ask…" }).click();
  await partLoaded();
};
const partLoaded = async () => {
  for (let turn = 0; turn < 5; turn += 1) {
    await vi.dynamicImportSettled();
    await settle();
  }
};
/** Discards the ask and says that this is meant. */
const discard = async () => {
  const press = (button: HTMLElement) => {
    button.focus();
    button.click();
    return settle();
  };
  await press(screen.getByRole("button", { name: "Discard" }));
  await press(within(screen.getByRole("group", { name: /^Discard this ask/ })).getByRole("button", { name: "Discard" }));
};
const askOf = (question: string) => {
  fireEvent.input(screen.getByLabelText("Question"), { target: { value: question } });
  flush();
};

describe("the focus of whoever composes an ask", () => {
  it("goes to the question when they open it, to the label of an option and to the question that they add, and back to what opened it", async () => {
    view();
    const press = async (name: string | RegExp) => {
      const button = screen.getByRole("button", { name });
      button.focus();
      button.click();
      await partLoaded();
    };
    await press("Ask…");
    expect(focused()).toBe(screen.getByLabelText("Question"));
    await press(/^Add option/);
    await press(/^Add option/);
    expect(focused()).toBe(screen.getAllByLabelText("Label")[1]);
    await press(/^Add question/);
    expect(focused()).toBe(screen.getAllByLabelText("Question")[1]);
    await discard();
    expect(focused()).toBe(screen.getByRole("button", { name: "Ask…" }));
  });
  it("stays where it is when what was begun comes back, or when they are elsewhere once the form is there", async () => {
    const { store, go } = view();
    store.drafts.write(`ask:${other.id}`, keptForm({ questions: [{ ...newQuestion(), question: "Stop?" }] }));
    const message = () => screen.getByRole("textbox", { name: "Message" });
    go(other);
    await partLoaded();
    expect(screen.getByLabelText("Question")).toBeInTheDocument();
    expect(focused()).toBe(document.body);
    go(plan);
    screen.getByRole("button", { name: "Ask…" }).click();
    message().focus();
    await partLoaded();
    expect(screen.getByLabelText("Question")).toBeInTheDocument();
    expect(focused()).toBe(message());
  });
});

describe("the ask that is being composed", () => {
  it("is there again when the topic is come back to, and gone once it is discarded or posted", async () => {
    const { go, store } = view();
    await openAsk();
    askOf("Deploy now?");
    go(other);
    expect(screen.queryByLabelText("Question")).toBeNull();
    go(plan);
    await partLoaded();
    expect(screen.getByLabelText("Question")).toHaveValue("Deploy now?");
    await discard();
    expect(screen.queryByLabelText("Question")).toBeNull();
    expect(store.drafts.read(`ask:${plan.id}`)).toBe("");
    await openAsk();
    expect(screen.getByLabelText("Question")).toHaveValue("");
    askOf("Posted?");
    store.post = () => Promise.resolve(message(1, ""));
    screen.getByRole("button", { name: "Post ask" }).click();
    await settle();
    expect(store.drafts.read(`ask:${plan.id}`)).toBe("");
  });
  it("is posted by the one button that stands out: that of the message is quieter meanwhile", async () => {
    const { store } = view();
    store.drafts.write(`message:${plan.id}`, "half a message");
    const standsOut = () => screen.getAllByRole("button").filter((each) => each.classList.contains("primary")).map((each) => each.textContent);
    expect(standsOut()).toEqual(["Send"]);
    await openAsk();
    expect(standsOut()).toEqual(["Post ask"]);
  });
  it("is there when its topic is joined to the one that is shown, and closed all the same once that is asked for", async () => {
    const { store, setState } = view();
    store.drafts.write(`ask:${other.id}`, keptForm({ questions: [{ ...newQuestion(), question: "Deploy now?" }] }));
    setState({ merged: new Map([[other.id, plan.id]]) });
    await partLoaded();
    expect(screen.getByLabelText("Question")).toHaveValue("Deploy now?");
    screen.getByRole("button", { name: "Ask…" }).click();
    await settle();
    expect(screen.queryByLabelText("Question")).toBeNull();
    expect(store.drafts.read(`ask:${plan.id}`)).toContain("Deploy now?");
  });
  it("is discarded only once that is meant; one that nothing was written into goes at once", async () => {
    const { store } = view();
    await openAsk();
    screen.getByRole("button", { name: "Discard" }).click();
    await settle();
    expect(screen.queryByLabelText("Question")).toBeNull();
    await openAsk();
    askOf("Deploy now?");
    const opener = screen.getByRole("button", { name: "Discard" });
    opener.focus();
    opener.click();
    await settle();
    const sure = screen.getByRole("group", { name: /^Discard this ask/ });
    expect(focused()).toBe(sure);
    within(sure).getByRole("button", { name: "Cancel" }).click();
    await settle();
    expect(focused()).toBe(opener);
    expect(screen.getByLabelText("Question")).toHaveValue("Deploy now?");
    expect(store.drafts.read(`ask:${plan.id}`)).not.toBe("");
  });
  it("comes back when it is refused, and says why until it is given up", async () => {
    const { store } = view();
    await openAsk();
    askOf("Deploy now?");
    store.post = () => Promise.reject(new Failure("invalid", "no"));
    screen.getByRole("button", { name: "Post ask" }).click();
    await partLoaded();
    expect(screen.getByLabelText("Question")).toHaveValue("Deploy now?");
    expect(screen.getByRole("alert")).toHaveTextContent("Not sent. no");
    await discard();
    await openAsk();
    expect(screen.queryByRole("alert")).toBeNull();
  });
  it("is in sight as long as it is on its way or may have been kept, and is not written anew then", async () => {
    const { go, store } = view();
    await openAsk();
    askOf("Deploy now?");
    let fail: (failure: Failure) => void = () => undefined;
    store.post = () => new Promise((_, reject) => (fail = reject));
    screen.getByRole("button", { name: "Post ask" }).click();
    await settle();
    const buttons = () => within(screen.getByRole("listitem")).queryAllByRole("button").map((each) => each.textContent);
    expect(screen.getByRole("listitem")).toHaveTextContent("Deploy now?Sending…");
    expect(buttons()).toEqual([]);
    go(other);
    expect(screen.queryByRole("listitem")).toBeNull();
    fail(new Failure("unknown", "the connection broke"));
    await settle();
    go(plan);
    expect(screen.getByRole("listitem")).toHaveTextContent("Deploy now?It is not known whether this was sent.");
    expect(buttons()).toEqual(["Send now", "Take off the list"]);
  });
  it("keeps the focus near when what held it is removed", async () => {
    view();
    await openAsk();
    screen.getByRole("button", { name: /^Add option/ }).click();
    flush();
    const remove = screen.getByRole("button", { name: "Remove option 1 of question 1" });
    remove.focus();
    remove.click();
    await settle();
    expect(screen.getByRole("button", { name: /^Add option/ })).toHaveFocus();
  });
  it.each(["Discard", "Post ask"])("leaves the focus to what opened it after %s", async (name) => {
    const { store } = view();
    await openAsk();
    askOf("Deploy now?");
    store.post = () => Promise.resolve(message(1, ""));
    if (name === "Discard") await discard();
    else {
      const button = screen.getByRole("button", { name });
      button.focus();
      button.click();
      await settle();
    }
    expect(screen.queryByLabelText("Question")).toBeNull();
    expect(focused()).toBe(screen.getByRole("button", { name: "Ask…" }));
  });
  it("is posted once, however often that is pressed", async () => {
    const { store } = view();
    await openAsk();
    askOf("Deploy now?");
    let posts = 0;
    store.post = () => new Promise(() => (posts += 1));
    const button = screen.getByRole("button", { name: "Post ask" });
    for (let press = 0; press < 2; press += 1) button.click();
    await settle();
    expect(posts).toBe(1);
    expect(screen.getAllByRole("listitem")).toHaveLength(1);
  });
  it("leaves the focus to what is alike when a question or an option is removed, else to what adds one", async () => {
    view();
    await openAsk();
    const press = async (name: RegExp | string) => {
      const button = screen.getAllByRole("button", { name })[0];
      button?.focus();
      button?.click();
      await settle();
    };
    for (const name of [/^Add option/, /^Add option/]) await press(name);
    await press("Remove option 2 of question 1");
    expect(focused()).toHaveAccessibleName("Remove option 1 of question 1");
    fireEvent.click(screen.getByLabelText("Recommended"));
    flush();
    await press("None recommended");
    expect(focused()).toHaveAccessibleName(/^Add option/);
    for (const name of [/^Add question/, /^Add question/]) await press(name);
    await press("Remove question 3");
    expect(focused()).toHaveAccessibleName("Remove question 2");
    await press("Remove question 2");
    expect(focused()).toHaveAccessibleName(/^Add question/);
  });
  it("has the focus in the last option there may be once that is added, and what added it adds no more", async () => {
    const { store } = view();
    store.drafts.write(`ask:${plan.id}`, keptForm({ questions: [{ ...newQuestion(), options: Array.from({ length: LIMITS.options - 1 }, newOption) }] }));
    await openAsk();
    const add = screen.getByText(/^Add option/);
    add.focus();
    for (let press = 0; press < 2; press += 1) {
      add.click();
      flush();
    }
    const options = [...document.querySelectorAll(".ask-composer-option")];
    expect(options).toHaveLength(LIMITS.options);
    expect(focused()).toBe(options.at(-1)?.querySelector("input"));
  });
});

describe("an ask whose options cannot be told apart", () => {
  const twoOptions = async (first: string, second: string) => {
    const shown = view();
    await openAsk();
    fireEvent.input(screen.getByLabelText("Question"), { target: { value: "Now?" } });
    for (const [index, label] of [first, second].entries()) {
      screen.getByRole("button", { name: /^Add option/ }).click();
      flush();
      fireEvent.input(screen.getAllByLabelText("Label")[index] ?? document.body, { target: { value: label } });
      flush();
    }
    return shown;
  };
  const post = async () => {
    screen.getByRole("button", { name: "Post ask" }).click();
    await settle();
  };

  it.each([
    ["since one is blank", "  ", "No", "Question 1, option 1: Label is empty."],
    ["since two say the same", "Yes", " Yes", "Question 1, option 2: Label is the same as that of option 1."],
  ])("%s is not posted, which is told once that is tried", async (_, first, second, told) => {
    const { posts } = await twoOptions(first, second);
    expect(screen.queryByRole("alert")).toBeNull();
    await post();
    expect(posts()).toEqual([]);
    expect(screen.getByRole("alert")).toHaveTextContent(told);
  });
});
