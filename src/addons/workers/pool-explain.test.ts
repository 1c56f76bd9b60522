import { describe, expect, it } from 'vitest';
import type { Explanation } from '../explain/explanation/explanation.ts';
import { explainedBy } from './pool-explain.ts';
import { NoAnswer } from './open-questions.ts';
import type { QuestionBody, ExplainOutcome } from '../../core/process/explain-port.ts';

const QUESTION: QuestionBody = { method: 'GET', path: '/v1/models', headers: {}, body: '' };
const NONE = undefined;
const outcome = (notes: string): ExplainOutcome => ({ explanation: { notes: [notes] } as unknown as Explanation });
const REFUSED: ExplainOutcome = { refused: { code: 'unknown_key', message: 'no' } };
const BUSY = { refused: { code: 'busy' } };

/**
 * Workers 1, 2, … with these answers; an error is thrown instead of an answer. A worker without an answer keeps no
 * request.
 */
function workersOf(...answers: readonly (ExplainOutcome | undefined | Error | Promise<never>)[]) {
  const called: number[] = [];
  const limits = new Map<string, number>();
  const source = explainedBy(() =>
    answers.map((answer, index) => ({
      worker: { id: index + 1 },
      channel: {
        ask: async (question: string, _: unknown, limitMs: number) => {
          called.push(index + 1);
          limits.set(question, limitMs);
          if (answer instanceof Error) throw answer;
          const kept = await answer;
          return (question === 'keeps' ? kept !== undefined : kept) as never;
        },
      },
    })),
  );
  return { source, called, limits };
}

const pending = (): Promise<never> => new Promise(() => {});

describe('a question to a worker pool', () => {
  it('is answered by the workers in turn', async () => {
    const { source, called } = workersOf(outcome('a'), outcome('b'));
    const answers = [await source.explain(QUESTION), await source.explain(QUESTION)];
    expect(called.toSorted((a, b) => a - b)).toEqual([1, 2]);
    expect(answers.map(({ explanation }) => explanation?.worker)).toEqual(called);
  });

  it('returns the worker’s refusal', async () => {
    expect(await workersOf(REFUSED).source.explain(QUESTION)).toEqual(REFUSED);
  });

  it('is refused while no worker serves', async () => {
    expect(await workersOf().source.explain(QUESTION)).toMatchObject(BUSY);
  });

  it('returns 503 if its worker exits or hangs', async () => {
    expect(await workersOf(new NoAnswer('the worker has ended')).source.explain(QUESTION)).toMatchObject(BUSY);
  });

  it('fails if its worker fails, and is not sent to another', async () => {
    const { source, called } = workersOf(new Error('a fault'));
    await expect(source.explain(QUESTION)).rejects.toThrow('a fault');
    expect(called).toEqual([1]);
  });
});

describe('a request that one of the workers served', () => {
  it.each([
    ['the others do not have it', [NONE, outcome('b')]],
    ['another one has exited', [new NoAnswer('died'), outcome('b')]],
    ['another one hangs', [pending(), outcome('b')]],
  ])('is explained by that worker even if %s', async (_, answers) => {
    expect(await workersOf(...answers).source.explained('id')).toEqual({ explanation: { notes: ['b'], worker: 2 } });
  });

  it('is unknown if all workers answer that they do not keep it', async () => {
    expect(await workersOf(NONE, NONE).source.explained('id')).toBeUndefined();
    expect(await workersOf().source.explained('id')).toBeUndefined();
  });

  it('is not unknown if one worker did not answer', async () => {
    expect(await workersOf(NONE, new NoAnswer('died')).source.explained('id')).toMatchObject(BUSY);
    await expect(workersOf(NONE, new Error('a fault')).source.explained('id')).rejects.toThrow('a fault');
  });

  it('is looked up with a short limit, however long the explanation may take', async () => {
    const { source, limits } = workersOf(outcome('a'));
    await source.explained('id');
    expect(limits.get('keeps')).toBe(1_000);
    expect(limits.get('explained')).toBeGreaterThan(5_000);
  });
});
