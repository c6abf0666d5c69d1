/** The search of the top bar: results while one types, the newest question only. */
import { createEffect, createMemo, createSignal, createUniqueId, For, onSettled, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import type { Message } from "../model/types";
import { messagePath, searchPath } from "../router/paths";
import { StoreContext } from "../store/context";
import { keyText, searchText } from "../strings";
import { AccountName } from "../components/AccountName";
import { Snippet } from "../components/Snippet";
import { AppContext } from "./app";
import { failureText } from "./failure";
import { placeOf } from "./place";
import { PlaceName } from "./PlaceName";
import { queryProblem } from "./query";
import "./SearchBox.css";

/** How long a person must pause before the server is asked, in ms. */
export const PAUSE_MS = 200;
/** Results that the list shows; the rest is a view of its own. */
const SHOWN = 8;
const CLIPPED = 120;

type Found = { readonly kind: "none" } | { readonly kind: "searching" } | { readonly kind: "failed"; readonly text: string } | { readonly kind: "found"; readonly query: string; readonly messages: readonly Message[] };

const SearchBox: Component = () => {
  const app = useContext(AppContext);
  const list = createUniqueId();
  const search = createSearch();
  const [at, setAt] = createSignal(0);
  const [open, setOpen] = createSignal(false);
  let input: HTMLInputElement | undefined;
  let before: Element | null = null;

  onSettled(() => app.keys.register({ id: "search", keys: "/", label: keyText.search, run: () => focusField(input) }));

  const shown = createMemo(() => {
    const found = search.found();
    return found.kind === "found" ? found.messages.slice(0, SHOWN) : [];
  });
  const asked = () => {
    const found = search.found();
    return found.kind === "found" ? found.query : "";
  };
  const optionId = (index: number) => `${list}-${index}`;
  const leave = () => {
    search.set("");
    setOpen(false);
    if (before instanceof HTMLElement && before.isConnected) before.focus();
    else input?.blur();
  };
  const goTo = (path: string | undefined) => {
    if (path === undefined) return;
    setOpen(false);
    app.router.go(path);
  };
  const all = () => (search.query().trim() === "" || search.problem() !== undefined ? undefined : searchPath(search.query().trim()));
  const pathAt = usePathOf();
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    // One more than the results: the last line shows all of them.
    const count = shown().length + 1;
    const move = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (move !== 0 && open()) setAt((index) => (index + move + count) % count);
    else if (event.key === "Enter") {
      const message = open() ? shown()[at()] : undefined;
      goTo((message && pathAt(message)) ?? all());
    } else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  };
  return (
    <div class="search" role="search">
      <input
        ref={(element) => (input = element)}
        type="text"
        enterkeyhint="search"
        class="search-input"
        role="combobox"
        aria-label={searchText.label}
        aria-expanded={open() ? "true" : "false"}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={open() ? optionId(at()) : undefined}
        autocomplete="off"
        placeholder={searchText.placeholder}
        value={search.query()}
        onFocus={(event) => {
          if (event.relatedTarget instanceof Element) before = event.relatedTarget;
        }}
        onBlur={() => setOpen(false)}
        onInput={(event) => {
          search.set(event.currentTarget.value);
          setAt(0);
          setOpen(event.currentTarget.value.trim() !== "");
        }}
        onKeyDown={press}
      />
      <Show when={open()}>
        <div class="search-list" id={list} role="listbox" aria-label={searchText.results}>
          <For each={shown()} keyed={(message) => message.id}>
            {(message, index) => (
              <ResultOption id={optionId(index())} query={asked()} message={message()} selected={index() === at()} onChoose={() => goTo(pathAt(message()))} />
            )}
          </For>
          <div
            class="search-option all"
            id={optionId(shown().length)}
            role="option"
            tabindex="-1"
            aria-selected={at() === shown().length ? "true" : "false"}
            onPointerDown={(event) => {
              event.preventDefault();
              goTo(all());
            }}
          >
            {statusOf(search.found(), search.problem())}
          </div>
        </div>
      </Show>
    </div>
  );
};

const focusField = (input: HTMLInputElement | undefined): boolean => {
  if (!input) return false;
  input.focus();
  input.select();
  return true;
};

const statusOf = (found: Found, problem: string | undefined): string => {
  if (problem !== undefined) return problem;
  switch (found.kind) {
    case "none":
    case "searching":
      return searchText.searching;
    case "failed":
      return found.text;
    case "found":
      return found.messages.length === 0 ? searchText.none : searchText.all;
  }
};

/** The query, and what the server found for the newest one: late results of older ones are dropped. */
const createSearch = () => {
  const store = useContext(StoreContext);
  const [query, setQuery] = createSignal("");
  const [found, setFound] = createSignal<Found>({ kind: "none" });
  const problem = createMemo(() => queryProblem(query()));
  const asked = createMemo(() => (problem() === undefined ? query().trim() : ""));
  let generation = 0;
  createEffect(asked, (text) => {
    generation += 1;
    const mine = generation;
    setFound({ kind: text === "" ? "none" : "searching" });
    if (text === "") return undefined;
    const run = async () => {
      try {
        const messages = await store.client.search(text, undefined);
        if (mine === generation) setFound({ kind: "found", query: text, messages });
      } catch (error) {
        if (mine === generation) setFound({ kind: "failed", text: searchText.failed(failureText(error)) });
      }
    };
    const timer = setTimeout(() => void run(), PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return { query, set: (text: string) => setQuery(text), found, problem };
};

const usePathOf = () => {
  const store = useContext(StoreContext);
  return (message: Message): string | undefined => {
    const place = placeOf(store.state(), message);
    return place && messagePath(place.channel.id, place.topic.id, message.id);
  };
};

const ResultOption: Component<{ readonly id: string; readonly query: string; readonly message: Message; readonly selected: boolean; readonly onChoose: () => void }> = (props) => (
  <div
    class="search-option"
    id={props.id}
    role="option"
    tabindex="-1"
    aria-selected={props.selected ? "true" : "false"}
    onPointerDown={(event) => {
      event.preventDefault();
      props.onChoose();
    }}
  >
    <span class="search-place">
      <AccountName id={props.message.authorId} /> <PlaceName message={props.message} />
    </span>
    <bdi class="search-text">
      <Snippet message={props.message} query={props.query} limit={CLIPPED} />
    </bdi>
  </div>
);

export default SearchBox;
