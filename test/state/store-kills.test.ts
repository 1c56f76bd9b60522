import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { KEYS, NOON, rowOf } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { Engine } from '../../src/addons/budgets/store/sqlite/engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-kill-'));
const ROUNDS = 20;
const DAY = 86_400_000;

afterAll(() => rmSync(folder, { recursive: true }));

/** Pauses of a seeded generator (Park and Miller), so that a failure has the same order of kills again. */
function* pauses(): Generator<number, never> {
  for (let state = 4711; ;) {
    state = (state * 48_271) % 2_147_483_647;
    yield 5 + (state % 150);
  }
}

/** Starts a writer, kills it after a pause, and returns the last step of each kind that it reported. */
async function runAndKill(round: number, pauseMs: number): Promise<Readonly<Record<string, number>>> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writer.ts'), folder, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const exited = once(child, 'exit');
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  await Promise.race([once(child.stdout, 'data'), exited]);
  await sleep(pauseMs);
  child.kill('SIGKILL');
  await exited;
  return Object.fromEntries(
    output
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([kind = '', step]) => [kind, Number(step)]),
  );
}

it(
  'a store that is killed while it writes has all that it confirmed, and at most one step more',
  { timeout: 120_000 },
  async () => {
    const paused = pauses();
    let spent = 0;
    let teams = 0;
    let rows = 0;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { lease = 0, rows: appended = 0, used = 0, team = 0 } = await runAndKill(round, paused.next().value);
      expect(lease).toBeGreaterThan(0);
      const engine = new Engine({
        folder,
        owner: { pid: process.pid, boot: 'b'.repeat(32), host: 'test' },
        keys: KEYS,
        now: NOON,
      });
      const { calls } = engine;
      const [counter] = calls.read(NOON, [{ node: 'team/search', period: 0 }]);
      expect([used * 9, (used + 1) * 9]).toContain(counter!.spent - spent);
      spent = counter!.spent;
      // The rest of the killed process is held until its lease is reaped, and then as good as spent.
      const boot = String(round).padStart(32, '0');
      expect(calls.reap(NOON, boot)).toMatchObject([{ lease }]);
      expect(calls.read(NOON, [{ node: 'team/search', period: 0 }])).toMatchObject([
        { spent, leased: 0, unreconciled: round * 1_000_000 - spent },
      ]);

      const { version, changed } = calls.load(NOON, 0);
      expect([team, team + 1]).toContain(changed.length - teams);
      teams = changed.length;
      expect(version).toBe(teams);
      expect(calls.verifyAudit(NOON)).toMatchObject({ intact: true, rows: teams });
      if (team > 0) expect(calls.unseal(NOON, { kind: 'teams', id: `r${round}-${team}` }, 'webhook')).toBe(`s${team}`);

      const [sums] = calls.rollups(NOON, { from: NOON - DAY, to: NOON + 4 * DAY, by: [], step: 'all' });
      const added = (sums?.attempts ?? 0) - rows;
      expect([appended * 3, (appended + 1) * 3]).toContain(added);
      rows += added;
      expect(sums?.nano ?? 0).toBe(rows * 3);
      const last = [0, 1, 2].map((att) =>
        rowOf(round * 1_000_000 + appended, { att, nano: 3, at: NOON + (appended % 3) * DAY }),
      );
      if (appended > 0) expect(calls.append(NOON, last)).toBe(0);
      engine.close();
    }
    // A test in which nothing was written shows nothing.
    expect(Math.min(teams, rows)).toBeGreaterThan(ROUNDS);
  },
);
