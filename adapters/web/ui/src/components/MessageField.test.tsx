/** A field in which somebody writes while another one closes the channel to them. */
import { fireEvent, screen } from "@solidjs/testing-library";
import { userEvent } from "@testing-library/user-event";
import { createSignal, flush } from "solid-js";
import type { JSX } from "@solidjs/web";
import { describe, expect, it } from "vitest";
import type { Channel } from "../model/types";
import { channel, person, topic } from "../testing/builders";
import { focused } from "../testing/focus";
import { settle } from "../testing/store";
import { show, stillStore } from "../testing/view";
import { Composer } from "./Composer";
import { NewTopic } from "./NewTopic";

const [ann, bob] = [person("ann"), person("bob")];
const room = channel("room", [ann, bob]);
const closed: Channel = { ...room, ownerOnly: true, ownerId: bob.id };
const plan = topic("plan", room.id);

const view = (ui: (channel: () => Channel) => JSX.Element) => {
  const still = stillStore({ accounts: [ann, bob], channels: [room], topics: [plan] });
  const [shown, setShown] = createSignal(room);
  show(still, () => ui(shown));
  return {
    ...still,
    become: async (channel: Channel) => {
      setShown(channel);
      await settle();
    },
  };
};
const composer = () => view((shown) => <Composer channel={shown()} topic={plan} />);
const newTopic = () => view((shown) => <NewTopic channel={shown()} onStarted={() => undefined} />);
const field = (name: string) => screen.getByRole<HTMLTextAreaElement>("textbox", { name });
const write = (name: string, text: string) => {
  field(name).focus();
  fireEvent.input(field(name), { target: { value: text } });
  flush();
};
const rows = [["Message", composer], ["Topic name", newTopic], ["First message", newTopic]] as const;

describe("what somebody writes in when the channel is closed to them", () => {
  it.each(rows)("keeps the focus and what was written, takes no more, and says why: %s", async (name, open) => {
    const { become } = open();
    write(name, "half a sen");
    await become(closed);
    expect(focused()).toBe(field(name));
    expect(field(name)).toHaveAccessibleDescription("Only the owner writes in this channel.");
    await userEvent.keyboard("tence");
    expect(field(name)).toHaveValue("half a sen");
    await become(room);
    await userEvent.keyboard("tence");
    expect(field(name)).toHaveValue("half a sentence");
  });
  it.each(rows)("can be come back to, for what was written in it: %s", async (name, open) => {
    const { become } = open();
    write(name, "half a sen");
    await become(closed);
    field(name).blur();
    await userEvent.click(field(name));
    expect(focused()).toBe(field(name));
  });
  it("offers nobody to mention any more, and Enter sends nothing", async () => {
    const { become, recorded } = composer();
    write("Message", "@b");
    expect(screen.getByRole("listbox")).toBeInTheDocument();
    await become(closed);
    expect(screen.queryByRole("listbox")).toBeNull();
    fireEvent.keyDown(field("Message"), { key: "Enter" });
    await settle();
    expect(field("Message")).toHaveValue("@b");
    expect(recorded.filter(({ name }) => name === "post")).toEqual([]);
  });
});
