import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from '../../src/addons/plugin-tools/kind.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { fencesOf, readPage } from '../docs/pages.ts';
import { packCopy } from './pack.ts';

/** An author of plugins has the packed package, and nothing else of this repository. */
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-authors-'));
const project = join(folder, 'project');
const inside = join(project, 'node_modules/gatehouse-gateway');
const bin = join(inside, 'dist/src/cli/main.js');

/** npm asks no registry for what the project does not need. */
const env = { ...process.env, npm_config_audit: 'false', npm_config_fund: 'false', npm_config_prefer_offline: 'true' };

beforeAll(async () => {
  mkdirSync(project);
  const tarball = packCopy(join(folder, 'copy'), folder);
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  await run('npm', ['install', '--omit=dev', join(folder, tarball)], { cwd: project, env });
  await run(process.execPath, [bin, 'init', 'configs'], { cwd: project });
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }), 120_000);

/** The output of a command that succeeds. */
const output = async (file: string, args: readonly string[], cwd = project): Promise<string> => {
  const own = Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(?:VITEST|NODE_OPTIONS|NODE_TEST)/.test(name)),
  );
  const { stdout, stderr } = await run(file, args, { cwd, env: own }).catch(
    ({ stdout: text, stderr: told }: { readonly stdout: string; readonly stderr: string }) =>
      expect.fail(`${file} ${args.join(' ')}\n${text}\n${told}`),
  );
  return stdout + stderr;
};
const gatehouse = (...args: readonly string[]) => output(process.execPath, [bin, ...args]);

describe('a new plugin', () => {
  // That of `--js` is the same text (src/addons/plugin-tools/new-plugin.test.ts), and the page makes one.
  it.each(KINDS)(
    'passes its test, its check and its config case at once: %s',
    async (kind) => {
      const name = `new-${kind}`;
      await gatehouse('plugin', 'new', name, '--kind', kind);
      expect(await output(process.execPath, ['--test', `${name}/index.test.ts`])).toMatch(/fail 0\b/);
      const options = join(name, 'options.json');
      const given = existsSync(join(project, options)) ? ['--options', options] : [];
      expect(await gatehouse('plugin', 'check', name, ...given)).toContain(`✓ ${name}`);
      expect(await gatehouse('test', `${name}/settings`)).toMatch(/^\d passed \(/m);
    },
    240_000,
  );

  it('passes its test with vitest, too', async () => {
    symlinkSync(packageFile('node_modules/vitest'), join(project, 'node_modules/vitest'));
    await gatehouse('plugin', 'new', 'with-vitest', '--kind', 'guard');
    const vitest = packageFile('node_modules/vitest/vitest.mjs');
    const text = await output(process.execPath, [vitest, 'run', '--root', join(project, 'with-vitest')]);
    expect(stripVTControlCharacters(text)).toMatch(/Tests +2 passed/);
  }, 240_000);

  it('compiles in a strict TypeScript project', async () => {
    const names = KINDS.map((kind) => `typed-${kind}`);
    for (const [at, kind] of KINDS.entries()) await gatehouse('plugin', 'new', names[at]!, '--kind', kind);
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2024',
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      types: ['node'],
      typeRoots: [packageFile('node_modules/@types')],
    };
    const include = names.map((name) => `${name}/*.ts`);
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
    await output(packageFile('node_modules/.bin/tsc'), ['-p', project]);
  }, 300_000);
});

describe('an example of docs/plugins', () => {
  const names = readdirSync(packageFile('docs/plugins/examples'));

  it.each(names)(
    'passes its own test with the packed package: %s',
    async (name) => {
      const own = join(project, 'examples', name);
      // Node resolves the package from the project, as it does for an author.
      cpSync(join(inside, 'docs/plugins/examples', name), own, { recursive: true });
      expect(await output(process.execPath, ['--test', 'index.test.js'], own)).toMatch(/fail 0\b/);
    },
    240_000,
  );

  it('is in the table of the page', () => {
    const page = readPage('docs/plugins/README.md');
    expect(names.filter((name) => !page.includes(`[${name}](examples/${name}/index.js)`))).toEqual([]);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('docs/plugins/README.md', () => {
  it('has steps that work one after the other, as they stand', async () => {
    const [port, status] = [await freePort(), await freePort()];
    // Other gateways may run on this machine: the ports are all that differs from the page.
    const onFreePorts = (text: string): string =>
      text.replaceAll('8787', String(port)).replaceAll('9464', String(status));
    const outputs: string[] = [];
    let served: ReturnType<typeof spawn> | undefined;
    try {
      for (const { kind, code } of fencesOf(readPage('docs/plugins/README.md'))) {
        if (kind === 'yaml') {
          const file = join(project, /^# (\S+)/.exec(code)![1]!);
          mkdirSync(dirname(file), { recursive: true });
          writeFileSync(file, code);
        }
        if (kind !== 'sh') continue;
        if (code.includes(' serve ')) {
          const settings = join(project, 'team-header/settings/server.yaml');
          writeFileSync(settings, onFreePorts(readFileSync(settings, 'utf8')));
          const args = code.trim().split(' ').slice(2);
          const started = spawn(process.execPath, [bin, ...args], { cwd: project });
          served = started;
          await new Promise<void>((resolve, reject) => {
            let text = '';
            const read = (piece: Buffer): void => {
              text += piece.toString();
              if (text.includes('curl ')) resolve();
            };
            started.stdout.on('data', read);
            started.stderr.on('data', read);
            started.once('exit', (exit) => reject(new Error(`ended with ${exit}: ${text}`)));
          });
        } else outputs.push(await output('bash', ['-ec', onFreePorts(code)]));
      }
    } finally {
      served?.kill('SIGKILL');
    }
    expect(outputs).toEqual([
      expect.stringContaining('Written to team-header/'),
      expect.stringMatching(/fail 0\b[^]*✓ team-header \(request\) follows all rules\n[^]*1 passed/),
      expect.stringMatching(/^HTTP\/1\.1 200[^]*x-caller: demo[^]*"object":"chat\.completion"/m),
      expect.stringMatching(/team-header +sets x-caller .*server\.yaml:\d/),
      expect.stringContaining('valid ('),
      expect.stringContaining('team-header-0.1.0.tgz'),
      expect.stringContaining('valid ('),
    ]);
  }, 600_000);
});
