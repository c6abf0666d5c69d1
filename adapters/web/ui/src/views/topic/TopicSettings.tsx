/** Renaming a topic, merging it into another one, putting it away and bringing it back. */
import { createMemo, createSignal, createUniqueId, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { Sure } from "../../components/Sure";
import { createAsked } from "../../components/asked";
import { nameProblem } from "../../components/named";
import { keepFocus } from "../../keyboard/keep-focus";
import { topicNamed } from "../../model/namesake";
import { visibleLine } from "../../model/text";
import type { Topic } from "../../model/types";
import { createAction } from "../../shell/action";
import { createEdited } from "../../shell/edited";
import { Form } from "../../shell/Form";
import { StoreContext } from "../../store/context";
import { channelText, topicText } from "../../strings";

export const TopicSettings: Component<{ readonly topic: Topic }> = (props) => {
  const [open, setOpen] = createSignal(false);
  const body = createUniqueId();
  let opener: HTMLElement | undefined;
  return (
    <>
      <div class="actions topic-actions">
        <button type="button" ref={(element) => (opener = element)} aria-expanded={open() ? "true" : "false"} aria-controls={body} onClick={() => setOpen((before) => !before)}>
          {topicText.settings}
        </button>
      </div>
      <div id={body} class="topic-settings" ref={keepFocus({ or: () => opener })}>
        <Show when={open()}>
          <Rename topic={props.topic} onDone={() => setOpen(false)} />
          <Archive topic={props.topic} />
        </Show>
      </div>
    </>
  );
};

const Rename: Component<{ readonly topic: Topic; readonly onDone: () => void }> = (props) => {
  const store = useContext(StoreContext);
  const name = createEdited(() => props.topic.name);
  const hint = createUniqueId();
  const saving = createAction();
  const wanted = () => name.value().trim();
  const problem = () => nameProblem(topicText.theName, name.value());
  const other = createMemo(() => topicNamed(store.state(), props.topic.channelId, wanted(), props.topic.id));
  const [sure, setSure] = createAsked(() => other()?.id);
  const rename = async () => {
    setSure(false);
    if (await saving.run(() => store.client.updateTopic(props.topic.id, { name: wanted() }))) props.onDone();
  };
  const submit = () => {
    if (other()) setSure(true);
    else void rename();
  };
  return (
    <Form onSubmit={submit} error={problem() ?? saving.error()}>
      <label>
        {channelText.name}
        <span class="actions">
          <input type="text" dir="auto" autocomplete="off" aria-describedby={hint} aria-invalid={problem() === undefined ? "false" : "true"} value={name.value()} onInput={(event) => name.edit(event.currentTarget.value)} />
          <Button type="submit" busy={saving.busy()} disabled={problem() !== undefined || wanted() === "" || wanted() === props.topic.name}>
            {other() ? topicText.merge : topicText.rename}
          </Button>
        </span>
      </label>
      <span class="hint" id={hint}>
        {topicText.renameHelp}
      </span>
      <Show when={sure() && other()}>
        {(into) => <Sure question={topicText.mergeSure(visibleLine(into().name))} yes={topicText.merge} onYes={() => void rename()} onNo={() => setSure(false)} />}
      </Show>
    </Form>
  );
};

const Archive: Component<{ readonly topic: Topic }> = (props) => {
  const store = useContext(StoreContext);
  const saving = createAction();
  const toggle = () => saving.run(() => store.client.updateTopic(props.topic.id, { archived: !props.topic.archived }));
  return (
    <div class="actions">
      <Button type="button" busy={saving.busy()} onClick={() => void toggle()}>
        {props.topic.archived ? topicText.unarchive : topicText.archive}
      </Button>
      <span role="alert" class="error">
        {saving.error()}
      </span>
    </div>
  );
};
