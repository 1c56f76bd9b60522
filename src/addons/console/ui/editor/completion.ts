import {
  aboutSchema,
  alternativesOf,
  childOf,
  fitting,
  propertiesOf,
  valuesOf,
  type SettingsSchema,
  type Schemas,
} from './schema-tree.ts';
import { memberOf, nodeAt, placeAt, readYaml, type YamlNode, type YamlPlace } from './yaml-tree.ts';

/** The names in force. */
export interface SettingsNames {
  readonly slugs: readonly string[];
  readonly models: readonly string[];
  readonly kinds: readonly string[];
  readonly keys: readonly string[];
  readonly teams: readonly string[];
  readonly configs: readonly string[];
  readonly prompts: readonly string[];
}

export interface Known {
  /** The `$id` of the file's own schema. */
  readonly root: string;
  readonly schemas: Schemas;
  readonly names: SettingsNames;
}

export interface Option {
  readonly label: string;
  readonly insert: string;
  readonly kind: 'key' | 'value' | 'name';
  readonly detail: string;
  readonly info: string;
}

export interface EditorCompletion {
  readonly from: number;
  readonly options: readonly Option[];
}

const at = (slugs: readonly string[]): readonly string[] => slugs.map((slug) => `@${slug}`);

/** Members that hold a name which is defined elsewhere, by their keys. */
const NAMED: ReadonlyMap<string, (names: SettingsNames, root: YamlNode | undefined) => readonly string[]> = new Map([
  ['provider', ({ slugs, kinds }: SettingsNames) => [...at(slugs), ...kinds]],
  ['providers', ({ slugs }: SettingsNames) => slugs],
  ...['model', 'models'].map((key) => [key, ({ models }: SettingsNames) => models] as const),
  ...['config', 'configs', 'default_config'].map((key) => [key, ({ configs }: SettingsNames) => configs] as const),
  ['team', ({ teams }: SettingsNames) => teams],
  ['key', ({ keys }: SettingsNames) => keys],
  ...['prompt', 'prompt_id'].map((key) => [key, ({ prompts }: SettingsNames) => prompts] as const),
  ...['then', 'default'].map(
    (key) => [key, (_: SettingsNames, root: YamlNode | undefined) => targetNames(root)] as const,
  ),
]);

/** The names of targets of a gateway config, inner ones among them. */
function targetNames(node: YamlNode | undefined): readonly string[] {
  const targets = nodeAt(node, ['targets']);
  const items = targets?.kind === 'seq' ? targets.items : [];
  return items.flatMap((one) => [memberOf(one, 'name') ?? [], targetNames(one)].flat());
}

/** The keys and values that may stand where the text is being written. Undefined: nothing is known about the place. */
export function completeAt(text: string, offset: number, known: Known): EditorCompletion | undefined {
  const place = placeAt(text, offset);
  if (!place) return undefined;
  const root = readYaml(text);
  const here = schemasAt(place.path, known, root);
  const options = [
    ...(place.in === 'value' ? [] : keysOf(here, nodeAt(root, place.path), known, place)),
    ...(place.in === 'key' ? [] : valueOptions(here, root, known, place)),
  ];
  return options.length === 0 ? undefined : { from: place.word.from, options };
}

/** The schemas of a path. Of the branches of a union only those count which the file has chosen. */
function schemasAt(
  path: YamlPlace['path'],
  { root, schemas }: Known,
  file: YamlNode | undefined,
): readonly SettingsSchema[] {
  let here = alternativesOf({ $ref: `${root}#` }, schemas);
  for (const [depth, step] of path.entries()) {
    const node = nodeAt(file, path.slice(0, depth));
    here = childOf(
      fitting(here, (name) => memberOf(node, name)),
      step,
      schemas,
    );
  }
  return here;
}

const snakeOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function keysOf(
  here: readonly SettingsSchema[],
  node: YamlNode | undefined,
  { schemas }: Known,
  place: YamlPlace,
): readonly Option[] {
  const written = node?.kind === 'map' ? node.entries : [];
  // The word itself may be a key already.
  const taken = new Set(written.filter(({ from }) => from !== place.word.from).map(({ key }) => key));
  const shapes = fitting(here, (name) => memberOf(node, name));
  const all = new Map(shapes.flatMap((one) => Object.entries(propertiesOf(one))));
  return (
    [...all]
      // Spellings of another gateway are read, and not offered.
      .filter(([name]) => !taken.has(name) && !(/[A-Z]/.test(name) && all.has(snakeOf(name))))
      .map(([name, schema]) => {
        const alternatives = alternativesOf(schema, schemas);
        const { text, type, more } = aboutSchema(alternatives);
        return {
          label: name,
          insert: `${name}: `,
          kind: 'key',
          detail: type,
          info: [text, more].filter(Boolean).join(' '),
        };
      })
  );
}

function valueOptions(
  here: readonly SettingsSchema[],
  root: YamlNode | undefined,
  { names }: Known,
  place: YamlPlace,
): readonly Option[] {
  const key = place.path.findLast((step) => typeof step === 'string') ?? '';
  const named = NAMED.get(key)?.(names, root) ?? [];
  const { quote } = place.word;
  const option =
    (kind: Option['kind'], detail: string) =>
    (label: string): Option => ({
      label,
      insert: quote === '' && /^[@`%&*!|>{}[\],#?-]/.test(label) ? JSON.stringify(label) : label,
      kind,
      detail,
      info: '',
    });
  const values = valuesOf(here);
  return [
    ...named.map(option('name', 'in force')),
    ...values.filter((one) => !named.includes(one)).map(option('value', aboutSchema(here).type)),
  ];
}

export interface Hover {
  readonly from: number;
  readonly to: number;
  readonly name: string;
  readonly type: string;
  readonly text: string;
  readonly more: string;
}

/** The meaning of the key at an offset. Undefined: there is no key, or it is in no schema. */
export function hoverAt(text: string, offset: number, known: Known): Hover | undefined {
  const found = entryAt(readYaml(text), offset, []);
  if (!found) return undefined;
  const { path, from, to } = found;
  const about = schemasAt(path, known, readYaml(text));
  if (about.length === 0) return undefined;
  return { from, to, name: String(path.at(-1)), ...aboutSchema(about) };
}

function entryAt(
  node: YamlNode | undefined,
  offset: number,
  path: YamlPlace['path'],
): { readonly path: YamlPlace['path']; readonly from: number; readonly to: number } | undefined {
  if (node?.kind === 'seq') {
    const index = node.items.findLastIndex(({ from }) => from <= offset);
    return entryAt(node.items[index], offset, [...path, index]);
  }
  if (node?.kind !== 'map') return undefined;
  const entry = node.entries.findLast(({ from }) => from <= offset);
  if (!entry) return undefined;
  const own = [...path, entry.key];
  return offset <= entry.to ? { path: own, from: entry.from, to: entry.to } : entryAt(entry.value, offset, own);
}
