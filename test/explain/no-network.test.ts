import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { lookup } from 'node:dns/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { Explainer } from '../../src/addons/explain/explain/explainer.ts';
import { diskFiles } from '../../src/core/settings/source/files.ts';
import { createLogger } from '../../src/core/record/log/logger.ts';
import { forbidNetwork, opened } from '../support/no-network.ts';

const root = join(import.meta.dirname, '../..');
const RECIPES = join(root, 'configs/recipes');
const messages = [{ role: 'user', content: 'Hi' }];
const image = { type: 'image_url', image_url: { url: 'https://images.example.com/cat.png' } };

/** One of each kind of request, at places that would need a token, a lookup, a download or a connection. */
const ASKED: readonly (readonly [string, string, object])[] = [
  ['/v1/chat/completions', 'fallback-across-providers', { model: 'chat', messages }],
  ['/v1/chat/completions', 'eu-only', { model: 'chat', stream: true, messages }],
  [
    '/v1/chat/completions',
    'none',
    { model: '@vertex/gemini-2.5-flash', messages: [{ role: 'user', content: [image] }] },
  ],
  ['/v1/messages', 'cheap-first', { model: 'chat', max_tokens: 64, messages }],
  ['/v1/messages/count_tokens', 'none', { model: '@anthropic/claude-haiku-4-5', messages }],
  ['/v1/embeddings', 'cached-embeddings', { model: 'text', input: ['a', 'b', 'c'] }],
  ['/v1/images/generations', 'none', { model: '@vertex/imagen-4.0-generate-001', prompt: 'a lighthouse' }],
];

afterAll(forbidNetwork());
afterEach(() => void opened.splice(0));

describe('explain', () => {
  it.each(ASKED)('opens no socket and looks nothing up for %s with %s', async (path, config, body) => {
    const log = createLogger({ level: 'silent' });
    const explainer = new Explainer({
      configs: RECIPES,
      env: {},
      files: diskFiles,
      clock: systemClock,
      log,
      fakeMissing: true,
    });
    const headers = { 'content-type': 'application/json', ...(config !== 'none' && { 'x-gateway-config': config }) };
    const reported = await explainer.explain({
      method: 'POST',
      path,
      headers,
      body: Buffer.from(JSON.stringify(body)),
    });
    await explainer.close();
    expect(reported.targets[0]?.outbound?.url).toMatch(/^https:/);
    expect(opened).toEqual([]);
  });

  it('opens none on the command line either, for any recipe', () => {
    const request = JSON.stringify({ model: 'chat', messages });
    const run = spawnSync(
      process.execPath,
      [
        '--import',
        pathToFileURL(join(root, 'test/support/no-network.ts')).href,
        join(root, 'src/cli/main.ts'),
        'explain',
        '--json',
        '--configs',
        RECIPES,
        '--request',
        '-',
        '--header',
        'x-gateway-config: strict-json',
      ],
      { input: request, encoding: 'utf8', env: { ...process.env, FORBID_NETWORK: '1' } },
    );
    expect([run.status, run.stderr]).toEqual([0, '']);
    expect(JSON.parse(run.stdout)).toMatchObject({ config: { id: 'strict-json' } });
  });

  it('would be seen if it did', async () => {
    expect(() => connect(1, '127.0.0.1')).toThrow('the network was used');
    await expect(async () => lookup('localhost')).rejects.toThrow('the network was used');
    expect(opened).toHaveLength(2);
  });
});
