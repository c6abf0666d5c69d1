/** When what nobody knows the outcome of is sent once more. */

/** After this long the first time, in ms, and twice as long each further time; so often while the connection stands. */
export const AGAIN_AFTER_MS = 1_000;
export const TRIES = 5;
