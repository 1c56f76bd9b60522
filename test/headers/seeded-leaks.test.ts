import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { SEEDED_LEAKS } from './seeded-leaks.ts';

const run = promisify(execFile);
const child = join(import.meta.dirname, 'run-seeded-leak.ts');
/** A child computes for half a second, which may take a minute on a busy machine. */
const BUSY_MS = 120_000;

/** Modules that are compiled once for all children: half of the time of each. */
const compiled = mkdtempSync(join(tmpdir(), 'seeded-leaks-'));
afterAll(() => rmSync(compiled, { recursive: true }));

/** A leak that is found, in the words of leaks.ts and allowed.ts: a property that fails for another reason has not found it. */
const FOUND = {
  requests: /goes elsewhere|leaves the gateway|no setting names|of the connection is forwarded|does not ask for it/,
  settings: /no error at configs\/.*:\d+:\d+/,
};

describe('a fault of the code', () => {
  it.each(SEEDED_LEAKS.map((seeded, index) => ({ ...seeded, index })))(
    'is found by the property of $caughtBy: $leak',
    async ({ index, caughtBy }) => {
      const { stdout } = await run(process.execPath, [child, String(index)], { env: { NODE_COMPILE_CACHE: compiled } });
      expect(JSON.parse(stdout)).toEqual({
        // Where the code has become another one: find the place in seeded-leaks.ts again.
        applied: 1,
        runs: expect.any(Number),
        found: expect.stringMatching(FOUND[caughtBy]),
      });
    },
    BUSY_MS,
  );
});
