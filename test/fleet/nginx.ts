import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { until } from '../support/gateway.ts';
import { freePort } from '../support/postgres.ts';

// Debian installs it there, which is not in the path of every user.
const NGINX = spawnSync('/usr/sbin/nginx', ['-v']).error === undefined ? '/usr/sbin/nginx' : 'nginx';

/** Why there can be no nginx. Undefined: there can. In CI it has to be there. */
export function nginxMissing(): string | undefined {
  if (spawnSync(NGINX, ['-v']).error === undefined) return undefined;
  const reason = 'nginx not found: apt-get install nginx-light';
  if (process.env['CI']) throw new Error(reason);
  return reason;
}

function nginxIn(page: string): string {
  const found = /^```nginx\n([^]*?)^```/m.exec(readFileSync(packageFile(page), 'utf8'))?.[1];
  if (found === undefined) throw new Error(`${page} has no block of nginx`);
  return found;
}

function replace(text: string, before: string | RegExp, after: string): string {
  const replaced = text.replace(before, after);
  if (replaced === text) throw new Error(`the page has no ${String(before)}`);
  return replaced;
}

/** nginx as docs/operate/fleet.md puts it before three gateways. */
export async function startNginx(gateways: readonly number[]): Promise<{ readonly url: string; end(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-nginx-'));
  const port = await freePort();
  let site = nginxIn('docs/operate/fleet.md');
  for (const [at, gateway] of gateways.entries())
    site = replace(site, `127.0.0.1:${8787 + 10 * at} `, `127.0.0.1:${gateway} `);
  site = replace(site, 'listen 8080;', `listen 127.0.0.1:${port};`);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const own = `pid ${folder}/pid;\ndaemon off;\nmaster_process off;\nerror_log ${folder}/error.log;\nevents {}\n`;
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `${own}http {\naccess_log off;\n${paths.join('\n')}\n${site}}\n`);
  const running = spawn(NGINX, ['-p', folder, '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  running.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
  await until(async () => running.exitCode !== null || (await listens(port)), 'nginx listens');
  if (running.exitCode !== null) throw new Error(`nginx did not start: ${said.slice(0, 2000)}`);
  return {
    url: `http://127.0.0.1:${port}`,
    async end() {
      running.kill('SIGKILL');
      if (running.exitCode === null && running.signalCode === null)
        await new Promise((resolve) => running.once('close', resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
