import type { JsonObject } from '../conversation.ts';
import { claimOf, outputWithin, sound } from '../counts.ts';
import { pricedTier, type Usage } from '../events.ts';
import { compact, isObject, objectOf, listOf, stringOf } from '../json/object.ts';

/** @param tier `service_tier`, which is beside the usage */
export function decodeUsage(raw: JsonObject, tier?: unknown): Usage | undefined {
  const input = claimOf(raw.input_tokens);
  const given = claimOf(raw.output_tokens);
  if (input === undefined && given === undefined) return undefined;
  const output = outputWithin(claimOf(raw.total_tokens), input, given);
  const read = objectOf(raw.input_tokens_details);
  const usage = compact({
    input: input ?? 0,
    output,
    total: (input ?? 0) + output,
    cacheRead: claimOf(read?.cached_tokens),
    cacheWrite: claimOf(read?.cache_write_tokens),
    reasoning: claimOf(objectOf(raw.output_tokens_details)?.reasoning_tokens),
    tier: pricedTier(tier),
  });
  return sound(usage);
}

const MAX_CONTAINERS = 1000;

/** Counts the calls of tools that the provider runs and charges for each. */
export class HostedCalls {
  #searches = 0;
  #fileSearches = 0;
  readonly #containers = new Set<string>();

  /** @param item whole, and counted once */
  count(item: JsonObject): void {
    this.#searches += Number(isSearch(item));
    this.#fileSearches += Number(isFileSearch(item));
    this.#noteContainer(item);
  }

  /** The last event of a stream repeats all items; some servers send them there alone. */
  totals({ output }: JsonObject): Pick<Usage, 'searches' | 'fileSearches' | 'containers'> {
    const items = (listOf(output) ?? []).filter(isObject);
    const searches = Math.max(this.#searches, items.filter(isSearch).length);
    const fileSearches = Math.max(this.#fileSearches, items.filter(isFileSearch).length);
    for (const item of items) this.#noteContainer(item);
    const containers = this.#containers.size;
    return {
      ...(searches > 0 && { searches }),
      ...(fileSearches > 0 && { fileSearches }),
      ...(containers > 0 && { containers }),
    };
  }

  /** Several calls may run in one container. */
  #noteContainer({ type, container_id: id }: JsonObject): void {
    if (type === 'code_interpreter_call' && this.#containers.size < MAX_CONTAINERS)
      this.#containers.add(stringOf(id) ?? '');
  }
}

/** Opening a page and finding text in one are calls too, and cost nothing (docs/protocols/openai-responses.md#searches). */
function isSearch({ type, action }: JsonObject): boolean {
  const done = stringOf(objectOf(action)?.type);
  return type === 'web_search_call' && (done === undefined || done === 'search');
}

const isFileSearch = ({ type }: JsonObject): boolean => type === 'file_search_call';
