import { expect, it } from 'vitest';
import { Cancellation } from './cancellation.ts';
import { GatewayError } from './errors.ts';

const gone = new GatewayError('client_closed', 'gone');

it('calls every listener once, with the first reason', () => {
  const cancellation = new Cancellation();
  const heard: unknown[] = [];
  cancellation.onCancel((reason) => heard.push(reason));
  const stop = cancellation.onCancel(() => heard.push('not me'));
  stop();
  cancellation.cancel(gone);
  cancellation.cancel(new GatewayError('timeout_total', 'late'));
  expect(heard).toEqual([gone]);
  expect(cancellation.reason).toBe(gone);
});

it('calls a late listener immediately', () => {
  const cancellation = new Cancellation();
  cancellation.cancel(gone);
  let heard: unknown;
  cancellation.onCancel((reason) => (heard = reason));
  expect(heard).toBe(gone);
  expect(() => cancellation.throwIfCancelled()).toThrow(gone);
});

it('gives an AbortSignal that follows, made before or after', () => {
  const before = new Cancellation();
  const { signal } = before;
  before.cancel(gone);
  expect([signal.aborted, signal.reason]).toEqual([true, gone]);
  expect(before.signal).toBe(signal);
  const after = new Cancellation();
  after.cancel(gone);
  expect(after.signal.aborted).toBe(true);
});

it('calls objects and functions in the order in which they began to listen, but for those that stopped', () => {
  const cancellation = new Cancellation();
  const heard: string[] = [];
  const [first, second, third] = ['first', 'second', 'third'].map((name) => ({
    onCancelled: () => void heard.push(name),
  }));
  cancellation.listen(first!);
  cancellation.onCancel(() => heard.push('function'));
  cancellation.listen(second!);
  cancellation.unlisten(first!);
  cancellation.listen(third!);
  cancellation.unlisten(second!);
  cancellation.cancel(gone);
  expect(heard).toEqual(['function', 'third']);
});
