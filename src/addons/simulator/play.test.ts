import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { play } from './server.ts';

/** A response whose socket is full after each write. */
class FullResponse extends EventEmitter {
  readonly written: string[] = [];
  readonly headersSent = true;
  write(bytes: string): boolean {
    this.written.push(bytes);
    return false;
  }
  writeHead(): void {}
  flushHeaders(): void {}
  end(): void {
    this.written.push('end');
  }
}

const send = (bytes: string) => ({ kind: 'send', bytes }) as const;

describe('a script of the simulator', () => {
  it('waits for a slow reader instead of filling memory', async () => {
    const response = new FullResponse();
    const played = play([send('a'), send('b'), { kind: 'end' }], response as unknown as ServerResponse);
    await setImmediate();
    expect(response.written).toEqual(['a']);
    response.emit('drain');
    await setImmediate();
    expect(response.written).toEqual(['a', 'b']);
    response.emit('drain');
    await played;
    expect(response.written).toEqual(['a', 'b', 'end']);
  });

  it.each([
    [{ kind: 'hold' }],
    [{ kind: 'wait', ms: 60_000 }],
    [{ kind: 'wait', ms: 60_000, pings: true }],
    [send('b')],
  ] as const)('ends at %o when its client leaves', async (step) => {
    const response = new FullResponse();
    const played = play([step, send('never')], response as unknown as ServerResponse);
    await setImmediate();
    response.emit('close');
    await played;
    expect(response.written).not.toContain('never');
  });
});
