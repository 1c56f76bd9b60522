import { describe, expect, it } from 'vitest';
import { Cancellation, GatewayError } from '../../plugin/index.ts';
import { JoinedCalls } from './joined-calls.ts';

const ever = { cancellation: new Cancellation(), isMet: true };
const stranger = { ...ever, isMet: false };

describe('calls under way', () => {
  it('are one for the same credential, until it has ended', async () => {
    const calls = new JoinedCalls<number>();
    let made = 0;
    const open = Promise.withResolvers<void>();
    const call = async (): Promise<number> => {
      await open.promise;
      return (made += 1);
    };
    const all = [calls.ask('a', call, ever), calls.ask('a', call, ever), calls.ask('b', call, ever)];
    open.resolve();
    expect((await Promise.all(all)).toSorted()).toEqual([1, 1, 2]);
    expect(await calls.ask('a', call, ever)).toBe(3);
  });

  it('go on for the others when one request leaves', async () => {
    const calls = new JoinedCalls<string>();
    const open = Promise.withResolvers<string>();
    const leaving = new Cancellation();
    const first = calls.ask('a', () => open.promise, { ...ever, cancellation: leaving });
    const second = calls.ask('a', () => open.promise, ever);
    leaving.cancel(new GatewayError('client_closed', 'left'));
    await expect(first).rejects.toThrow('left');
    open.resolve('known');
    expect(await second).toBe('known');
  });

  it('fail for all that wait, and are at most 100', async () => {
    const calls = new JoinedCalls<string>();
    const open = Promise.withResolvers<string>();
    const all = Array.from({ length: 100 }, (_, index) => calls.ask(String(index), () => open.promise, ever));
    await expect(calls.ask('more', () => open.promise, ever)).rejects.toMatchObject({ code: 'busy' });
    const joined = calls.ask('0', () => open.promise, ever);
    open.reject(new Error('down'));
    for (const one of [...all, joined]) await expect(one).rejects.toThrow('down');
    expect(await calls.ask('more', () => Promise.resolve('up'), ever)).toBe('up');
  });

  it('leave half of them to credentials that the service has known', async () => {
    const calls = new JoinedCalls<string>();
    const open = Promise.withResolvers<string>();
    const random = Array.from({ length: 50 }, (_, at) => calls.ask(`random ${at}`, () => open.promise, stranger));
    await expect(calls.ask('more', () => open.promise, stranger)).rejects.toMatchObject({ code: 'busy' });
    const known = Array.from({ length: 50 }, (_, at) => calls.ask(`known ${at}`, () => open.promise, ever));
    open.resolve('up');
    expect(new Set(await Promise.all([...random, ...known]))).toEqual(new Set(['up']));
  });
});
