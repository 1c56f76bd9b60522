import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import type { Audit } from '../../../core/ports/audit.ts';
import type { Fleet } from '../../../core/ports/fleet.ts';
import { ALONE } from '../../../core/ports/fleet.testkit.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { sameThreadStore } from '../store/sqlite/same-thread-store.testkit.ts';
import { SettingsAudit } from './settings-audit.ts';

function setUp() {
  const clock = createFakeClock();
  const { audit, boots } = sameThreadStore(clock);
  const errors: string[] = [];
  const state: { store: Pick<StateStore, 'audit' | 'boots'> | undefined } = { store: { audit, boots } };
  const log = { error: (_fields: object, message: string) => void errors.push(message) };
  const start = (fleet: Fleet = ALONE): SettingsAudit => new SettingsAudit({ clock, log: log as never, state, fleet });
  /** From the oldest on. */
  const rows = async (): Promise<unknown[]> =>
    (await audit.rows({ kind: 'settings' }))
      .map(({ action, before, after }) => [action, before && JSON.parse(before), after && JSON.parse(after)])
      .toReversed();
  return { clock, audit, boots, errors, state, start, rows };
}

describe('the audit of the settings', () => {
  it('has each start with other settings than the last ones, and each reload', async () => {
    const { clock, start, rows } = setUp();
    for (const hash of ['a', 'a', 'b']) {
      const audit = start();
      audit.started(hash);
      await clock.advance(0);
      await audit.stop();
    }
    const audit = start();
    audit.started('b');
    audit.reloaded('c', ['server.yaml']);
    await clock.advance(0);
    await audit.stop();
    expect(await rows()).toEqual([
      ['start', undefined, { config_hash: 'a' }],
      ['start', { config_hash: 'a' }, { config_hash: 'b' }],
      ['reload', undefined, { config_hash: 'c', files: ['server.yaml'] }],
    ]);
  });

  it('has settings once that several gateways start with, and the gateway that was the first', async () => {
    const { clock, boots, start, rows } = setUp();
    for (const [host, configHash] of ['a', 'b', 'a', 'b'].entries()) {
      const id = String(host).repeat(32);
      const self = { ...ALONE.self(), id, host: `pod-${host}`, configHash };
      await boots.seen({ ...self, version: '1' }, { configHash, version: 0, refused: undefined });
      const audit = start({ ...ALONE, gateways: host + 1, self: () => self });
      audit.started(configHash);
      await clock.advance(0);
      await audit.stop();
    }
    expect(await rows()).toEqual([
      ['start', undefined, { config_hash: 'a' }],
      ['start', { config_hash: 'a' }, { config_hash: 'b', replica: 'pod-1' }],
    ]);
  });

  it('gets what happened while the store did not answer, in its order', async () => {
    const { clock, audit: kept, errors, state, start, rows } = setUp();
    const { store } = state;
    state.store = undefined;
    const audit = start();
    audit.started('a');
    for (let count = 0; count < 101; count += 1) audit.reloaded(`b${count}`, []);
    await clock.advance(5000);
    expect([await rows(), errors]).toEqual([[], ['a reload of the settings is not in the audit']]);
    // It is there and fails.
    state.store = { ...store!, audit: { rows: () => Promise.reject(new Error('full')) } as unknown as Audit };
    await clock.advance(5000);
    expect(errors.at(-1)).toBe('a change of the settings is not in the audit yet');
    state.store = store;
    await clock.advance(5000);
    await audit.stop();
    const hashes = (await rows()).map((row) => (row as [string, unknown, { config_hash: string }])[2].config_hash);
    expect([hashes.length, hashes.slice(0, 2), hashes.at(-1)]).toEqual([101, ['a', 'b0'], 'b99']);
    expect(await kept.verify()).toMatchObject({ intact: true });
  });
});
