import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { oneInFour } from '../support/effort.ts';
import { SEEDED_LEAKS } from './seeded-leaks.ts';

const run = promisify(execFile);
const child = join(import.meta.dirname, 'run-seeded-leak.ts');
/** A child needs half a second of CPU time; on a busy machine that can take a minute. */
const BUSY_MS = 120_000;

/** Node's compile cache, shared by all children: it halves the time of each (0.8 s to 0.4 s, measured). */
const compiled = mkdtempSync(join(tmpdir(), 'seeded-leaks-'));
afterAll(() => rmSync(compiled, { recursive: true }));

/** Messages of leaks.ts and allowed.ts. A property that fails for another reason has not found the leak. */
const FOUND = {
  requests: /goes elsewhere|leaves the gateway|no setting names|of the connection is forwarded|does not ask for it/,
  settings: /no error at configs\/.*:\d+:\d+/,
};

describe('a fault of the code', () => {
  it.each(
    oneInFour(
      'leaks',
      0,
      SEEDED_LEAKS.map((seeded, index) => ({ ...seeded, index })),
    ),
  )(
    'is found by the property of $caughtBy: $leak',
    async ({ index, caughtBy }) => {
      const { stdout } = await run(process.execPath, [child, String(index)], { env: { NODE_COMPILE_CACHE: compiled } });
      expect(JSON.parse(stdout)).toEqual({
        // 0 or more than 1: the code has changed, and `from` in seeded-leaks.ts must follow.
        applied: 1,
        runs: expect.any(Number),
        found: expect.stringMatching(FOUND[caughtBy]),
      });
    },
    BUSY_MS,
  );
});
