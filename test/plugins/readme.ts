/**
 * The part of a plugin's README that the plugin itself knows: level, names, capabilities, options. `node test/plugins/readme.ts`
 * writes it anew; readme.test.ts compares.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { builtinPlugins } from '../../plugins/index.ts';
import type { Plugin } from '../../src/core/kernel/index.ts';

const ROOT = join(import.meta.dirname, '../..');
const BEGIN = '<!-- Generated from the plugin by `node test/plugins/readme.ts`. -->';
const END = '<!-- End of the generated part. -->';

/** Written by the telemetry room, whose tables of metrics have a test of their own. */
const HANDWRITTEN: ReadonlySet<string> = new Set(['telemetry']);

export const documentedPlugins = builtinPlugins.filter(({ name }) => !HANDWRITTEN.has(name));
/** A plugin of an add-on is in the folder of the add-on. */
export function readmeOf({ name }: Plugin): string {
  const [file] = globSync(`{plugins,src/addons/*/plugins}/${name}/README.md`, { cwd: ROOT });
  return join(ROOT, file ?? `plugins/${name}/README.md`);
}

/** The README with its generated part made anew. */
export function regenerate(readme: string, plugin: Plugin): string {
  const [before, rest] = readme.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error(`plugins/${plugin.name}/README.md has no generated part:\n${BEGIN}\n${END}`);
  return `${before}${BEGIN}\n${factsOf(plugin)}\n${optionsOf(plugin)}\n${END}${after}`;
}

function factsOf(plugin: Plugin): string {
  const { level, requires, provides, needs, repeats } = plugin;
  const folder = dirname(readmeOf(plugin));
  const rows = [
    ['Level', `${level} chain`],
    ['Requires', requires.map((name) => `\`${name}\`${providersOf(name, folder)}`).join(', ') || 'nothing'],
    ['Provides', codes(provides) || 'nothing'],
    ['Needs of the host', codes(needs) || 'nothing'],
    ...(repeats ? [['Repeats', 'may run what follows it more than once']] : []),
  ];
  return ['', '| | |', '|---|---|', ...rows.map((cells) => row(cells)), ''].join('\n');
}

function optionsOf({ options }: Plugin): string {
  const { properties = {}, required = [] } = options as {
    properties?: Readonly<Record<string, OptionSchema>>;
    required?: readonly string[];
  };
  const rows = Object.entries(properties).map(([name, schema]) =>
    row([
      `\`${name}\``,
      typeOf(schema),
      required.includes(name) ? 'required' : defaultOf(schema),
      schema.description ?? '',
    ]),
  );
  if (rows.length === 0) return '## Options\n\nNone.\n';
  return ['## Options', '', '| Option | Type | Default | |', '|---|---|---|---|', ...rows, ''].join('\n');
}

interface OptionSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly description?: string;
}

function typeOf({ type, enum: values, minimum, maximum }: OptionSchema): string {
  const range = minimum !== undefined && maximum !== undefined ? `, ${minimum} to ${maximum}` : '';
  return values
    ? values.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
    : `${[type ?? 'any'].flat().join(' or ')}${range}`;
}

const defaultOf = (schema: OptionSchema): string =>
  schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;

const providersOf = (name: string, folder: string): string => {
  const providers = builtinPlugins
    .filter(({ provides }) => provides.includes(name))
    .map((plugin) => `[${plugin.name}](${relative(folder, readmeOf(plugin))})`);
  return providers.length === 0 ? '' : ` from ${providers.join(' or ')}`;
};

const codes = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

if (import.meta.main)
  for (const plugin of documentedPlugins)
    writeFileSync(readmeOf(plugin), regenerate(readFileSync(readmeOf(plugin), 'utf8'), plugin));
