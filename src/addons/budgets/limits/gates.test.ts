import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { parseRate } from '../../../core/tenants/amounts.ts';
import type { Gate, Limited, GateDirectory } from './gate-directory.ts';
import { Gates, isRefusal, Ticket, type Refusal } from './gates.ts';
import type { Limits, NodeLimits } from '../../../core/tenants/tree.ts';

const node = (
  kind: Limited['kind'],
  id: string,
  limits: Limits,
  models: NodeLimits['models'] = [],
): Limited & { readonly ref: string } => ({ kind, id, ref: `${kind}:${id}`, limits: { ...limits, models } });

const rate = parseRate;
const inForce = (gates: Gates, ...nodes: readonly Limited[]): GateDirectory => {
  const directory = gates.directory(nodes);
  directory.use();
  return directory;
};

function admitted(entered: Ticket | Refusal): Ticket {
  if (isRefusal(entered)) throw new Error(`refused: ${entered.limit} of ${entered.gate.of.ref}`);
  return entered;
}

const wordsOf = (entered: Ticket | Refusal | undefined): string | undefined =>
  entered &&
  (entered instanceof Ticket ? 'admitted' : `${entered.gate.of.ref} ${entered.limit} ${entered.retryAfterMs}`);

describe('gates', () => {
  it('admit a request where every node has room, and take nothing where one has none', () => {
    const gates = new Gates(createFakeClock());
    const team = node('team', 'search', { requests: rate('6/min') });
    const key = node('key', 'a', { requests: rate('600/min') });
    const path = inForce(gates, team, key).whole([team, key]);
    admitted(gates.enter(path));
    expect(wordsOf(gates.enter(path))).toBe('team:search requests 10000');
    expect(path[1]?.requests?.level(0)).toBe(99);
    expect(path.map(({ running }) => running)).toEqual([1, 1]);
  });

  it('name the longest wait, after which no gate refuses', async () => {
    const clock = createFakeClock();
    const gates = new Gates(clock);
    const nodes = [node('team', 't', { requests: rate('12/min') }), node('key', 'k', { requests: rate('6/min') })];
    const path = inForce(gates, ...nodes).whole(nodes);
    admitted(gates.enter(path));
    admitted(gates.enter([path[0]!]));
    expect(wordsOf(gates.enter(path))).toBe('key:k requests 10000');
    await clock.advance(10_000);
    expect(wordsOf(gates.enter(path))).toBe('admitted');
  });

  it('hold a place until the request has left, however often it leaves', () => {
    const gates = new Gates(createFakeClock());
    const key = node('key', 'k', { concurrency: 2 });
    const path = inForce(gates, key).whole([key]);
    const first = admitted(gates.enter(path));
    admitted(gates.enter(path));
    expect(wordsOf(gates.enter(path))).toBe('key:k concurrency 1000');
    gates.leave(first, undefined);
    gates.leave(first, undefined);
    admitted(gates.enter(path));
    expect(wordsOf(gates.enter(path))).toBe('key:k concurrency 1000');
  });

  it('give back the request and the place of a refusal for tokens', () => {
    const gates = new Gates(createFakeClock());
    const key = node('key', 'k', { requests: rate('60/min'), tokens: rate('600/min'), concurrency: 1 });
    const path = inForce(gates, key).whole([key]);
    const first = admitted(gates.enter(path));
    expect(gates.takeTokens(first, 60)).toBeUndefined();
    gates.leave(first, undefined);
    const second = admitted(gates.enter(path));
    expect(wordsOf(gates.takeTokens(second, 50))).toBe('key:k tokens 1000');
    expect([path[0]?.requests?.level(0), path[0]?.running]).toEqual([9, 0]);
    gates.leave(second, 1000);
    expect([path[0]?.tokens?.level(0), path[0]?.running]).toEqual([40, 0]);
  });

  it.each([
    ['gives back what was not used', 80, 20, 80],
    ['takes what was used beyond it', 20, 80, 20],
    ['owes one burst at most', 20, 5000, -100],
    ['stands where the use is unknown', 20, undefined, 80],
  ])('correct an estimate: a request %s', (_, estimate, used, level) => {
    const gates = new Gates(createFakeClock());
    const key = node('key', 'k', { tokens: rate('600/min') });
    const path = inForce(gates, key).whole([key]);
    const ticket = admitted(gates.enter(path));
    expect(gates.takeTokens(ticket, estimate)).toBeUndefined();
    gates.leave(ticket, used);
    expect(path[0]?.tokens?.level(0)).toBe(level);
  });

  it('leave out what a provider read from its cache where their limit says so', () => {
    const gates = new Gates(createFakeClock());
    const team = node('team', 't', { tokens: rate('600/min') });
    const key = node('key', 'k', { tokens: rate('600/min'), leavesOutCached: true });
    const path = inForce(gates, team, key).whole([team, key]);
    const ticket = admitted(gates.enter(path));
    expect(gates.takeTokens(ticket, 20)).toBeUndefined();
    gates.leave(ticket, 80, 70);
    expect(path.map(({ tokens }) => tokens?.level(0))).toEqual([20, 90]);
  });

  it('keep what is used and who is inside when the settings change', () => {
    const gates = new Gates(createFakeClock());
    const before = node('key', 'k', { requests: rate('60/min'), concurrency: 2 });
    const old = inForce(gates, before).whole([before]);
    const ticket = admitted(gates.enter(old));
    const after = node('key', 'k', { requests: rate('600/min'), concurrency: 1 });
    const path = inForce(gates, after).whole([after]);
    expect(path[0]).toBe(old[0]);
    expect(path[0]?.requests?.level(0)).toBe(99);
    expect(wordsOf(gates.enter(path))).toBe('key:k concurrency 1000');
    gates.leave(ticket, undefined);
    expect(wordsOf(gates.enter(path))).toBe('admitted');
  });

  it('keep a removed node while something of it is used, and no longer', async () => {
    const clock = createFakeClock();
    const gates = new Gates(clock);
    const key = node('key', 'k', { concurrency: 1, requests: rate('6/min') });
    const ticket = admitted(gates.enter(inForce(gates, key).whole([key])));
    inForce(gates);
    const again = inForce(gates, key).whole([key]);
    expect(again[0]?.running).toBe(1);
    gates.leave(ticket, undefined);
    inForce(gates);
    expect(wordsOf(gates.enter(inForce(gates, key).whole([key])))).toBe('key:k requests 10000');
    inForce(gates);
    await clock.advance(10_000);
    inForce(gates);
    expect(gates.size).toBe(0);
  });

  it('change nothing for settings that are refused', () => {
    const gates = new Gates(createFakeClock());
    const key = node('key', 'k', { concurrency: 2 });
    const path = inForce(gates, key).whole([key]);
    gates.directory([node('key', 'k', { concurrency: 1 }), node('key', 'new', { concurrency: 1 })]);
    admitted(gates.enter(path));
    expect([wordsOf(gates.enter(path)), gates.size]).toEqual(['admitted', 1]);
  });

  it('have an equal part of each limit in each of several processes, and at least one place', () => {
    const gates = new Gates(createFakeClock());
    const key = node('key', 'k', { requests: rate('600/min'), concurrency: 5 });
    const path = inForce(gates, key).whole([key]);
    gates.share(4);
    expect([path[0]?.requests?.level(0), path[0]?.most]).toEqual([25, 2]);
    gates.share(8);
    expect(path[0]?.most).toBe(1);
    gates.share(1);
    expect([path[0]?.requests?.level(0), path[0]?.most]).toEqual([100, 5]);
  });

  it('have the part that the larger number leaves: of the gateways on the store, or of the processes that the engine has seen', () => {
    const gates = new Gates(createFakeClock());
    const key = node('key', 'k', { requests: rate('600/min') });
    const path = inForce(gates, key).whole([key]);
    const levels = [
      () => gates.shareWithFleet(1),
      () => gates.share(4),
      () => gates.shareWithFleet(2),
      () => gates.shareWithFleet(10),
      () => gates.share(1),
      () => gates.shareWithFleet(1),
    ].map((apply) => {
      apply();
      return path[0]?.requests?.level(0);
    });
    expect(levels).toEqual([100, 25, 25, 10, 10, 100]);
  });

  it.each([
    ['gpt-4o', 'gpt-4o', ['gpt-*']],
    ['claude-opus-4', '@claude/claude-opus-4', ['@claude/*', '*opus*']],
    ['other', '@openai/other', []],
  ])('have further limits for the model %s', (model, full, patterns) => {
    const limits = { requests: rate('1/s') };
    const models = ['gpt-*', '@claude/*', '*opus*'].map((pattern) => ({ pattern, limits }));
    const key = node('key', 'k', {}, models);
    const directory = inForce(new Gates(createFakeClock()), key);
    expect(directory.whole([key])).toEqual([]);
    expect(directory.ofModel([key], model, full).map((gate) => gate.models)).toEqual(patterns);
  });
});

describe('gates of any load', () => {
  const loads = fc.array(
    fc.record({ after: fc.integer({ min: 0, max: 2000 }), paths: fc.integer({ min: 0, max: 2 }), leave: fc.nat(10) }),
    { maxLength: 200 },
  );

  it('never have more requests inside than places, and none when all have left', async () => {
    await fc.assert(
      fc.asyncProperty(loads, async (load) => {
        const clock = createFakeClock();
        const gates = new Gates(clock);
        const nodes = [
          node('organization', 'o', { concurrency: 4, requests: rate('5/s') }),
          node('team', 't', { concurrency: 3 }),
          node('key', 'k', { requests: rate('60/min'), concurrency: 2 }),
        ];
        const directory = inForce(gates, ...nodes);
        const paths = [nodes, nodes.slice(0, 2), nodes.slice(0, 1)].map((path) => directory.whole(path));
        const all = paths[0]!;
        let inside: { readonly ticket: Ticket; readonly path: readonly Gate[] }[] = [];
        for (const { after, paths: which, leave } of load) {
          await clock.advance(after);
          const path = paths[which]!;
          const entered = gates.enter(path);
          if (entered instanceof Ticket) inside.push({ ticket: entered, path });
          for (const [index, gate] of all.entries()) {
            expect(gate.running).toBe(inside.filter(({ path: own }) => own.length > index).length);
            expect(gate.running).toBeLessThanOrEqual(gate.most);
          }
          for (const { ticket } of inside.slice(leave)) gates.leave(ticket, undefined);
          inside = inside.slice(0, leave);
        }
        for (const { ticket } of inside) gates.leave(ticket, undefined);
        expect(all.map(({ running }) => running)).toEqual([0, 0, 0]);
      }),
      { numRuns: 50 },
    );
  });
});
