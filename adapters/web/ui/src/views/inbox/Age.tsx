/** How long ago something was, by the server's clock; the exact time on demand. */
import { createMemo, useContext } from "solid-js";
import type { Component } from "solid-js";
import { fullTime, isoTime } from "../../components/clock";
import { age } from "../../model/time";
import type { Age as AgeOf } from "../../model/time";
import { StoreContext } from "../../store/context";
import { ageText } from "../../strings";

export const Age: Component<{ readonly at: number }> = (props) => {
  const store = useContext(StoreContext);
  const words = createMemo(() => ageWords(age(props.at, store.now())));
  return (
    <time class="age" datetime={isoTime(props.at)} title={fullTime(props.at)}>
      {words()}
    </time>
  );
};

export const ageWords = (of: AgeOf): string => (of.unit === "now" ? ageText.now : ageText[of.unit](of.count));
