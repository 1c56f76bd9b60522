import { StateFailure } from '../../../../core/ports/failures.ts';
import {
  ENTITY_KINDS,
  hasDigests,
  MAX_CHANGES,
  MAX_DOC_BYTES,
  type Actor,
  type EntityChange,
  type EntityRef,
  type KeyDigest,
  type KeyUse,
} from '../../../../core/ports/entities.ts';
import { MAX_REFUSED, type ShownBoot } from '../../../../core/ports/boots.ts';
import { MAX_CLAIM_TEXT, type ClaimWish } from '../../../../core/ports/claims.ts';
import {
  MAX_BATCH,
  MAX_NANO,
  MAX_PATH,
  type Boot,
  type CounterRef,
  type LeaseRequest,
} from '../../../../core/ports/counters.ts';
import { MAX_EVENT_LENGTH, type OutboxEvent } from '../../../../core/ports/outbox.ts';
import { MAX_ANSWER_LENGTH, type KeptAnswer } from '../../../../core/ports/idempotency.ts';

// The bounds of the ports. Each backend checks them before it writes anything.

const ID = /^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$/;
const FIELD = /^[a-z][a-z0-9_.]{0,63}$/;
const DIGEST = /^(?:sha256|hmac:[A-Za-z0-9_-]{1,32}):[0-9a-f]{64}$/;
const MAX_DEPTH = 32;
const MAX_SECRET = 64 * 1024;
const MAX_SECRETS = 16;
const MAX_TEXT = 1_000;

export const invalid = (message: string): StateFailure => new StateFailure('invalid', message);

function checkRef({ kind, id }: EntityRef): void {
  if (!ENTITY_KINDS.includes(kind)) throw invalid(`"${kind}" is no kind of object`);
  if (!ID.test(id)) throw invalid(`an id of kind ${kind} does not match ${ID.source}`);
}

export function checkActor({ id, role, address = '' }: Actor): void {
  for (const text of [id, role, address])
    if (typeof text !== 'string' || text.length > 256) throw invalid('an actor has texts of at most 256 characters');
  if (id === '') throw invalid('an actor has an id');
}

/** Returns the JSON text of each document. */
export function checkChanges(changes: readonly EntityChange[]): (string | undefined)[] {
  if (changes.length === 0 || changes.length > MAX_CHANGES)
    throw invalid(`a write has 1 to ${MAX_CHANGES} changes, this one has ${changes.length}`);
  const seen = new Set<string>();
  return changes.map((change) => {
    checkRef(change);
    const name = `${change.kind}/${change.id}`;
    if (seen.has(name)) throw invalid(`${name} appears twice in one write`);
    seen.add(name);
    if ((change.reason?.length ?? 0) > MAX_TEXT) throw invalid(`a reason has at most ${MAX_TEXT} characters`);
    if (change.op === 'delete') return undefined;
    checkSecrets(name, change.secrets ?? {});
    if (change.digests) checkDigests(name, change.digests, hasDigests(change.kind));
    return docText(name, change.doc);
  });
}

function checkSecrets(name: string, secrets: Readonly<Record<string, string | undefined>>): void {
  const fields = Object.entries(secrets);
  if (fields.length > MAX_SECRETS) throw invalid(`${name} has more than ${MAX_SECRETS} secrets`);
  for (const [field, value] of fields) {
    if (!FIELD.test(field)) throw invalid(`a sealed field of ${name} does not match ${FIELD.source}`);
    if ((value?.length ?? 0) > MAX_SECRET) throw invalid(`${name}.${field} has more than ${MAX_SECRET} characters`);
  }
}

function checkDigests(name: string, digests: readonly KeyDigest[], mayHave: boolean): void {
  if (!mayHave && digests.length > 0) throw invalid(`${name} is no key or token, so it has no digests`);
  const slots = new Set(digests.map(({ slot }) => slot));
  if (slots.size !== digests.length || [...slots].some((slot) => slot !== 0 && slot !== 1))
    throw invalid(`${name}: a key has at most one digest in each of the slots 0 and 1`);
  for (const { digest, last4, validFrom, validTo } of digests) {
    if (!DIGEST.test(digest)) throw invalid(`${name}: a digest does not match ${DIGEST.source}`);
    if (last4.length > 8) throw invalid(`${name}: last4 has at most 8 characters`);
    checkInteger(`${name}: valid_from`, validFrom, 0);
    if (validTo !== undefined) checkInteger(`${name}: valid_to`, validTo, 0);
  }
}

function docText(name: string, doc: unknown): string {
  checkJson(name, doc, 0);
  if (typeof doc !== 'object' || doc === null || Array.isArray(doc))
    throw invalid(`the document of ${name} is no object`);
  const text = JSON.stringify(doc);
  if (Buffer.byteLength(text) > MAX_DOC_BYTES)
    throw invalid(`the document of ${name} has more than ${MAX_DOC_BYTES} bytes of JSON`);
  return text;
}

/** JSON.stringify drops undefined, turns NaN into null and calls toJSON: a document that would change is refused. */
function checkJson(name: string, value: unknown, depth: number): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (typeof value !== 'object' || depth > MAX_DEPTH || 'toJSON' in value)
    throw invalid(`the document of ${name} is no JSON of at most ${MAX_DEPTH} levels`);
  for (const inner of Object.values(value)) checkJson(name, inner, depth + 1);
}

export function checkInteger(what: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): void {
  if (!Number.isSafeInteger(value) || value < least || value > most)
    throw invalid(`${what} is an integer from ${least} to ${most}`);
}

export function checkText(what: string, text: string, most: number): void {
  if (typeof text !== 'string' || text === '' || text.length > most)
    throw invalid(`${what} has 1 to ${most} characters`);
}

export function checkKeyUses(uses: readonly KeyUse[]): void {
  if (uses.length > 10_000) throw invalid('a call reports at most 10000 uses of keys');
  for (const { at, address } of uses) {
    checkInteger('the time of a use', at, 0);
    if (address.length > 64) throw invalid('the address of a use has at most 64 characters');
  }
}

export function checkAnswer({ actor, key, sha256, status, body, until }: KeptAnswer): void {
  checkText('the actor of an answer', actor, 256);
  checkText('the key of an answer', key, 128);
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw invalid('the request of an answer is named by a SHA-256');
  checkInteger('the status of an answer', status, 100, 599);
  checkInteger('the end of an answer', until, 0);
  if (body.length > MAX_ANSWER_LENGTH) throw invalid(`an answer has at most ${MAX_ANSWER_LENGTH} characters`);
}

export function checkBoot({
  id,
  host,
  version,
  configHash,
}: Pick<Boot, 'id' | 'host' | 'version' | 'configHash'>): void {
  if (!/^[0-9a-f]{32}$/.test(id)) throw invalid('the id of a process is 32 hex digits');
  if (host.length + version.length + configHash.length > 1_000)
    throw invalid('the texts of a process have at most 1000 characters');
}

export function checkShown(boot: Boot, { configHash, version, refused }: ShownBoot): void {
  checkBoot({ ...boot, configHash });
  checkInteger('the version that a gateway has', version, 0);
  if (refused) checkText('the mistake of a refused reload', refused.text, MAX_REFUSED);
}

export function checkClaim({ name, holder, text = '', ms }: ClaimWish): void {
  checkText('the name of a claim', name, 128);
  checkText('the holder of a claim', holder, 128);
  if (text.length > MAX_CLAIM_TEXT) throw invalid(`a claim has a text of at most ${MAX_CLAIM_TEXT} characters`);
  checkInteger('the time of a claim', ms, 1);
}

export function checkEvents(events: readonly OutboxEvent[]): void {
  if (events.length > 1_000) throw invalid('a call adds at most 1000 events');
  for (const { id, to, body } of events) {
    checkText('the id of an event', id, 128);
    checkText('the receiver of an event', to, 128);
    checkText('the body of an event', body, MAX_EVENT_LENGTH);
  }
}

export function checkTaking(to: readonly string[], most: number, ms: number): void {
  if (to.length > 1_000) throw invalid('a call names at most 1000 receivers');
  checkInteger('the number of events', most, 1, 100);
  checkInteger('the time of an event', ms, 1);
}

export function checkCounter({ node, period }: CounterRef): void {
  checkText('the node of a counter', node, 256);
  checkInteger('the period of a counter', period, 0);
}

export function checkSize(size: number): void {
  if (size > MAX_BATCH) throw invalid(`a call has at most ${MAX_BATCH} entries`);
}

export function checkTake(requests: readonly LeaseRequest[], by: Boot, batch: number): void {
  checkBoot(by);
  checkInteger('a batch', batch, 1);
  checkSize(requests.length);
  for (const request of requests) checkRequest(request);
}

function checkRequest({ path, caps, need, want, covers }: LeaseRequest): void {
  if (path.length === 0 || path.length > MAX_PATH) throw invalid(`a path has 1 to ${MAX_PATH} nodes`);
  if (caps.length !== path.length) throw invalid('a path has a cap, or undefined, for each node');
  for (const ref of path) checkCounter(ref);
  if (new Set(path.map(({ node, period }) => `${period} ${node}`)).size !== path.length)
    throw invalid('a path names each counter once');
  for (const cap of caps) if (cap !== undefined) checkInteger('a cap', cap, 0, MAX_NANO);
  checkInteger('need', need, 0, MAX_NANO);
  checkInteger('want', want, need, MAX_NANO);
  if (covers && covers.length !== path.length) throw invalid('a path has a cover for each node, or none');
  for (const { total } of covers ?? []) checkInteger('a cover', total, 0, MAX_NANO);
}
