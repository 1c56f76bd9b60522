import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lockSpool } from './spool-lock.ts';

it('A spool has one owner at a time, until that ends or is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-lock-'));
  try {
    const unlock = lockSpool(folder);
    expect(unlock).toBeDefined();
    expect(lockSpool(folder)).toBeUndefined();
    unlock!();
    const script = join(folder, 'owner.mjs');
    const module = JSON.stringify(new URL('spool-lock.ts', import.meta.url).href);
    writeFileSync(
      script,
      `import { lockSpool } from ${module}; process.send(lockSpool(${JSON.stringify(folder)}) !== undefined); setInterval(() => {}, 1000);`,
    );
    const owner = fork(script, { execArgv: [] });
    expect(await once(owner, 'message')).toEqual([true, undefined]);
    expect(lockSpool(folder)).toBeUndefined();
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    const again = lockSpool(folder);
    expect(again).toBeDefined();
    again!();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
