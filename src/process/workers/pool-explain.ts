import type { ExplainOutcome, ExplainSource } from '../../dry-run/explain/explain-source.ts';
import { NoAnswer, type Channel } from './ipc.ts';

/** A worker that asks for the first time compiles its settings once more, and a large request takes seconds. Below what the listener waits (30 s). */
const EXPLAIN_LIMIT_MS = 25_000;
/** Whose request it was is known at once, by each that is not busy with something else. */
const LOOK_UP_LIMIT_MS = 1_000;

interface Asked {
  readonly worker: { readonly id: number };
  readonly channel: Pick<Channel, 'ask'>;
}

const busy = (message: string): ExplainOutcome => ({ refused: { status: 503, code: 'busy', message } });

/** What is explained by the workers: a question by any of them, a request by the one that served it. The answer says which. */
export function explainedBy(serving: () => readonly Asked[]): ExplainSource {
  let turn = 0;
  return {
    explain(asked) {
      const members = serving();
      const member = members[(turn += 1) % members.length];
      if (!member) return Promise.resolve(busy('No worker serves.'));
      return orBusy(async () => by(member, await member.channel.ask('explain', asked, EXPLAIN_LIMIT_MS)));
    },
    explained: (id) =>
      orBusy(async () => {
        const member = await keeperOf(id, serving());
        const outcome = await member?.channel.ask('explained', { id }, EXPLAIN_LIMIT_MS);
        return member && outcome && by(member, outcome);
      }),
  };
}

/** Undefined only when all have said that they keep none. Rejects with NoAnswer where one said nothing. */
async function keeperOf(id: string, members: readonly Asked[]): Promise<Asked | undefined> {
  try {
    return await Promise.any(members.map((member) => ifKept(member, id)));
  } catch (error) {
    const silent = error instanceof AggregateError && error.errors.find((one) => !(one instanceof NotKept));
    if (silent) throw silent;
    return undefined;
  }
}

class NotKept extends Error {}

async function ifKept(member: Asked, id: string): Promise<Asked> {
  if (await member.channel.ask('keeps', { id }, LOOK_UP_LIMIT_MS)) return member;
  throw new NotKept();
}

/** A worker that hangs, or has ended while it was asked, is soon replaced: no fault of the question, nor one to be logged. */
async function orBusy<O>(ask: () => Promise<O>): Promise<O | ExplainOutcome> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof NoAnswer) return busy('A worker that is asked does not answer.');
    throw error;
  }
}

const by = ({ worker }: Asked, outcome: ExplainOutcome): ExplainOutcome =>
  outcome.explanation ? { explanation: { ...outcome.explanation, worker: worker.id } } : outcome;
