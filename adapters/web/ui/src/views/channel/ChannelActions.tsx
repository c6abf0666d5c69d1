/** Joining, leaving and subscribing: each is a call to the server, and nothing pretends that it was done before. */
import { createMemo, createUniqueId, Match, Show, Switch, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { Sure } from "../../components/Sure";
import { createAsked } from "../../components/asked";
import { keepFocus } from "../../keyboard/keep-focus";
import type { Membership } from "../../model/select";
import type { Channel } from "../../model/types";
import { inboxPath } from "../../router/paths";
import { createAction } from "../../shell/action";
import { AppContext } from "../../shell/app";
import { StoreContext } from "../../store/context";
import { channelText } from "../../strings";
import { staying } from "./staying";
import type { Stay } from "./staying";

interface Props {
  readonly channel: Channel;
  readonly standing: Membership;
  readonly panelOpen: boolean;
  readonly onPanel: () => void;
}

export const ChannelActions: Component<Props> = (props) => {
  const store = useContext(StoreContext);
  const { router, notice } = useContext(AppContext);
  const action = createAction();
  const me = () => store.state().me;
  const isRow = () => props.channel.memberIds.includes(me());
  const mayWantToLeave = () => props.channel.kind === "channel" && isRow() && props.standing !== "always";
  const stay = createMemo(() => staying(store.state(), props.channel, me()));
  const mayLeave = createMemo(() => mayWantToLeave() && stay() === undefined);
  const [leaving, setLeaving] = createAsked(() => (mayLeave() ? props.channel.id : undefined));
  const reason = createUniqueId();
  const subscribed = () => props.standing === "subscribed";
  const join = () => action.run(() => store.client.joinChannel(props.channel.id));
  const toggle = () => {
    const change = subscribed() ? { unsubscribe: [me()] } : { subscribe: [me()] };
    return action.run(() => store.client.updateMembers(props.channel.id, change));
  };
  const leave = async () => {
    setLeaving(false);
    const from = router.moves();
    const left = await action.run(() => store.client.updateMembers(props.channel.id, { remove: [me()] }));
    // The stream may have told of it first, and led away with a notice of what the person knows.
    const isHere = router.moves() === from || notice() !== undefined;
    if (left && isHere) router.go(inboxPath);
  };
  let actions: HTMLElement | undefined;
  return (
    <div class="channel-actions" ref={keepFocus({ or: () => actions?.querySelector("button") })}>
      <div class="actions" ref={(element) => (actions = element)}>
        <Switch>
          <Match when={props.standing === "none"}>
            {/* The server lets people in through shared groups only. */}
            <Show when={props.channel.groupId !== undefined}>
              <Button type="button" class="primary" busy={action.busy()} onClick={() => void join()}>
                {action.busy() ? channelText.joining : channelText.join}
              </Button>
            </Show>
          </Match>
          <Match when={true}>
            {/* Where the subscription is not the person's choice there is no control for it. */}
            <Show when={props.standing === "member" || subscribed()}>
              <Button type="button" aria-pressed={subscribed() ? "true" : "false"} title={channelText.subscribeTitle} busy={action.busy()} onClick={() => void toggle()}>
                {subscribed() ? channelText.subscribed : channelText.subscribe}
              </Button>
            </Show>
            <button type="button" aria-expanded={props.panelOpen ? "true" : "false"} onClick={() => props.onPanel()}>
              {props.panelOpen ? channelText.hideMembers : channelText.showMembers}
            </button>
            <Show when={mayWantToLeave()}>
              <Button type="button" busy={action.busy()} disabled={stay() !== undefined} aria-describedby={reason} onClick={() => setLeaving(true)}>
                {channelText.leave}
              </Button>
            </Show>
          </Match>
        </Switch>
      </div>
      <Show when={mayWantToLeave() && stay()}>
        {(at) => (
          <p class="dim small" id={reason}>
            {stayText(at())}
          </p>
        )}
      </Show>
      <Show when={leaving() && mayLeave()}>
        <Sure question={props.channel.groupId === undefined ? channelText.leaveAlone : channelText.leaveSure} onYes={() => void leave()} onNo={() => setLeaving(false)} />
      </Show>
      <span role="alert" class="error">
        {action.error()}
      </span>
    </div>
  );
};

const stayText = (stay: Stay): string => (stay.kind === "owner" ? channelText.ownerStays : channelText.ownersStay(stay.handle));
