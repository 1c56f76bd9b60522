import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { UsageError, type World } from '../../src/core/commands/terminal/arguments.ts';
import { explainCommand, type ExplainOptions } from '../../src/addons/explain/cli/explain.ts';
import type { Explanation } from '../../src/addons/explain/explanation/explanation.ts';
import { renderExplanation } from '../../src/addons/explain/explanation/render/explanation.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { MAIN } from '../support/built.ts';

const SETTINGS = {
  'server.yaml': 'limits: { json_depth: 32 }\n',
  'catalog.yaml': `providers:
  - slug: gpt
    provider: openai
    api_key: \${env:OPENAI_API_KEY}
  - slug: vertex
    provider: vertex-ai
    region: us-central1
    project_id: my-project
    service_account: \${file:/run/secrets/nowhere.json}
  - slug: claude
    provider: anthropic
    api_key: \${env:ANTHROPIC_API_KEY}
`,
  'keys.yaml': `keys:
  - id: search
    key: \${env:SEARCH_KEY}
    default_config: prod
  - id: billing
    digest: sha256:${'0'.repeat(64)}
`,
  'gateway/prod.yaml': `name: Production
strategy: { mode: fallback }
request_timeout: 30s
targets:
  - name: gemini
    provider: "@vertex"
    override_params:
      model: gemini-2.5-flash
      max_tokens: 512
  - name: claude
    provider: "@claude"
    override_params:
      model: claude-sonnet-4-5
`,
  'gateway/by-tier.yaml': `strategy:
  mode: conditional
  conditions:
    - query: { metadata.tier: gold }
      then: fast
    - query: { params.max_tokens: { $gt: 1000 } }
      then: cheap
  default: cheap
targets:
  - { name: fast, provider: "@gpt", override_params: { model: gpt-5 } }
  - { name: cheap, provider: "@gpt", override_params: { model: gpt-5-mini } }
`,
};
const REQUEST = {
  model: 'any',
  max_tokens: 9,
  logit_bias: { 1: 2 },
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
  ],
};
/** Settings that change what becomes of a request without a trace in its body. */
const DECLARED = {
  'server.yaml': '{}\n',
  'keys.yaml': 'keys: []\n',
  'catalog.yaml': `providers:
  - slug: local
    provider: openai
    api_key: \${env:LOCAL_KEY}
    base_url: https://models.example/v1
    inline_thinking: ["my-reasoner-*"]
    count: estimate
  - slug: claude
    provider: anthropic
    api_key: \${env:ANTHROPIC_API_KEY}
    default_max_tokens: 2000
`,
  'gateway/declared.yaml': 'remote_media: { pass: true }\n',
};
const SECRETS = {
  OPENAI_API_KEY: 'canary-openai-0123',
  ANTHROPIC_API_KEY: 'canary-claude-0123',
  SEARCH_KEY: 'canary-search-0123',
};

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gatehouse-explain-'));
  write('configs', SETTINGS);
  writeFileSync(join(dir, 'request.json'), JSON.stringify(REQUEST));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function writeBytes(name: string, bytes: Buffer): string {
  writeFileSync(join(dir, name), bytes);
  return join(dir, name);
}

function write(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, folder, name)), { recursive: true });
    writeFileSync(join(dir, folder, name), text);
  }
  return join(dir, folder);
}

async function explain(options: Partial<ExplainOptions> = {}) {
  let out = '';
  let err = '';
  const code = await explainCommand({
    configs: join(dir, 'configs'),
    env: {},
    request: join(dir, 'request.json'),
    headers: [],
    draws: [],
    json: false,
    colour: false,
    terminal: { columns: 110 },
    input: () => Promise.resolve(Buffer.alloc(0)),
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    ...options,
  });
  const plain = (text: string): string => text.replaceAll(`${dir}/`, '');
  return { code, out: plain(out), err: plain(err) };
}

const explained = async (options: Partial<ExplainOptions> = {}): Promise<Explanation> =>
  JSON.parse((await explain({ ...options, json: true })).out) as Explanation;

const golden = (name: string): string => packageFile(`src/addons/explain/explanation/render/goldens/${name}.txt`);

describe('what is explained, exit code 0', () => {
  it.each([
    ['served-fallback', { key: 'search', headers: ['x-request-id: try-1'] }],
    [
      'served-conditional',
      { headers: ['x-request-id: try-2', 'x-gateway-config: by-tier', 'x-gateway-metadata: {"tier":"gold"}'] },
    ],
  ])('a request of the settings here is as in goldens/%s.txt', async (name, options) => {
    // The report keeps only the part of the folder's name that is the same on every machine, because lines break by its length.
    const reported = await explained(options);
    await expect(renderExplanation(reported, { width: 110, colour: false })).toMatchFileSnapshot(golden(name));
  });

  it('fields beyond OpenAI’s API are losses there, as in goldens/served-extensions.txt', async () => {
    const body = { ...REQUEST, model: '@gpt/gpt-5', top_k: 40, thinking: { type: 'enabled', budget_tokens: 2000 } };
    const input = () => Promise.resolve(Buffer.from(JSON.stringify(body)));
    const reported = await explained({ request: '-', input, headers: ['x-request-id: try-3'] });
    await expect(renderExplanation(reported, { width: 110, colour: false })).toMatchFileSnapshot(
      golden('served-extensions'),
    );
  });

  it.each<readonly [string, string, object]>([
    [
      'inline-thinking',
      '/v1/chat/completions',
      { model: '@local/my-reasoner-7b', messages: [{ role: 'user', content: 'Hello' }] },
    ],
    [
      'estimated-count',
      '/v1/messages/count_tokens',
      { model: '@local/my-model', messages: [{ role: 'user', content: 'Hello' }] },
    ],
    [
      'passed-media',
      '/v1/chat/completions',
      {
        model: '@claude/claude-sonnet-4-5',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url: 'https://images.example/cat.png' } },
            ],
          },
        ],
      },
    ],
  ])('a setting of the target is as in goldens/%s.txt', async (name, path, body) => {
    const configs = write('declared', DECLARED);
    const options = {
      configs,
      path,
      headers: ['x-request-id: try-3', 'x-gateway-config: declared'],
      request: '-',
      input: () => Promise.resolve(Buffer.from(JSON.stringify(body))),
    };
    await expect(renderExplanation(await explained(options), { width: 110, colour: false })).toMatchFileSnapshot(
      golden(name),
    );
  });

  it('in JSON it is one document and nothing else', async () => {
    const reported = await explained({ key: 'search' });
    expect([reported.caller?.key, reported.config?.id, reported.targets.map(({ provider }) => provider?.slug)]).toEqual(
      ['search', 'prod', ['vertex', 'claude']],
    );
  });

  it('a request that the gateway would refuse', async () => {
    const { code, out } = await explain({ headers: ['x-gateway-api-key: nobody-has-this-one'] });
    expect([code, out.split('\n')[0]]).toEqual([0, expect.stringMatching(/^answer +401 invalid_api_key/)]);
  });

  it('a path where nothing is served', async () => {
    const { code, out } = await explain({ path: '/v1/nothing' });
    expect([code, out]).toEqual([0, expect.stringMatching(/^answer +404 /)]);
  });

  it('what comes in, for the file -', async () => {
    const input = () =>
      Promise.resolve(
        Buffer.from(
          '{"method":"POST","path":"/v1/messages","body":{"model":"@claude/claude-sonnet-4-5","max_tokens":5,"messages":[]}}',
        ),
      );
    const reported = await explained({ request: '-', input });
    expect([reported.request.operation, reported.targets[0]?.provider?.slug]).toEqual(['messages', 'claude']);
  });

  it('at the moment that is asked for, with the draws that are given', async () => {
    const configs = write('drawn', {
      ...SETTINGS,
      'keys.yaml': 'keys: [{ id: a, key: "${env:A}", expires_at: "2027-01-01T00:00:00Z" }]\n',
      'gateway/prod.yaml':
        'strategy: { mode: loadbalance }\ntargets:\n  - { provider: "@gpt", weight: 1 }\n  - { provider: "@claude", weight: 1 }\n',
    });
    const headers = ['x-gateway-config: prod'];
    const slug = async (draw: number) =>
      (await explained({ configs, headers, draws: [draw] })).targets[0]?.provider?.slug;
    expect([await slug(0), await slug(0.9)]).toEqual(['gpt', 'claude']);
    const keyed = {
      configs,
      env: { A: 'a-key-of-some-length' },
      headers: ['x-gateway-api-key: a-key-of-some-length', ...headers],
    };
    const caller = async (moment: string) => (await explained({ ...keyed, at: Date.parse(moment) })).caller?.key;
    expect([await caller('2026-12-31T23:59:59Z'), await caller('2027-01-01T00:00:01Z')]).toEqual(['a', undefined]);
  });
});

describe('secrets', () => {
  it('that are not there are stood in for, and named in a note', async () => {
    expect((await explained()).notes).toContain(
      'replaced by fakes because not set here: env:OPENAI_API_KEY, file:/run/secrets/nowhere.json, env:ANTHROPIC_API_KEY, env:SEARCH_KEY',
    );
    expect((await explained({ env: SECRETS })).notes).toContain(
      'replaced by fakes because not set here: file:/run/secrets/nowhere.json',
    );
  });

  it('are in no output', async () => {
    const headers = ['x-gateway-api-key: canary-search-0123', 'authorization: Bearer canary-own-token-0123'];
    for (const json of [true, false]) {
      const { code, out, err } = await explain({ env: SECRETS, headers, json });
      expect([code, err]).toEqual([0, '']);
      expect(out).not.toContain('canary');
      // So that it was not a refusal that was looked at.
      expect(out).toContain('[secret]');
    }
  });
});

describe('what cannot be explained', () => {
  it('because the settings have mistakes, told as validate tells them, exit code 1', async () => {
    const configs = write('broken', { ...SETTINGS, 'server.yaml': 'lisen: {}\n' });
    for (const json of [true, false]) {
      expect(await explain({ configs, json })).toEqual({
        code: 1,
        out: '',
        // Warnings of models that retire may follow.
        err: expect.stringContaining('broken/server.yaml:1:1: unknown key `lisen`; did you mean "listen"?\n') as string,
      });
    }
  });

  it.each<[string, () => Partial<ExplainOptions>, string]>([
    ['there is no such folder', () => ({ configs: join(dir, 'none') }), 'none:1:1: there is no such folder'],
    ['there is no such file', () => ({ request: join(dir, 'none.json') }), 'there is no file none.json'],
    ['a folder is no file', () => ({ request: dir }), 'cannot be read'],
    [
      'it is not JSON',
      () => ({ request: '-', input: () => Promise.resolve(Buffer.from('{')) }),
      'standard input is not JSON',
    ],
    [
      'bytes are no text',
      () => ({ request: writeBytes('latin1.json', Buffer.from('{"a":"\xe9"}', 'latin1')) }),
      'is not UTF-8 text',
    ],
    [
      'what comes in is no text',
      () => ({ request: '-', input: () => Promise.resolve(Buffer.from('{"a":"\xe9"}', 'latin1')) }),
      'standard input is not UTF-8 text',
    ],
    ['a header is none', () => ({ headers: ['x'] }), "a header is written 'name: value'"],
    ['there is no such key', () => ({ key: 'serch' }), 'there is no key with the id "serch"; did you mean "search"?'],
    [
      'there is no key like it',
      () => ({ key: 'zzz' }),
      'there is no key with the id "zzz"; keys.yaml has search, billing',
    ],
  ])('because %s, exit code 2', async (_, options, message) => {
    expect(await explain(options())).toEqual({ code: 2, out: '', err: expect.stringContaining(message) as string });
  });
});

/** The command as `gatehouse explain` calls it, on a terminal or not. */
async function call(args: readonly string[], parts: Partial<World> = {}): Promise<string> {
  let out = '';
  const world: World = {
    env: {},
    terminal: undefined,
    input: () => Promise.resolve(Buffer.from(JSON.stringify(REQUEST))),
    out: (text) => void (out += text),
    err: () => {},
    ...parts,
  };
  await commands.get('explain')!.run(['--configs', join(dir, 'configs'), ...args], world);
  return out;
}

it.each<[string, readonly string[], Partial<World>, boolean]>([
  ['a terminal', [], { terminal: { columns: 80 } }, true],
  ['a terminal with NO_COLOR', [], { terminal: { columns: 80 }, env: { NO_COLOR: '1' } }, false],
  ['a terminal that knows none', [], { terminal: { columns: 80 }, env: { TERM: 'dumb' } }, false],
  ['a terminal, with --color never', ['--color', 'never'], { terminal: { columns: 80 } }, false],
  ['a file', [], {}, false],
  ['a file, with --color always', ['--color', 'always'], { env: { NO_COLOR: '1' } }, true],
  ['a terminal, in JSON', ['--json'], { terminal: { columns: 80 } }, false],
])('on %s there is colour only where it is seen', async (_, args, world, coloured) => {
  expect((await call(['--request', '-', ...args], world)).includes('\u001b[')).toBe(coloured);
});

describe('the docs', () => {
  const exampleOf = (file: string) => {
    const text = readFileSync(packageFile(file), 'utf8');
    const command = /^echo .* explain .*$/m.exec(text)![0];
    return { command, shown: /^```text\n([^]*?)^```/m.exec(text.slice(text.indexOf(command)))?.[1] ?? '' };
  };
  const runExample = async (file: string) => {
    const { command, shown } = exampleOf(file);
    // The package is not installed in its own folder.
    const here = command.replace('npx gatehouse', 'npm run -s gatehouse --');
    const { stdout } = await promisify(execFile)('bash', ['-c', here], { cwd: packageFile('') });
    return { shown, lines: stdout.split('\n') };
  };

  it('README.md has an example that runs', async () => {
    const { lines } = await runExample('README.md');
    expect(lines[0]).toMatch(/^goes to +@simulator\//);
  });

  it('docs/operate/explain.md shows what its example prints, line by line, but for those left out at a …', async () => {
    const { lines, shown } = await runExample('docs/operate/explain.md');
    const reported = shown.split('\n').filter((line) => line !== '…' && line !== '');
    expect(reported.length).toBeGreaterThan(15);
    let at = -1;
    for (const line of reported) {
      const next = lines.findIndex((one, index) => index > at && one === line);
      expect(next, `the example does not print, at this place: ${line}`).toBeGreaterThan(at);
      at = next;
    }
  });
});

const run = (
  args: readonly string[],
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const child = execFile(process.execPath, [MAIN, 'explain', ...args], { cwd: dir, env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
    child.stdin!.end(input);
  });

describe('gatehouse explain', () => {
  it('explains, and shows colours when told to', async () => {
    const [plain, coloured] = await Promise.all([
      run(['--request', 'request.json', '--header', 'x-gateway-config: prod']),
      run(['--request', '-', '--header', 'x-gateway-config: prod', '--color', 'always'], {
        input: JSON.stringify(REQUEST),
      }),
    ]);
    expect([plain.code, plain.err, coloured.code]).toEqual([0, '', 0]);
    expect(plain.out).toMatch(
      /^goes to +@vertex\/gemini-2\.5-flash {2}"gemini"\n +then @claude\/claude-sonnet-4-5 {2}"claude"\n/,
    );
    expect(plain.out).not.toContain('\u001b');
    expect(coloured.out).toContain('\u001b[1mgoes to');
  });

  it('called wrongly tells how it is used, exit code 2', async () => {
    const { code, out, err } = await run(['--key', 'search']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^gatehouse: explain needs --request FILE\n\nUsage: gatehouse/);
    // The usage of this command alone: the message must not be far above the usage of all commands.
    expect(err.match(/^ {2}\S.*$/gm)).toEqual([expect.stringMatching(/^ {2}explain --request /)]);
  });

  it.each<[readonly string[], string]>([
    [[], 'explain needs --request FILE'],
    [['--request', 'request.json', '--draw', '-1'], 'draw'],
    [['--request', 'request.json', '--color', 'blue'], '--color must be auto, always or never, not blue'],
    [['--request', 'request.json', '--draw', '1'], '--draw must be a number from 0 to less than 1, not 1'],
    [['--request', 'request.json', '--at', 'noon'], '--at must be a moment'],
    [['--request', 'request.json', '--at', '5'], '--at must be a moment such as 2027-01-01T00:00:00Z, not 5'],
    [['--request', 'request.json', '--at', '2027-02-30'], '--at must be a moment'],
    [['--reqest', 'request.json'], 'there is no option --reqest; did you mean --request?'],
    [['--zzzzzz'], 'there is no option --zzzzzz'],
  ])('cannot be called as %j', async (args, message) => {
    await expect(call(args)).rejects.toSatisfy(
      (error) => error instanceof UsageError && error.message.includes(message),
    );
  });
});
