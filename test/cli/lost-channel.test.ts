import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';

it('a primary closes the connections of its last worker, and its port, in whatever order it learns of the death', async () => {
  const main = packageFile('test/cli/lost-channel-primary.testkit.ts');
  const { code, out } = await new Promise<{ code: unknown; out: string }>((resolve) => {
    execFile(process.execPath, [main], { timeout: 15_000 }, (error, stdout) =>
      resolve({ code: error ? (error.code ?? error.signal) : 0, out: stdout }),
    );
  });
  expect([code, out]).toEqual([0, 'exit before the channel ended\nall clients closed\nthen ECONNREFUSED\n']);
});
