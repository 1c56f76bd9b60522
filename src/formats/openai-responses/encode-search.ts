import type { JsonObject } from '../conversation.ts';
import { compact } from '../json/compact.ts';
import { objectOf } from '../json/object.ts';
import { stringOf } from '../json/read.ts';
import type { LossReport } from '../losses/losses.ts';
import { brokenLimit } from '../search-limits.ts';

/** `web_search_options` of the chat API as a tool. The location of that API is nested, Anthropic's flat. */
function encodeSearch(options: JsonObject): JsonObject {
  const location = objectOf(options.user_location);
  const place = objectOf(location?.approximate) ?? location;
  return compact({
    type: 'web_search',
    user_location: place && { ...place, type: 'approximate' },
    search_context_size: stringOf(options.search_context_size),
  });
}

const ENVELOPE = ['type', 'name', 'cache_control'];
const MAPPED = ['user_location', 'search_context_size', 'allowed_domains'];
/** Settings that only this API has (docs/protocols/openai-responses.md#request). */
const OWN = ['external_web_access', 'indexed_web_access', 'filters', 'search_content_types'];
const KNOWN: ReadonlySet<string> = new Set([...ENVELOPE, ...MAPPED, ...OWN]);

/** A search tool of any API. */
export function encodeHostedSearch(options: JsonObject, path: string, losses: LossReport): JsonObject | undefined {
  const broken = brokenLimit('web_search', options, 'openai-responses');
  if (broken !== undefined) {
    losses.dropped(path, broken);
    return undefined;
  }
  for (const key of Object.keys(options))
    if (!KNOWN.has(key)) losses.dropped(`${path}.${key}`, 'the search of the Responses API has no such setting');
  const own = Object.fromEntries(OWN.flatMap((key) => (key in options ? [[key, options[key]]] : [])));
  const domains = options.allowed_domains;
  return { ...encodeSearch(options), ...own, ...(Array.isArray(domains) && { filters: { allowed_domains: domains } }) };
}
