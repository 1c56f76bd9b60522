import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { KEY, startTestGateway, until } from '../support/gateway.ts';
import { askAdmin, CAPTURING } from './kit.ts';

it(
  'A command whose file cannot be written says so, leaves no part of it, and ends the capture',
  { timeout: 240_000 },
  async () => {
    const gateway = await startTestGateway({ server: CAPTURING });
    onTestFinished(() => gateway.close());
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-record-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    // A process may not make files larger than that: its writes fail as on a full disk.
    const line = `ulimit -f 0; exec '${process.execPath}' '${packageFile('src/cli/main.ts')}' record '${gateway.gateway.admin!.url}' --out capture.jsonl --requests 1`;
    const recording = spawn('bash', ['-c', line], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void recording.kill());
    const ended = once(recording, 'exit');
    const said = text(recording.stderr);
    const captures = async (): Promise<readonly object[]> => (await askAdmin(gateway, 'GET', '/captures')).json.items;
    await until(async () => (await captures()).length === 1, 'the capture runs');
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
      body: JSON.stringify({ model: '@sim/demo', messages: [{ role: 'user', content: 'hello' }] }),
    }).then((reply) => reply.text());
    expect(await ended).toEqual([1, null]);
    expect(await said).toContain('capture.jsonl cannot be written: EFBIG');
    expect(readdirSync(folder)).toEqual([]);
    expect(await captures()).toEqual([]);
  },
);
