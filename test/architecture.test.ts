import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** What each room may import, besides itself, published packages, the modules of no room and the generated types. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = roomsBelow({
  cli: 'every room below',
  'dry-run/config-tests': 'every room below',
  process: 'every room below',
  admin: ['dry-run/explain', 'compose', 'settings', 'governance', 'state', 'record', 'prices', 'plugin'],
  'dry-run/explain': 'every room below',
  'dry-run/explanation': ['plugin', 'formats'],
  'dry-run/run': ['send', 'settings', 'upstream', 'state', 'record', 'plugin'],
  compose: 'every room below',
  gateway: ['settings', 'chain', 'providers', 'record', 'plugin', 'formats'],
  translate: ['catalog', 'providers', 'upstream', 'state', 'plugin', 'formats'],
  send: ['settings', 'catalog', 'upstream', 'plugin', 'formats'],
  settings: ['prompts', 'catalog', 'providers', 'operations', 'governance', 'prices', 'plugin'],
  chain: ['plugin'],
  prompts: ['operations', 'plugin'],
  catalog: ['providers', 'operations', 'plugin', 'formats'],
  providers: ['operations', 'upstream', 'state', 'plugin', 'formats'],
  operations: ['plugin', 'formats'],
  files: ['upstream', 'state', 'plugin', 'formats'],
  upstream: ['plugin', 'formats'],
  governance: ['state', 'prices', 'plugin'],
  state: ['prices', 'plugin'],
  record: ['prices', 'plugin', 'formats'],
  prices: ['plugin', 'formats'],
  plugin: ['formats'],
  formats: [],
  plugins: ['plugin'],
});

/** @param rooms each above those that it may import; the plugins stand beside `src/`, and a room with every room below takes them as it takes rooms. */
function roomsBelow(
  rooms: Readonly<Record<string, readonly string[] | 'every room below'>>,
): Readonly<Record<string, readonly string[]>> {
  const names = Object.keys(rooms);
  return Object.fromEntries(
    Object.entries(rooms).map(([room, may], at) => [room, typeof may === 'string' ? names.slice(at + 1) : may]),
  );
}

/** A folder of the formats that every other room may call. */
const JSON_FOLDER = 'src/formats/json/';

/** Modules of no room. */
const FREE: readonly string[] = ['compiled-ahead.ts', 'on-demand.ts', 'package-root.ts', 'piece-list.ts', 'version.ts'];

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

/** `src/core/upstream/pool.ts` → `upstream`; `plugins/auth/index.ts` → `plugins`. */
function roomOf(file: string): string {
  const [first, second, third] = file.split('/');
  if (first !== 'src') return first!;
  return second === 'dry-run' ? `${second}/${third}` : second!;
}

const sources = globSync('{src,plugins}/**/*.ts', { cwd: root }).filter(
  (file) => !/\.(test|testkit|bench)\.ts$/.test(file),
);
const imports = sources.flatMap(importsOf);
const local = imports
  .filter(({ to }) => to.startsWith('.'))
  .map((entry) => ({ ...entry, target: relative(root, join(root, dirname(entry.from), entry.to)) }));

/** Folders that import a folder in them or beside them, and are imported by it. The list may shrink only. */
const ENTANGLED: readonly string[] = [
  'src/addons/explain/explain',
  'src/formats',
  'src/core/record',
  'src/core/record/fields',
];

const TYPE = /^(export )?(?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/gm;

describe('the rooms', () => {
  it('exist, all of them, and have no others beside them', () => {
    const rooms = new Set(sources.map(roomOf));
    for (const file of FREE) rooms.delete(file);
    expect([...rooms].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it('import only in the direction of the design', () => {
    const wrong = local.filter(({ from, target }) => {
      const [here, there] = [roomOf(from), roomOf(target)];
      if (here === there || FREE.includes(here) || FREE.includes(there) || target === 'schemas/types.generated.ts')
        return false;
      return !(MAY_IMPORT[here] ?? []).includes(there);
    });
    expect(wrong.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('give every exported type a name of its own, and every local type one that its room has once', () => {
    const types = sources.flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(TYPE)].map(([, exported, name]) => ({
        file,
        name: name!,
        exported: exported !== undefined,
      })),
    );
    const exported = Map.groupBy(
      types.filter((type) => type.exported),
      ({ name }) => name,
    );
    const inRoom = Map.groupBy(types, ({ file, name }) => `${name} in ${roomOf(file)}`);
    const twice = [...exported, ...inRoom].filter(([, found]) => found.length > 1);
    expect(twice.map(([name, found]) => `${name}: ${found.map(({ file }) => file).join(', ')}`)).toEqual([]);
  });

  it('have no two folders that import each other, types included', () => {
    const edges = new Set(local.map(({ from, target }) => `${dirname(from)} ${dirname(target)}`));
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

  it.each(Object.entries(MAY_IMPORT).filter(([room]) => room !== 'plugins'))(
    '%s has a README of at most 40 lines: what to read first, what it may import, what may import it',
    (room, may) => {
      const [folder = '', inner] = room.split('/');
      const whole = readFileSync(join(root, 'src', folder, 'README.md'), 'utf8');
      expect(whole.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
      const readme = inner === undefined ? whole : (whole.split(/^## /m).find((part) => part.startsWith(inner)) ?? '');
      const said = (what: string): string => new RegExp(`^- ${what}: (.*)\\.$`, 'm').exec(readme)?.[1] ?? '';
      const [, first = ''] = /^\[.*?\]\((.*?)\)/.exec(said('Read first')) ?? [];
      expect(sources).toContain(join('src', folder, first));
      const below = Object.keys(MAY_IMPORT).slice(Object.keys(MAY_IMPORT).indexOf(room) + 1);
      const imports = said('May import').replace(' (types only)', '');
      if (imports.startsWith('every room below it')) expect(may).toEqual(below);
      else expect(imports === 'nothing' ? [] : imports.split(', ').toSorted()).toEqual(may.toSorted());
      const importers = Object.keys(MAY_IMPORT).filter(
        (other) => other !== 'plugins' && MAY_IMPORT[other]!.includes(room),
      );
      expect(said('May be imported by')).toBe(importers.join(', ') || 'nothing');
    },
  );

  it('stand in CONTRIBUTING.md as they are here, each below those that may import it', () => {
    const readme = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
    const rows = [...readme.matchAll(/^\| `([\w/-]+)\/` \|.*\| ([^|]+) \|$/gm)].map(
      ([, room, may]) => [room!, may!] as const,
    );
    const rooms = rows.map(([room]) => room);
    const said = rows.map(([room, may], index) => {
      const below = rooms.slice(index + 1);
      // `plugins` is beside src, and the composition of all rooms takes them as it takes the rooms.
      if (/^every room\b/.test(may)) return [room, [...below, 'plugins'].toSorted()];
      return [room, may === 'nothing' ? [] : may.replace(' (types, and json/)', '').split(', ').toSorted()];
    });
    const { plugins: _, ...ofSource } = MAY_IMPORT;
    const tested = Object.entries(ofSource).map(([room, may]) => [room, may.toSorted()]);
    expect(Object.fromEntries(said)).toEqual(Object.fromEntries(tested));
    const upward = rows.flatMap(([room], index) =>
      ofSource[room]!.filter((other) => rooms.slice(0, index).includes(other)).map((other) => `${room} → ${other}`),
    );
    expect(upward).toEqual([]);
  });

  // What finds something in JSON text has no API in it: the body of a request and the arguments in it are read by the same code.
  it('let the public plugin API import formats for their types only, but for their reading of JSON', () => {
    const wrong = local.filter(
      ({ from, target, typeOnly }) =>
        roomOf(from) === 'plugin' && roomOf(target) === 'formats' && !target.startsWith(JSON_FOLDER) && !typeOnly,
    );
    expect(wrong.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('let the reading of JSON import nothing else of the formats but types', () => {
    const wrong = local.filter(
      ({ from, target, typeOnly }) => from.startsWith(JSON_FOLDER) && !target.startsWith(JSON_FOLDER) && !typeOnly,
    );
    expect(wrong.map(({ from, target }) => `${from} → ${target}`)).toEqual([]);
  });

  it('have one check for a JSON object', () => {
    const declared = sources.filter((file) =>
      /(?:function|const) isObject\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(declared).toEqual([`${JSON_FOLDER}object.ts`]);
  });

  it('let built-in plugins use nothing of Gatehouse but the public API', () => {
    const wrong = local.filter(
      ({ from, target }) =>
        roomOf(from) === 'plugins' && roomOf(target) !== 'plugins' && target !== 'src/plugin/index.ts',
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
    expect(imports.filter(({ from, to }) => roomOf(from) === 'providers' && /koa/.test(to))).toEqual([]);
  });

  it('name a provider only in its own folder, the catalog, the prices, the settings, the import of others and the operations on its paths', () => {
    const elsewhere = sources.filter(
      (file) =>
        !/^src\/(providers|catalog|settings|formats|record|operations|prices|cli\/import|cli\/prices)\//.test(file),
    );
    const code = (file: string): string =>
      readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const naming = elsewhere.filter((file) => /['"`](vertex-ai|anthropic)['"`]/.test(code(file)));
    expect(naming).toEqual([]);
  });

  it.each([
    { command: 'explain', needed: ['koa', 'yaml'] },
    // It makes no request.
    { command: 'validate', needed: ['yaml'] },
  ])(
    'let the command $command start without what only serves: pools, metrics, traces, a router',
    ({ command, needed }) => {
      const packages = packagesOf([`src/core/commands/${command}.ts`, 'src/core/dry-run/check-settings.ts']);
      const known = ['ajv', 're2js', 'koa', 'yaml', 'undici', 'prom-client', '@opentelemetry/api', '@koa/router'];
      expect(known.filter((name) => packages.has(name))).toEqual(needed);
    },
  );

  it('let every command but those of the state store start without SQLite, which a gateway loads when its settings have a store', () => {
    expect(
      packagesOf(['src/core/commands/serve.ts', 'src/core/commands/validate.ts', 'src/addons/explain/cli/explain.ts']),
    ).not.toContain('node:sqlite');
    expect(packagesOf(['src/addons/budgets/cli/state/read.ts'])).toContain('node:sqlite');
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
