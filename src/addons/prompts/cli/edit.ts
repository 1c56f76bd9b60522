import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isMap, isNode, isScalar, type Node, type YAMLMap } from 'yaml';
import { digestOfVersion } from '../compile.ts';
import { diskFiles } from '../../../core/settings/source/files.ts';
import { YamlFile } from '../../../core/settings/source/yaml-file.ts';
import { BY_HAND } from '../../../core/commands/keys/edit-keys.ts';
import { CannotReplace, replaceFile } from '../../../core/commands/keys/keys-file.ts';
import { CommandEnd, findReference, withPrompts, type PromptsOptions } from './read.ts';

interface ReferenceOptions extends PromptsOptions {
  /** `summary@3` */
  readonly reference: string;
}

export function releasePromptCommand(options: ReferenceOptions): Promise<0 | 1 | 2> {
  const { reference, out } = options;
  return withPrompts(options, async (library) => {
    const { prompt, version } = findReference(library, reference);
    const name = `${prompt.id}@${version.number}`;
    const before = version.file.digest;
    if (before !== undefined) return out(`${name} has been released before (${before}).\n`);
    const digest = digestOfVersion(version);
    await edit(prompt.id, ['versions', String(version.number)], ['digest', digest], options);
    out(`Released ${name} as ${digest}.\n`);
  });
}

export function promotePromptCommand(options: ReferenceOptions & { readonly label: string }): Promise<0 | 1 | 2> {
  const { reference, label, out } = options;
  return withPrompts(options, async (library) => {
    const { prompt, version } = findReference(library, reference);
    const name = `${prompt.id}@${version.number}`;
    if (!/^[A-Za-z][A-Za-z0-9._-]{0,63}$/.test(label) || label === 'latest')
      throw new CommandEnd(
        `${JSON.stringify(label)} cannot be a label: a letter, then letters, digits, \`.\`, \`_\` and \`-\`; not latest\n`,
      );
    if (version.file.digest === undefined)
      throw new CommandEnd(`${name} is a draft, which may still change; first: gatehouse prompts release ${name}\n`);
    const before = prompt.labels.get(label);
    await edit(prompt.id, ['labels'], [label, version.number], options);
    out(`${prompt.id}@${label} is ${name} now${before === undefined ? '' : `, before ${prompt.id}@${before}`}.\n`);
  });
}

type MapEntry = readonly [key: string, value: string | number];

/** Sets one key of a map in a prompt's file. Throws CommandEnd: nothing was changed. */
async function edit(id: string, path: readonly string[], entry: MapEntry, { dir }: PromptsOptions): Promise<void> {
  const file = join(dir, 'prompts', `${id}.yaml`);
  const content = await diskFiles.read(file);
  const text = 'text' in content ? content.text : '';
  const edited = withEntry(text, path, entry);
  if (edited === undefined) throw new CommandEnd(`${file} was not changed: ${BY_HAND}\n`);
  await replaceFile(file, edited, text).catch((error: unknown) => {
    throw error instanceof CannotReplace ? new CommandEnd(`${file} was not changed: ${error.message}\n`) : error;
  });
}

/**
 * The text with one key of a map set, every other character as it was. A missing map is added before the first key of the
 * file. Undefined where the result would not be exactly that.
 * @param path leads to the map
 */
export function withEntry(text: string, path: readonly string[], [key, value]: MapEntry): string | undefined {
  const { document, syntaxErrors } = YamlFile.parse('prompt.yaml', text);
  if (syntaxErrors.length > 0 || !isMap(document.contents)) return undefined;
  const map = path.reduce<unknown>((at, name) => valueIn(at, name), document.contents);
  const now = isMap(map) ? valueIn(map, key) : undefined;
  const edited =
    isScalar(now) && now.range
      ? text.slice(0, now.range[0]) + String(value) + text.slice(now.range[1])
      : insert(text, isMap(map) ? map : document.contents, isMap(map) ? [] : path, `${key}: ${value}`);
  const after = YamlFile.parse('prompt.yaml', edited);
  if (after.syntaxErrors.length > 0) return undefined;
  return isDeepStrictEqual(after.document.toJS(), withValue(document.toJS(), [...path, key], value))
    ? edited
    : undefined;
}

/** Inserts `line`, inside new maps named `around`, before the first key of the map. */
function insert(text: string, map: YAMLMap, around: readonly string[], line: string): string {
  const first = map.items[0]?.key;
  const at = isNode(first) ? (first.range?.[0] ?? 0) : (map.range?.[0] ?? 0) + 1;
  if (map.flow)
    return `${text.slice(0, at)}${around.reduceRight((inner, name) => `${name}: { ${inner} }`, line)}${first === undefined ? '' : ', '}${text.slice(at)}`;
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const indent = ' '.repeat(at - (text.lastIndexOf('\n', at - 1) + 1));
  const lines = [
    ...around.map((name, depth) => `${'  '.repeat(depth)}${name}:`),
    `${'  '.repeat(around.length)}${line}`,
  ];
  return text.slice(0, at) + lines.map((one) => `${one}${eol}${indent}`).join('') + text.slice(at);
}

/** Keys of numbers, such as versions, are compared as text. */
function valueIn(map: unknown, key: string): Node | undefined {
  if (!isMap(map)) return undefined;
  const pair = map.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
  return isNode(pair?.value) ? pair.value : undefined;
}

function withValue(json: unknown, [key = '', ...rest]: readonly string[], value: unknown): unknown {
  const object: Readonly<Record<string, unknown>> = typeof json === 'object' && json !== null ? { ...json } : {};
  return { ...object, [key]: rest.length === 0 ? value : withValue(object[key], rest, value) };
}
