import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { MemoryResponses } from '../../state/memory/responses.ts';
import type { ToPrimary } from './ipc.ts';
import { answerAboutResponses, SharedResponses } from './shared-responses.ts';

type Asked = Extract<ToPrimary, { readonly type: 'responses' }>;

const kept = (id: string, chars = 1) => ({
  id,
  head: '{}',
  output: [{ id: `msg_${id}`, text: '{}' }],
  input: `[${'1'.repeat(chars)}]`,
});

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
    const answered = async <T>(question: Promise<T>): Promise<T> => {
      worker.receive(await answerAboutResponses(structuredClone(asked.at(-1)!), store));
      return question;
    };
    await answered(worker.keep('a', kept('r1')));
    expect(await answered(worker.find('a', 'r1'))).toEqual(kept('r1'));
    expect(await answered(worker.find('b', 'r1'))).toBe('foreign');
    expect(await answered(worker.findItems('a', ['msg_r1']))).toEqual(new Map([['msg_r1', '{}']]));
    expect(await answered(worker.remove('a', 'r1'))).toBe(true);
    expect(store.size.entries).toBe(0);
    expect(clock.pending).toEqual([]);
  });

  it('are given up after a second, and when the primary fails', async () => {
    const { asked, worker, clock } = start();
    const silent = expect(worker.find('a', 'r1')).rejects.toThrow('no answer of the primary to "find" within 1000 ms');
    await clock.advance(1000);
    await silent;
    const failed = expect(worker.find('a', 'r1')).rejects.toThrow('broken');
    worker.receive({ type: 'responses', id: asked.at(-1)!.id, failed: 'broken' });
    await failed;
    expect(clock.pending).toEqual([]);
  });

  it('take a bounded number of bytes and questions on their way', async () => {
    const { asked, worker, clock } = start();
    const large = 6 * 1024 * 1024;
    const sent = Array.from({ length: 300 }, (_, at) => worker.keep('a', kept(`r${at}`, at < 3 ? large : 1)));
    const outcomes = Promise.allSettled(sent);
    expect(asked).toHaveLength(2 + 254);
    await clock.advance(1000);
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
    void worker.keep('a', kept('r1', large)).catch(() => {});
    expect(asked).toHaveLength(2 + 254 + 1);
  });
});
