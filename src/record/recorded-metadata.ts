import type { Exchange } from '../plugin/index.ts';
import { cut } from './cut.ts';
import type { RequestRecord } from './record.ts';
import { scrub } from './scrub.ts';

/** Maximum number of characters of all metadata of a record. Further metadata is counted, not recorded. */
const MAX_METADATA = 4096;

type RecordedMetadata = Pick<RequestRecord, 'metadata' | 'metadataDropped' | 'metadataLeftOut'>;

const NO_METADATA: RecordedMetadata = { metadata: undefined, metadataDropped: 0, metadataLeftOut: 0 };

/**
 * The metadata of a request, its key's own first: they are added here too, because a request can fail before the plugin
 * `metadata` adds them. Credentials are replaced, which a caller may have put there by mistake.
 */
export function metadataOf({ metadata: all, caller, droppedMetadata = 0 }: Exchange): RecordedMetadata {
  const entries = Object.entries(all);
  const bound = caller?.metadata;
  if (entries.length === 0 && !bound) return NO_METADATA;
  const others = bound ? entries.filter(([key]) => !Object.hasOwn(bound, key)) : entries;
  const kept: [string, string][] = [];
  let length = 0;
  for (const [key, value] of [...Object.entries(bound ?? {}), ...others]) {
    const pair: [string, string] = [shown(key), shown(value)];
    length += pair[0].length + pair[1].length;
    if (length > MAX_METADATA) break;
    kept.push(pair);
  }
  const left = (bound ? Object.keys(bound).length : 0) + others.length - kept.length;
  return { metadata: Object.fromEntries(kept), metadataDropped: droppedMetadata, metadataLeftOut: left };
}

const shown = (text: string): string => cut(scrub(text));
