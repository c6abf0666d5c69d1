/** Everything a search found. */
import { createEffect, createSignal, For, Match, Show, Switch, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AccountName } from "../../components/AccountName";
import { Button } from "../../components/Button";
import { Snippet } from "../../components/Snippet";
import { Time } from "../../components/Time";
import type { Message } from "../../model/types";
import { searchPath } from "../../router/paths";
import { AppContext } from "../../shell/app";
import { failureText } from "../../shell/failure";
import { placeOf } from "../../shell/place";
import { PlaceName } from "../../shell/PlaceName";
import { queryProblem } from "../../shell/query";
import { StoreContext } from "../../store/context";
import { searchText, titleText } from "../../strings";
import "./Search.css";

type Found = { readonly kind: "nothing" } | { readonly kind: "searching" } | { readonly kind: "failed"; readonly text: string } | { readonly kind: "found"; readonly query: string; readonly messages: readonly Message[] };

const CLIPPED = 300;

const Search: Component<{ readonly query: string }> = (props) => {
  const store = useContext(StoreContext);
  const { router } = useContext(AppContext);
  const [found, setFound] = createSignal<Found>({ kind: "nothing" });
  const [typed, setTyped] = createSignal(() => props.query);
  createEffect(
    () => props.query.trim(),
    (query) => {
      const problem = queryProblem(query);
      if (problem !== undefined) {
        setFound({ kind: "failed", text: problem });
        return undefined;
      }
      const over = new AbortController();
      setFound({ kind: query === "" ? "nothing" : "searching" });
      const run = async () => {
        try {
          const messages = await store.client.search(query, undefined, over.signal);
          if (!over.signal.aborted) setFound({ kind: "found", query, messages });
        } catch (error) {
          if (!over.signal.aborted) setFound({ kind: "failed", text: searchText.failed(failureText(error)) });
        }
      };
      if (query !== "") void run();
      return () => over.abort();
    },
  );
  const of = <K extends Found["kind"]>(kind: K) => {
    const now = found();
    return isFound(now, kind) ? now : undefined;
  };
  return (
    <div class="page">
      <h1>{titleText.search}</h1>
      <form
        class="form search-form"
        onSubmit={(event) => {
          event.preventDefault();
          router.go(searchPath(typed().trim()));
        }}
      >
        <label>
          <span class="visually-hidden">{searchText.label}</span>
          <span class="actions">
            <input type="text" enterkeyhint="search" dir="auto" autocomplete="off" value={typed()} onInput={(event) => setTyped(event.currentTarget.value)} />
            <Button type="submit" disabled={typed().trim() === ""}>
              {searchText.placeholder}
            </Button>
          </span>
        </label>
        <span class="hint">{searchText.howTo}</span>
      </form>
      <div role="status">
        <Switch>
          <Match when={of("searching")}>{searchText.searching}</Match>
          <Match when={of("found")}>{(at) => <>{at().messages.length === 0 ? searchText.none : searchText.found(at().messages.length)}</>}</Match>
        </Switch>
      </div>
      <Show when={of("failed")}>
        {(at) => (
          <p role="alert" class="error">
            {at().text}
          </p>
        )}
      </Show>
      <Show when={of("found")}>{(at) => <Results messages={at().messages} query={at().query} />}</Show>
    </div>
  );
};
export default Search;

const isFound = <K extends Found["kind"]>(found: Found, kind: K): found is Extract<Found, { readonly kind: K }> => found.kind === kind;

const Results: Component<{ readonly messages: readonly Message[]; readonly query: string }> = (props) => {
  const store = useContext(StoreContext);
  return (
    <ol class="results">
      <For each={props.messages} keyed={(message) => message.id}>
        {(message) => (
          <li>
            <p class="dim small">
              <AccountName id={message().authorId} /> <PlaceName message={message()} link={placeOf(store.state(), message()) !== undefined} /> <Time at={message().at} day />
            </p>
            <p dir="auto">
              <Snippet message={message()} query={props.query} limit={CLIPPED} />
            </p>
          </li>
        )}
      </For>
    </ol>
  );
};
