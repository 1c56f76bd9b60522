/** Stands in a path in the place of a key. No operation has such a path, and no model such a name. */
export const KEY_IN_PATH = ';key=';

/**
 * Cuts a key that a client writes as a parameter of a path segment (`/v1/chat/completions;key=…`, RFC 3986, section 3.3). Logs,
 * records and errors quote paths. The end of the path goes too, except a method of Google's APIs (`:generateContent`): a key may have
 * any character.
 */
export const withoutPathKey = (path: string): string =>
  MAY_HOLD.test(path) ? path.replace(KEY_PARAMETER, KEY_IN_PATH) : path;

const MAY_HOLD = /;|%(?:25)*3b/i;
/**
 * Each character may be percent-encoded (RFC 3986, section 2.1), also several times (`%253B`): Google's clients encode the name of a
 * model, and a proxy on the way may encode the `%` of that once more. The key itself stays readable.
 */
const KEY_PARAMETER =
  /(?:;|%(?:25)*3b)(?:k|%(?:25)*[46]b)(?:e|%(?:25)*[46]5)(?:y|%(?:25)*[57]9)(?:=|%(?:25)*3d).*?(?=(?::[a-z]+)?\/?$)/is;
