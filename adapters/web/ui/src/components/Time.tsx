/** A point in time: hours and minutes, the whole date on demand. */
import type { Component } from "solid-js";
import { clockTime, dayAndClockTime, fullTime, isoTime } from "./clock";

/** `at` is in ms since 1970. With `day` the date stands before the time. */
export const Time: Component<{ readonly at: number; readonly day?: boolean }> = (props) => (
  <time class="time" datetime={isoTime(props.at)} title={fullTime(props.at)}>
    {props.day ? dayAndClockTime(props.at) : clockTime(props.at)}
  </time>
);
