/** A button that cannot always be pressed, and that keeps the focus nevertheless: a disabled element loses it. */
import { createSignal, omit } from "solid-js";
import type { Component } from "solid-js";
import type { JSX } from "@solidjs/web";

type Props = Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, "onClick" | "onFocus" | "onBlur" | "aria-disabled" | "disabled"> & {
  /** What it started is under way: a press does nothing. */
  readonly busy?: boolean;
  /** Something is missing, or it is not the person's to do. */
  readonly disabled?: boolean;
  readonly onClick?: () => unknown;
};

export const Button: Component<Props> = (props) => {
  const [holds, setHolds] = createSignal(false);
  const off = () => props.busy === true || props.disabled === true;
  return (
    <button
      {...omit(props, "busy", "disabled", "onClick")}
      disabled={props.disabled === true && props.busy !== true && !holds()}
      aria-disabled={off() ? "true" : "false"}
      onFocus={() => setHolds(true)}
      onBlur={(event) => {
        // Of a window that is left the button still holds the focus.
        if (document.activeElement !== event.currentTarget) setHolds(false);
      }}
      onClick={(event) => {
        // Enter in a field of a form presses the form's button as well.
        if (off()) event.preventDefault();
        else props.onClick?.();
      }}
    />
  );
};
