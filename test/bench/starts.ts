import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { spreadOf, type StartRow } from './figures.ts';
import { firstReply } from './load.ts';
import { GATEWAY_CORE, rssMb, startPinned, stopPinned } from './processes.ts';
import { requestBody } from './replies.ts';
import { CHAT_PATH, GATEHOUSE_HEADERS } from './targets.ts';

const IDLE_MS = 1000;

/** The package as npm installs it. Returns its entry. */
function install(folder: string): string {
  const npm = (args: readonly string[], cwd: string): void =>
    void execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  npm(['pack', '--pack-destination', folder], packageFile(''));
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  npm(['install', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball}`], folder);
  return join(folder, 'node_modules/gatehouse-gateway/dist/src/cli/main.js');
}

/** Time from the start to the first 200, and memory a second later: with an empty compile cache, then with the filled one. */
export async function measureStarts(rounds: number): Promise<readonly StartRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-package-'));
  try {
    const command = [process.execPath, install(folder), 'serve', '--configs', packageFile('test/bench/settings')];
    const caches = ['cold', 'warm'] as const;
    const figures = {
      cold: { ms: [] as number[], rss: [] as number[] },
      warm: { ms: [] as number[], rss: [] as number[] },
    };
    for (let round = 0; round < rounds; round += 1) {
      const cache = join(folder, `compiled-${round}`);
      mkdirSync(cache);
      for (const kind of caches) {
        const from = performance.now();
        const env = { NODE_COMPILE_CACHE: cache };
        const gateway = startPinned(command, { core: GATEWAY_CORE, env, stdout: 'emptied' });
        await firstReply(gateway, { path: CHAT_PATH, headers: GATEHOUSE_HEADERS('oai')(9001) }, requestBody(1, false));
        figures[kind].ms.push(performance.now() - from);
        await sleep(IDLE_MS);
        figures[kind].rss.push(rssMb(gateway.pid));
        await stopPinned(gateway);
      }
    }
    return caches.map((cache) => {
      const { ms, rss } = figures[cache];
      return { cache, ms: spreadOf(ms), rssMb: spreadOf(rss), rounds };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
