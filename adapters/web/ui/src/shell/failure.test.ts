import { describe, expect, it } from "vitest";
import { Failure } from "../model/client";
import { failureText } from "./failure";

describe("what the server says of a field", () => {
  const fields = new Map([["member_handles", "Members"]]);
  it.each([
    ["is said of the form's", 'member_handles[2]: no account "bob"', 'Members: no account "bob"'],
    ["also of one that is no list", "member_handles: too many", "Members: too many"],
    ["stays as it is where the form has none such", "pins[0]: gone", "pins[0]: gone"],
    ["is found at its beginning only", "no: member_handles[2]: gone", "no: member_handles[2]: gone"],
  ])("%s", (_, said, shown) => {
    expect(failureText(new Failure("invalid", said), fields)).toBe(shown);
  });
});
