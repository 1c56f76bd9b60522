import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/fake-clock.ts';
import { Cancellation } from '../../../plugin/cancellation.ts';
import { GatewayError } from '../../../plugin/index.ts';
import { CallGate } from './call-gate.ts';

const pending = (): { call: () => Promise<string>; end: () => void; begun: () => number } => {
  const ends: (() => void)[] = [];
  let begun = 0;
  return {
    call: () => {
      begun += 1;
      return new Promise((resolve) => ends.push(() => resolve('ok')));
    },
    end: () => ends.shift()?.(),
    begun: () => begun,
  };
};

describe('calls to one address', () => {
  it('run up to a number, and the others wait in turn', async () => {
    const clock = createFakeClock();
    const gate = new CallGate({ clock, running: 1 });
    const { call, end, begun } = pending();
    const first = gate.run(1000, call);
    const second = gate.run(1000, call);
    await clock.advance(1);
    expect(begun()).toBe(1);
    end();
    await first;
    await clock.advance(1);
    expect(begun()).toBe(2);
    end();
    await expect(second).resolves.toBe('ok');
  });

  it('fail when none is free until their deadline', async () => {
    const clock = createFakeClock();
    const gate = new CallGate({ clock, running: 1 });
    const { call, end } = pending();
    const first = gate.run(clock.now() + 5000, call);
    const second = gate.run(clock.now() + 100, call);
    const failed = expect(second).rejects.toThrow('no call was free');
    await clock.advance(200);
    await failed;
    end();
    await expect(first).resolves.toBe('ok');
  });

  it('fail at once after failures in a row, until one that is tried again succeeds', async () => {
    const clock = createFakeClock();
    const gate = new CallGate({ clock, running: 4 });
    const fail = (): Promise<string> => Promise.reject(new Error('down'));
    const ask = (call: () => Promise<string>): Promise<string> => gate.run(clock.now() + 1000, call);
    for (let count = 0; count < 5; count += 1) await expect(ask(fail)).rejects.toThrow('down');
    await expect(ask(async () => 'ok')).rejects.toThrow('the last calls failed');
    await clock.advance(6000);
    await expect(ask(async () => 'ok')).resolves.toBe('ok');
    await expect(ask(async () => 'ok')).resolves.toBe('ok');
  });

  it('are cancelled with their requests, which opens no breaker', async () => {
    const clock = createFakeClock();
    const gate = new CallGate({ clock, running: 1 });
    const left = new GatewayError('client_closed', 'gone');
    const { call, end, begun } = pending();
    const first = gate.run(1000, call);
    const waits = new Cancellation();
    const second = gate.run(1000, call, waits);
    waits.cancel(left);
    await expect(second).rejects.toBe(left);
    end();
    await first;
    for (let count = 0; count < 9; count += 1) {
      const runs = new Cancellation();
      const cancelled = (): Promise<string> => new Promise((_, reject) => runs.onCancel(reject));
      const asked = gate.run(1000, cancelled, runs);
      runs.cancel(left);
      await expect(asked).rejects.toBe(left);
    }
    await expect(gate.run(1000, async () => 'ok')).resolves.toBe('ok');
    expect(begun()).toBe(1);
  });
});
