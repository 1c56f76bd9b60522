import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Alert } from '../../../core/ports/alert.ts';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { openFamilies } from '../../../core/record/metrics/metrics.ts';
import { budgetFamilies } from '../metrics.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { Backups } from './backups.ts';

let dir: string;
beforeEach(() => (dir = join(mkdtempSync(join(tmpdir(), 'gatehouse-backups-')), 'b')));
afterEach(() => rmSync(join(dir, '..'), { recursive: true }));

function setUp(keep: number) {
  const clock = createFakeClock(Date.parse('2026-11-23T12:00:00Z'));
  const families = budgetFamilies({ families: openFamilies() });
  const errors: string[] = [];
  const raised: Alert[] = [];
  const alerts = { raise: (alert: Alert) => void raised.push(alert) };
  const log = { warn() {}, error: (_fields: object, message: string) => void errors.push(message) };
  let fails = false;
  const backup = async (folder: string): Promise<void> => {
    mkdirSync(folder, { recursive: true });
    if (fails) throw Object.assign(new Error('canary: disk full'), { code: 'ENOSPC' });
  };
  const state: { store: StateStore | undefined } = { store: { backup } as Partial<StateStore> as StateStore };
  const backups = new Backups({ clock, log, families, alerts } as never, { dir, everyMs: 900_000, keep }, state);
  return { backups, clock, errors, raised, state, fail: (value: boolean) => void (fails = value) };
}

describe('backups of the state store', () => {
  it('are made at the start and every interval, the oldest are removed, and other names stay', async () => {
    const { backups, clock } = setUp(2);
    mkdirSync(join(dir, 'monday'), { recursive: true });
    backups.start();
    for (let round = 0; round < 3; round += 1) await clock.advance(900_000);
    await backups.stop();
    expect(readdirSync(dir).sort()).toEqual(['2026-11-23T12-30-00.000Z', '2026-11-23T12-45-00.000Z', 'monday']);
    await clock.advance(3_600_000);
    expect(readdirSync(dir)).toHaveLength(3);
  });

  it('that failed are reported, remove nothing, and leave nothing behind', async () => {
    const { backups, clock, errors, fail, state } = setUp(2);
    backups.start();
    await clock.advance(0);
    fail(true);
    await clock.advance(900_000);
    expect(errors).toEqual(['the state store could not be backed up']);
    fail(false);
    state.store = undefined;
    await clock.advance(900_000);
    expect(readdirSync(dir)).toHaveLength(2);
    state.store = { backup: async (folder: string) => mkdirSync(folder) } as Partial<StateStore> as StateStore;
    await clock.advance(900_000);
    await backups.stop();
    expect(readdirSync(dir).sort()).toEqual(['2026-11-23T12-00-00.000Z', '2026-11-23T12-45-00.000Z']);
    expect(existsSync(dir)).toBe(true);
  });

  it('that fail raise one alert a day, and another one after a backup that was made', async () => {
    const { backups, clock, fail, raised } = setUp(2);
    fail(true);
    backups.start();
    for (let round = 0; round < 97; round += 1) await clock.advance(900_000);
    expect(raised).toHaveLength(2);
    fail(false);
    await clock.advance(900_000);
    fail(true);
    await clock.advance(900_000);
    await backups.stop();
    expect(raised.map(({ kind, nodes }) => [kind, nodes])).toEqual(raised.map(() => ['backup_failure', []]));
    expect([raised.length, raised[0]!.data]).toEqual([3, { dir, reason: 'ENOSPC' }]);
    expect(JSON.stringify(raised)).not.toContain('canary');
  });
});
