import { render } from "@solidjs/testing-library";
import { createSignal } from "solid-js";
import type { Component } from "solid-js";
import { describe, it } from "vitest";

const Still: Component = () => {
  const [count] = createSignal(1);
  const once = count();
  return <p>{once}</p>;
};

describe("what Solid warns of", () => {
  it.fails("fails the test that caused it", () => void render(() => <Still />));
});
