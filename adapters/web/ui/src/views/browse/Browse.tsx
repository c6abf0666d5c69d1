/** Channels to join, and making new places to talk. */
import { createMemo, For, Match, Show, Switch, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { keepFocus } from "../../keyboard/keep-focus";
import { groupOf, rail } from "../../model/select";
import { visibleLine } from "../../model/text";
import type { Channel } from "../../model/types";
import { browsePath, channelPath, newChannelPath, newDirectPath, newGroupPath } from "../../router/paths";
import type { BrowseForm } from "../../router/route";
import { createAction } from "../../shell/action";
import { StoreContext } from "../../store/context";
import { browseText, channelText, titleText } from "../../strings";
import { NewChannel } from "./NewChannel";
import { NewDirect } from "./NewDirect";
import { NewGroup } from "./NewGroup";
import "./Browse.css";

const Browse: Component<{ readonly form: BrowseForm | undefined }> = (props) => (
  <div class="page">
    <Switch fallback={<Joinable />}>
      <Match when={props.form === "new-channel"}>
        <NewChannel />
      </Match>
      <Match when={props.form === "new-group"}>
        <NewGroup />
      </Match>
      <Match when={props.form === "new-message"}>
        <NewDirect />
      </Match>
    </Switch>
    <nav class="browse-more" aria-label={browseText.more}>
      <Links current={props.form} />
    </nav>
  </div>
);
export default Browse;

const LINKS = [
  { form: undefined, path: browsePath, text: titleText.browse },
  { form: "new-channel", path: newChannelPath, text: browseText.newChannel },
  { form: "new-group", path: newGroupPath, text: browseText.newGroup },
  { form: "new-message", path: newDirectPath, text: browseText.newDirect },
] as const;

const Links: Component<{ readonly current: BrowseForm | undefined }> = (props) => (
  <For each={LINKS}>
    {(link) => (
      <Show when={link.form !== props.current}>
        <a class="button" href={link.path}>
          {link.text}
        </a>
      </Show>
    )}
  </For>
);

const Joinable: Component = () => {
  const store = useContext(StoreContext);
  const channels = createMemo(() => rail(store.state()).browse);
  let heading: HTMLElement | undefined;
  return (
    <>
      <h1 ref={(element) => (heading = element)} tabindex="-1">
        {titleText.browse}
      </h1>
      <p class="dim">{browseText.help}</p>
      <Show when={channels().length > 0} fallback={<p class="channel-empty">{browseText.none}</p>}>
        <ul class="joinable" ref={keepFocus({ among: ".actions button", or: () => heading })}>
          <For each={channels()} keyed={(channel) => channel.id}>
            {(channel) => <JoinRow channel={channel()} />}
          </For>
        </ul>
      </Show>
    </>
  );
};

const JoinRow: Component<{ readonly channel: Channel }> = (props) => {
  const store = useContext(StoreContext);
  const joining = createAction();
  const group = () => groupOf(store.state(), props.channel);
  const label = () => visibleLine(props.channel.name);
  return (
    <li>
      <a href={channelPath(props.channel.id)}>
        <bdi>{label()}</bdi>
      </a>
      <span class="dim small">
        <Show when={group()}>
          {(of) => (
            <>
              <bdi>{visibleLine(of().name)}</bdi> ·{" "}
            </>
          )}
        </Show>
        {browseText.memberCount(props.channel.memberIds.length)}
      </span>
      <span class="actions">
        <Button type="button" busy={joining.busy()} aria-label={browseText.joinNamed(label())} onClick={() => void joining.run(() => store.client.joinChannel(props.channel.id))}>
          {joining.busy() ? channelText.joining : channelText.join}
        </Button>
      </span>
      <span role="alert" class="error">
        {joining.error()}
      </span>
    </li>
  );
};
