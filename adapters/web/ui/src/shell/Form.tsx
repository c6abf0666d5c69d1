/** A form that is sent by the page and not by the browser, with what went wrong below it. */
import type { ParentComponent } from "solid-js";

export const Form: ParentComponent<{ readonly onSubmit: () => unknown; readonly error: string | undefined }> = (props) => (
  <form
    class="form"
    onSubmit={(event) => {
      event.preventDefault();
      props.onSubmit();
    }}
  >
    {props.children}
    <span role="alert" class="error">
      {props.error}
    </span>
  </form>
);
