import { isDeepStrictEqual } from 'node:util';
import { isMap, isNode, isScalar, stringify, type Node, type YAMLMap } from 'yaml';
import type { PromptFile } from '../../../schemas/types.generated.ts';
import { isObject } from '../../core/kernel/index.ts';
import { YamlFile } from '../../core/settings/source/yaml-file.ts';

export type MapEntry = readonly [key: string, value: string | number | object];

const yamlText = (value: unknown): string => stringify(value, { lineWidth: 0 }).trimEnd();

/** The text of a prompt's file with the document in it. What has not changed stays as it is written. Undefined: it has to be written by hand. */
export function writePrompt(text: string, file: PromptFile): string | undefined {
  if (text === '') return `${yamlText(file)}\n`;
  const { document } = YamlFile.parse('prompt.yaml', text);
  // A file of the folder of settings, whose schema has been checked.
  const before = document.toJS() as PromptFile;
  let written: string | undefined = text;
  const set = (path: readonly string[], now: object, was: object): void => {
    for (const [key, value] of Object.entries(now) as [string, MapEntry[1]][])
      if (!isDeepStrictEqual(value, new Map(Object.entries(was)).get(key)))
        written = written === undefined ? undefined : withEntry(written, path, [key, value]);
  };
  if (file.description !== undefined && file.description !== before.description)
    written = withEntry(written, [], ['description', file.description]);
  set(['versions'], withoutDigests(file.versions, before.versions), before.versions);
  for (const [number, { digest }] of Object.entries(file.versions))
    if (digest !== undefined && before.versions[number] && digest !== before.versions[number].digest)
      set(['versions', number], { digest }, {});
  set(['labels'], file.labels ?? {}, before.labels ?? {});
  if (written === undefined) return undefined;
  return isDeepStrictEqual(YamlFile.parse('prompt.yaml', written).document.toJS(), plain(file)) ? written : undefined;
}

/** A version that is only released is written by its digest alone. */
function withoutDigests(now: PromptFile['versions'], before: PromptFile['versions']): PromptFile['versions'] {
  const same = ([number, { digest: _, ...version }]: [string, PromptFile['versions'][string]]): boolean => {
    const { digest: __, ...was } = before[number] ?? {};
    return before[number] !== undefined && isDeepStrictEqual(version, was);
  };
  return Object.fromEntries(Object.entries(now).map((entry) => (same(entry) ? [entry[0], before[entry[0]]!] : entry)));
}

const plain = (value: object): unknown => JSON.parse(JSON.stringify(value));

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
  const edited = now?.range
    ? replace(text, now, value)
    : insert(text, isMap(map) ? map : document.contents, isMap(map) ? [] : path, [key, value]);
  const after = YamlFile.parse('prompt.yaml', edited);
  if (after.syntaxErrors.length > 0) return undefined;
  return isDeepStrictEqual(after.document.toJS(), withValue(document.toJS(), [...path, key], value))
    ? edited
    : undefined;
}

/** A value of several lines begins on its own line, below its key. */
function replace(text: string, { range }: Node, value: MapEntry[1]): string {
  const [start = 0, end = 0] = range ?? [];
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  const lines = isObject(value) ? yamlText(value).split('\n') : [yamlText(value)];
  // The last line break is behind a block, and no part of it.
  const rest = `${/\s*$/.exec(text.slice(start, end))?.[0] ?? ''}${text.slice(end)}`;
  if (!isObject(value)) return text.slice(0, start) + lines.join(' ') + rest;
  const isOwnLine = before.trim() === '';
  const indent = isOwnLine ? before : `${/^ */.exec(before)?.[0] ?? ''}  `;
  const first = isOwnLine ? '' : `\n${indent}`;
  return text.slice(0, start).replace(/ $/, isOwnLine ? ' ' : '') + first + lines.join(`\n${indent}`) + rest;
}

/** Inserts an entry, inside new maps named `around`, before the first key of the map. */
function insert(text: string, map: YAMLMap, around: readonly string[], [key, value]: MapEntry): string {
  const first = map.items[0]?.key;
  const at = isNode(first) ? (first.range?.[0] ?? 0) : (map.range?.[0] ?? 0) + 1;
  const line = `${key}: ${isObject(value) ? JSON.stringify(value) : yamlText(value)}`;
  if (map.flow)
    return `${text.slice(0, at)}${around.reduceRight((inner, name) => `${name}: { ${inner} }`, line)}${first === undefined ? '' : ', '}${text.slice(at)}`;
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const indent = ' '.repeat(at - (text.lastIndexOf('\n', at - 1) + 1));
  const lines = [
    ...around.map((name, depth) => `${'  '.repeat(depth)}${name}:`),
    ...[
      isObject(value) ? `${key}:` : line,
      ...(isObject(value)
        ? yamlText(value)
            .split('\n')
            .map((one) => `  ${one}`)
        : []),
    ].map((one) => `${'  '.repeat(around.length)}${one}`),
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
