import { ReplyFault } from '../formats/format.ts';
import { Cancellation, GatewayError, UpstreamError, type Batch } from '../plugin/index.ts';
import type { CommittedReply } from '../upstream/types.ts';
import { toUpstreamError } from '../upstream/upstream-error.ts';
import { ask, connectionsOf, type SendJob, type UpstreamCall } from './call.ts';
import { ByteCount, CountingReader, readWhole } from './whole-reply.ts';

/** Why calls end that did not fail themselves; nobody is told. */
const GIVEN_UP = new GatewayError('client_closed', 'Another call of the same request failed.');

type WholeReply = Pick<CommittedReply, 'status' | 'headers'> & { readonly body: Buffer };

/** All calls, so many at once; the first that fails ends the others. What has been answered stays for a retry. */
export async function sendBatch(job: SendJob, batch: Batch): Promise<WholeReply> {
  const { attempt, setup } = job;
  const group = new Cancellation();
  const stopListening = attempt.cancellation.onCancel((reason) => group.cancel(reason));
  const run: Run = { job, batch, group, held: new ByteCount(setup.limits.reply, batch.bytesRead) };
  const missing = batch.bodies.keys().filter((number) => !batch.replies.has(number));
  let headers: CommittedReply['headers'] = {};
  const work = async (): Promise<void> => {
    // Workers share the iterator: each takes the next call that nobody has.
    for (const number of missing) {
      if (group.reason) throw group.reason;
      headers = await answer(run, number);
    }
  };
  // More calls than connections would wait in line until their time to connect is over.
  const workers = Math.min(batch.parallel, batch.bodies.length, connectionsOf(job));
  try {
    await Promise.all(Array.from({ length: workers }, work));
  } catch (error) {
    group.cancel(GIVEN_UP);
    throw error;
  } finally {
    stopListening();
  }
  const { body = Buffer.alloc(0), signals } = joinReplies(batch, job);
  attempt.signals = signals;
  return { status: 200, headers, body };
}

interface Run {
  readonly job: SendJob;
  readonly batch: Batch;
  /** Ends all its calls. */
  readonly group: Cancellation;
  /** Of replies that stand and of those on their way, which are all in memory until they are joined. */
  readonly held: ByteCount;
}

/** Asks one call and keeps what it answers. Gives the headers of its reply. */
async function answer({ job, batch, group, held }: Run, number: number): Promise<CommittedReply['headers']> {
  const { slug } = job.entry.provider;
  const { reply, record } = await ask(job, callOf(batch, number, { group, held }));
  try {
    const bytes = await readWhole(reply.body, group);
    batch.replies.set(
      number,
      readable(slug, () => batch.read(bytes, number)),
    );
    batch.bytesRead += bytes.length;
  } catch (error) {
    // Its status was 200: only here does it show that the try has failed.
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
    // Each can be read and all together make no answer. Nothing says whose fault it was, and a retry that asked for nothing would
    // only meet it again.
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
