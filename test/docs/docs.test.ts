import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import { linksOf } from '../support/doc-links.ts';
import { fences, PAGES, readPage, ROOT as root } from './pages.ts';

/** Every example in the docs is run: here those that need a running gateway; settings.test.ts has the others. */
const run = promisify(execFile);

let gateway: Gateway;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-docs-'));
  gateway = await startGateway({ configs: sampleWithFreePorts(), env: {}, logTo: { write: () => {} } });
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The sample settings as they are, on ports that are free. */
function sampleWithFreePorts(dir = join(folder, 'sample')): string {
  for (const file of globSync('**/*.yaml', { cwd: join(root, 'configs') })) {
    const text = readFileSync(join(root, 'configs', file), 'utf8').replaceAll(/^( *port:) \d+$/gm, '$1 0');
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
  return dir;
}

const addressed = (text: string, { data, admin }: Gateway): string =>
  text.replaceAll('http://127.0.0.1:8787', data.url).replaceAll('http://127.0.0.1:8788', admin!.url);
const here = (text: string): string => addressed(text, gateway);

/** Lines of `sh` in order, each with those that continue it, and what the answer to each has. */
const curlLines = (page: string): readonly string[] =>
  fences(readPage(page), 'sh')
    .flatMap((code) => code.replaceAll(/\\\n */g, '').split('\n'))
    .filter((line) => line.startsWith('curl '));

const COMPLETE = { choices: [{ finish_reason: 'stop' }] };

describe('a curl line', () => {
  it.each<[string, readonly object[]]>([
    ['README.md', [COMPLETE]],
    [
      'docs/operate/records.md',
      [COMPLETE, { request_id: 'try-1', attempts: [{ provider: 'simulator' }] }, { items: [], partial: [] }],
    ],
    ['docs/operate/explain.md', [{ targets: [{ provider: { slug: 'simulator' } }] }]],
  ])('of %s works as it stands, one after the other', async (page, expected) => {
    const answers: unknown[] = [];
    for (const line of curlLines(page)) {
      const { stdout } = await run('bash', ['-c', here(line).replace('curl', 'curl -sS --fail')]);
      answers.push(JSON.parse(stdout));
    }
    expect(answers).toMatchObject(expected);
  });

  it('is in no other page', () => {
    expect(PAGES.filter((page) => curlLines(page).length > 0)).toEqual([
      'README.md',
      // test/admin/docs.test.ts runs its lines.
      'docs/operate/admin-api.md',
      // test/admin/cost-page.test.ts runs its lines.
      'docs/operate/cost.md',
      'docs/operate/explain.md',
      'docs/operate/records.md',
      // test/package/plugin-authors.test.ts runs its lines.
      'docs/plugins/README.md',
      'docs/start/README.md',
    ]);
  });
});

describe('docs/start/README.md', () => {
  const page = readPage('docs/start/README.md');

  it('has steps that work one after the other, as they stand', async () => {
    const work = mkdtempSync(join(folder, 'start-'));
    const configs = sampleWithFreePorts(join(work, 'configs'));
    for (const code of fences(page, 'yaml')) writeFileSync(join(work, /^# (\S+)/.exec(code)![1]!), code);
    const served = await startGateway({ configs, env: {}, logTo: { write: () => {} } });
    const program = `'${process.execPath}' '${join(root, 'src/cli/main.ts')}'`;
    const [, ...lines] = fences(page, 'sh').map((code) =>
      addressed(code.trim(), served).replace('npx gatehouse', program).replace('curl', 'curl -sS'),
    );
    const outputs: string[] = [];
    for (const line of lines) outputs.push((await run('bash', ['-c', line], { cwd: work })).stdout);
    await served.close();
    expect(outputs.map((output) => (output.startsWith('{') ? (JSON.parse(output) as unknown) : output))).toMatchObject([
      COMPLETE,
      { error: { code: 'overloaded' } },
      { request_id: 'my-failure', state: 'failed', attempts: [{ provider: 'simulator' }] },
      expect.stringContaining('valid'),
      COMPLETE,
      expect.stringMatching(/^goes to +@simulator\/sim-error-503[^]*\n +then @simulator\/demo/),
      expect.stringMatching(/gateway\/first\.test\.yaml[^]*\d passed \(/),
      expect.stringContaining('my-settings'),
      expect.stringContaining('my-application'),
    ]);
  });
});

describe('docs/operate/keys.md', () => {
  it('has commands that work one after the other', async () => {
    const work = mkdtempSync(join(folder, 'keys-'));
    sampleWithFreePorts(join(work, 'configs'));
    const program = `'${process.execPath}' '${join(root, 'src/cli/main.ts')}'`;
    const outputs: string[] = [];
    for (const line of fences(readPage('docs/operate/keys.md'), 'sh'))
      outputs.push((await run('bash', ['-c', line.replace('npx gatehouse', program)], { cwd: work })).stdout);
    expect(outputs).toEqual([
      expect.stringContaining('search'),
      expect.stringContaining('search'),
      expect.stringContaining('previous'),
      expect.stringContaining('search'),
    ]);
  });
});

describe('docs/operate/prices.md', () => {
  const hasJq = spawnSync('jq', ['--version']).status === 0;

  it.runIf(hasJq)('has a bill made of access lines that adds up', async () => {
    const lines = [
      { metadata: { team: 'search' }, cost_usd: 0.25 },
      { metadata: { team: 'search' }, cost_usd: 0.5, cost_unknown: 'kind' },
      { metadata: { team: 'ads' }, cost_usd: 1 },
      { metadata: { team: 'ads' } },
    ];
    writeFileSync(join(folder, 'access.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'));
    const [bill] = fences(readPage('docs/operate/prices.md'), 'sh');
    const { stdout } = await run('bash', ['-c', bill!], { cwd: folder });
    expect(stdout).toBe('ads\t1\t0\nsearch\t0.75\t1\n');
  });
});

/** Pages with lines for the shell, and the test that runs them. test/agents runs those of its own pages. */
const RUN_BY: Readonly<Record<string, string>> = {
  'README.md': 'test/docs/docs.test.ts',
  'docs/move/litellm.md': 'test/import/import.test.ts',
  'docs/move/portkey.md': 'test/import/import.test.ts',
  'docs/operate/admin-api.md': 'test/admin/docs.test.ts',
  'docs/operate/captures.md': 'test/captures/page.test.ts',
  'docs/operate/cost.md': 'test/admin/cost-page.test.ts',
  'docs/operate/deploy.md': 'test/package/deploy.test.ts',
  'docs/operate/effect.md': 'test/effect/page.test.ts',
  'docs/operate/explain.md': 'test/docs/docs.test.ts',
  'docs/operate/keys.md': 'test/docs/docs.test.ts',
  'docs/operate/fleet.md': 'test/fleet/fleet-page.test.ts',
  'docs/operate/ledger.md': 'test/state/ledger-export.test.ts',
  'docs/operate/prices.md': 'test/docs/docs.test.ts',
  'docs/operate/records.md': 'test/docs/docs.test.ts',
  'docs/operate/state.md': 'test/state/state-commands.test.ts',
  'docs/plugins/README.md': 'test/package/plugin-authors.test.ts',
  'docs/start/README.md': 'test/docs/docs.test.ts',
};

describe('an example for the shell', () => {
  it('is in a page whose examples a test runs', () => {
    const pages = PAGES.filter((page) => !page.startsWith('docs/agents/') && fences(readPage(page), 'sh').length > 0);
    expect(pages.filter((page) => !existsSync(join(root, RUN_BY[page] ?? 'none')))).toEqual([]);
  });
});

describe('a line that runs gatehouse', () => {
  // These pages use files of a checkout, where npx finds no package. All others are for an installed one.
  const OF_A_CHECKOUT = ['README.md', 'configs/recipes/README.md'];

  it.each([...PAGES, 'configs/recipes/README.md'])('begins in %s as the page on commands says', (page) => {
    const calls = fences(readPage(page), 'sh')
      .flatMap((code) => code.split('\n'))
      .flatMap((line) =>
        [...line.matchAll(/(?:^|[|&;] *)((?:[\w-]+ )*gatehouse(?: --)?) [a-z]/g)].map(([, call]) => call),
      );
    const command = OF_A_CHECKOUT.includes(page) ? 'npm run -s gatehouse --' : 'npx gatehouse';
    expect(calls.filter((call) => call !== command)).toEqual([]);
  });
});

describe('a page', () => {
  it('begins with a sentence that says what it is for', () => {
    // After the mark of a generated page.
    const without = PAGES.filter(
      (page) => !/^# .+\n\n(?:<!-- .* -->\n\n)?[^\s|`<#-]|^# .+\n\n(?:<!-- .* -->\n\n)?`(?!``)/.test(readPage(page)),
    );
    expect(without).toEqual([]);
  });

  it('names who acts: no word of hearsay', () => {
    // The tables of the reference come from the code, with its names of values and of tests.
    const hearsay = PAGES.filter((page) => !page.startsWith('docs/reference/')).flatMap((page) => {
      const prose = readPage(page).replaceAll(/^```[^]*?^```|`[^`\n]*`/gm, '');
      return [...prose.matchAll(/\b(?:told|asked|nobody|whoever)\b/gi)].map(([word]) => `${page}: ${word}`);
    });
    expect(hearsay).toEqual([]);
  });
});

describe('docs/README.md', () => {
  it('lists every page', () => {
    const listed = new Set(linksOf(readPage('docs/README.md')).map(({ path }) => join('docs', path)));
    const pages = globSync('docs/**/*.md', { cwd: root, exclude: ['docs/site/**'] });
    // Overviews of a folder list its pages.
    const below = /^docs\/(?:README\.md$|agents\/[^R]|protocols\/[^R]|reference\/settings\/[^R])/;
    expect(pages.filter((page) => !listed.has(page) && !below.test(page))).toEqual([]);
  });
});

describe('a script', () => {
  it.each(['README.md', 'docs/start/README.md'])('of %s runs', async (page) => {
    const scripts = fences(readPage(page), 'js');
    expect(scripts).toHaveLength(1);
    const file = join(root, 'node_modules/.cache/gatehouse-docs', `${page.replaceAll('/', '-')}.mjs`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, here(scripts[0]!));
    const { stdout } = await run(process.execPath, [file]);
    expect(stdout.trim()).not.toBe('');
  });
});

describe('README.md', () => {
  it('has fewer than 150 lines', () => expect(readPage('README.md').split('\n').length).toBeLessThan(150));

  it.each(['README.md', 'docs/start/README.md', 'docs/operate/records.md'])(
    'and the other pages of first requests (%s) break lines of the shell that are too long to read',
    (page) => {
      const lines = fences(readPage(page), 'sh').flatMap((code) => code.split('\n'));
      expect(lines.filter((line) => line.startsWith('curl ') && line.length > 120)).toEqual([]);
    },
  );
});

describe('docs/contributing/dependencies.md', () => {
  it('says of every dependency why it is here, and of none that is not', () => {
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
      optionalDependencies: Record<string, string>;
    };
    const table = readPage('docs/contributing/dependencies.md');
    const cells = [...table.matchAll(/^\| ([a-z@][^|]*) \|/gm)].flatMap(([, cell]) => cell!.split(', '));
    // `exporter-*` stands for a family, and what follows a scope for packages of the same.
    const scope = '@opentelemetry/';
    const patterns = cells.map((cell) => new RegExp(`^(?:${scope})?${cell.replace('*', '.*')}$`));
    // The page of the console is bundled for browsers.
    const sources = globSync('{src,plugins}/**/*.ts', { cwd: root }).filter(
      (file) => !/\.(?:test|testkit)\.ts$|^src.addons.console.ui./.test(file),
    );
    const imported = sources.flatMap((file) =>
      [
        ...readFileSync(join(root, file), 'utf8').matchAll(
          /^(?:import|export) .*from '((?:@[^/']+\/)?[a-z][^/':]*)['/]/gm,
        ),
      ].map(([, name]) => name!),
    );
    const names = [...new Set([...Object.keys({ ...dependencies, ...optionalDependencies }), ...imported])];
    expect(names.filter((name) => !patterns.some((pattern) => pattern.test(name)))).toEqual([]);
    expect(cells.filter((_, index) => !names.some((name) => patterns[index]!.test(name)))).toEqual([]);
  });
});

describe('docs/reference/commands.md', () => {
  it('lists every command', () => {
    const [, table = ''] = /^\| Command \| \|\n([^]*?)\n\n/m.exec(readPage('docs/reference/commands.md')) ?? [];
    const named = [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell]) => cell!.split(', '));
    const names = named.map((name) => name.replaceAll(/`|gatehouse | (?:\[DIR\]|KIND)/g, ''));
    expect(names.toSorted()).toEqual([...commands.keys(), 'help'].toSorted());
  });
});

describe('docs/plugins/api.md', () => {
  it('has an example plugin that loads and works, also in a folder from which Node finds no package `gatehouse`', async () => {
    const text = readPage('docs/plugins/api.md');
    const [code] = fences(text, 'js');
    const [yaml] = fences(text, 'yaml');
    const dir = sampleWithFreePorts();
    mkdirSync(join(dir, 'plugins'));
    writeFileSync(join(dir, 'plugins/tenant-header.mjs'), code!);
    writeFileSync(
      join(dir, 'server.yaml'),
      `listen: { host: 127.0.0.1, port: 0 }\nstatus: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }\n${yaml!}`,
    );
    // As a process of its own: Vitest would load the module its own way.
    const child = spawn(process.execPath, [join(root, 'src/cli/main.ts'), 'serve', '--configs', dir]);
    try {
      let said = '';
      const url = await new Promise<string>((resolve, reject) => {
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (piece: Buffer) => {
            said += piece.toString();
            const found = /listens on (http:\/\/[\d.:]+);/.exec(said);
            if (found) resolve(found[1]!);
          });
        child.once('exit', () => reject(new Error(said)));
      });
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'x-gateway-api-key': 'gatehouse-demo-key', 'content-type': 'application/json' },
        body: '{"model":"@simulator/demo","messages":[{"role":"user","content":"hi"}]}',
      });
      expect([response.status, response.headers.get('x-tenant')]).toEqual([200, 'demo']);
    } finally {
      child.kill();
    }
  });
});
