import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Explanation } from '../../src/addons/explain/explanation/explanation.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { explain } from '../../src/addons/explain/explain/explain.testkit.ts';
import { entriesFor } from '../support/upstream.ts';
import { writePlugins, type OutsidePlugin } from './outside-gateway.ts';
import { MAIN } from '../support/built.ts';

const run = promisify(execFile);
const catalog = { providers: entriesFor('http://127.0.0.1:9') };

async function explained(plugin: OutsidePlugin): Promise<Explanation> {
  const { dir, modules } = writePlugins([plugin]);
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const server = { plugins: modules, chains: { request: [plugin.name, 'metadata', 'route'] } };
  return explain({ catalog, server }, { json: { model: '@openai/m' } });
}

const own = ({ plugins }: Explanation) => plugins.find(({ plugin }) => plugin === 'outside');
const body = `ctx.exchange.metadata = { tier: 'gold' }; await next();`;

describe('an external plugin, when a request is explained', () => {
  it('is run where it says that it is pure, and says what it does', async () => {
    const words = `explain: ({ exchange }) => ({ does: 'tier ' + exchange.metadata.tier, details: { tier: 1 } })`;
    const reported = await explained({ name: 'outside', body, more: `pure: true, ${words}` });
    expect(own(reported)).toMatchObject({ state: 'run', does: 'tier gold', details: { tier: 1 } });
    expect(reported.targets[0]!.outbound).toBeDefined();
  });

  it('is left out where it does not say so, and is not asked', async () => {
    const reported = await explained({
      name: 'outside',
      body,
      more: `explain: () => ({ does: 'nothing I would tell' })`,
    });
    expect(own(reported)).toMatchObject({ state: 'not run' });
    expect(JSON.stringify(reported)).not.toMatch(/gold|nothing I would tell/);
  });

  it('spoils nothing when its words fail', async () => {
    const more = `pure: true, explain() { throw new Error('a secret'); }`;
    const reported = await explained({ name: 'outside', body, more });
    expect(own(reported)).toMatchObject({ state: 'run', does: 'no description: its `explain` failed' });
    expect(reported.targets[0]!.outbound).toBeDefined();
    expect(JSON.stringify(reported)).not.toContain('a secret');
  });

  it('has an example in docs/plugins/api.md that says what it does', async () => {
    const readme = readFileSync(packageFile('docs/plugins/api.md'), 'utf8');
    const fence = (language: string): string =>
      new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'm').exec(readme)![1]!;
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-explain-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    cpSync(packageFile('configs/catalog.yaml'), join(dir, 'catalog.yaml'));
    cpSync(packageFile('configs/keys.yaml'), join(dir, 'keys.yaml'));
    mkdirSync(join(dir, 'plugins'));
    writeFileSync(join(dir, 'plugins/tenant-header.mjs'), fence('js'));
    writeFileSync(join(dir, 'server.yaml'), fence('yaml'));
    writeFileSync(join(dir, 'request.json'), '{"model":"@simulator/demo","messages":[{"role":"user","content":"hi"}]}');
    // As a process of its own: Vitest would load the module its own way.
    const args = ['explain', '--configs', dir, '--request', join(dir, 'request.json'), '--key', 'demo', '--json'];
    const { stdout } = await run(process.execPath, [MAIN, ...args]);
    const reported = (JSON.parse(stdout) as Explanation).plugins.find(({ plugin }) => plugin === 'tenant-header');
    expect(reported).toMatchObject({ state: 'run', does: 'sets x-tenant to demo' });
  });
});

describe('a plugin with hooks, when a request is explained', () => {
  it('has what it reads, the changes of the request, and what the reply of each target passes through', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-explain-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const module = join(dir, 'hooks.mjs');
    writeFileSync(
      module,
      `import { definePlugin, replacing } from 'gatehouse-gateway/plugin';
const options = { type: 'object', additionalProperties: false, properties: {} };
const text = () => replacing(/secret/, '[S]', { longest: 6 });
export default [
  definePlugin({ name: 'mask', level: 'request', options, pure: true, reads: { request: 'texts', reply: 'texts' }, create: () => ({
    request: (view) => view.texts().forEach((one) => one.replace(one.text.replaceAll('secret', '[S]'))),
    reply: text,
  }) }),
  definePlugin({ name: 'shout', level: 'attempt', options, reads: { reply: 'events' }, create: () => ({ events: () => (event) => event }) }),
];`,
    );
    const gateway = {
      plain: { provider: '@openai', plugins: ['mask', 'metadata', 'route'] },
      loud: { provider: '@openai', plugins: ['mask', 'route', 'override', 'transform', 'shout', 'send'] },
    };
    const json = { model: '@openai/m', messages: [{ role: 'user', content: 'a secret' }] };
    const reportOf = (config: string) =>
      explain({ catalog, server: { plugins: [module] }, gateway }, { json, headers: { 'x-gateway-config': config } });
    const [plain, loud] = [await reportOf('plain'), await reportOf('loud')];
    expect(plain.plugins.find(({ name }) => name === 'mask')?.does).toBe(
      'may change texts of the request; may change texts of the reply: text',
    );
    expect(plain.targets[0]).toMatchObject({ reply: 'texts of 1 plugin: mask' });
    expect(plain.targets[0]!.changes).toMatchObject([
      { path: 'messages.0.content', was: 'a secret', value: 'a [S]', source: { kind: 'plugin', plugin: 'mask' } },
    ]);
    expect(loud.targets[0]).toMatchObject({ reply: 'events, asked for by shout' });
  });
});
