import { fireEvent, screen } from "@solidjs/testing-library";
import { createSignal, flush } from "solid-js";
import { describe, expect, it, vi } from "vitest";
import type { Ask, AskEnd, AskQuestion } from "../model/types";
import { agent, ask, asking, message, option, person, question } from "../testing/builders";
import { show, stillStore } from "../testing/view";
import { AnswerCard } from "./AnswerCard";
import { AskBlock } from "./AskBlock";

const ann = person("ann");
const bot = agent("bot", ann.id);

function view(first: Ask) {
  const still = stillStore({ accounts: [ann, bot] });
  const [shown, setShown] = createSignal(first);
  const result = show(still, () => <AskBlock ask={shown()} message={message(1, [asking(shown())], { authorId: bot.id })} channelId="channel-x" />);
  const block = result.container.querySelector<HTMLElement>(".block-ask");
  if (!block) throw new Error("no block");
  return {
    ...result, ...still, block,
    push: (next: Ask) => {
      setShown(next);
      flush();
    },
    options: () => [...block.querySelectorAll<HTMLButtonElement>(".ask-option")],
    inputs: () => [...block.querySelectorAll<HTMLInputElement>(".ask-input")],
    submit: () => block.querySelector<HTMLButtonElement>(".ask-submit"),
    names: () => still.recorded.map((each) => each.name),
  };
}
const answers = (entries: Record<string, { chosen?: readonly string[]; text?: string }>) =>
  new Map(Object.entries(entries).map(([id, { chosen = [], text = "" }]) => [id, { chosen, text }]));
const two = () => ask("a", [question("q1"), question("q2", { multiple: true })]);
const cancelled: AskEnd = { kind: "cancelled", at: 5_000 };

describe("picking", () => {
  it("C16 option click records and sends nothing, a completing click too", () => {
    const { options, recorded } = view(ask("a"));
    options()[1]?.click();
    expect(recorded).toEqual([{ name: "pick", input: ["message-1", "a", "q1", "1"] }]);
  });
  it("C18 a settled single choice locks its options and its field; taking it back is a button of its own", () => {
    const { stage, options, inputs, recorded } = view(two());
    stage("a", { answers: answers({ q1: { chosen: ["0"] } }) });
    expect(options().map((each) => each.disabled)).toEqual([true, true, false, false]);
    expect(inputs().map((each) => each.disabled)).toEqual([true, false]);
    expect(options()[0]).toHaveAttribute("aria-pressed", "true");
    screen.getByRole("button", { name: "Change" }).click();
    expect(recorded).toEqual([{ name: "clear", input: ["message-1", "a", "q1"] }]);
  });
  it("C18 typing goes to the store as it is", () => {
    const { inputs, recorded } = view(two());
    const [, second] = inputs();
    if (!second) throw new Error("no second field");
    fireEvent.input(second, { target: { value: " more " } });
    expect(recorded).toEqual([{ name: "type", input: ["message-1", "a", "q2", " more "] }]);
  });
});

it("an option, and what was chosen, take their direction from their own text", () => {
  const asked = ask("a", [question("q1", { options: [option("0", { description: "more" })] })]);
  const { options } = view(asked);
  const { container } = show(stillStore({ accounts: [ann] }), () => <AnswerCard ask={asked} authorId={ann.id} />);
  for (const each of [...options(), ...container.querySelectorAll("dd")]) {
    expect(each).toHaveAttribute("dir", "auto");
    expect(each.querySelector("[dir], bdi")).toBeNull();
  }
});

describe("submitting", () => {
  it("C29 the button is on every open ask, disabled with nothing staged or with blanks, and gone when closed", () => {
    const { submit, stage, push } = view(two());
    expect(submit()).toBeDisabled();
    stage("a", { answers: answers({ q1: { text: "   " } }) });
    expect(submit()).toBeDisabled();
    stage("a", { answers: answers({ q1: { text: "yes" } }) });
    expect(submit()).toBeEnabled();
    push({ ...two(), end: cancelled });
    expect(submit()).toBeNull();
  });
  it("C29 the label says how many questions are skipped; the tooltip says that it is sent once", () => {
    const { submit, stage } = view(two());
    expect(submit()).toHaveTextContent(/^Send answer$/);
    stage("a", { answers: answers({ q1: { text: "yes" } }) });
    expect(submit()).toHaveTextContent("Send answer, skipping 1 question");
    stage("a", { answers: answers({ q1: { text: "yes" }, q2: { chosen: ["0"] } }) });
    expect(submit()).toHaveTextContent(/^Send answer$/);
    expect(submit()?.title).toMatch(/once/);
    expect(submit()?.type).toBe("button");
  });
  it("C29 Enter in the text input does nothing", () => {
    const { inputs, stage, names, block } = view(ask("a"));
    stage("a", { answers: answers({ q1: { text: "yes" } }) });
    expect(block.querySelector("form")).toBeNull();
    const [input] = inputs();
    if (!input) throw new Error("no field");
    fireEvent.keyDown(input, { key: "Enter" });
    fireEvent.keyUp(input, { key: "Enter" });
    expect(names()).toEqual([]);
  });
  it("C20 while it is on its way everything is locked, marked as answered, and cannot be sent again", () => {
    const { submit, stage, options, inputs, block } = view(two());
    stage("a", { submitted: true, answers: answers({ q1: { chosen: ["0"] } }) });
    expect(submit()).toBeNull();
    expect([...options(), ...inputs()].every((each) => each.disabled)).toBe(true);
    expect(block).toHaveClass("answered");
    expect(screen.getByText("Sending your answer…")).toHaveAttribute("role", "status");
  });
  it("C28 a click or a key on a closed ask does nothing", () => {
    const { options, block, names } = view({ ...ask("a"), end: cancelled });
    options()[0]?.click();
    fireEvent.keyDown(block, { key: "1" });
    expect(names()).toEqual([]);
  });
  it("limits: a text that is too long is named with limit and size, and not sent", () => {
    const { submit, stage, inputs } = view(ask("a"));
    stage("a", { answers: answers({ q1: { text: "x".repeat(32 * 1024 + 1) } }) });
    expect(screen.getByText("This answer is too long: at most 32 KiB, it has 32,769 bytes.")).toBeInTheDocument();
    expect(inputs()[0]).toHaveAttribute("aria-invalid", "true");
    expect(submit()).toBeDisabled();
    stage("a", { answers: answers({ q1: { text: "x".repeat(32 * 1024) } }) });
    expect(submit()).toBeEnabled();
  });
  it("limits: a text with a NUL is told of before it is sent, and stays", () => {
    const { submit, stage, inputs, names } = view(two());
    stage("a", { answers: answers({ q1: { chosen: ["0"] }, q2: { text: "ü\0b" } }) });
    expect(inputs()[1]).toHaveAccessibleDescription("This answer holds a NUL character, at place 2, which cannot be sent.");
    expect(submit()).toBeDisabled();
    submit()?.click();
    expect(names()).toEqual([]);
    stage("a", { answers: answers({ q2: { text: "üb" } }) });
    expect(submit()).toBeEnabled();
  });
  it("limits: texts that are too long together are named and not sent", () => {
    const five = ask("a", Array.from({ length: 5 }, (_, index) => question(`q${index}`)));
    const { submit, stage } = view(five);
    stage("a", { answers: answers(Object.fromEntries(five.questions.map((each) => [each.id, { text: "x".repeat(32 * 1024) }]))) });
    expect(screen.getByText("These answers are too long together: at most 128 KiB, they have 160 KiB.")).toBeInTheDocument();
    expect(submit()).toBeDisabled();
  });
});

describe("keys", () => {
  it("options are one tab stop; arrows, Home and End move inside and wrap", () => {
    const { options } = view(ask("a", [question("q1", { count: 3 })]));
    expect(options().map((each) => each.tabIndex)).toEqual([0, -1, -1]);
    const press = (key: string) => {
      fireEvent.keyDown(document.activeElement ?? document.body, { key });
      flush();
    };
    options()[0]?.focus();
    press("ArrowDown");
    expect(document.activeElement).toBe(options()[1]);
    expect(options().map((each) => each.tabIndex)).toEqual([-1, 0, -1]);
    press("End");
    press("ArrowRight");
    expect(document.activeElement).toBe(options()[0]);
    press("ArrowUp");
    expect(document.activeElement).toBe(options()[2]);
    press("Home");
    expect(document.activeElement).toBe(options()[0]);
  });
  it("number keys choose in the focused question, or in the first that is not settled", () => {
    const { block, recorded, options, stage } = view(two());
    fireEvent.keyDown(block, { key: "2" });
    const second = options()[2];
    if (!second) throw new Error("no option");
    fireEvent.keyDown(second, { key: "1" });
    stage("a", { answers: answers({ q1: { chosen: ["0"] } }) });
    fireEvent.keyDown(block, { key: "2" });
    expect(recorded.map((each) => each.input.slice(2))).toEqual([["q1", "1"], ["q2", "0"], ["q2", "1"]]);
  });
  it.each([
    ["a text field", { key: "1" }, ".ask-input"],
    ["a chord", { key: "1", ctrlKey: true }, ".block-ask"],
    ["a key held down", { key: "1", repeat: true }, ".block-ask"],
    ["a number without an option", { key: "9" }, ".block-ask"],
    ["another key", { key: "x" }, ".block-ask"],
  ])("quality failure 19: %s answers nothing", (_, key, selector) => {
    const { container, names } = view(ask("a"));
    const target = container.querySelector(selector);
    if (!target) throw new Error(selector);
    fireEvent.keyDown(target, key);
    expect(names()).toEqual([]);
  });
  it("a pick that locks its options passes the focus on, never to the submit button", () => {
    const { options, block } = view(ask("a", [question("q1"), question("q2")]));
    options()[0]?.focus();
    options()[0]?.click();
    expect(document.activeElement).toBe(block.querySelectorAll(".ask-question")[1]);
    options()[2]?.focus();
    options()[2]?.click();
    expect(document.activeElement).toBe(block);
  });
  it("the question that a pick moves to is brought into sight", () => {
    const seen: Element[] = [];
    vi.spyOn(Element.prototype, "scrollIntoView").mockImplementation(function (this: Element) {
      seen.push(this);
    });
    const { options, block } = view(ask("a", [question("q1"), question("q2")]));
    options()[0]?.focus();
    options()[0]?.click();
    expect(seen).toEqual([block.querySelectorAll(".ask-question")[1]]);
  });
  it.each([
    ["the text field", ".ask-input"],
    ["an option", ".ask-option"],
    ["the submit button", ".ask-submit"],
  ])("the focus on %s stays with the ask when it closes, and one outside stays there", (_, selector) => {
    const { block, stage, push } = view(ask("a"));
    stage("a", { answers: answers({ q1: { text: "yes" } }) });
    block.querySelector<HTMLElement>(selector)?.focus();
    expect(document.activeElement).toBe(block.querySelector(selector));
    stage("a", { submitted: true });
    expect(document.activeElement).toBe(block);
    const outside = document.createElement("button");
    document.body.append(outside);
    outside.focus();
    push({ ...ask("a"), end: cancelled });
    expect(document.activeElement).toBe(outside);
    outside.remove();
  });
  it("a push does not take the focus or the element from someone who types", () => {
    const { inputs, push } = view(two());
    const [field] = inputs();
    field?.focus();
    push(two());
    expect(inputs()[0]).toBe(field);
    expect(document.activeElement).toBe(field);
  });
});

describe("what is shown", () => {
  it("C30 the hint differs for single, multiple and free text, and says that there is no hurry", () => {
    const { container } = view(ask("a", [question("q1"), question("q2", { multiple: true }), question("q3", { options: [] })]));
    const hints = [...container.querySelectorAll(".ask-hint")].map((each) => each.textContent);
    expect(new Set(hints).size).toBe(3);
    for (const hint of hints) expect(hint).toContain("no hurry");
    const placeholders = [...container.querySelectorAll<HTMLInputElement>(".ask-input")].map((each) => each.placeholder);
    expect(new Set(placeholders).size).toBe(3);
  });
  it("options of which many can be picked are marked as such, and are pressed all the same", () => {
    const { container } = view(two());
    expect([...container.querySelectorAll(".ask-options")].map((each) => each.classList.contains("multiple"))).toEqual([false, true]);
    for (const each of container.querySelectorAll(".ask-option")) expect(each).toHaveAttribute("aria-pressed", "false");
  });
  it("C30 header chip; recommended only at its index and never pressed; preview as plain text in code", () => {
    const rich: AskQuestion = question("q1", {
      header: "Deploy", recommended: 1, options: [option("0", { preview: "<b>**x**</b>" }), option("1", { description: "slow" })],
    });
    const { container, options } = view(ask("a", [rich, question("q2")]));
    expect([...container.querySelectorAll(".ask-header")].map((each) => each.textContent)).toEqual(["Deploy"]);
    expect(options().map((each) => each.textContent.includes("Recommended"))).toEqual([false, true, false, false]);
    expect(options().map((each) => each.classList.contains("recommended"))).toEqual([false, true, false, false]);
    expect(options().map((each) => each.getAttribute("aria-pressed"))).toEqual(["false", "false", "false", "false"]);
    expect(container.querySelector("pre code")?.textContent).toBe("<b>**x**</b>");
    expect(container.querySelector("b")).toBeNull();
  });
  it("C30 an option whose label is blank is called by its place, also in the answer", () => {
    const options = [option("0", { label: "Yes" }), option("1", { label: " \n", preview: "x" })];
    const { container } = view(ask("a", [question("q1", { options })]));
    expect(screen.getByRole("button", { name: /^Option 2/ })).toBeEnabled();
    expect(container.querySelector("pre")).toHaveAccessibleName("Preview of Option 2");
    const answered = ask("b", [question("q1", { options, chosen: ["1"] })], { kind: "answered", by: ann.id, at: 5_000 });
    const card = show(stillStore({ accounts: [ann] }), () => <AnswerCard ask={answered} authorId={ann.id} />);
    expect(card.container.querySelector("dd")).toHaveTextContent(/^Option 2$/);
  });
  it("the badge stands beside the label, before what is said about the option", () => {
    const { container } = view(ask("a", [question("q1", { recommended: 0, options: [option("0", { description: "slow" })] })]));
    const badge = container.querySelector(".ask-recommended");
    expect(badge?.parentElement?.firstElementChild).toHaveClass("ask-option-label");
    expect(badge?.parentElement).toHaveClass("ask-option-head");
    expect(container.querySelector(".ask-option-head .ask-option-description")).toBeNull();
  });
  it("C33 option aria-pressed, error role=alert, input labelled by its question", () => {
    const { stage, options } = view(ask("a"));
    expect(screen.getByRole("textbox", { name: "Question q1?" })).toBeEnabled();
    expect(screen.getByRole("button", { name: "Option 0" })).toBe(options()[0]);
    stage("a", { error: "the server is away" });
    expect(screen.getByRole("alert")).toHaveTextContent("the server is away");
  });
  it("C31 withdrawn: status line, class cancelled and not answered, all disabled, no submit, and who and when", () => {
    const { block, options, inputs, submit, stage } = view({ ...two(), end: cancelled });
    const line = screen.getByRole("status");
    expect(line).toHaveClass("ask-withdrawn");
    expect(line).toHaveTextContent(/^Withdrawn by the asker — no longer taking answers\.$/);
    expect(block).toHaveClass("cancelled");
    expect(block).not.toHaveClass("answered");
    expect([...options(), ...inputs()].every((each) => each.disabled)).toBe(true);
    expect(submit()).toBeNull();
    expect(block.querySelector(".ask-closed")).toHaveTextContent("Withdrawn by bot");
    expect(block.querySelector(".ask-closed time")).toHaveAttribute("datetime", "1970-01-01T00:00:05.000Z");
    stage("a", { submitted: true });
    expect(block).toHaveClass("cancelled");
    expect(block).not.toHaveClass("answered");
  });
  it("C31 the withdrawn line takes the place of the error, in both orders", () => {
    const { push, stage, block } = view(ask("a"));
    stage("a", { error: "ask is cancelled" });
    expect(screen.queryByRole("alert")).not.toBeNull();
    push({ ...ask("a"), end: cancelled });
    expect(screen.queryByRole("alert")).toBeNull();
    expect(block.querySelector(".ask-withdrawn")).not.toBeNull();
  });
  it("C31 what was staged is not shown on a withdrawn ask", () => {
    const { push, stage, options, inputs } = view(two());
    stage("a", { answers: answers({ q1: { chosen: ["0"] }, q2: { text: "typed" } }) });
    push({ ...two(), end: cancelled });
    expect(options().some((each) => each.getAttribute("aria-pressed") === "true")).toBe(false);
    expect(inputs().map((each) => each.value)).toEqual(["", ""]);
  });
  it("W2 answered: the choices and the text that were recorded, who and when; C23 an error stays visible", () => {
    const answered = ask("a", [question("q1", { chosen: ["1"] }), question("q2", { customText: "mine" }), question("q3")], { kind: "answered", by: ann.id, at: 7_000 });
    const { block, options, inputs, stage } = view(answered);
    expect(options().map((each) => each.getAttribute("aria-pressed"))).toEqual(["false", "true", "false", "false", "false", "false"]);
    expect(inputs()).toEqual([]);
    expect([...block.querySelectorAll(".ask-recorded")].map((each) => each.textContent)).toEqual(["In their own words: mine", "(skipped)"]);
    expect(block.querySelector(".ask-closed")).toHaveTextContent("Answered by ann");
    expect(block.querySelector(".ask-closed time")).toHaveAttribute("datetime", "1970-01-01T00:00:07.000Z");
    stage("a", { error: "the reply was lost" });
    expect(screen.getByRole("alert")).toHaveTextContent("the reply was lost");
  });
  it("P11 labels cannot hide, reorder or pose as each other", () => {
    const { options } = view(ask("a", [question("q1", { options: [option("0", { label: "No\u202E seY" }), option("1", { label: "N\u200Bo" }), option("2", { label: "No\n\nYes" })] })]));
    expect(options().map((each) => each.querySelector(".ask-option-label")?.textContent)).toEqual(["No⟦U+202E⟧ seY", "N⟦U+200B⟧o", "No Yes"]);
  });
});
