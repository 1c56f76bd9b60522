import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';

const SOURCES = 'src/addons/console/ui';
const BUILDER = 'build/console.ts';
const MAX_MS = 60_000;

const run = promisify(execFile);

/**
 * Builds the page of a checkout in a process of its own, at `gatehouse serve` in a terminal and when somebody opens it, if it is missing or older than its
 * sources: a start waits for nothing, and a failed build is a line of the log. The installed package has the page built, and no builder.
 */
export function createPageBuild(root: string, log: Pick<Logger, 'info' | 'error'>): () => Promise<void> {
  const builder = join(root, BUILDER);
  if (!existsSync(builder)) return async () => {};
  let building: Promise<void> | undefined;
  let failed = 0;
  const build = async (): Promise<void> => {
    const newest = await newestOf(join(root, SOURCES), builder);
    // The same sources fail again.
    if (newest <= failed || newest <= (await changed(join(root, 'dist/console/index.html')))) return;
    try {
      const began = performance.now();
      await run(process.execPath, [builder], { cwd: root, timeout: MAX_MS });
      log.info({ ms: Math.round(performance.now() - began) }, 'the console is built');
    } catch (err) {
      failed = newest;
      log.error({ err }, 'the console could not be built: `npm run build:console` shows why');
    }
  };
  return () => (building ??= build().finally(() => (building = undefined)));
}

async function newestOf(folder: string, ...files: readonly string[]): Promise<number> {
  const found = await readdir(folder, { recursive: true }).catch((): string[] => []);
  const sources = found.filter((name) => !name.endsWith('.test.ts')).map((name) => join(folder, name));
  return Math.max(...(await Promise.all([...sources, ...files].map(changed))));
}

const changed = (file: string): Promise<number> =>
  stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
