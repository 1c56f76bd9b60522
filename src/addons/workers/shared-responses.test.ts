import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { itemsIn } from '../responses/store/response-places.ts';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { MemoryResponses } from '../responses/store/responses.ts';
import type { ToPrimary, ToWorker } from './ipc.ts';
import { ResponseAnswers, SharedResponses } from './shared-responses.ts';

type Asked = Extract<ToPrimary, { readonly type: 'responses' }>;
type Answered = Extract<ToWorker, { readonly type: 'responses' }>;

const kept = (id: string, chars = 1) => {
  const response = Buffer.from(`{"id":"${id}","status":"completed","output":[{"id":"msg_${id}"}]}`);
  const input = Buffer.from(`[${'1'.repeat(chars)}]`);
  return { id, response, items: itemsIn(response), input };
};

const found = (id: string) => {
  const { items: _, ...rest } = kept(id);
  return rest;
};

function start() {
  const clock = createFakeClock();
  const asked: Asked[] = [];
  const worker = new SharedResponses((message) => void asked.push(message), clock);
  return { clock, asked, worker };
}

describe('the responses of a worker', () => {
  it('are those of the primary', async () => {
    const { asked, worker, clock } = start();
    const store = new MemoryResponses(clock);
    store.apply({ maxBytes: 100_000, ttlMs: 1000 });
    const answers = new ResponseAnswers(store);
    const answered = async <T>(question: Promise<T>): Promise<T> => {
      await answers.answer(
        deserialize(serialize(asked.at(-1)!)) as Asked,
        (answer, left) => (worker.receive(answer), left()),
      );
      return question;
    };
    await answered(worker.keep('a', kept('r1')));
    expect(await answered(worker.find('a', 'r1'))).toEqual(found('r1'));
    expect(await answered(worker.find('b', 'r1'))).toBeUndefined();
    expect(await answered(worker.findItems('a', ['msg_r1']))).toEqual(new Map([['msg_r1', '{"id":"msg_r1"}']]));
    expect(await answered(worker.remove('a', 'r1'))).toBe(true);
    expect(store.bytes).toBe(0);
    expect(clock.pending).toEqual([]);
  });

  it('are given up after a second, and when the primary fails', async () => {
    const { asked, worker, clock } = start();
    const silent = expect(worker.find('a', 'r1')).rejects.toThrow('no answer to "find" within 1000 ms');
    await clock.advance(1000);
    await silent;
    const failed = expect(worker.find('a', 'r1')).rejects.toThrow('broken');
    worker.receive({ type: 'responses', id: asked.at(-1)!.id, failed: 'broken' });
    await failed;
    expect(clock.pending).toEqual([]);
  });

  it('take a bounded number of bytes and questions on their way, of one key a quarter', async () => {
    const { asked, worker, clock } = start();
    const busy = { status: 'rejected', reason: { code: 'busy', retryAfterMs: 1000 } };
    const ask = (owner: string) => Array.from({ length: 300 }, (_, at) => worker.find(owner, `r${at}`));
    const outcomes = Promise.allSettled([...'abcdef'].flatMap(ask));
    expect(asked).toHaveLength(4 * 64);
    await clock.advance(1000);
    expect((await outcomes).filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect((await outcomes).filter((one) => one.status === 'rejected' && one.reason.code === 'busy')).toHaveLength(
      6 * 300 - 4 * 64,
    );
    const before = asked.length;
    const large = 6 * 1024 * 1024;
    const keeping = Promise.allSettled([...'aab'].map((owner, at) => worker.keep(owner, kept(`r${at}`, large))));
    expect(asked).toHaveLength(before + 2);
    await clock.advance(1000);
    expect((await keeping)[1]).toMatchObject(busy);
    expect(clock.pending).toEqual([]);
  });

  it('are answered with a bounded number of bytes on their way, of one key a quarter', async () => {
    const clock = createFakeClock();
    const store = new MemoryResponses(clock);
    store.apply({ maxBytes: 2 ** 30, ttlMs: 1000 });
    const owners = Array.from({ length: 20 }, (_, at) => `key${at}`);
    for (const owner of owners) store.keep(owner, kept('r1', 6 * 1024 * 1024));
    const answers = new ResponseAnswers(store);
    // Workers that read nothing: no answer leaves.
    const waiting: (() => void)[] = [];
    const ask = async (owner: string): Promise<Answered> => {
      const { promise, resolve } = Promise.withResolvers<Answered>();
      const question = { call: 'find', args: [owner, 'r1'] } as const satisfies Asked['question'];
      await answers.answer({ type: 'responses', id: 1, question }, (answered, left) => {
        if (answered.failed === undefined) waiting.push(left);
        resolve(answered);
      });
      return promise;
    };
    // 6 MiB each, of 16 for one key and 64 in all.
    const ofOne = await Promise.all(Array.from({ length: 50 }, () => ask('key0')));
    expect(ofOne.filter(({ failed }) => failed === undefined)).toHaveLength(2);
    expect(ofOne.at(-1)).toMatchObject({ busy: true });
    const ofAll = await Promise.all(owners.slice(1).map(ask));
    expect(ofAll.filter(({ failed }) => failed === undefined)).toHaveLength(8);
    for (const left of waiting.splice(0)) left();
    expect(await ask('key0')).toMatchObject({ answer: { id: 'r1' } });
    const { worker, asked } = start();
    const refused = expect(worker.find('key0', 'r1')).rejects.toMatchObject({ code: 'busy', retryAfterMs: 1000 });
    worker.receive({ ...ofOne.at(-1)!, id: asked.at(-1)!.id });
    await refused;
  });
});
