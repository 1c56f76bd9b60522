import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
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

/** Both ends of a pipe. */
function openPipe(): { readonly read: number; readonly write: number } {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-log-pipe-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const write = openSync(path, 'w');
  rmSync(folder, { recursive: true });
  return { read, write };
}

it.each([['alone'], ['with others']])(
  'a process whose pipe is full goes on, and its reader gets every line later: %s',
  async (role) => {
    const program = `
    import { openLogOutput } from ${at('src/core/record/log/log-output.ts')};
    const fail = () => { throw new Error('a line was dropped'); };
    const output = openLogOutput({ shared: ${role !== 'alone'}, onDrop: fail, onRecover: fail, onExit: () => {} });
    for (let line = 0; line < 4000; line += 1) output.writeSoon(String(line).padStart(99, '0') + '\\n');
    setTimeout(() => process.stderr.write('goes on'), 50);
    process.stdin.resume();
  `;
    const { read, write } = openPipe();
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['pipe', write, 'pipe'],
    });
    closeSync(write);
    const [said] = (await once(child.stderr!, 'data')) as [Buffer];
    expect(said.toString()).toBe('goes on');
    const lines = text(new Socket({ fd: read }));
    child.stdin!.end();
    expect(await lines).toBe(Array.from({ length: 4000 }, (_, line) => `${String(line).padStart(99, '0')}\n`).join(''));
  },
);
