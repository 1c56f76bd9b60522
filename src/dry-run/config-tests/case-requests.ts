import type { ConfigTestCase } from '../../../schemas/types.generated.ts';
import { digestOf } from '../../settings/compile/key-digest.ts';
import { createKeyRing } from '../../settings/compile/key-ring.ts';
import type { Settings } from '../../settings/read/load.ts';
import type { Clock, KeyRing } from '../../plugin/index.ts';
import { ANYBODY, UnknownKey } from '../explain/supposed-caller.ts';
import type { HeaderNames } from '../../gateway/header-names.ts';
import { parseDuration } from '../../plugin/index.ts';
import type { ClientRequest } from './client.ts';

/** A case with what its file leaves out filled in. */
export interface FullCase extends ConfigTestCase {
  /** Undefined: the request names none. */
  readonly configId: string | undefined;
}

/** One request of a case, with what it does not say itself. */
export interface CaseRequest extends Omit<FullCase, 'next'> {
  /** Since the end of the one before. */
  readonly afterMs: number;
}

/** In the order they are made. Of a later one everything is as in the first, but for what upstreams answer. */
export function requestsOf({ next = [], ...first }: FullCase): readonly CaseRequest[] {
  const { upstream: _, ...common } = first;
  const later = next.map(({ after = 0, ...own }): CaseRequest => ({
    ...common,
    ...own,
    afterMs: parseDuration(after),
  }));
  return [{ ...first, afterMs: 0 }, ...later];
}

/** Nobody's: it opens nothing anywhere else. */
const keyText = (id: string | undefined): string => (id === undefined ? 'the-key-of-anybody' : `the-key-of-${id}`);

/** Who has the keys of a case, as the gateway's own key ring says it: a key that has expired by then is refused. */
export function supposedKeys(testCase: FullCase, settings: Settings, clock: Pick<Clock, 'wall'>): KeyRing {
  const { keys } = settings.keys;
  const ids = new Set(requestsOf(testCase).flatMap(({ key }) => key ?? []));
  const supposed = [...ids].map((id) => {
    const entry = keys.find((one) => one.id === id);
    if (!entry) throw new UnknownKey(id, settings.keys);
    // A case asks from no address: wherever the key may be used from, it does.
    const { networks: _, ...own } = entry;
    return { ...own, digest: digestOf(keyText(id)) };
  });
  const named = createKeyRing({ keys: supposed }, clock);
  return { find: (given, address) => (given === keyText(undefined) ? ANYBODY : named.find(given, address)) };
}

/** The last one stands for all behind it. */
export function drawFrom({ draws = [] }: CaseRequest): () => number {
  let at = 0;
  return () => draws[Math.min(at++, draws.length - 1)] ?? 0;
}

const REQUEST_ID = 'x-request-id';

/** The same in every run, unless the client gives one. */
export function requestIdOf({ headers = {} }: CaseRequest, index: number): string | undefined {
  const given = Object.keys(headers).some((name) => name.toLowerCase() === REQUEST_ID);
  return given ? undefined : `00000000-0000-7000-8000-${String(index + 1).padStart(12, '0')}`;
}

/**
 * The gateway's own header for the key stands over whatever else may hold one: `Authorization` stays what the caller sends upstream.
 * A case that writes that header itself asks with the key in it.
 */
export function toClientRequest(
  { request, key, headers = {}, configId }: CaseRequest,
  names: HeaderNames,
): ClientRequest {
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  // A schema of JSON has no type for "any value".
  const body: unknown = request.body;
  const own: Record<string, string> = {};
  if (body !== undefined) own['content-type'] = 'application/json';
  if (names.read(given, 'api-key') === undefined) own[names.nameFor(given, 'api-key')] = keyText(key);
  if (configId !== undefined && names.read(given, 'config') === undefined)
    own[names.nameFor(given, 'config')] = configId;
  return {
    method: request.method ?? 'POST',
    path: request.path ?? '/v1/chat/completions',
    headers: { ...own, ...given },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  };
}
