import { describe, expect, it } from 'vitest';
import { systemClock } from '../../core/kernel/system-clock.ts';
import { Channel, type Ask } from './ipc.ts';
import { takeLastConnections } from './last-connections.ts';
import type { Member } from './pool-member.ts';

/** Two workers, a port and the messages between them, with all events in order. */
function start({ blocked = false, handedOutAfterMs = 0 } = {}) {
  const events: string[] = [];
  let accepted = 0;
  let closedAt = Infinity;
  const memberOf = (id: number): Member => {
    const isBlocked = blocked && id === 2;
    const channel = new Channel((message: Ask) => {
      if (message.question !== 'drainStep') return;
      events.push(`${id} ${message.args}`);
      if (!isBlocked) setImmediate(() => channel.receive({ type: 'answer', id: message.id, answer: undefined }));
    }, systemClock);
    return { channel, silence: { isSuspect: isBlocked } } as unknown as Member;
  };
  const listener = {
    count: () => () => accepted,
    close() {
      closedAt = performance.now();
      events.push('port closed');
    },
  };
  const connections = {
    get areHandedOut(): boolean {
      return performance.now() - closedAt >= handedOutAfterMs;
    },
    stop: () => void events.push('no more connections'),
  };
  const workers = { members: [memberOf(1), memberOf(2)], listener, connections, clock: systemClock };
  return { events, workers, accept: () => (accepted += 1) };
}

const TIMES = { delayMs: 0, timeoutMs: 1000, lingerMs: 0 };
const STEPS = ['1 hold', '2 hold', 'port closed', '1 serve', '2 serve', '1 stop', '2 stop', 'no more connections'];

describe('the end of the delay of a drain with workers', () => {
  it('closes the port once all workers hold new requests, and stops them once all connections are handed out', async () => {
    const { events, workers } = start({ handedOutAfterMs: 60 });
    const over = takeLastConnections(workers, TIMES);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(events).toEqual(STEPS.slice(0, 2));
    await over;
    expect(events).toEqual(STEPS);
  });

  it('closes the port once no more connections arrive', async () => {
    const { events, workers, accept } = start();
    const coming = setInterval(accept, 5);
    const over = takeLastConnections(workers, TIMES);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(events).not.toContain('port closed');
    clearInterval(coming);
    await over;
    expect(events).toEqual(STEPS);
  });

  it('has a limit if connections keep arriving', async () => {
    const { events, workers, accept } = start();
    const coming = setInterval(accept, 1);
    await takeLastConnections(workers, TIMES);
    clearInterval(coming);
    expect(events).toEqual(STEPS);
  });

  it('does not wait for a blocked worker', async () => {
    const { events, workers } = start({ blocked: true });
    await takeLastConnections(workers, TIMES);
    expect(events).toEqual(STEPS);
  });

  it('closes the port at once if the drain has no timeout', async () => {
    const { events, workers } = start();
    await takeLastConnections(workers, { delayMs: 0, timeoutMs: 0, lingerMs: 0 });
    expect(events).toEqual(STEPS.slice(2));
  });
});
