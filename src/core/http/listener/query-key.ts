import type { IncomingHttpHeaders } from 'node:http';

/** The header in which clients of Google's APIs send their key (docs/protocols/gemini.md#keys). */
export const KEY_HEADER = 'x-goog-api-key';

const KEY = 'key';

/**
 * Moves the API key of a query (`?key=…`) into the header `x-goog-api-key`, and returns the rest of the query with its
 * `?`. A query occurs in places where a header does not: external plugins read it, and errors and logs may quote it. All
 * other parameters stay as they were written.
 * @param query without `?`
 */
export function withoutKey(query: string, headers: IncomingHttpHeaders): string {
  if (!MAY_HOLD_KEY.test(query)) return `?${query}`;
  const kept: string[] = [];
  const keys: string[] = [];
  for (const pair of query.split('&')) {
    const [[name, value] = ['', '']] = new URLSearchParams(pair);
    if (name.toLowerCase() !== KEY) kept.push(pair);
    else if (value !== '') keys.push(value);
  }
  const given = [headers[KEY_HEADER] ?? [], keys].flat();
  // As node:http joins a header that occurs several times.
  if (keys.length > 0) headers[KEY_HEADER] = given.join(', ');
  return kept.length > 0 ? `?${kept.join('&')}` : '';
}

/** A cheap test for most queries: `key`, of which each letter may be percent-encoded (RFC 3986, section 2.1). */
const MAY_HOLD_KEY = /(?:k|%[46]b)(?:e|%[46]5)(?:y|%[57]9)/i;
