import { ReplyFault } from '../../formats/faults.ts';
import { Cancellation, GatewayError, UpstreamError } from '../../plugin/index.ts';
import type { Batch, ReplyReaderLike } from '../kernel/index.ts';
import type { CommittedReply } from '../upstream/types.ts';
import { ByteBudget } from '../upstream/bounded-body.ts';
import { inParallel } from '../upstream/parallel.ts';
import { toUpstreamError } from '../upstream/upstream-error.ts';
import { connectionsOf } from './call-request.ts';
import { sendUntilReply } from './call.ts';
import type { SendJob, UpstreamCall } from './send-job.ts';
import { createSignals } from '../../formats/events.ts';

/** Cancellation reason of calls that did not fail themselves. No client sees it. */
const GIVEN_UP = new GatewayError('client_closed', 'Another call of the same request failed.');

type WholeReply = Pick<CommittedReply, 'status' | 'headers'> & { readonly body: Buffer };

/** Some in parallel. The first failure cancels the others. Replies received so far are kept for a retry. */
export async function sendBatch(job: SendJob, batch: Batch): Promise<WholeReply> {
  const { attempt, setup } = job;
  const group = new Cancellation();
  const run: Run = { job, batch, group, held: new ByteBudget(setup.limits.reply, batch.bytesRead) };
  const missing = batch.bodies.keys().filter((number) => !batch.replies.has(number));
  let headers: CommittedReply['headers'] = {};
  // Calls beyond the number of connections would spend their connect timeout in the queue.
  const workers = Math.min(batch.parallel, batch.bodies.length, connectionsOf(job));
  const team = { workers, group, within: attempt.cancellation, giveUp: () => GIVEN_UP };
  await inParallel(missing, team, async (number) => {
    headers = await sendCall(run, number);
  });
  const { body = Buffer.alloc(0), signals } = joinReplies(batch, job);
  attempt.signals = signals;
  return { status: 200, headers, body };
}

interface Run {
  readonly job: SendJob;
  readonly batch: Batch;
  readonly group: Cancellation;
  /** Counts the bytes of received and arriving replies: all are in memory until they are joined. */
  readonly held: ByteBudget;
}

/** Sends one call and keeps its reply. Returns the headers of the reply. */
async function sendCall({ job, batch, group, held }: Run, number: number): Promise<CommittedReply['headers']> {
  const { slug } = job.entry.provider;
  const { reply, record } = await sendUntilReply(job, callOf(batch, number, { group, held }), (reply, record) => ({
    reply,
    record,
  }));
  try {
    const { body } = reply;
    // A reader that returns nothing before the end of a plain reply keeps the commit gate closed until then.
    if (!Buffer.isBuffer(body)) throw new GatewayError('internal_error', 'A reply of a batch began to leave.');
    batch.replies.set(
      number,
      readable(slug, () => batch.read(body, number)),
    );
    batch.bytesRead += body.length;
  } catch (error) {
    // The status was 200: only reading shows that the try failed.
    if (error instanceof GatewayError) record.error = error;
    throw error;
  }
  return reply.headers;
}

const callOf = (batch: Batch, number: number, { group, held }: Pick<Run, 'group' | 'held'>): UpstreamCall => ({
  number,
  body: batch.bodies[number],
  stream: false,
  cancellation: group,
  openReader: () => new CountingReader(held),
});

function joinReplies(batch: Batch, { attempt, entry }: SendJob): ReturnType<Batch['join']> {
  const provider = entry.provider.slug;
  try {
    const joined = readable(provider, batch.join);
    if (joined.signals.failure) throw toUpstreamError(joined.signals.failure, { provider });
    return joined;
  } catch (error) {
    // Each reply is readable, but they do not join. The faulty one is unknown: reusing them would fail again.
    batch.replies.clear();
    batch.bytesRead = 0;
    if (error instanceof GatewayError) for (const record of attempt.tries) record.error ??= error;
    throw error;
  }
}

function readable<T>(provider: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ReplyFault)) throw error;
    throw new UpstreamError('upstream_error', `A reply of @${provider} cannot be read: ${error.message}`, {
      cause: error,
      provider,
    });
  }
}

/** Collects a whole body. Replies received in parallel count against one budget as their bytes arrive. */
export class CountingReader implements ReplyReaderLike {
  readonly signals = createSignals();
  readonly #count: ByteBudget;
  readonly #pieces: Buffer[] = [];

  constructor(count: ByteBudget) {
    this.#count = count;
  }

  push(bytes: Buffer): undefined {
    this.signals.progress += 1;
    if (this.#count.take(bytes.length)) this.#pieces.push(bytes);
    else {
      const message = `The replies to one request together exceed ${this.#count.limit} bytes (limits.reply).`;
      this.signals.failure = { status: 502, kind: 'reply_too_large', message };
    }
  }

  end(): Buffer {
    this.signals.ended = true;
    return Buffer.concat(this.#pieces);
  }
}
