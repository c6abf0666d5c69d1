/** Before the page: is somebody signed in, who is it, and what to show if not. */
import { createSignal, Loading, Match, onSettled, Show, Switch } from "solid-js";
import type { Component } from "solid-js";
import { dynamic } from "@solidjs/web";
import { lazyPart } from "./lazy";
import { Failure } from "./model/client";
import type { PageSession } from "./model/client";
import { failureText } from "./shell/failure";
import { BootError } from "./shell/BootError";
import { shellText } from "./strings";

const SignIn = lazyPart(() => import("./views/sign-in/SignIn"));

/** The page of somebody who is known: made only once the server said who that is. */
export interface Started {
  readonly Page: Component;
}

interface Props {
  readonly session: PageSession;
  /** Loads the page and asks the server who is signed in. */
  readonly start: () => Promise<Started>;
  /** The secret of a sign-in link; taken out of the address already. */
  readonly secret: string | undefined;
  /** Leaves the address of the sign-in for the first view. */
  readonly onSignedIn: () => void;
  /** True if the address is the sign-in's, whoever is signed in. */
  readonly asksToSignIn: boolean;
}

type Stage =
  | { readonly kind: "checking" }
  | { readonly kind: "signed_out"; readonly already: boolean }
  | { readonly kind: "failed"; readonly text: string }
  | { readonly kind: "started"; readonly started: Started };

export const Boot: Component<Props> = (props) => {
  const [stage, setStage] = createSignal<Stage>({ kind: "checking" });
  const start = async () => {
    setStage({ kind: "checking" });
    try {
      setStage({ kind: "started", started: await props.start() });
    } catch (error) {
      setStage(stageOf(error));
    }
  };
  const check = async () => {
    setStage({ kind: "checking" });
    try {
      const open = await props.session.isOpen();
      if (open && !props.asksToSignIn) await start();
      else setStage({ kind: "signed_out", already: open });
    } catch (error) {
      setStage(stageOf(error));
    }
  };
  const enter = async () => {
    props.onSignedIn();
    await start();
  };
  onSettled(() => void check());
  const of = <K extends Stage["kind"]>(kind: K) => {
    const now = stage();
    return isStage(now, kind) ? now : undefined;
  };
  return (
    <Switch>
      <Match when={of("checking")}>
        <p class="boot" role="status">
          {shellText.loading}
        </p>
      </Match>
      <Match when={of("signed_out")}>
        {(at) => (
          <Loading fallback={<p class="boot">{shellText.loading}</p>}>
            <SignIn session={props.session} secret={props.secret} onStay={at().already ? () => void enter() : undefined} onSignedIn={enter} />
          </Loading>
        )}
      </Match>
      <Match when={of("failed")}>{(at) => <BootError text={at().text} onAgain={() => void check()} />}</Match>
      <Match when={of("started")}>{(at) => <Show when={at().started}>{(started) => <Run started={started()} />}</Show>}</Match>
    </Switch>
  );
};

const Run: Component<{ readonly started: Started }> = (props) => {
  const Page = dynamic(() => props.started.Page);
  return <Page />;
};

const isStage = <K extends Stage["kind"]>(stage: Stage, kind: K): stage is Extract<Stage, { readonly kind: K }> => stage.kind === kind;

const stageOf = (error: unknown): Stage =>
  error instanceof Failure && error.kind === "signed_out" ? { kind: "signed_out", already: false } : { kind: "failed", text: failureText(error) };
