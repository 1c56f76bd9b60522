import type { ExplainOutcome, ExplainSource } from '../explain/source.ts';
import type { Channel } from './ipc.ts';

/** A worker that asks for the first time compiles its settings once more. */
const EXPLAIN_LIMIT_MS = 15_000;

interface Asked {
  readonly worker: { readonly id: number };
  readonly channel: Pick<Channel, 'ask'>;
}

const NOBODY: ExplainOutcome = { refused: { status: 503, code: 'busy', message: 'no worker serves' } };

/** What is explained by the workers: a question by any of them, a request by the one that served it. The answer says which. */
export function explainedBy(serving: () => readonly Asked[]): ExplainSource {
  let turn = 0;
  return {
    async explain(asked) {
      const members = serving();
      const member = members[(turn += 1) % members.length];
      if (!member) return NOBODY;
      return by(member, await member.channel.ask('explain', asked, EXPLAIN_LIMIT_MS));
    },
    async explained(id) {
      try {
        return await Promise.any(serving().map((member) => foundBy(member, id)));
      } catch (error) {
        // "None" is said only when all have said so.
        const silent = error instanceof AggregateError && error.errors.find((one) => !(one instanceof NotKept));
        if (silent) throw silent;
        return undefined;
      }
    },
  };
}

class NotKept extends Error {}

async function foundBy(member: Asked, id: string): Promise<ExplainOutcome> {
  const outcome = await member.channel.ask('explained', { id }, EXPLAIN_LIMIT_MS);
  if (!outcome) throw new NotKept();
  return by(member, outcome);
}

const by = ({ worker }: Asked, outcome: ExplainOutcome): ExplainOutcome =>
  outcome.explanation ? { explanation: { ...outcome.explanation, worker: worker.id } } : outcome;
