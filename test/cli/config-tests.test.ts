import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeSettings } from '../support/gateway.ts';
import { MAIN } from '../support/built.ts';

let dir: string;
beforeEach(() => {
  dir = writeSettings({
    catalog: 'providers:\n  - { slug: claude, provider: anthropic, api_key: "${env:NO_SUCH_KEY}" }\n',
    gateway: { prod: 'provider: "@claude"\noverride_params: { model: claude-sonnet-4-5, max_tokens: 512 }\n' },
  });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const ONE = (expected: string): string => `cases:
  - name: asks Claude
    request: { body: { model: any, messages: [{ role: user, content: Hi }] } }
    upstream: [{ answer: Hello }]
    expect: ${expected}
`;
const GOOD = ONE('{ target: "@claude", outbound: { url: "https://api.anthropic.com/*", body: { max_tokens: 512 } } }');
const BAD = ONE('{ outbound: { body: { max_tokens: 1024 } } }');

const writeTests = (text: string): void => writeFileSync(join(dir, 'gateway/prod.test.yaml'), text);

function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, 'test', dir, ...args], { env: {} }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out: out.replaceAll(dir, 'DIR'), err: err.replaceAll(dir, 'DIR') }),
    );
  });
}

describe('gatehouse test', () => {
  it('runs the tests beside the settings, with none of the secrets and without a network', async () => {
    writeTests(GOOD);
    const { code, out, err } = await run();
    expect([code, err, out]).toEqual([
      0,
      '',
      expect.stringMatching(/^DIR\/gateway\/prod\.test\.yaml\n {2}✓ asks Claude\n\n1 passed \(.+\)\n$/),
    ]);
  });

  it('fails with 1, and ends though a plugin has left a timer running', async () => {
    const plugin = `{ name: 'ticking', level: 'request', options: { type: 'object' }, create() { setInterval(() => {}, 1000); return (_, next) => next(); } }`;
    writeFileSync(
      join(dir, 'ticking.ts'),
      `import { definePlugin } from 'gatehouse/plugin';\nexport default definePlugin(${plugin});\n`,
    );
    writeFileSync(
      join(dir, 'server.yaml'),
      'plugins: [./ticking.ts]\nchains: { request: [ticking, metadata, route] }\n',
    );
    writeTests(BAD);
    const { code, out } = await run('--reporter', 'github');
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/^::error file=DIR.*prod\.test\.yaml,line=5,.*max_tokens%0Aexpected 1024%0Agot 512\n/),
    ]);
  });
});
