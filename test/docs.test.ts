import { execFile, spawn } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testPrivateKey } from '../src/providers/setup.testkit.ts';
import { commands } from '../src/cli/commands.ts';
import { checkSettings } from '../src/dry-run/explain/check-settings.ts';
import { startGateway } from '../src/process/gateway.ts';
import type { Gateway } from '../src/process/running-gateway.ts';
import { loadSettings } from '../src/settings/read/load.ts';
import { packageFile } from '../src/package-root.ts';

/** Every example in the docs is run. A fence that is not YAML for a named file, curl, or a script has no business there. */
const run = promisify(execFile);
const root = packageFile('');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const fences = (text: string, language: string): string[] =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].flatMap(([, kind, code]) => (kind === language ? [code!] : []));

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

describe('README.md', () => {
  it('has a curl line that works as it stands', async () => {
    const lines = fences(readme, 'sh')
      .flatMap((code) => code.split('\n'))
      .filter((line) => line.startsWith('curl '));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const { stdout } = await run('bash', ['-c', here(line).replace('curl', 'curl -sS --fail')]);
      expect(JSON.parse(stdout)).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
    }
  });

  it('has scripts that run', async () => {
    for (const code of fences(readme, 'js')) {
      const file = join(root, 'node_modules/.cache/gatehouse-docs', 'example.mjs');
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, here(code));
      const { stdout } = await run(process.execPath, [file]);
      expect(stdout.trim()).not.toBe('');
    }
  });

  it('has YAML that is valid, all of it together', async () => {
    const dir = join(folder, 'readme');
    for (const code of fences(readme, 'yaml')) {
      const path = /^# configs\/(\S+\.yaml)/.exec(code)?.[1];
      expect(path, `a YAML example names its file first:\n${code}`).toBeDefined();
      mkdirSync(dirname(join(dir, path!)), { recursive: true });
      writeFileSync(
        join(dir, path!),
        code.replace('/run/secrets/vertex-service-account.json', join(dir, 'account.json')),
      );
    }
    const privateKey = testPrivateKey();
    writeFileSync(
      join(dir, 'account.json'),
      JSON.stringify({
        type: 'service_account',
        project_id: 'test-project',
        private_key: privateKey,
        client_email: 'a@b.iam.gserviceaccount.com',
      }),
    );
    writeFileSync(join(dir, 'keys.yaml'), 'keys: [{ id: a, key: "${env:GATEWAY_KEY}" }]\n');
    const names = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'AZURE_OPENAI_API_KEY', 'GATEWAY_KEY'];
    const env = Object.fromEntries(names.map((name) => [name, `${name}-canary`]));
    const loaded = await loadSettings(dir, { env });
    await checkSettings(loaded, dir);
    expect(loaded.diagnostics).toEqual([]);
  });

  it('says of every dependency why it is here, and of none that is not', () => {
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
      optionalDependencies: Record<string, string>;
    };
    const [, table = ''] = readme.split('## Dependencies');
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

describe('configs/README.md', () => {
  it('lists every command', () => {
    const settings = readFileSync(join(root, 'configs/README.md'), 'utf8');
    const [, table = ''] = /^\| Command \| \|\n([^]*?)\n\n/m.exec(settings) ?? [];
    const named = [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell]) => cell!.split(', '));
    const names = named.map((name) => name.replaceAll(/`|gatehouse | (?:\[DIR\]|KIND)/g, ''));
    expect(names.toSorted()).toEqual([...commands.keys(), 'help'].toSorted());
  });

  it('has curl lines that work as they stand, one after the other', async () => {
    const settings = readFileSync(join(root, 'configs/README.md'), 'utf8');
    const lines = fences(settings, 'sh')
      .flatMap((code) => code.split('\n'))
      .filter((line) => line.startsWith('curl '));
    const answers: unknown[] = [];
    for (const line of lines) {
      const { stdout } = await run('bash', ['-c', here(line).replace('curl', 'curl --fail')]);
      answers.push(JSON.parse(stdout));
    }
    expect(answers).toMatchObject([
      { choices: [{ finish_reason: 'stop' }] },
      { request_id: 'try-1', attempts: [{ provider: 'simulator' }] },
      { requests: [] },
      { targets: [{ provider: { slug: 'simulator' } }] },
    ]);
  });
});

describe('docs/plugin-api.md', () => {
  it('has an example plugin that loads and works, also in a folder from which Node finds no package `gatehouse`', async () => {
    const text = readFileSync(join(root, 'docs/plugin-api.md'), 'utf8');
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
