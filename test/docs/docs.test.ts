import { execFile, spawn } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { startGateway } from '../../src/process/gateway.ts';
import type { Gateway } from '../../src/process/running-gateway.ts';
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
function sampleWithFreePorts(): string {
  const dir = join(folder, 'sample');
  for (const file of globSync('**/*.yaml', { cwd: join(root, 'configs') })) {
    const text = readFileSync(join(root, 'configs', file), 'utf8').replaceAll(/^( *port:) \d+$/gm, '$1 0');
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
  return dir;
}

const here = (text: string): string =>
  text.replaceAll('http://127.0.0.1:8787', gateway.data.url).replaceAll('http://127.0.0.1:8788', gateway.admin!.url);

/** Lines of `sh` in order, and what the answer to each has. */
const curlLines = (page: string): readonly string[] =>
  fences(readPage(page), 'sh')
    .flatMap((code) => code.split('\n'))
    .filter((line) => line.startsWith('curl '));

const COMPLETE = { choices: [{ finish_reason: 'stop' }] };

describe('a curl line', () => {
  it.each<[string, readonly object[]]>([
    ['README.md', [COMPLETE]],
    ['docs/start/README.md', [COMPLETE]],
    [
      'docs/operate/records.md',
      [COMPLETE, { request_id: 'try-1', attempts: [{ provider: 'simulator' }] }, { requests: [] }],
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
      'docs/operate/explain.md',
      'docs/operate/records.md',
      'docs/start/README.md',
    ]);
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
    // The bundle has the code of the others: they are no `dependencies` of the published package.
    const sources = globSync('{src,plugins}/**/*.ts', { cwd: root }).filter(
      (file) => !/\.(?:test|testkit)\.ts$/.test(file),
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
