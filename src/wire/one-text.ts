// The answer that most tools give: one short text, and nothing else. A single pattern finds its id and proves all of it, so
// that it need be neither parsed nor searched for what it does not say.

/** Letters up to which that takes less time than parsing it. */
export const SHORT = 1024

/** A text as JSON has it: no quote, backslash or control character but in an escape that there is. */
const TEXT = String.raw`"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\x00-\x1f]*)*"`
const RESULT = String.raw`"result":\{"content":\[\{"type":"text","text":${TEXT}\}\](?:,"resultType":"complete")?\}`
const ID = String.raw`"id":(0|[1-9]\d{0,14})`

/** In the two forms that servers write: the id before the result, or as the very last member. Tells the id. */
export const ONE_TEXT: RegExp = new RegExp(String.raw`^\{"jsonrpc":"2\.0",${ID},${RESULT}\}$`)
export const ONE_TEXT_FIRST: RegExp = new RegExp(String.raw`^\{${RESULT},"jsonrpc":"2\.0",${ID}\}$`)
