import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';

it('A capture is in the memory alone, and in no memory once it has ended', { timeout: 240_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [packageFile('test/captures/memory.testkit.ts')]);
  expect(JSON.parse(stdout)).toEqual({
    before: { memory: true, disk: false },
    after: { memory: false, disk: false },
  });
});
