import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkManifest, checkOrigin, type Manifest } from '../../build/release/manifest.ts';
import { checkPacked, packBuilt } from '../../build/release/packed.ts';
import { shippedBom, unlicensed, type Bom } from '../../build/release/sbom.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';

const readJson = (path: string): unknown => JSON.parse(readFileSync(packageFile(path), 'utf8'));
const manifest = readJson('package.json') as Manifest;

describe('the check of package.json before a release', () => {
  it('finds nothing wrong with it', () => expect(checkManifest(manifest)).toEqual([]));

  it.each<[string, Partial<Manifest>, RegExp]>([
    ['another name', { name: 'gatehouse' }, /name must be gatehouse-gateway/],
    ['a version that is none', { version: 'next' }, /semantic version/],
    ['a private package', { private: true }, /private must not be set/],
    ['another licence', { license: 'MIT' }, /license must be Apache-2.0/],
    ['no command', { bin: {} }, /bin.gatehouse is missing/],
    ['an older Node', { engines: { node: '>=22' } }, /engines.node must be >=24/],
    ['no repository', { repository: {} }, /repository.url must name GitHub/],
    ['a release without provenance', { publishConfig: { access: 'public' } }, /provenance must be true/],
    [
      'types behind the code',
      { exports: { ...manifest.exports, './plugin': { default: 'a.js', types: 'a.d.ts' } } },
      /must have types, then/,
    ],
    ['a range', { dependencies: { koa: '^3.0.0' } }, /koa must be one version/],
    [
      'an optional package that npm ci may leave out',
      { optionalDependencies: { '@opentelemetry/sdk-node': '0.1.0' } },
      /devDependencies too/,
    ],
  ])('refuses %s', (_, wrong, problem) => {
    expect(checkManifest({ ...manifest, ...wrong })).toEqual([expect.stringMatching(problem)]);
  });
});

describe('the check of the repository that npm signs', () => {
  const named = { ...manifest, repository: { url: 'git+https://github.com/ours/gatehouse.git' } };

  it('fails in the workflow of another repository, and names both', () => {
    expect(checkOrigin(named, 'ours/gatehouse')).toEqual({ problems: [], notes: [] });
    expect(checkOrigin(named, 'theirs/gatehouse').problems).toEqual([
      expect.stringMatching(/ours\/gatehouse\.git.*theirs\/gatehouse\.git/),
    ]);
  });

  it('outside of a workflow is a note', () => {
    const { problems, notes } = checkOrigin(named, undefined);
    expect([problems, notes]).toEqual([[], [expect.stringContaining('ours/gatehouse.git')]]);
  });
});

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

describe('package-lock.json', () => {
  const { packages } = readJson('package-lock.json') as { readonly packages: Readonly<Record<string, Locked>> };
  const fromRegistry = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);

  it('has the digest of every package, and with it of the Node that runs the commands', () => {
    expect(fromRegistry.length).toBeGreaterThan(300);
    expect(fromRegistry.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'))).toEqual([]);
    const runtimes = fromRegistry.filter(([path]) => /^node_modules\/node-(?:linux|win)-/.test(path));
    expect(runtimes.length).toBe(3);
    const { version } = readJson('build/node/package.json') as { readonly version: string };
    expect(new Set(runtimes.map(([, locked]) => locked.version))).toEqual(new Set([version]));
  });

  it('runs the commands on that Node', () => {
    const { version } = readJson('build/node/package.json') as { readonly version: string };
    const own = join(packageFile('node_modules/.bin'), 'node');
    expect(execFileSync(own, ['--version'], { encoding: 'utf8' }).trim()).toBe(`v${version}`);
  });

  it('has no package that runs a script when it is installed, but one whose script only prints', () => {
    const scripts = fromRegistry.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
    expect(scripts).toEqual(['node_modules/protobufjs']);
  });

  it('has no optional package of OpenTelemetry: npm leaves those out on a Node that their engines refuse', () => {
    const optional = fromRegistry.filter(([path, locked]) => path.includes('@opentelemetry') && locked.optional);
    expect(optional).toEqual([]);
  });
});

describe('the packages that the gateway runs', () => {
  const { packages } = readJson('package-lock.json') as { readonly packages: Readonly<Record<string, Locked>> };
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const direct = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });

  it('stand in package-lock.json once, so that `npm audit` and overrides meet the version that runs', () => {
    // The SDK of Google, a package of tests, needs a version of p-retry that is a CommonJS module.
    const others = new Set(['node_modules/@google/genai/node_modules/p-retry']);
    const copies = Object.keys(packages).filter(
      (path) => direct.includes(nameOf(path)) && path !== `node_modules/${nameOf(path)}` && !others.has(path),
    );
    expect(copies).toEqual([]);
  });

  it('are not among the packages of development', () => {
    const ofTests = direct.filter((name) => packages[`node_modules/${name}`]?.dev);
    expect(ofTests.filter((name) => !/^@(?:opentelemetry|types)\//.test(name))).toEqual([]);
  });
});

describe('the workflow that publishes', () => {
  const { jobs } = parse(readFileSync(packageFile('.github/workflows/publish.yml'), 'utf8')) as {
    readonly jobs: { readonly publish: { readonly permissions: object; readonly steps: readonly Step[] } };
  };
  const { permissions, steps } = jobs.publish;

  it('signs the origin of the package, after the tests and the check of a release', () => {
    expect(permissions).toEqual({ contents: 'read', 'id-token': 'write' });
    const commands = steps.flatMap(({ run }) => run ?? []);
    const order = ['npm ci', 'npm test', 'npm run release:check', 'npm publish --provenance'];
    expect(order.map((start) => commands.findIndex((command) => command.startsWith(start)))).toEqual([1, 2, 3, 4]);
  });

  it('uses actions by their commit, and the Node of package.json', () => {
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    expect(actions.length).toBeGreaterThan(1);
    expect(actions.filter((action) => !/^actions\/[a-z-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
    const { version } = readJson('build/node/package.json') as { readonly version: string };
    expect(steps.find((step) => step.with?.['node-version'])?.with).toMatchObject({ 'node-version': version });
  });
});

describe('the bill of materials', () => {
  const part = (ref: string, id?: string) => {
    const at = ref.lastIndexOf('@');
    const names = { 'bom-ref': ref, name: ref.slice(0, at), version: ref.slice(at + 1) };
    return { ...names, ...(id !== undefined && { licenses: [{ license: { id } }] }) };
  };
  const installed: Bom = {
    metadata: { component: part('consumer@1.0.0') },
    components: [part('own@1.0.0', 'Apache-2.0'), part('ajv@8.0.0', 'MIT')],
    dependencies: [
      { ref: 'consumer@1.0.0', dependsOn: ['own@1.0.0'] },
      { ref: 'own@1.0.0', dependsOn: ['ajv@8.0.0'] },
    ],
  };

  it('has the published package at its root and the packages that come with it, without the folder of the install', () => {
    const bom = shippedBom(installed, 'own@1.0.0');
    expect(bom.metadata.component.name).toBe('own');
    expect(bom.components.map(({ name }) => name)).toEqual(['ajv']);
    expect(bom.dependencies).toEqual([{ ref: 'own@1.0.0', dependsOn: ['ajv@8.0.0'] }]);
  });

  it('is not made of an install without the package', () => {
    expect(() => shippedBom(installed, 'other@1.0.0')).toThrow('other@1.0.0 is not among the installed packages');
  });

  it('shows packages without a licence and with one that was not looked at', () => {
    const components = [part('a@1.0.0', 'MIT'), part('b@1.0.0', 'AGPL-3.0-only'), part('c@1.0.0')];
    expect(unlicensed({ ...installed, components })).toEqual([
      'b@1.0.0: licence AGPL-3.0-only',
      'c@1.0.0: licence missing',
    ]);
  });
});

describe('the files of the package', () => {
  it('are code, types, schemas, samples, pages and templates, and no source', () =>
    // The build of the tests makes no types; the check of a release sees them.
    expect(checkPacked(packBuilt(packageFile(''), '--dry-run')).filter((lack) => !lack.endsWith('.d.ts'))).toEqual([]));
});
