import type { Channel } from './ipc.ts';
import { NoAnswer } from './open-questions.ts';
import type { ExplainOutcome, ExplainSource } from '../../core/process/explain-port.ts';

/** Compiling settings and a large request take seconds. Less than the listener's limit (30 s). */
const EXPLAIN_LIMIT_MS = 25_000;
/** Each worker that is not busy knows at once whether it keeps the request. */
const LOOK_UP_LIMIT_MS = 1_000;

interface ExplainWorker {
  readonly worker: { readonly id: number };
  readonly channel: Pick<Channel, 'ask'>;
}

const busy = (message: string): ExplainOutcome => ({ refused: { code: 'busy', message } });

const NOT_KEPT: ExplainOutcome = {
  refused: { code: 'not_found', message: 'No worker keeps a request under the id in `of`.' },
};

/** A hypothetical request is explained by any worker, a served one by its worker, which the explanation names. */
export function explainedBy(serving: () => readonly ExplainWorker[]): ExplainSource {
  let turn = 0;
  return {
    explain(args) {
      const { of } = args;
      if (of !== undefined)
        return orBusy(async () => {
          const member = await keeperOf(of, serving());
          return member ? by(member, await member.channel.ask('explain', args, EXPLAIN_LIMIT_MS)) : NOT_KEPT;
        });
      const members = serving();
      const member = members[(turn += 1) % members.length];
      if (!member) return Promise.resolve(busy('No worker serves.'));
      return orBusy(async () => by(member, await member.channel.ask('explain', args, EXPLAIN_LIMIT_MS)));
    },
    explained: (id) =>
      orBusy(async () => {
        const member = await keeperOf(id, serving());
        const outcome = await member?.channel.ask('explained', { id }, EXPLAIN_LIMIT_MS);
        return member && outcome && by(member, outcome);
      }),
  };
}

/** Undefined only if all workers answered that they keep none. Rejects with NoAnswer if one did not answer. */
async function keeperOf(id: string, members: readonly ExplainWorker[]): Promise<ExplainWorker | undefined> {
  try {
    return await Promise.any(members.map((member) => ifKept(member, id)));
  } catch (error) {
    const silent = error instanceof AggregateError && error.errors.find((one) => !(one instanceof NotKept));
    if (silent) throw silent;
    return undefined;
  }
}

class NotKept extends Error {}

async function ifKept(member: ExplainWorker, id: string): Promise<ExplainWorker> {
  if (await member.channel.ask('keeps', { id }, LOOK_UP_LIMIT_MS)) return member;
  throw new NotKept();
}

/** Turns a missing answer into 503: the worker is soon replaced, so nothing needs logging. */
async function orBusy<O>(ask: () => Promise<O>): Promise<O | ExplainOutcome> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof NoAnswer) return busy('A worker does not answer.');
    throw error;
  }
}

const by = ({ worker }: ExplainWorker, outcome: ExplainOutcome): ExplainOutcome =>
  outcome.explanation ? { explanation: { ...outcome.explanation, worker: worker.id } } : outcome;
