import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startRelay } from '../support/relay.ts';
import { DAYS, NANO, ROWS, startMoving, type Moving, type StoreContents } from './moving.ts';

/** Lines of output: one for each day that has rows, the ledger, and the rest. */
const LINES = DAYS + 1;
const missing = postgresMissing();

describe.skipIf(missing !== undefined)(`a move to PostgreSQL${missing === undefined ? '' : ` (${missing})`}`, () => {
  let server: TestPostgres;
  beforeAll(async () => void (server = await startPostgres()), 300_000);
  afterAll(() => server.end());

  let schemas = 0;
  let moving: Moving;
  let before: StoreContents;
  beforeEach(async () => {
    schemas += 1;
    moving = startMoving(server.url(), { schema: `move_${schemas}` });
    before = await moving.before();
  });
  afterEach(() => moving.end());

  const mark = (): boolean => existsSync(join(moving.folder, 'moved.json'));
  /** The audit has one row more. */
  const equal = async (): Promise<void> => {
    const { audit, ...after } = await moving.after();
    const { audit: old, ...rest } = before;
    expect(after).toEqual(rest);
    expect(audit).toMatchObject({ intact: true, rows: old.intact ? old.rows + 1 : 0 });
  };

  it('has objects, counters, leases, sums to the nano and the audit of the folder, which serves no gateway any more', async () => {
    const head = before.audit.intact ? `${before.audit.seq}:${before.audit.head}` : '';
    const contents = `2 objects, 1 counters, 6 rows of the audit (the last is ${head})`;
    expect(await moving.move(['--dry-run'])).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining(`${contents}, ${ROWS * (DAYS - 1)} rows of the ledger in 2 days`),
    });
    expect(mark()).toBe(false);
    const moved = await moving.move();
    expect(moved).toMatchObject({ code: 0, err: '' });
    expect(moved.out).toContain(`ledger: ${((ROWS * DAYS * NANO) / 1e9).toFixed(9)} USD\n`);
    expect(moved.out).toContain(contents);
    await equal();
    expect(await moving.move()).toMatchObject({ code: 1, err: expect.stringMatching(/has moved to .*127\.0\.0\.1/) });
    expect(await moving.refusal('folder')).toContain(`the store of ${moving.folder} has moved to`);
    expect(await moving.refusal()).toBeUndefined();
  }, 300_000);

  it.each(Array.from({ length: LINES }, (_, index) => index + 1))(
    'goes on where its process ended, at line %i of its output, and neither store serves meanwhile',
    async (line) => {
      const stopAt = (at: number): void => {
        if (at === line) throw new Error('ended here');
      };
      await expect(moving.move([], stopAt)).rejects.toThrow('ended here');
      if (line < LINES) {
        expect(await moving.refusal()).toContain('is on its way to this one');
        expect(await moving.refusal('folder')).toContain('is on its way to');
        expect((await moving.move()).code).toBe(0);
      } else expect(await moving.move()).toMatchObject({ code: 1, err: expect.stringContaining('has moved to') });
      await equal();
    },
    300_000,
  );

  it.each([1, 2, 3])(
    'goes on after its process was killed, at piece %i of its output',
    async (piece) => {
      const args = ['--disable-warning=ExperimentalWarning', packageFile('src/cli/main.ts'), 'state', 'migrate'];
      const child = spawn(process.execPath, [...args, '--to', 'postgres', '--configs', moving.configs], {
        env: moving.env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = new Promise((end) => child.once('exit', (code, signal) => end(signal ?? code)));
      let pieces = 0;
      child.stdout.on('data', () => {
        pieces += 1;
        if (pieces === piece) child.kill('SIGKILL');
      });
      // It may have ended before the signal.
      expect(['SIGKILL', 0]).toContain(await ended);
      await moving.move();
      await equal();
      expect(mark()).toBe(true);
    },
    300_000,
  );

  it('fails where the network is cut, and goes on afterwards', async () => {
    const relay = await startRelay(server.port);
    const cut = startMoving(server.url(relay.port), { schema: `move_${schemas}` }, moving.folder);
    try {
      for (const line of [1, 2, 3]) {
        const failed = await cut.move([], (at) => {
          if (at === line) relay.set('cut');
        });
        expect(failed).toMatchObject({ code: 1, err: expect.stringMatching(/^gatehouse: postgres:.*\n$/) });
        relay.set('pass');
      }
      expect((await cut.move()).code).toBe(0);
      await equal();
    } finally {
      cut.end();
      await relay.close();
    }
  }, 300_000);

  it('is made by one command at a time, whatever the folder', async () => {
    const other = startMoving(server.url(), { schema: `move_${schemas}` });
    try {
      const [one, same] = await Promise.all([moving.move(), moving.move()]);
      expect([one.code, same.code].toSorted()).toEqual([0, 1]);
      expect(one.err + same.err).toContain('is in use by process');
      await equal();
      expect(await other.move()).toMatchObject({ code: 1, err: expect.stringContaining('has a store of its own') });
      expect(existsSync(join(other.folder, 'moved.json'))).toBe(false);
    } finally {
      other.end();
    }
  }, 300_000);

  it('lets one of two folders into a store, and leaves the other as it was', async () => {
    const other = startMoving(server.url(), { schema: `move_${schemas}` });
    try {
      const both = [moving, other];
      const codes = (await Promise.all(both.map((one) => one.move()))).map(({ code }) => code);
      expect(codes.toSorted()).toEqual([0, 1]);
      expect(both.map(({ folder }) => existsSync(join(folder, 'moved.json')))).toEqual(codes.map((code) => code === 0));
      const loser = both[codes.indexOf(1)]!;
      expect(await loser.refusal('folder')).toBeUndefined();
    } finally {
      other.end();
    }
  }, 300_000);

  it('refuses a folder that was used again after its move, and one without a store', async () => {
    expect((await moving.move()).code).toBe(0);
    rmSync(join(moving.folder, 'moved.json'));
    expect(await moving.move()).toMatchObject({
      code: 1,
      err: expect.stringContaining('which may have been in use since'),
    });
    const empty = join(moving.configs, 'empty');
    mkdirSync(empty);
    expect(await moving.move(['--from', empty])).toMatchObject({ code: 1, err: expect.stringContaining('no store') });
  }, 300_000);
});
