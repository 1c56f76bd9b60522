import { createHash, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../../plugin/index.ts';
import { MAX_ANSWER_LENGTH, type Idempotency } from '../../../core/ports/idempotency.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { IV_BYTES, openBytes, sealBytes, TAG_BYTES } from '../../../core/kernel/aes-gcm.ts';
import type { AdminAnswer } from './answer.ts';
import type { AdminIdentity } from './identity.ts';
import { ApiProblem } from './problems.ts';

const KEPT_MS = 24 * 3_600_000;
/** A call of a process that was killed is under way for so long. */
const RUNNING_MS = 60_000;

/** For calls without a token: their answers can be repeated until the process ends. */
const NO_TOKEN = randomBytes(32).toString('base64url');

const sha256 = (...parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(String(part.length)).update(':').update(part);
  return hash.digest('hex');
};

interface RepeatableCall {
  readonly identity: AdminIdentity;
  readonly key: string;
  readonly method: string;
  /** With the query. */
  readonly target: string;
  readonly body: Buffer;
}

/** A digest of the caller and its key: callers may choose equal keys. */
export const callIdOf = ({ identity, key }: Pick<RepeatableCall, 'identity' | 'key'>): string =>
  sha256(identity.actor.id, key);

/**
 * Calls with an `Idempotency-Key`: the same call again gets the answer of the first. The store has the answers under a key that is made
 * of the caller's token and its `Idempotency-Key`, because an answer may hold a new secret, and the store has neither of the two.
 */
export class RepeatableCalls {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Answers as the first call did, or runs the call. */
  async run(
    call: RepeatableCall,
    { idempotency, claims }: Pick<StateStore, 'idempotency' | 'claims'>,
    task: () => Promise<AdminAnswer>,
  ): Promise<AdminAnswer> {
    const id = callIdOf(call);
    // A row: the repeated call may reach another gateway on the store.
    const [name, holder] = [`call ${id}`, randomUUID()];
    if ((await claims.take({ name, holder, ms: RUNNING_MS })).holder !== holder)
      throw new ApiProblem('replay_in_progress', 'A call with this `Idempotency-Key` is under way.');
    try {
      return (await this.#repeated(call, id, idempotency)) ?? (await this.#first(call, id, idempotency, task));
    } finally {
      // The answer is kept: a claim that stays for its time refuses one more call.
      await claims.end(name, holder).catch(() => {});
    }
  }

  async #repeated(call: RepeatableCall, id: string, kept: Idempotency): Promise<AdminAnswer | undefined> {
    const found = await kept.find(call.identity.actor.id, id);
    if (!found) return undefined;
    const text = found.sha256 === requestOf(call) ? open(found.body, call) : undefined;
    if (text === undefined)
      throw new ApiProblem(
        'idempotency_mismatch',
        'This `Idempotency-Key` belongs to another call of the last 24 hours.',
      );
    const { body, headers } = JSON.parse(text) as Pick<AdminAnswer, 'body' | 'headers'>;
    return { status: found.status, body, headers: { ...headers, 'idempotency-replayed': 'true' } };
  }

  /** Only answers to calls that were done are kept: a refused call may be repeated, and may succeed. */
  async #first(
    call: RepeatableCall,
    id: string,
    kept: Idempotency,
    task: () => Promise<AdminAnswer>,
  ): Promise<AdminAnswer> {
    const answer = await task();
    const { status, body, headers } = answer;
    const sealed = seal(JSON.stringify({ body, headers }), call);
    if (status >= 300 || sealed.length > MAX_ANSWER_LENGTH) return answer;
    const { actor } = call.identity;
    await kept.keep({
      actor: actor.id,
      key: id,
      sha256: requestOf(call),
      status,
      body: sealed,
      until: this.#clock.wall() + KEPT_MS,
    });
    return answer;
  }
}

const requestOf = ({ method, target, body }: RepeatableCall): string => sha256(method, target, body);

const keyOf = ({ identity, key }: RepeatableCall): Buffer =>
  Buffer.from(hkdfSync('sha256', identity.secret ?? NO_TOKEN, key, 'gatehouse idempotency', 32));

function seal(plain: string, call: RepeatableCall): string {
  const { iv, tag, text } = sealBytes(keyOf(call), Buffer.from(plain));
  return Buffer.concat([iv, tag, text]).toString('base64');
}

/** Undefined: another token, or another process for a call without one. */
function open(sealed: string, call: RepeatableCall): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  const iv = bytes.subarray(0, IV_BYTES);
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  return openBytes(keyOf(call), { iv, tag, text: bytes.subarray(IV_BYTES + TAG_BYTES) })?.toString();
}
