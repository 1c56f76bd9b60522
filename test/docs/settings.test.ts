import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { checkSettings } from '../../src/core/dry-run/check-settings.ts';
import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { describe as tell } from '../../src/core/settings/source/diagnostic.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';
import { packageSchemas } from '../../src/core/settings/schema/schemas.ts';
import { memoryFiles } from '../../src/core/settings/source/files.ts';
import { fences, PAGES, readPage } from './pages.ts';

/** The settings that a page shows, all of them together, beside those of the example that pages refer to. */

interface Block {
  readonly name: string;
  readonly text: string;
}

const EXAMPLE = 'docs/route/README.md';
/** Tests of their own load these: they need certificates, a module or a package, show several forms of one entry, or go on from the sample settings. */
const OWN = [
  'docs/operate/network.md',
  'docs/plugins/README.md',
  'docs/plugins/api.md',
  'docs/providers/vertex-ai.md',
  'docs/start/README.md',
];

/** Files of other programs in YAML. */
const FOREIGN = /^# (?:envoy|ingress)\.yaml/;

const blocksOf = (page: string): readonly Block[] =>
  fences(readPage(page), 'yaml').flatMap((code) => {
    const [, name = ''] = /^# (\S+\.yaml)\n/.exec(code) ?? [];
    return FOREIGN.test(code) ? [] : [{ name, text: code }];
  });

const withYaml = PAGES.filter((page) => !OWN.includes(page) && blocksOf(page).length > 0);

/** Two parts of one file. An item of a list with the slug or the id of an earlier one is the same item. */
function merged(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other))
    return (other as unknown[]).reduce<unknown[]>((list, item) => {
      const at = list.findIndex((known) => idOf(known) !== undefined && idOf(known) === idOf(item));
      return at < 0 ? [...list, item] : list.with(at, merged(list[at], item));
    }, one as unknown[]);
  if (!isMapping(one) || !isMapping(other)) return other;
  const both = Object.entries(other).map(([key, value]) => [key, key in one ? merged(one[key], value) : value]);
  return { ...one, ...(Object.fromEntries(both) as object) };
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const idOf = (item: unknown): unknown => (isMapping(item) ? (item['slug'] ?? item['id']) : undefined);

const ACCOUNT = JSON.stringify({
  type: 'service_account',
  project_id: 'test-project',
  private_key: testPrivateKey(),
  client_email: 'a@b.iam.gserviceaccount.com',
});

/** Some variables need a certain form. */
function valueOf(name: string): string {
  if (name === 'GATEHOUSE_ENCRYPTION_KEYS') return `k1:${Buffer.alloc(32, 1).toString('base64')}`;
  if (name === 'DATABASE_URL') return 'postgres://gatehouse:secret@db.example/gatehouse';
  if (name === 'VALKEY_URL') return 'rediss://gatehouse:secret@valkey.example:6379';
  if (name.endsWith('_URL')) return `https://${name.toLowerCase().replaceAll('_', '-')}.example/`;
  if (name.endsWith('_KEYS')) return `k1:${Buffer.alloc(32, 1).toString('base64')}`;
  return name === 'ALERT_WEBHOOK_SECRET' ? `whsec_${Buffer.alloc(32, 1).toString('base64')}` : `${name}-value`;
}

async function problemsOf(page: string): Promise<readonly string[]> {
  const blocks = [...(page === EXAMPLE ? [] : blocksOf(EXAMPLE)), ...blocksOf(page)];
  const texts = Object.entries(Object.groupBy(blocks, ({ name }) => name)).map(([name, parts = []]) => [
    name,
    stringify(parts.map(({ text }) => parse(text) as unknown).reduce(merged)),
  ]);
  const shown = blocks.map(({ text }) => text).join('\n');
  const env = Object.fromEntries([...shown.matchAll(/\$\{env:(\w+)\}/g)].map(([, name = '']) => [name, valueOf(name)]));
  const paths = [...shown.matchAll(/\$\{file:([^}]+)\}/g)].map(([, path]) => [path, ACCOUNT]);
  const loaded = await loadSettings('configs', {
    env,
    files: memoryFiles({ ...Object.fromEntries(paths), ...Object.fromEntries(texts) }),
  });
  if (loaded.diagnostics.length === 0) await checkSettings(loaded, 'configs');
  return loaded.diagnostics.map(tell);
}

describe('the settings of a page', () => {
  it('are in many pages', () => expect(withYaml.length).toBeGreaterThan(20));

  it.each(withYaml)('%s: each block begins with its file', (page) => {
    expect(blocksOf(page).filter(({ name }) => !name.startsWith('configs/'))).toEqual([]);
  });

  it.each(withYaml)('%s: they are valid, all of them together', async (page) => {
    expect(await problemsOf(page)).toEqual([]);
  });
});

describe('docs/route/inline-configs.md', () => {
  it('has an inline config that is valid', () => {
    const [, inline] = /^x-gateway-config: (.*)$/m.exec(readPage('docs/route/inline-configs.md')) ?? [];
    expect(packageSchemas().validate('gateway', JSON.parse(inline!))).toEqual([]);
  });
});
