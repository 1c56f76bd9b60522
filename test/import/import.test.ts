import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { importCommand, type KINDS } from '../../src/addons/import/import.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';
import { digestOf } from '../../src/core/settings/compile/api-keys.ts';
import { CASES } from './cases.testkit.ts';
import { ENV, explained, placesOf } from './explained.testkit.ts';

/** Files of other gateways, and the settings folders that they become. `npx vitest run -u` writes the goldens anew. */
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-import-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Imported {
  readonly dir: string;
  readonly code: number;
  /** All files, and the report of the command. */
  readonly text: string;
}

let number = 0;
async function imported(kind: keyof typeof KINDS, names: readonly string[]): Promise<Imported> {
  const [dir, from] = [join(folder, String((number += 1))), packageFile(`test/import/${kind}`)];
  let said = '';
  const write = (more: string): void => void (said += more);
  const paths = names.map((name) => join(from, name));
  const code = await importCommand({ kind, paths, dir, out: write, err: write, now: Date.UTC(2026, 10, 30) });
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const parts = files.map((file) => `=== ${file}\n${readFileSync(file, 'utf8')}`);
  return {
    dir,
    code,
    text: [...parts, `=== report\n${said}`].join('\n').replaceAll(`${from}/`, '').replaceAll(dir, 'DIR'),
  };
}

/** Secrets of the files in clear text. */
const SECRETS = /secret-in-clear|masked|sk-master|db-password|sk-lf-secret|sk-local|private-key-in-clear/;

describe('gatehouse import', () => {
  it.each(CASES)(
    'writes settings of $kind ($name) that are valid, without a secret, and says what it leaves out',
    async ({ kind, name, files }) => {
      const { code, text } = await imported(kind, files);
      expect(code, text).toBe(0);
      expect(text).not.toMatch(SECRETS);
      await expect(text).toMatchFileSnapshot(`goldens/${kind}-${name}.txt`);
    },
  );

  it('makes no reference to a variable or file of this machine out of a text of the file', async () => {
    const { text } = await imported('portkey', ['hostile.json']);
    expect(text).toContain('$${env:ADMIN_TOKEN}');
    expect(text.split('=== report')[0]).not.toMatch(/(?<!\$)\$\{(?:env:ADMIN_TOKEN|file:)/);
    expect(text).not.toMatch(SECRETS);
  });

  it('keeps tokens and keys of a vendor from every host that is not its own', async () => {
    const { text, dir } = await imported('litellm', ['hostile.yaml']);
    const { providers } = parse(readFileSync(join(dir, 'catalog.yaml'), 'utf8')) as {
      providers: readonly Readonly<Record<string, unknown>>[];
    };
    const bases = Object.fromEntries(providers.map(({ slug, base_url: base, api_key: key }) => [slug, [base, key]]));
    expect(bases).toMatchInlineSnapshot(`
      {
        "api.anthropic.com": [
          "http://api.anthropic.com",
          "\${env:API_ANTHROPIC_COM_API_KEY}",
        ],
        "evil-openrouter.ai": [
          "https://evil-openrouter.ai/api/v1",
          "\${env:OPENROUTER_API_KEY}",
        ],
        "own.example.com": [
          "https://own.example.com/v1",
          undefined,
        ],
        "proxy.example.com": [
          "https://proxy.example.com/v1",
          undefined,
        ],
        "vertex-ai": [
          undefined,
          undefined,
        ],
      }
    `);
    expect(text).not.toMatch(/evil\.example\.com"?\n.*metadata-server|(?<!\$)\$\{env:ADMIN_TOKEN\}/);
    expect(text).toContain('do tokens of Google go to https://evil.example.com?');
    expect(text).not.toMatch(SECRETS);
  });

  it.each(CASES.filter(({ goes }) => goes))(
    'leads requests to the hosts and models that the file has for them: $kind ($name)',
    async ({ kind, files, key, goes }) => {
      const { dir } = await imported(kind, files);
      const found = await Promise.all(
        Object.keys(goes!).map(async (name) => [name, await placesOf(dir, name, key)] as const),
      );
      expect(Object.fromEntries(found)).toEqual(goes);
    },
  );

  it('makes aliases of wildcards, which an explanation names with their line', async () => {
    const { dir } = await imported('litellm', ['wildcards.yaml']);
    const { request } = await explained(dir, 'anthropic/claude-opus-4-5');
    const at = readFileSync(join(dir, 'catalog.yaml'), 'utf8').split('\n').indexOf('  anthropic/*:') + 2;
    expect(request.alias).toMatchObject({ of: '@anthropic/claude-opus-4-5', at: { line: at } });
  });

  it('validates each folder as `gatehouse validate` does', async () => {
    for (const { kind, files } of CASES) {
      const { dir } = await imported(kind, files);
      const result = await loadSettings(dir, { env: ENV, fakeMissing: true });
      expect(result.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    }
  });

  it('exits with 1 and writes nothing where nothing can be imported, and says why', async () => {
    const run = async (name: string, text: string) => {
      const [path, dir] = [join(folder, name), join(folder, `${name}.d`)];
      writeFileSync(path, text);
      let said = '';
      const write = (more: string): void => void (said += more);
      const code = await importCommand({ kind: 'litellm', paths: [path], dir, out: write, err: write });
      return { code, said, isWritten: existsSync(dir) };
    };
    const stored = await run(
      'stored.yaml',
      'general_settings: { master_key: os.environ/M, store_model_in_db: true }\n',
    );
    expect(stored).toMatchObject({ code: 1, isWritten: false });
    expect(stored.said).toContain('save the answer of `GET /model/info`');
    const cached = await run('cached.yaml', 'litellm_settings: { cache: true }\nmodel_list: []\n');
    expect(cached).toMatchObject({ code: 1, isWritten: false });
    expect(cached.said).toMatch(/^\nDecide: [^\n]*\n\n {2}[^\n]*litellm_settings\.cache: has no config to stand in/);
    expect(cached.said).toContain('nothing was imported');
  });

  it('exits with 1 where the folder does not validate', async () => {
    const path = join(folder, 'invalid.json');
    writeFileSync(path, '{"targets":[{"provider":"openai"},{"provider":"anthropic"}]}');
    const write = (): void => {};
    const options = { paths: [path], dir: `${path}.d`, out: write, err: write };
    expect(await importCommand({ kind: 'portkey', ...options })).toBe(1);
    expect(existsSync(`${path}.d`)).toBe(true);
  });

  it('notices the pages of a list that are not there, and none where all are', async () => {
    const page = (index: number) => ({
      keys: [{ token: digestOf(`page ${index}`).slice('sha256:'.length), key_alias: `page-${index}` }],
      total_count: 2,
      current_page: index,
      total_pages: 2,
    });
    const paths = [1, 2].map((index) => join(folder, `page-${index}.json`));
    for (const [index, path] of paths.entries()) writeFileSync(path, JSON.stringify(page(index + 1)));
    const run = async (some: readonly string[], dir: string) => {
      let said = '';
      const write = (more: string): void => void (said += more);
      await importCommand({ kind: 'litellm', paths: some, dir: join(folder, dir), out: write, err: write });
      return said;
    };
    expect(await run(paths.slice(0, 1), 'first-page')).toContain('total_count: only 1 of 2 are here');
    expect(await run(paths, 'both-pages')).not.toContain('total_count');
  });

  it('reports caps, guards and keys that are lost before anything else', async () => {
    const { text } = await imported('litellm', ['slow-wild-cached.yaml', 'keys-odd-period.json']);
    const titles = [...text.matchAll(/^(Decide|Check|Not needed)\b/gm)].map(([, title]) => title);
    expect(titles).toEqual(['Decide', 'Check', 'Not needed']);
    const decide = text.slice(text.indexOf('\nDecide'), text.indexOf('\nCheck'));
    const order = ['total_count', 'budget_duration', 'store_model_in_db'].map((word) => decide.indexOf(word));
    expect(order).not.toContain(-1);
    expect(Math.max(order[0]!, order[1]!)).toBeLessThan(order[2]!);
  });

  it('names the next commands as it was called itself', async () => {
    const [paths, dir] = [[packageFile('test/import/litellm/config.yaml')], join(folder, 'called')];
    let said = '';
    const write = (more: string): void => void (said += more);
    await importCommand({ kind: 'litellm', paths, dir, env: { npm_command: 'exec' }, out: write, err: write });
    expect(said).toContain(`\nThen: npx gatehouse validate --configs ${dir} && npx gatehouse serve --configs ${dir}\n`);
  });

  it.each<[keyof typeof KINDS, string, readonly string[]]>([
    ['litellm', 'config.yaml', ['', 'model_list.0', 'model_list.0.litellm_params', 'router_settings']],
    ['litellm', 'config.yaml', ['litellm_settings', 'litellm_settings.cache_params', 'general_settings']],
    ['litellm', 'keys.json', ['', 'keys.0']],
    ['litellm', 'teams.json', ['0']],
    ['portkey', 'production.json', ['', 'strategy', 'strategy.cb_config', 'retry', 'cache', 'targets.0']],
    ['portkey', 'production.json', ['targets.1', 'targets.1.strategy.sticky_session', 'targets.1.targets.0']],
    ['portkey', 'by-plan.json', ['strategy.conditions.0', 'targets.2']],
    ['portkey', 'configs-and-providers.json', ['0', '1']],
    ['portkey', 'api-keys.json', ['', 'data.0', 'data.0.usage_limits', 'data.0.rate_limits.0', 'data.0.defaults']],
  ])('leaves no key of %s out in silence (%s)', async (kind, name, places) => {
    for (const place of places) {
      const file = parse(readFileSync(packageFile(`test/import/${kind}/${name}`), 'utf8')) as unknown;
      const at = place.split('.').reduce((value, key) => (key === '' ? value : Reflect.get(Object(value), key)), file);
      Reflect.set(Object(at), 'unheard_of', 1);
      const path = join(folder, `unheard-${(number += 1)}.json`);
      writeFileSync(path, JSON.stringify(file, null, 2));
      let said = '';
      const write = (more: string): void => void (said += more);
      await importCommand({ kind, paths: [path], dir: `${path}.d`, out: write, err: write });
      const key = [place.replaceAll(/\.?(\d+)(?=\.|$)/g, '[$1]'), 'unheard_of'].filter((part) => part !== '').join('.');
      const line =
        readFileSync(path, 'utf8')
          .split('\n')
          .findIndex((text) => text.includes('"unheard_of": 1')) + 1;
      expect(said, place).toContain(`${path}:${line}: ${key}: `);
    }
  });

  it('takes over the digests of keys, so that callers of LiteLLM keep theirs', async () => {
    // The first key of keys.json is the word `test`.
    const { text } = await imported('litellm', ['keys.json']);
    expect(text).toContain(`digest: ${digestOf('test')}\n`);
  });

  it('gives a key of LiteLLM no more than it had: the models of its team too, and an end', async () => {
    const token = (id: string) => ({ token: digestOf(id).slice('sha256:'.length), key_alias: id, team_id: 'narrow' });
    const source = {
      teams: [{ team_id: 'narrow', team_alias: 'narrow', models: ['gpt-4o-mini', 'claude-*'] }],
      keys: [
        { ...token('all'), models: ['all-proxy-models'] },
        { ...token('wider'), models: ['gpt-*', 'claude-opus', 'o3'] },
        { ...token('other'), models: ['o3'] },
        { ...token('endless'), expires: 'in a month' },
        { ...token('number'), expires: 1_795_132_800 },
      ],
    };
    const path = join(folder, 'narrow.json');
    const dir = join(folder, 'narrow');
    writeFileSync(path, JSON.stringify(source, null, 2));
    let said = '';
    const write = (more: string): void => void (said += more);
    await importCommand({ kind: 'litellm', paths: [path], dir, out: write, err: write });
    const { keys } = parse(readFileSync(join(dir, 'keys.yaml'), 'utf8')) as {
      keys: { id: string; models: string[] }[];
    };
    expect(keys.map(({ id, models }) => [id, models])).toEqual([
      ['all', ['gpt-4o-mini', 'claude-*']],
      ['wider', ['claude-opus', 'gpt-4o-mini']],
    ]);
    expect(said).toContain('has models that its team may not use: gpt-*, o3');
    expect(said.match(/is not imported/g)).toHaveLength(3);
  });

  it('overwrites nothing, and writes nothing of a file that it cannot read', async () => {
    const dir = join(folder, 'taken');
    mkdirSync(dir);
    writeFileSync(join(dir, 'keys.yaml'), 'mine');
    const run = async (path: string, to: string) => {
      let said = '';
      const write = (more: string): void => void (said += more);
      return [await importCommand({ kind: 'litellm', paths: [path], dir: to, out: write, err: write }), said] as const;
    };
    const config = packageFile('test/import/litellm/config.yaml');
    expect(await run(config, dir)).toEqual([1, expect.stringContaining('these files exist')]);
    expect([readdirSync(dir), readFileSync(join(dir, 'keys.yaml'), 'utf8')]).toEqual([['keys.yaml'], 'mine']);
    const broken = join(folder, 'broken.yaml');
    writeFileSync(broken, 'model_list: [\n');
    expect(await run(broken, join(folder, 'none'))).toEqual([1, expect.stringContaining('broken.yaml:')]);
    expect(await run(join(folder, 'missing.yaml'), join(folder, 'none'))).toEqual([
      1,
      expect.stringContaining('ENOENT'),
    ]);
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });
});
