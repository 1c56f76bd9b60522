import type { Exchange } from '../kernel/index.ts';
import { cut } from './cut.ts';
import type { RequestRecord } from './record.ts';
import { CENSOR, scrub } from './scrub.ts';

/** Maximum number of characters of all metadata of a record. Further metadata is counted, not recorded. */
const MAX_METADATA = 4096;

/** Maximum number of characters of a value that a condition compared. */
const MAX_COMPARED = 128;

type RecordedMetadata = Pick<RequestRecord, 'metadata' | 'metadataDropped' | 'metadataLeftOut'>;

const NO_METADATA: RecordedMetadata = { metadata: undefined, metadataDropped: 0, metadataLeftOut: 0 };

/**
 * The metadata of a request, its key's own first: it may fail before the plugin `metadata` adds them. Credentials that
 * a caller put there by mistake are replaced: those of the request, and texts in the format of one.
 */
export function metadataOf({ metadata: all, caller, request, droppedMetadata = 0 }: Exchange): RecordedMetadata {
  const bound = caller?.metadata;
  if (!bound && isEmpty(all)) return NO_METADATA;
  const entries = Object.entries(all);
  const others = bound ? entries.filter(([key]) => !Object.hasOwn(bound, key)) : entries;
  const pairs = [...Object.entries(bound ?? {}), ...others];
  const text = pairs.flat().join('\n');
  const mask = maskFor(request, text);
  const shown = (text: string): string => cut(mask(text));
  const kept: [string, string][] = [];
  let length = 0;
  for (const [key, value] of pairs) {
    const pair: [string, string] = [shown(key), shown(value)];
    length += pair[0].length + pair[1].length;
    if (length > MAX_METADATA) break;
    kept.push(pair);
  }
  const metadataLeftOut = pairs.length - kept.length;
  return { metadata: Object.fromEntries(kept), metadataDropped: droppedMetadata, metadataLeftOut };
}

/** The branches that a request took. Credentials among the values that their conditions compared are replaced, too. */
export const conditionsOf = ({ conditions, request }: Exchange): RequestRecord['conditions'] =>
  conditions.map((chosen) => {
    if (!chosen.tests) return chosen;
    const mask = maskFor(request, chosen.tests.map(({ found }) => String(found)).join('\n'));
    const tests = chosen.tests.map(({ field, found }) => ({
      field,
      found: typeof found === 'string' ? cut(mask(found), MAX_COMPARED) : found,
    }));
    return { ...chosen, tests };
  });

/** @param text in which the credentials of a request may occur: few or none do, while a request may have thousands of cookies */
function maskFor({ headers }: Exchange['request'], text: string): (part: string) => string {
  const secrets = credentialsIn(headers).filter((one) => text.includes(one));
  return (part) => scrub(secrets.reduce((masked, one) => masked.replaceAll(one, CENSOR), part));
}

function isEmpty(metadata: object): boolean {
  for (const _ in metadata) return false;
  return true;
}

const CREDENTIAL_HEADER = /^(?:(?:proxy-)?authorization|cookie|(?:x-)?(?:[a-z]+-)*(?:api-)?key)$/;

/** Shorter texts are no credentials, and may be parts of words. */
const LEAST_SECRET = 6;

/** The credentials in the headers of a request: whole, without their scheme, and each cookie's value. Longest first. */
function credentialsIn(headers: Exchange['request']['headers']): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) =>
    CREDENTIAL_HEADER.test(name) && value ? value : [],
  );
  const parts = values.flatMap((value) => [value, ...value.split(/[\s;=]+/)]);
  return [...new Set(parts)].filter(({ length }) => length >= LEAST_SECRET).toSorted((a, b) => b.length - a.length);
}
