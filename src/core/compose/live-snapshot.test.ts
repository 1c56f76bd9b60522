import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileServerSettings } from '../settings/compile/server-settings.ts';
import { Tenants } from '../settings/compile/tenants.ts';
import { HeaderNames } from '../http/gateway/header-names.ts';
import { LiveSnapshot } from './live-snapshot.ts';
import type { Lease } from '../http/gateway/path-settings.ts';
import type { Snapshot } from './snapshot.ts';

interface Watched extends Snapshot {
  readonly closes: () => number;
}

function snapshot(hash: string, tokenKeys: readonly string[] = []): Watched {
  let closes = 0;
  return {
    hash,
    server: compileServerSettings({}),
    metadataLabels: () => [],
    tenancy: { apply() {}, catchUp() {}, current: Tenants.of({ keys: { keys: [] }, teams: {} }) },
    prices: undefined,
    headerNames: new HeaderNames(['x-gateway-']),
    entry: () => Promise.resolve(),
    pluginTimes: undefined,
    costHeader: undefined,
    tokenKeys: new Set(tokenKeys),
    open: () => Promise.resolve(),
    close() {
      closes += 1;
      return Promise.resolve();
    },
    closes: () => closes,
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the live snapshot', () => {
  it('keeps an old snapshot open until its last request has ended, and closes it once', async () => {
    const [old, next] = [snapshot('old', ['a']), snapshot('next', ['b'])];
    let retired = 0;
    const live = new LiveSnapshot(old, () => void (retired += 1));
    const leases = [live.take(), live.take()];
    live.swap(next);
    expect(leases.map((lease) => lease.snapshot.hash)).toEqual(['old', 'old']);
    expect([live.current.hash, live.take().snapshot.hash]).toEqual(['next', 'next']);
    expect([...live.tokenKeys].sort()).toEqual(['a', 'b']);
    leases[0]!.release();
    await settled();
    expect([old.closes(), retired]).toEqual([0, 0]);
    leases[1]!.release();
    await settled();
    expect([old.closes(), next.closes(), retired]).toEqual([1, 0, 1]);
    expect([...live.tokenKeys]).toEqual(['b']);
  });

  it('closes an unused snapshot as soon as it is not current', async () => {
    const [old, next] = [snapshot('old'), snapshot('next')];
    const live = new LiveSnapshot(old, () => {});
    live.take().release();
    expect(old.closes()).toBe(0);
    live.swap(next);
    await settled();
    expect([old.closes(), next.closes()]).toEqual([1, 0]);
  });

  it('closes each snapshot once when the process stops, even those in use', async () => {
    const [old, next] = [snapshot('old'), snapshot('next')];
    const live = new LiveSnapshot(old, () => {});
    const lease = live.take();
    live.swap(next);
    await live.close();
    lease.release();
    await live.close();
    expect([old.closes(), next.closes()]).toEqual([1, 1]);
  });

  it('never closes a snapshot that is current or in use, and closes none twice, in any order of events', async () => {
    const steps = fc.array(fc.oneof(fc.constant('take'), fc.constant('swap'), fc.nat(20)), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, async (events) => {
        const all = [snapshot('0')];
        const live = new LiveSnapshot(all[0]!, () => {});
        const leases: Lease[] = [];
        for (const event of events) {
          if (event === 'take') leases.push(live.take());
          else if (event === 'swap') {
            const next = snapshot(String(all.length));
            all.push(next);
            live.swap(next);
          } else if (typeof event === 'number' && leases.length > 0)
            leases.splice(event % leases.length, 1)[0]!.release();
          const used = new Set([live.current.hash, ...leases.map((lease) => lease.snapshot.hash)]);
          for (const one of all) expect(one.closes()).toBe(used.has(one.hash) ? 0 : 1);
        }
      }),
    );
  });
});
