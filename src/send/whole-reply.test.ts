import { describe, expect, it } from 'vitest';
import { Cancellation, GatewayError, type Sink } from '../plugin/index.ts';
import { ByteCount, CountingReader, readWhole } from './whole-reply.ts';

describe('replies that are read in parallel', () => {
  it('share one budget, which held replies reduce', () => {
    const count = new ByteCount(10, 3);
    const [first, second] = [new CountingReader(count), new CountingReader(count)];
    first.push(Buffer.from('abcd'));
    second.push(Buffer.from('efg'));
    expect([first.end().toString(), second.end().toString()]).toEqual(['abcd', 'efg']);
    expect([first.signals.failure, second.signals.failure]).toEqual([undefined, undefined]);
    const third = new CountingReader(count);
    third.push(Buffer.from('h'));
    expect(third.signals.failure).toMatchObject({ status: 502, kind: 'reply_too_large' });
    expect(third.signals.failure?.message).toContain('10 bytes (limits.reply)');
  });
});

/** A body driven by the test, and a cancellation that counts its listeners. */
function playing() {
  let sink: Sink | undefined;
  let listeners = 0;
  const cancellation = new Cancellation();
  const { onCancel } = cancellation;
  cancellation.onCancel = (listener) => {
    listeners += 1;
    const stop = onCancel.call(cancellation, listener);
    return () => {
      listeners -= 1;
      stop();
    };
  };
  const body = { open: (opened: Sink) => void (sink = opened), pause() {}, resume() {}, cancel() {} };
  return { whole: readWhole(body, cancellation), sink: sink!, cancellation, listeners: () => listeners };
}

const failure = new GatewayError('client_closed', 'gone');

describe('a whole reply', () => {
  it('has all its bytes, and its listener is removed when it ends', async () => {
    const { whole, sink, listeners } = playing();
    sink.push(Buffer.from('ab'));
    sink.push(Buffer.from('c'));
    expect(listeners()).toBe(1);
    sink.end();
    expect((await whole).toString()).toBe('abc');
    expect(listeners()).toBe(0);
  });

  it.each<[string, (played: ReturnType<typeof playing>) => void]>([
    ['fails', ({ sink }) => sink.fail(failure)],
    ['is cancelled', ({ cancellation }) => cancellation.cancel(failure)],
  ])('that %s rejects with that failure, and its listener is removed', async (_, end) => {
    const played = playing();
    end(played);
    await expect(played.whole).rejects.toBe(failure);
    expect(played.listeners()).toBe(0);
  });
});
