import { operations } from '../../core/operations/index.ts';
import { FORM_TYPE, formOfFields } from '../../core/dry-run/form-of-fields.ts';
import type { ConfigTestCase } from '../../../schemas/types.generated.ts';
import type { ReadReplay } from './answers.ts';
import { digestOf } from '../../core/settings/compile/api-keys.ts';
import { createKeyRing } from '../../core/settings/compile/key-ring.ts';
import type { Settings } from '../../core/settings/read/load.ts';
import type { Clock } from '../../plugin/index.ts';
import type { KeyRing } from '../../core/kernel/index.ts';
import { parseDuration } from '../../core/kernel/units.ts';
import { ANYBODY, UnknownKey } from '../../core/dry-run/supposed-caller.ts';
import type { HeaderNames } from '../../core/http/gateway/header-names.ts';
import type { ClientRequest } from './client.ts';

/** A case with the defaults of its file. */
export interface FullCase extends ConfigTestCase {
  /** Undefined: the request names none. */
  readonly configId: string | undefined;
  /** Reads the captures that it names. Undefined: it names none. */
  readonly readReplay?: ReadReplay;
}

export interface CaseRequest extends Omit<FullCase, 'next'> {
  /** Wait since the end of the previous request. */
  readonly afterMs: number;
}

/** The requests of a case, in order. Later ones inherit everything from the first, except the upstream answers. */
export function requestsOf({ next = [], ...first }: FullCase): readonly CaseRequest[] {
  const { upstream: _, ...common } = first;
  const later = next.map(({ after = 0, ...own }): CaseRequest => ({
    ...common,
    ...own,
    afterMs: parseDuration(after),
  }));
  return [{ ...first, afterMs: 0 }, ...later];
}

/** Key text for a case; not a key of any gateway. */
const keyText = (id: string | undefined): string => (id === undefined ? 'the-key-of-anybody' : `the-key-of-${id}`);

/** The key ring of a case, with the gateway's own rules: a key that has expired by the case's time is rejected. */
export function supposedKeys(testCase: FullCase, settings: Settings, clock: Pick<Clock, 'wall'>): KeyRing {
  const { keys } = settings.keys;
  const ids = new Set(requestsOf(testCase).flatMap(({ key }) => key ?? []));
  const supposed = [...ids].map((id) => {
    const entry = keys.find((one) => one.id === id);
    if (!entry) throw new UnknownKey(id, settings.keys);
    // A case has no client address, so the key's networks are not checked.
    const { networks: _, previous: __, ...own } = entry;
    return { ...own, digest: digestOf(keyText(id)) };
  });
  const named = createKeyRing({ keys: supposed, teams: settings.teams }, clock);
  return { find: (given, address) => (given === keyText(undefined) ? ANYBODY : named.find(given, address)) };
}

/** The last number repeats. */
export function drawFrom({ draws = [] }: CaseRequest): () => number {
  let at = 0;
  return () => draws[Math.min(at++, draws.length - 1)] ?? 0;
}

const REQUEST_ID = 'x-request-id';

/** The same id in every run, unless the client sends one. */
export function requestIdOf({ headers = {} }: CaseRequest, index: number): string | undefined {
  const given = Object.keys(headers).some((name) => name.toLowerCase() === REQUEST_ID);
  return given ? undefined : `00000000-0000-7000-8000-${String(index + 1).padStart(12, '0')}`;
}

/**
 * Builds the client's request. The key goes into the gateway's own header, which overrides other headers, so that
 * `Authorization` stays the caller's upstream credential. A case that sets that header itself uses the key in it.
 */
export function toClientRequest(
  { request, key, headers = {}, configId }: CaseRequest,
  names: HeaderNames,
): ClientRequest {
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  // JSON Schema has no type for "any value".
  const body: unknown = request.body;
  const path = request.path ?? '/v1/chat/completions';
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const operation = operations.find((one) => one.path === path);
  const isForm = operation?.task !== undefined && operation.body === 'multipart';
  const type = given['content-type'] ?? (isForm ? FORM_TYPE : 'application/json');
  const form = text === undefined ? undefined : formOfFields(Buffer.from(text), { operation, type });
  const own: Record<string, string> = body === undefined ? {} : { 'content-type': type };
  if (names.read(given, 'api-key') === undefined) own[names.nameFor(given, 'api-key')] = keyText(key);
  if (configId !== undefined && names.read(given, 'config') === undefined)
    own[names.nameFor(given, 'config')] = configId;
  return {
    method: request.method ?? 'POST',
    path,
    headers: { ...own, ...given, ...form?.headers },
    body: form?.body.toString() ?? text,
  };
}
