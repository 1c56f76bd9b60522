import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The packed package as a stranger installs it, each time into an empty folder. */
export interface Installed {
  readonly folder: string;
  readonly megabytes: number;
}

interface Packed {
  readonly file: string;
  /** Bytes of the tarball. */
  readonly size: number;
  readonly files: readonly string[];
}

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** Builds and packs the repository. */
export function pack(root: string, into: string): Packed {
  run('npm', ['run', 'build'], root);
  return packBuilt(root, '--pack-destination', into);
}

/** Packs what is built. @param flags those of `npm pack`, such as `--dry-run` */
export function packBuilt(root: string, ...flags: readonly string[]): Packed {
  // npm prints the output of scripts before the JSON.
  const text = run('npm', ['pack', '--json', '--ignore-scripts', ...flags], root);
  const [entry] = Object.values(JSON.parse(text.slice(text.search(/^[[{]/m))) as Record<string, PackedEntry>);
  if (!entry) throw new Error('npm packed nothing');
  return { file: entry.filename, size: entry.size, files: entry.files.map(({ path }) => path) };
}

interface PackedEntry {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

export function install(tarball: string, folder: string, ...flags: readonly string[]): Installed {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'package.json'),
    '{ "name": "consumer", "version": "1.0.0", "private": true, "type": "module" }\n',
  );
  run('npm', ['install', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error', ...flags, tarball], folder);
  const [megabytes = ''] = run('du', ['-sm', 'node_modules'], folder).split('\t');
  return { folder, megabytes: Number(megabytes) };
}

/** Files that the package must have, and a pattern for those that it must not have. */
const NEEDED_FILES = [
  'LICENSE',
  'NOTICE',
  'README.md',
  'SECURITY.md',
  'dist/src/cli/main.js',
  'dist/src/plugin/index.d.ts',
  'dist/src/plugin/testing/index.d.ts',
  'plugins/README.md',
  'plugins/route/README.md',
  'Dockerfile',
  'compose.yaml',
  'deploy/kubernetes/deployment.yaml',
  'deploy/systemd/gatehouse.service',
];
// Of `src` the package has pages and the templates of `plugin new`.
const FOREIGN =
  /\.test\.ts$|\.testkit\.ts$|^src\/(?!.*\/README\.md$|addons\/plugin-tools\/kinds\/)|^(?:test|build)\/|(?:^|\/)\.env|\.tgz$|node_modules\//;

/** The tarball holds the gateway's code, its types, the schemas, the samples and the documents. */
const LARGEST_TARBALL = 4 * 1024 * 1024;
const LARGEST_INSTALL_MB = 32;

export function checkPacked({ files, size }: Packed): readonly string[] {
  return [
    ...NEEDED_FILES.filter((file) => !files.includes(file)).map((file) => `the package lacks ${file}`),
    ...files.filter((file) => FOREIGN.test(file)).map((file) => `the package must not have ${file}`),
    ...(size > LARGEST_TARBALL ? [`the tarball has ${size} bytes, more than ${LARGEST_TARBALL}`] : []),
  ];
}

/** @param slim installed without the optional packages */
export const checkSize = ({ megabytes }: Installed): readonly string[] =>
  megabytes > LARGEST_INSTALL_MB
    ? [`an install without optional packages has ${megabytes} MB, more than ${LARGEST_INSTALL_MB}`]
    : [];

const CONSUMER = `import { definePlugin } from 'gatehouse-gateway/plugin';
import { createExchange, runPlugin } from 'gatehouse-gateway/plugin/testing';

const plugin = definePlugin({
  name: 'tenant-header',
  level: 'request',
  options: { type: 'object', required: ['header'], properties: { header: { type: 'string' } } },
  create: ({ options }) => async (ctx, next) => {
    await next();
    ctx.set(options.header, ctx.exchange.caller?.keyId ?? '');
  },
});
export default plugin;
export const tested = () => runPlugin(plugin, { options: { header: 'x-tenant' }, exchange: createExchange() });
`;
const TSCONFIG = `{ "compilerOptions": { "strict": true, "noEmit": true, "module": "nodenext", "target": "es2024", "lib": ["es2025", "esnext.disposable"], "types": ["node"] } }\n`;

/** A plugin in TypeScript compiles with the package alone, declarations of its dependencies included, and wrong code does not. */
export function checkTypes(tsc: string, { folder }: Installed): readonly string[] {
  const compile = (name: string, code: string): string => {
    const at = join(folder, name);
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, 'tsconfig.json'), TSCONFIG);
    writeFileSync(join(at, 'plugin.ts'), code);
    try {
      run(tsc, ['-p', at], at);
      return '';
    } catch (error) {
      return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error);
    }
  };
  const said = compile('types', CONSUMER);
  const missed = compile('types-wrong', CONSUMER.replace('options.header', 'options.haeder')) === '';
  return [
    ...(said === '' ? [] : [`a plugin in TypeScript does not compile: ${said.trim()}`]),
    ...(missed ? ['a plugin in TypeScript with a wrong option compiles: the types are `any`'] : []),
  ];
}

/** The command runs from the installed package. */
export function checkCommand({ folder }: Installed, version: string): readonly string[] {
  const said = run('node', [join(folder, 'node_modules/.bin/gatehouse'), 'version'], folder).trim();
  return said === version ? [] : [`gatehouse version prints ${said}, not ${version}`];
}
