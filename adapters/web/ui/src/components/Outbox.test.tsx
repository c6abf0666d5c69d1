/** An ask that may have been posted, among what was sent and is not known to be stored. */
import { fireEvent, screen } from "@solidjs/testing-library";
import { describe, expect, it } from "vitest";
import { Failure } from "../model/client";
import { keptForm, newQuestion } from "../store/ask-form";
import { askDraft } from "../store/drafts";
import { channel, message, person, topic } from "../testing/builders";
import { focused } from "../testing/focus";
import { settle } from "../testing/store";
import { show, stillStore } from "../testing/view";
import { Composer } from "./Composer";

const [ann, bob] = [person("ann"), person("bob")];
/** Closed to the person since. */
const room = channel("room", [ann, bob], { ownerOnly: true, ownerId: bob.id });
const plan = topic("plan", room.id);

/** Of two asks the first may be stored, and the server refuses it from then on. */
const view = async () => {
  const still = stillStore({ accounts: [ann, bob], channels: [room], topics: [plan] });
  const { store } = still;
  const posted: string[] = [];
  const replies = [() => Promise.reject(new Failure("unknown", "the connection broke")), () => Promise.reject(new Failure("not_allowed", "only the owner writes here"))];
  store.post = (_channel, _topic, [block]) => {
    posted.push(block?.kind === "ask" ? (block.ask.questions[0]?.question ?? "") : "");
    return replies.shift()?.() ?? Promise.resolve(message(1, "stored"));
  };
  show(still, () => <Composer channel={room} topic={plan} />);
  for (const question of ["Now?", "Later?"])
    store.outbox.send({ kind: "ask", channelId: room.id, topicId: plan.id, text: keptForm({ questions: [{ ...newQuestion(), question }] }) });
  await settle();
  await press("Send now");
  return { ...still, posted, field: () => screen.getByRole("textbox", { name: "Message" }) };
};
const button = (name: string) => screen.getByRole("button", { name });
const press = async (name: string) => {
  button(name).focus();
  button(name).click();
  await settle();
};
const entries = () => screen.queryAllByRole("listitem").map((each) => each.querySelector("p")?.textContent);
const question = () => screen.queryByRole("group", { name: /^This ask may have been posted\. Taking it off the list does not withdraw it/ });

describe("an ask that may have been posted and is refused since", () => {
  it("is taken off the list only after it was said that this does not withdraw it, and the next one goes on", async () => {
    const { store, posted, field } = await view();
    expect(entries()).toEqual(["Now?", "Later?"]);
    expect(screen.getByRole("alert")).toHaveTextContent("It is not known whether this was sent.");
    expect(screen.getByRole("alert")).toHaveTextContent("only the owner writes here");
    await press("Take off the list");
    expect(question()).toHaveFocus();
    expect(entries()).toEqual(["Now?", "Later?"]);
    question()?.querySelector("button")?.click();
    await settle();
    expect(entries()).toEqual([]);
    expect(posted).toEqual(["Now?", "Now?", "Later?"]);
    expect(focused()).toBe(field());
    expect(store.drafts.read(askDraft(plan.id))).toBe("");
  });
  it("stays in the list when that is thought better of, and what asked has the focus again", async () => {
    const { posted } = await view();
    await press("Take off the list");
    fireEvent.keyDown(question() ?? document.body, { key: "Escape" });
    await settle();
    expect(question()).toBeNull();
    expect(focused()).toBe(button("Take off the list"));
    expect(entries()).toEqual(["Now?", "Later?"]);
    expect(posted).toEqual(["Now?", "Now?"]);
  });
  it("takes the question with it once it is known to be stored, and the focus is in the field then", async () => {
    const { store, field } = await view();
    await press("Take off the list");
    const [first] = store.outbox.of(room.id, plan.id);
    store.outbox.now(first?.key ?? "");
    await settle();
    expect(question()).toBeNull();
    expect(entries()).toEqual([]);
    expect(focused()).toBe(field());
  });
  it("is not written anew; the one that waits behind it can be", async () => {
    await view();
    expect(screen.getAllByRole("listitem").map((each) => [...each.querySelectorAll("button")].map(({ textContent }) => textContent))).toEqual([["Send now", "Take off the list"], ["Edit", "Discard"]]);
  });
});
