import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const at = (path: string): string =>
  JSON.stringify(pathToFileURL(new URL(`../../${path}`, import.meta.url).pathname).href);

it('a process that exits has written the lines that waited, and those that its exit adds', () => {
  const program = `
    import { openLogOutput } from ${at('src/core/record/log/log-output.ts')};
    const fail = () => { throw new Error('a line was dropped'); };
    const output = openLogOutput({ shared: false, onDrop: fail, onRecover: fail, onExit: () => output.writeSoon('third\\n') });
    output.write('first\\n');
    output.writeSoon('second\\n');
    process.exit(0);
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  // A write in a thread may end after the process does: then its lines are missing, or come late.
  expect(stdout.replace('first\n', '')).toBe('second\nthird\n');
});
