import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import { fences, readPage } from '../docs/pages.ts';

const run = promisify(execFile);
const MAIN = packageFile('src/cli/main.ts');
const PAGE = readPage('docs/operate/captures.md');

/** The key of the sample settings works from this machine alone. */
const ask = (url: string, content: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer gatehouse-demo-key', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: '@simulator/demo', messages: [{ role: 'user', content }] }),
  });

it('The lines of the page work as they stand, one after the other', { timeout: 240_000 }, async () => {
  const work = mkdtempSync(join(tmpdir(), 'gatehouse-captures-'));
  onTestFinished(() => rmSync(work, { recursive: true, force: true }));
  const configs = join(work, 'configs');
  cpSync(packageFile('configs'), configs, { recursive: true });
  rmSync(join(configs, 'recipes'), { recursive: true, force: true });
  const server = readFileSync(join(configs, 'server.yaml'), 'utf8').replaceAll(/^( *port:) \d+$/gm, '$1 0');
  const [rights, tests] = fences(PAGE, 'yaml');
  const admin = rights!.replace('admin: {', 'admin: { port: 0,');
  writeFileSync(join(configs, 'server.yaml'), `${server.replaceAll(/^admin:(?: .*\n|\n(?: .*\n)*)/gm, '')}\n${admin}`);
  const gateway = await startGateway({ configs, env: {}, logTo: { write: () => {} } });
  onTestFinished(() => gateway.close());
  const env = { ...process.env, GATEHOUSE_ADMIN_URL: gateway.admin!.url };
  const program = `'${process.execPath}' '${MAIN}'`;
  const shell = (line: string) => run('bash', ['-c', line.replaceAll('npx gatehouse', program)], { cwd: work, env });
  const [toTest, curl, record, test, replay] = fences(PAGE, 'sh');

  await (await ask(gateway.data.url, 'hello', { 'x-request-id': 'my-failure' })).text();
  expect((await shell(toTest!)).stdout).toMatch(/✓.*my-failure[^]*1 passed/);
  expect((await shell(curl!)).stdout).toContain('$GATEWAY_KEY');

  const recording = shell(record!);
  const state = { over: false };
  void recording.finally(() => (state.over = true)).catch(() => {});
  while (!state.over) await (await ask(gateway.data.url, 'What is in my basket?')).text();
  expect((await recording).stdout).toBe('configs/captures/checkout.jsonl has 2 requests\n');

  writeFileSync(join(configs, 'checkout.test.yaml'), tests!);
  expect((await shell(test!)).stdout).toMatch(/✓[^]*1 passed/);
  writeFileSync(join(configs, 'checkout.test.yaml'), tests!.replace('What is in', 'Where is'));
  const missed = await shell(test!).catch((error: { stdout: string }) => error);
  expect(missed.stdout.replaceAll(/\s+/g, ' ')).toContain(
    'messages.0.content is "Where is my basket?", recorded "What is in my basket?"',
  );

  const words = replay!.trim().replace('npx gatehouse ', '').replace('8790', '0').split(' ');
  const served = spawn(process.execPath, [MAIN, ...words], { cwd: work });
  onTestFinished(() => void served.kill());
  const [said] = (await once(served.stdout, 'data')) as [Buffer];
  const [, url] = /^2 recorded calls of upstreams are served at (\S+)\n$/.exec(said.toString())!;
  const body = JSON.stringify({ model: 'demo', messages: [] });
  const refused = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body });
  expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining('replay_miss')]);
});
