import type { IncomingHttpHeaders } from 'node:http';

/** The header in which clients of Google's APIs send their key (docs/protocols/gemini.md#keys). */
const KEY_HEADER = 'x-goog-api-key';

/**
 * Moves the API key of a query (`?key=…`) into the header `x-goog-api-key`, and returns the rest with its `?`: external
 * plugins read a query, and errors and logs may quote it.
 * @param query without `?`
 */
export function withoutKey(query: string, headers: IncomingHttpHeaders): string {
  if (!MAY_HOLD_KEY.test(query)) return `?${query}`;
  const kept: string[] = [];
  const keys: string[] = [];
  for (const pair of query.split('&')) {
    const [[name, value] = ['', '']] = new URLSearchParams(pair);
    if (name.toLowerCase() !== 'key') kept.push(pair);
    else if (value !== '') keys.push(value);
  }
  const given = [headers[KEY_HEADER] ?? [], keys].flat();
  // As node:http joins a header that occurs several times.
  if (keys.length > 0) headers[KEY_HEADER] = given.join(', ');
  return kept.length > 0 ? `?${kept.join('&')}` : '';
}

/** A cheap test for most queries: `key`, of which each letter may be percent-encoded (RFC 3986, section 2.1). */
const MAY_HOLD_KEY = /(?:k|%[46]b)(?:e|%[46]5)(?:y|%[57]9)/i;

/** Stands in a path in the place of a key. No operation has such a path, and no model such a name. */
export const KEY_IN_PATH = ';key=';

/**
 * Cuts a key in a path segment (`/v1/chat/completions;key=…`, RFC 3986, section 3.3): logs, records and errors quote
 * paths. The rest of the path goes too, except a method of Google's APIs (`:generateContent`).
 */
export const withoutPathKey = (path: string): string =>
  MAY_HOLD_PARAMETER.test(path) ? path.replace(KEY_PARAMETER, KEY_IN_PATH) : path;

const MAY_HOLD_PARAMETER = /;|%(?:25)*3b/i;
/** Each character may be percent-encoded, also several times (`%253B`): by clients and by a proxy. */
const KEY_PARAMETER =
  /(?:;|%(?:25)*3b)(?:k|%(?:25)*[46]b)(?:e|%(?:25)*[46]5)(?:y|%(?:25)*[57]9)(?:=|%(?:25)*3d).*?(?=(?::[a-z]+)?\/?$)/is;
