/** Whether Tab reaches the controls of a part of the page: of many rows only those of the row one is at. */
import { createContext, useContext } from "solid-js";

export const ReachContext = createContext<() => boolean>(() => true);

/** The `tabindex` of a control, in the part of the page that it stands in. */
export const tabIndex = (): (() => 0 | -1) => {
  const isReached = useContext(ReachContext);
  return () => (isReached() ? 0 : -1);
};
