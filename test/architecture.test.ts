import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** The rooms of the core, each above those that it may import, besides itself, published packages and the generated types. */
const CORE: Readonly<Record<string, readonly string[]>> = {
  'core/commands': ['core/dry-run', 'core/process', 'core/http/listener', 'core/settings', 'core/kernel', 'plugin'],
  'core/dry-run': [
    'core/process',
    'core/compose',
    'core/http/gateway',
    'core/record',
    'core/send',
    'core/settings',
    'core/http/chain',
    'core/catalog',
    'core/memory',
    'core/upstream',
    'core/kernel',
    'plugin',
    'formats',
    'plugins',
  ],
  'core/process': [
    'core/status',
    'core/compose',
    'core/http/listener',
    'core/http/gateway',
    'core/record',
    'core/ports',
    'core/settings',
    'core/http/chain',
    'core/catalog',
    'core/providers',
    'core/operations',
    'core/memory',
    'core/upstream',
    'core/kernel',
    'plugin',
    'plugins',
  ],
  'core/status': ['core/http/listener', 'core/record', 'core/settings', 'core/kernel', 'plugin'],
  'core/compose': [
    'core/host',
    'core/hooks',
    'core/http/gateway',
    'core/record',
    'core/send',
    'core/translate',
    'core/settings',
    'core/http/chain',
    'core/tenants',
    'core/catalog',
    'core/providers',
    'core/memory',
    'core/upstream',
    'core/kernel',
    'plugin',
    'formats',
  ],
  'plugin/testing': ['core/host', 'core/hooks', 'core/settings', 'core/http/chain', 'core/kernel', 'plugin', 'formats'],
  'core/host': ['core/record', 'core/ports', 'core/settings', 'core/tenants', 'core/upstream', 'core/kernel', 'plugin'],
  'core/http/listener': ['core/http/gateway', 'core/settings', 'core/operations', 'core/kernel', 'plugin', 'formats'],
  'core/http/gateway': [
    'core/record',
    'core/settings',
    'core/http/chain',
    'core/providers',
    'core/kernel',
    'plugin',
    'formats',
  ],
  'core/record': ['core/ports', 'core/kernel', 'plugin', 'formats'],
  'core/ports': ['core/settings', 'core/tenants', 'core/memory', 'core/kernel', 'plugin'],
  'core/send': ['core/settings', 'core/catalog', 'core/upstream', 'core/kernel', 'plugin', 'formats'],
  'core/translate': [
    'core/catalog',
    'core/providers',
    'core/memory',
    'core/upstream',
    'core/kernel',
    'plugin',
    'formats',
  ],
  'core/settings': ['core/tenants', 'core/catalog', 'core/providers', 'core/operations', 'core/kernel', 'plugin'],
  'core/http/chain': ['core/kernel', 'plugin'],
  'core/tenants': ['core/kernel', 'plugin'],
  'core/catalog': ['core/providers', 'core/operations', 'core/kernel', 'plugin', 'formats'],
  'core/providers': ['core/operations', 'core/memory', 'core/upstream', 'core/kernel', 'plugin', 'formats'],
  'core/operations': ['core/kernel', 'plugin', 'formats'],
  'core/memory': ['core/kernel', 'plugin'],
  'core/upstream': ['core/kernel', 'plugin', 'formats'],
  'core/hooks': ['core/kernel', 'plugin', 'formats'],
  'core/kernel': ['plugin', 'formats'],
  plugin: ['formats'],
  formats: [],
};

/** An add-on may import every room of the core, and no other add-on. */
const ADD_ON = [...Object.keys(CORE), 'plugins'];

/** The table of the add-ons, and the thin entries, which begin with it. */
const ABOVE: readonly string[] = ['cli', 'addons'];

/** A folder of the formats that every other room may call. */
const JSON_FOLDER = 'src/formats/json/';
/** What finds something in text has no API in it: the plugin API may call it. */
const TEXT_TOOLS = ['src/formats/texts/replacing.ts'];

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:^|\n)\s*(import|export)\s+(type\s+)?[^'";]*?from\s+'([^']+)'|import\('([^']+)'\)/g)].map(
    (match) => ({
      from: file,
      to: match[3] ?? match[4]!,
      typeOnly: match[2] !== undefined,
    }),
  );
}

/** `src/core/upstream/pool.ts` → `core/upstream`; `src/addons/files/uploads.ts` → `addons/files`; `plugins/auth/index.ts` → `plugins`. */
function roomOf(file: string): string {
  const [first = '', second = '', third = '', fourth = ''] = file.split('/');
  if (first !== 'src') return first;
  if (second === 'plugin' && third === 'testing') return 'plugin/testing';
  if (second === 'core') return third === 'http' ? `core/http/${fourth}` : `core/${third}`;
  if (second === 'addons') return third.endsWith('.ts') ? 'addons' : `addons/${third}`;
  return second;
}

const isAddOn = (room: string): boolean => room.startsWith('addons/');

const mayImport = (room: string): readonly string[] => {
  if (isAddOn(room)) return ADD_ON;
  return room === 'plugins' ? ['core/kernel', 'plugin'] : (CORE[room] ?? []);
};

const sources = globSync('{src,plugins}/**/*.ts', { cwd: root }).filter(
  (file) => !/\.(test|testkit|bench)\.ts$/.test(file),
);
/** The page of the console is a program of its own, for browsers: no name in it meets one of the gateway. */
const PAGE = 'src/addons/console/ui/';
const ofGateway = sources.filter((file) => !file.startsWith(PAGE));
const imports = sources.flatMap(importsOf);
const local = imports
  .filter(({ to }) => to.startsWith('.'))
  .map((entry) => ({ ...entry, target: relative(root, join(root, dirname(entry.from), entry.to)) }));

/** Folders that import a folder in them or beside them, and are imported by it. The list may shrink only. */
const ENTANGLED: readonly string[] = [
  'src/addons/explain/explain',
  'src/formats',
  'src/core/record',
  'src/core/settings/read',
];

/** A file that puts the files of a folder together stands above the folder. */
const folderOf = (file: string): string =>
  /^src\/addons\/[\w-]+\/(?:parts|process|snapshot)\.ts$|\/(?:index|commands)\.ts$/.test(file) ? file : dirname(file);

/** A type of the kernel may have the name of the public type that it extends: of one object, authors see less. */
const extendsPublic = ({ file, name }: { readonly file: string; readonly name: string }): boolean =>
  roomOf(file) === 'core/kernel' &&
  new RegExp(`\\b${name} as Public${name}\\b`).test(readFileSync(join(root, file), 'utf8'));

const TYPE = /^(export )?(?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/gm;

describe('the rooms', () => {
  it('exist, all of them, and have no others beside them but the add-ons', () => {
    const rooms = new Set(sources.map(roomOf).filter((room) => !isAddOn(room) && !ABOVE.includes(room)));
    expect([...rooms].sort()).toEqual([...Object.keys(CORE), 'plugins'].sort());
  });

  it('import only in the direction of the design: the core imports no add-on', () => {
    const wrong = local.flatMap(({ from, target }) => {
      const [here, there] = [roomOf(from), roomOf(target)];
      if (here === there || ABOVE.includes(here) || there === 'schemas' || mayImport(here).includes(there)) return [];
      return [`${from} → ${target}`];
    });
    expect(wrong).toEqual([]);
  });

  it('have every add-on in the one table', () => {
    const table = readFileSync(join(root, 'src/addons/index.ts'), 'utf8');
    const folders = new Set(sources.map(roomOf).filter(isAddOn));
    for (const folder of folders) expect(table).toContain(`'./${folder.slice('addons/'.length)}/index.ts'`);
  });

  it('give every exported type a name of its own, and every local type one that its room has once', () => {
    const types = ofGateway.flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(TYPE)].map(([, exported, name]) => ({
        file,
        name: name!,
        exported: exported !== undefined,
      })),
    );
    const exported = Map.groupBy(
      types.filter((type) => type.exported && !extendsPublic(type)),
      ({ name }) => name,
    );
    const inRoom = Map.groupBy(types, ({ file, name }) => `${name} in ${roomOf(file)}`);
    const twice = [...exported, ...inRoom].filter(([, found]) => found.length > 1);
    expect(twice.map(([name, found]) => `${name}: ${found.map(({ file }) => file).join(', ')}`)).toEqual([]);
  });

  it('have no two folders that import each other, types included', () => {
    const edges = new Set(local.map(({ from, target }) => `${folderOf(from)} ${folderOf(target)}`));
    const both = [...edges].flatMap((edge) => {
      const [from = '', to = ''] = edge.split(' ');
      return from < to && edges.has(`${to} ${from}`) ? [{ from, to }] : [];
    });
    expect(both.filter(({ from }) => !ENTANGLED.includes(from))).toEqual([]);
    expect(ENTANGLED.filter((folder) => !both.some(({ from }) => from === folder))).toEqual([]);
  });

  it('import each other without a cycle of files, types included', () => {
    expect(cycles(local)).toEqual([]);
  });

  it.each(Object.entries(CORE))(
    '%s has a README of at most 40 lines: what to read first, what it may import, what may import it',
    (room, may) => {
      const readme = readFileSync(join(root, 'src', room, 'README.md'), 'utf8');
      expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
      const said = (about: string): string => new RegExp(`^- ${about}: (.*)\\.$`, 'm').exec(readme)?.[1] ?? '';
      const [, first = ''] = /^\[.*?\]\((.*?)\)/.exec(said('Read first')) ?? [];
      expect(sources).toContain(join('src', room, first));
      const imports = said('May import').replace(' (types, json/ and texts/replacing.ts)', '');
      expect(imports === 'nothing' ? [] : imports.split(', ').toSorted()).toEqual(may.toSorted());
    },
  );

  it('stand in CONTRIBUTING.md as they are here, each below those that may import it', () => {
    const readme = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
    const rows = [...readme.matchAll(/^\| `((?:core|plugin|formats)[\w/-]*)\/` \|.*\| ([^|]+) \|$/gm)].map(
      ([, room, may]) => [room!, may!] as const,
    );
    const said = rows.map(([room, may]) => [
      room,
      may === 'nothing' ? [] : may.replace(' (types, json/ and texts/replacing.ts)', '').split(', ').toSorted(),
    ]);
    expect(Object.fromEntries(said)).toEqual(
      Object.fromEntries(Object.entries(CORE).map(([room, may]) => [room, may.toSorted()])),
    );
    const rooms = rows.map(([room]) => room);
    const upward = rows.flatMap(([room], index) =>
      CORE[room]!.filter((other) => rooms.slice(0, index).includes(other)).map((other) => `${room} → ${other}`),
    );
    expect(upward).toEqual([]);
  });

  // What finds something in JSON text has no API in it: the body of a request and the arguments in it are read by the same code.
  it('let the public plugin API import formats for their types only, but for their reading of JSON and of text', () => {
    const wrong = local.filter(
      ({ from, target, typeOnly }) =>
        roomOf(from) === 'plugin' &&
        roomOf(target) === 'formats' &&
        !target.startsWith(JSON_FOLDER) &&
        !TEXT_TOOLS.includes(target) &&
        !typeOnly,
    );
    expect(wrong.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('let the reading of JSON import nothing else of the formats but types', () => {
    const wrong = local.filter(
      ({ from, target, typeOnly }) => from.startsWith(JSON_FOLDER) && !target.startsWith(JSON_FOLDER) && !typeOnly,
    );
    expect(wrong.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('keep the page of the console to itself: it imports no code of the gateway but that of diffs, its parts no screen, a screen no other', () => {
    const diffs = 'src/addons/console/drafts/diff-lines.ts';
    const screen = (file: string): string | undefined => /screens\/(\w+)\//.exec(file)?.[1];
    const wrong = globSync(`${PAGE}**/*.{ts,tsx}`, { cwd: root })
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap(importsOf)
      .filter(({ to }) => to.startsWith('.'))
      .map(({ from, to }) => ({ from, target: relative(root, join(root, dirname(from), to)) }))
      .filter(({ from, target }) => {
        if (!target.startsWith(PAGE)) return target !== diffs;
        if (from === `${PAGE}main.tsx`) return false;
        return screen(target) !== undefined && screen(target) !== screen(from);
      });
    expect(wrong.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('have one check for a JSON object', () => {
    const declared = ofGateway.filter((file) =>
      /(?:function|const) isObject\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(declared).toEqual([`${JSON_FOLDER}object.ts`]);
  });

  it('let built-in plugins use nothing of Gatehouse but the public API and what the kernel lists for them', () => {
    const wrong = local.filter(
      ({ from, target }) =>
        /^(?:src\/addons\/[\w-]+\/)?plugins\//.test(from) &&
        !/(?:^|\/)plugins\//.test(target) &&
        !['src/plugin/index.ts', 'src/core/kernel/index.ts'].includes(target) &&
        // The operations of an add-on's own paths.
        !(isAddOn(roomOf(from)) && roomOf(target) === roomOf(from)),
    );
    expect(wrong.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('keep the formats pure: no I/O, no clock, no Koa, no configuration', () => {
    const wrong = imports.filter(
      ({ from, to }) => roomOf(from) === 'formats' && !to.startsWith('.') && !['node:buffer', 'node:util'].includes(to),
    );
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
    const impure = sources.filter(
      (file) =>
        roomOf(file) === 'formats' &&
        /\bDate\.now\(|new Date\(\)|Math\.random\(|process\.env/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(impure).toEqual([]);
  });

  it('keep Koa away from the providers', () => {
    expect(imports.filter(({ from, to }) => roomOf(from) === 'core/providers' && /koa/.test(to))).toEqual([]);
  });

  it('name a provider only in its own folder, the catalog, the prices, the settings, the import of others and the operations on its paths', () => {
    const elsewhere = sources.filter(
      (file) =>
        !/^src\/(core\/(providers|catalog|settings|record|operations)|formats|addons\/(import|budgets|files))\//.test(
          file,
        ),
    );
    const code = (file: string): string =>
      readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const naming = elsewhere.filter((file) => /['"`](vertex-ai|anthropic)['"`]/.test(code(file)));
    expect(naming).toEqual([]);
  });

  it.each([
    { command: 'explain', entry: 'src/addons/explain/cli/explain.ts', needed: ['koa', 'yaml'] },
    // It makes no request.
    { command: 'validate', entry: 'src/core/commands/validate.ts', needed: ['yaml'] },
  ])(
    'let the command $command start without what only serves: pools, metrics, traces, a router',
    ({ entry, needed }) => {
      const packages = packagesOf([entry, 'src/core/dry-run/check-settings.ts']);
      const known = ['ajv', 're2js', 'koa', 'yaml', 'undici', 'prom-client', '@opentelemetry/api', '@koa/router'];
      expect(known.filter((name) => packages.has(name))).toEqual(needed);
    },
  );

  it('let every command start without SQLite, which is loaded when a store of this type is opened or read', () => {
    expect(
      packagesOf([
        'src/core/commands/serve.ts',
        'src/core/commands/validate.ts',
        'src/addons/explain/cli/explain.ts',
        'src/addons/budgets/cli/state/read.ts',
      ]),
    ).not.toContain('node:sqlite');
    expect(packagesOf(['src/addons/budgets/store/sqlite/store-reader.ts'])).toContain('node:sqlite');
  });
});

/** Groups of files of which each imports, perhaps through others, every other (Tarjan, 1972). */
function cycles(edges: readonly { readonly from: string; readonly target: string }[]): readonly (readonly string[])[] {
  const targets = Map.groupBy(edges, ({ from }) => from);
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.get(file)!);
    stack.push(file);
    for (const { target } of targets.get(file) ?? []) {
      if (!order.has(target)) visit(target);
      if (stack.includes(target)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!));
    }
    if (lowest.get(file) !== order.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || targets.get(file)?.some(({ target }) => target === file)) found.push(group);
  };
  for (const file of targets.keys()) if (!order.has(file)) visit(file);
  return found;
}

/** Packages that are loaded with these modules: what is imported when it is needed is not among them. */
function packagesOf(entries: readonly string[]): ReadonlySet<string> {
  const modules = new Set(entries);
  const packages = new Set<string>();
  for (const file of modules) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, to = ''] of text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^'";]*?from\s+)?'([^']+)'/gm)) {
      if (to.startsWith('.')) modules.add(relative(root, join(root, dirname(file), to)));
      else packages.add(to);
    }
  }
  return packages;
}
