import { render } from "@solidjs/web";

const root = document.getElementById("root");
if (root) render(() => <p>Compass</p>, root);
