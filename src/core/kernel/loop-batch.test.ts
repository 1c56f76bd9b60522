import { expect, it } from 'vitest';
import { LoopBatch } from './loop-batch.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('A batch runs the items of one turn of the event loop together and in order', async () => {
  const ran: string[] = [];
  const batch = new LoopBatch<string>((item) => ran.push(item));
  batch.add('a');
  await Promise.resolve();
  batch.add('b');
  expect(ran).toEqual([]);
  await turn();
  expect(ran).toEqual(['a', 'b']);
});

it('A batch runs an item that was added during the run in the next turn', async () => {
  const ran: number[] = [];
  const batch = new LoopBatch<number>((item) => {
    ran.push(item);
    if (item < 2) batch.add(item + 1);
  });
  batch.add(1);
  await turn();
  expect(ran).toEqual([1]);
  await turn();
  expect(ran).toEqual([1, 2]);
});
