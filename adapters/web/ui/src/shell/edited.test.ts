import { createRoot, createSignal, flush } from "solid-js";
import { describe, expect, it, onTestFinished } from "vitest";
import { createEdited } from "./edited";

const field = (first: string) =>
  createRoot((dispose) => {
    onTestFinished(dispose);
    const [channel, setChannel] = createSignal({ name: first });
    const name = createEdited(() => channel().name);
    return {
      name,
      told: (next: string) => {
        setChannel({ name: next });
        flush();
      },
      edit: (next: string) => {
        name.edit(next);
        flush();
      },
      kept: (keep: () => void) => {
        keep();
        flush();
      },
    };
  });

describe("a field of something that others change as well", () => {
  it("follows the server until it is edited, and keeps what was edited whatever the server says then", () => {
    const { name, told, edit } = field("plan");
    told("plans");
    expect(name.value()).toBe("plans");
    edit("my na");
    told("plans");
    expect(name.value()).toBe("my na");
    told("theirs");
    expect(name.value()).toBe("my na");
    edit("my name");
    expect(name.value()).toBe("my name");
  });

  it("stays edited when it is written as it was", () => {
    const { name, told, edit } = field("plan");
    edit("plans");
    edit("plan");
    told("theirs");
    expect(name.value()).toBe("plan");
  });

  it("that was sent and kept stands until the server tells, then follows it again", () => {
    const { name, told, edit, kept } = field("plan");
    edit("mine");
    kept(name.sending());
    expect(name.value()).toBe("mine");
    told("mine");
    told("theirs");
    expect(name.value()).toBe("theirs");
    told("plan");
    expect(name.value()).toBe("plan");
  });

  it("follows the server at once if that told before it answered", () => {
    const { name, told, edit, kept } = field("plan");
    edit("mine");
    const keep = name.sending();
    told("mine");
    told("theirs");
    kept(keep);
    expect(name.value()).toBe("theirs");
  });

  it("keeps what is written while something earlier is on its way", () => {
    const { name, told, edit, kept } = field("plan");
    edit("mine");
    const keep = name.sending();
    edit("mine, longer");
    kept(keep);
    told("mine");
    expect(name.value()).toBe("mine, longer");
  });
});
