import { expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { ConsoleWork } from './console-work.ts';
import { LongAnswers } from './long-answers.ts';

it('Callers who have left before their answer begins keep no place of others', async () => {
  const answers = new LongAnswers();
  const work = new ConsoleWork(answers, createFakeClock());
  const ask = async (topic: string, question: unknown) => {
    const { id } = Object(question) as { readonly id: string };
    if (topic === 'console.play') answers.receive({ id, head: { status: 200, headers: {} } });
    return [{ answer: undefined }];
  };
  const left = (task: () => void) => {
    task();
    return () => {};
  };
  for (let index = 0; index < 100; index += 1)
    await expect(work.play(ask, {}, left)).rejects.toThrow('the request has no reply');
  const question = { slug: 'a', entry: undefined, model: undefined, call: false };
  work.test(ask, question, left);
  expect(await work.play(ask, {}, () => () => {})).toMatchObject({ status: 200 });
});
