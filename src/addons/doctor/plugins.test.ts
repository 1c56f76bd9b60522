import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { packageFile } from '../../core/kernel/package-root.ts';
import { loadSettings } from '../../core/settings/read/load.ts';
import { checkPlugins } from './plugins.ts';

const API = pathToFileURL(packageFile('src/plugin/index.ts')).href;

async function findingsOf(more: string) {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-doctor-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const write = (name: string, text: string): void => writeFileSync(join(dir, name), text);
  write('server.yaml', 'plugins: [./it.mjs]\n');
  write('catalog.yaml', 'providers: []\n');
  write('keys.yaml', 'keys: []\n');
  const options = `{ type: 'object', additionalProperties: false, properties: {} }`;
  const rest = `options: ${options}, create: () => (ctx, next) => next(), ${more}`;
  write(
    'it.mjs',
    `import { definePlugin } from ${JSON.stringify(API)};\nexport default definePlugin({ name: 'it', ${rest} });`,
  );
  const findings = await checkPlugins(await loadSettings(dir, { env: {} }), dir);
  return findings.map(({ status, message }) => `${status}: ${message}`);
}

describe('plugins of the operator', () => {
  it('are named with the errors that they declare', async () => {
    const errors = `errors: { tenant_blocked: { status: 403, type: 'permission_error' } }`;
    expect(await findingsOf(`level: 'request', ${errors}`)).toEqual([
      'ok: it can be loaded; its own errors: tenant_blocked (403)',
    ]);
    expect(await findingsOf(`level: 'request'`)).toEqual(['ok: it can be loaded']);
  });

  it('are an error where they cannot be loaded', async () => {
    expect(await findingsOf('level: 5')).toEqual([expect.stringMatching(/^error: a module of `plugins` cannot/)]);
  });
});
