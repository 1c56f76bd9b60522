import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPageBuild } from './page-build.ts';

const HOUR_S = 3600;

describe('the page of a checkout', () => {
  let root: string;
  let lines: string[];
  const log = {
    info: (_: unknown, text: unknown) => void lines.push(String(text)),
    error: (_: unknown, text: unknown) => void lines.push(String(text)),
  } as unknown as Parameters<typeof createPageBuild>[1];
  const builder = (code: string): void => writeFileSync(join(root, 'build/console.ts'), code);
  const later = (hours: number): void => {
    const at = Date.now() / 1000 + hours * HOUR_S;
    utimesSync(join(root, 'src/addons/console/ui/main.tsx'), at, at);
  };
  const pages = (): number => readFileSync(join(root, 'dist/console/index.html'), 'utf8').length;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'gatehouse-page-'));
    lines = [];
    for (const folder of ['build', 'dist/console', 'src/addons/console/ui'])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, 'src/addons/console/ui/main.tsx'), '');
    builder("require('node:fs').appendFileSync('dist/console/index.html', 'x');");
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('is built when it is missing and when its sources are newer, once for all who wait', async () => {
    const refresh = createPageBuild(root, log);
    await Promise.all([refresh(), refresh()]);
    expect(pages()).toBe(1);
    await refresh();
    expect(pages()).toBe(1);
    later(1);
    await refresh();
    expect([pages(), lines]).toEqual([2, ['the console is built', 'the console is built']]);
  });

  it('is a line of the log where the build fails, until the sources change', async () => {
    builder('process.exit(1);');
    const refresh = createPageBuild(root, log);
    await refresh();
    await refresh();
    expect(lines).toEqual(['the console could not be built: `npm run build:console` shows why']);
    later(2);
    await refresh();
    expect(lines.length).toBe(2);
  });

  it('is left as it is in the installed package, which has no builder', async () => {
    rmSync(join(root, 'build'), { recursive: true });
    await createPageBuild(root, log)();
    expect(lines).toEqual([]);
  });
});
