import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { importCommand, type KINDS } from '../../src/cli/import/import.ts';
import { packageFile } from '../../src/package-root.ts';
import { loadSettings } from '../../src/settings/read/load.ts';
import { digestOf } from '../../src/settings/compile/api-keys.ts';
import { CASES } from './cases.testkit.ts';
import { ENV, placesOf } from './explained.testkit.ts';

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
  const code = await importCommand({ kind, paths: names.map((name) => join(from, name)), dir, out: write, err: write });
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

interface Case {
  readonly kind: keyof typeof KINDS;
  /** Of the golden. */
  readonly name: string;
  readonly files: readonly string[];
  /** Requests for a model, or with a config, and the places that they may be sent to, in order. */
  readonly goes?: Readonly<Record<string, readonly string[]>>;
}

const CASES: readonly Case[] = [
  {
    kind: 'litellm',
    name: 'config',
    files: ['config.yaml'],
    goes: { 'openai/gpt-5': ['api.openai.com gpt-5'], 'qwen-lab': ['variable.example Qwen/Qwen3-32B'] },
  },
  {
    kind: 'litellm',
    name: 'config-keys-teams',
    files: ['config.yaml', 'keys.json', 'teams.json'],
    goes: {
      'gpt-4o': [
        'example-eu.openai.azure.com gpt-4o-eu',
        'api.openai.com gpt-4o',
        'api.anthropic.com claude-sonnet-4-5',
        'generativelanguage.googleapis.com gemini-2.5-flash',
      ],
    },
  },
  { kind: 'portkey', name: 'configs', files: ['production.json', 'by-plan.json'] },
  { kind: 'portkey', name: 'lists', files: ['configs-and-providers.json', 'api-keys.json'] },
  {
    kind: 'litellm',
    name: 'azure',
    files: ['azure.yaml'],
    goes: {
      'desk-chat': ['variable.example gpt-4.1'],
      'desk-image': ['desk.openai.azure.com dall-e-3'],
      'desk-typo': ['generativelanguage.googleapis.com gemini-2.5-flash'],
    },
  },
  {
    kind: 'litellm',
    name: 'own-server',
    files: ['own-server.yaml'],
    goes: {
      'notes-embed': ['10.1.2.3:7997 bge-small'],
      'notes-chat': ['api.openai.com gpt-4.1', 'api.openai.com gpt-4.1'],
    },
  },
  {
    kind: 'litellm',
    name: 'slow-wild-cached',
    files: ['slow-wild-cached.yaml'],
    goes: { 'openai/gpt-5': ['api.openai.com gpt-5'] },
  },
  { kind: 'litellm', name: 'keys-page', files: ['keys-page.json'] },
  {
    kind: 'litellm',
    name: 'model-info',
    files: ['model-info.json'],
    goes: { 'desk-db': ['europe-west4-aiplatform.googleapis.com gemini-2.5-pro'] },
  },
  {
    kind: 'litellm',
    name: 'model-info-and-credentials',
    files: ['slow-wild-cached.yaml', 'model-info.json', 'credentials.json'],
    goes: {
      'desk-db': ['claude.desk.example claude-sonnet-4-5', 'europe-west4-aiplatform.googleapis.com gemini-2.5-pro'],
    },
  },
  {
    kind: 'litellm',
    name: 'credential-list',
    files: ['credential-list.yaml'],
    goes: {
      chat: ['api.openai.example gpt-4o'],
      summarize: ['api.openai.example gpt-4o-mini'],
      'own-key': ['api.openai.example gpt-4o'],
    },
  },
  { kind: 'litellm', name: 'variables', files: ['variables.yaml'], goes: { chat: ['variable.example gpt-4o'] } },
  {
    kind: 'litellm',
    name: 'hosts',
    files: ['hosts.yaml'],
    goes: {
      'no-key': ['llm.example.com qwen'],
      clear: ['api.openai.com gpt-5'],
      'same-clear': ['openai:8000 qwen'],
      'bare-host': ['openai qwen'],
      named: ['api.openai.com gpt-5'],
      europe: ['eu.api.openai.com gpt-5'],
      lookalike: ['api.openai.com.example.net gpt-5'],
      'claude-proxy': ['claude.example.com claude-sonnet-4-5'],
      'env-base': ['variable.example qwen'],
      'perplexity-at': ['api.perplexity.ai sonar'],
      'no-vendor-at': ['llm.example.com my-model'],
      'azure-old': ['old.openai.azure.com gpt-4o'],
    },
  },
  {
    kind: 'litellm',
    name: 'wildcards',
    files: ['wildcards.yaml'],
    goes: {
      'gpt-5-nano': ['api.openai.com gpt-5-nano'],
      'anthropic/claude-opus-4-5': ['api.anthropic.com claude-opus-4-5'],
      'vertex_ai/gemini-2.5-pro': ['aiplatform.googleapis.com gemini-2.5-pro'],
      'vertex_ai/claude-opus-4-5': ['aiplatform.googleapis.com claude-opus-4-5'],
      drawn: ['api.openai.com gpt-5', 'api.openai.com gpt-5', 'api.anthropic.com claude-sonnet-4-5'],
      best: ['api.anthropic.com claude-opus-4-5'],
    },
  },
  {
    kind: 'portkey',
    name: 'slug-in-model',
    files: ['slug-in-model.json'],
    goes: { 'config slug-in-model': ['10.1.2.3:11434 any'] },
  },
  {
    kind: 'portkey',
    name: 'left-out',
    files: ['left-out.json'],
    goes: { 'config kept': ['api.openai.com gpt-5'] },
  },
];

/** The values of variables that hold no secret. */
const ENV = {
  ...Object.fromEntries(
    ['AZURE_API_BASE', 'VLLM_BASE', 'INTERNAL_LLM_BASE'].map((name) => [name, 'https://variable.example/v1']),
  ),
  AZURE_API_BASE: 'https://variable.example',
  AZURE_API_VERSION: '2024-10-21',
  OPENAI_ORG_ID: 'org-1',
  DEFAULT_TEMPERATURE: '0.5',
  STOP_SEQUENCE: 'END',
};

/** Host and model of each request that would be sent. */
async function placesOf(dir: string, wanted: string): Promise<readonly string[]> {
  const config = /^config (.+)/.exec(wanted)?.[1];
  const { keys } = parse(readFileSync(join(dir, 'keys.yaml'), 'utf8')) as { keys: { id: string }[] };
  const request = join(folder, `request-${(number += 1)}.json`);
  const body = wanted.endsWith('-embed') ? { input: 'hi' } : wanted.endsWith('-image') ? { prompt: 'hi' } : undefined;
  const path = wanted.endsWith('-embed')
    ? 'embeddings'
    : wanted.endsWith('-image')
      ? 'images/generations'
      : 'chat/completions';
  writeFileSync(
    request,
    JSON.stringify({
      model: config === undefined ? wanted : 'any',
      ...(body ?? { messages: [{ role: 'user', content: 'hi' }] }),
    }),
  );
  const headers = config === undefined ? [] : ['--header', `x-gateway-config: ${config}`];
  const args = [
    'explain',
    '--configs',
    dir,
    '--request',
    request,
    '--path',
    `/v1/${path}`,
    '--key',
    keys[0]!.id,
    '--json',
    ...headers,
  ];
  const { stdout, stderr } = spawnSync(process.execPath, [packageFile('src/cli/main.ts'), ...args], {
    env: { ...process.env, ...ENV },
    encoding: 'utf8',
  });
  expect(stdout, stderr).not.toBe('');
  return [stdout];
}

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

  it.each(CASES.filter(({ goes }) => goes))(
    'leads requests to the hosts and models that the file has for them: $kind ($name)',
    async ({ kind, files, goes }) => {
      const { dir } = await imported(kind, files);
      const found = await Promise.all(
        Object.keys(goes!).map(async (name) => [name, await placesOf(dir, name)] as const),
      );
      expect(Object.fromEntries(found)).toEqual(goes);
    },
  );

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
    const { text } = await imported('litellm', ['slow-wild-cached.yaml', 'keys-page.json']);
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
