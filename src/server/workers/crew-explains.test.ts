import { describe, expect, it } from 'vitest';
import type { Explanation } from '../../explain/explanation.ts';
import type { AskedQuestion } from '../explain/asked.ts';
import type { ExplainOutcome } from '../explain/source.ts';
import { explainedBy } from './crew-explains.ts';

const QUESTION: AskedQuestion = { method: 'GET', path: '/v1/models', headers: {}, body: '' };
const NONE = undefined;
const outcome = (notes: string): ExplainOutcome => ({ explanation: { notes: [notes] } as unknown as Explanation });
const REFUSED: ExplainOutcome = { refused: { status: 400, code: 'unknown_key', message: 'no' } };

/** Workers 1, 2, … that answer so; an error is what there is instead of an answer. */
function crewOf(...answers: readonly (ExplainOutcome | undefined | Error | Promise<never>)[]) {
  const asked: number[] = [];
  const source = explainedBy(() =>
    answers.map((answer, index) => ({
      worker: { id: index + 1 },
      channel: {
        ask: async () => {
          asked.push(index + 1);
          if (answer instanceof Error) throw answer;
          return (await answer) as never;
        },
      },
    })),
  );
  return { source, asked };
}

const pending = (): Promise<never> => new Promise(() => {});

describe('a question to a crew', () => {
  it('is answered by one worker, another one each time', async () => {
    const { source, asked } = crewOf(outcome('a'), outcome('b'));
    const answers = [await source.explain(QUESTION), await source.explain(QUESTION)];
    expect(asked.toSorted((a, b) => a - b)).toEqual([1, 2]);
    expect(answers.map(({ explanation }) => explanation?.worker)).toEqual(asked);
  });

  it('has the worker’s refusal as its answer', async () => {
    expect(await crewOf(REFUSED).source.explain(QUESTION)).toEqual(REFUSED);
  });

  it('is refused while no worker serves', async () => {
    expect(await crewOf().source.explain(QUESTION)).toMatchObject({ refused: { status: 503, code: 'busy' } });
  });

  it('fails with the worker it was given to, and is asked of no other', async () => {
    const { source, asked } = crewOf(new Error('died'));
    await expect(source.explain(QUESTION)).rejects.toThrow('died');
    expect(asked).toEqual([1]);
  });
});

describe('a request that some worker served', () => {
  it.each([
    ['the others do not have it', [NONE, outcome('b')]],
    ['another one is gone', [new Error('died'), outcome('b')]],
    ['another one hangs', [pending(), outcome('b')]],
  ])('is explained by that one though %s', async (_, answers) => {
    expect(await crewOf(...answers).source.explained('id')).toEqual({ explanation: { notes: ['b'], worker: 2 } });
  });

  it('is said to be kept by none when all have said so', async () => {
    expect(await crewOf(NONE, NONE).source.explained('id')).toBeUndefined();
    expect(await crewOf().source.explained('id')).toBeUndefined();
  });

  it('is not said to be kept by none when one has said nothing', async () => {
    await expect(crewOf(NONE, new Error('no answer')).source.explained('id')).rejects.toThrow('no answer');
  });
});
