import { dirname, isAbsolute, join } from 'node:path';
import { isScalar, visit } from 'yaml';
import type { FileRead, SettingsFiles } from '../source/files.ts';
import type { YamlFile } from '../source/yaml-file.ts';

/** `${env:NAME}`, `${env:NAME:-default}`, `${file:path}` and the escape `$${`, in the text of one scalar. */

export interface Reference {
  readonly kind: 'env' | 'file';
  readonly name: string;
  readonly fallback: string | undefined;
  readonly raw: string;
}

/** Text that starts like a reference and is none. */
interface BadReference {
  readonly kind: 'bad';
  readonly message: string;
  readonly raw: string;
}

type Piece = string | Reference | BadReference;

const ENV = /^env:([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;
const FILE = /^file:(.*\S.*)$/;

export function parseReferences(text: string): Piece[] {
  const pieces: Piece[] = [];
  let literal = '';
  let at = 0;
  for (const { 0: raw, index } of text.matchAll(/\$\$\{|\$\{[^}]*\}?/g)) {
    literal += text.slice(at, index);
    at = index + raw.length;
    if (raw === '$${') literal += '${';
    else {
      if (literal !== '') pieces.push(literal);
      literal = '';
      pieces.push(parseReference(raw));
    }
  }
  literal += text.slice(at);
  if (literal !== '' || pieces.length === 0) pieces.push(literal);
  return pieces;
}

function parseReference(raw: string): Reference | BadReference {
  if (!raw.endsWith('}')) return bad(raw, 'this `${` is never closed; write `$${` for a plain `${`');
  const inner = raw.slice(2, -1);
  if (inner.includes('${')) return bad(raw, 'references do not nest');
  const [, variable, fallback] = ENV.exec(inner) ?? [];
  // The first `}` ends a reference: the rest of the default would silently become text.
  if (fallback !== undefined && /[{}]/.test(fallback)) return bad(raw, 'a default cannot hold `{` or `}`');
  if (variable !== undefined) return { kind: 'env', name: variable, fallback, raw };
  const path = FILE.exec(inner)?.[1];
  if (path !== undefined) return { kind: 'file', name: path.trim(), fallback: undefined, raw };
  const isVariable = /^[A-Z][A-Z0-9_]*$/.test(inner);
  const meant = isVariable ? `write \`\${env:${inner}}\` for the variable, \`$\${\`` : NOT_A_REFERENCE;
  return bad(raw, `not a reference: ${meant} for a plain \`\${\``);
}

const NOT_A_REFERENCE = 'use `${env:NAME}`, `${env:NAME:-default}` or `${file:PATH}`; write `$${`';

const bad = (raw: string, message: string): BadReference => ({ kind: 'bad', raw, message });

export const isReference = (piece: Piece): piece is Reference => typeof piece !== 'string' && piece.kind !== 'bad';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Resolves references; the files they name have already been read. */
export interface ReferenceLookup {
  find(reference: Reference): { readonly text: string } | { readonly problem: string };
  /** Every file that a reference names, readable or not. */
  readonly paths: readonly string[];
  /** `${…}` is plain text here. */
  readonly plain?: boolean;
  /** A secret in clear text is where it belongs. */
  readonly sealed?: boolean;
}

export const PLAIN_TEXT: ReferenceLookup = { plain: true, paths: [], find: () => ({ problem: 'not a reference' }) };
export const SEALED_TEXT: ReferenceLookup = { ...PLAIN_TEXT, sealed: true };

export function referencesIn({ document }: YamlFile): readonly Reference[] {
  const found: Reference[] = [];
  visit(document, {
    Scalar: (_key, { value }) => {
      if (typeof value === 'string') found.push(...parseReferences(value).filter(isReference));
    },
  });
  return found;
}

/** Files of settings are in force beside edited texts: in a condition, such a text could compare itself with their secrets. */
const SETTINGS = /(?:^|[/\\])(?:(?:server|catalog|keys|teams|prices)|(?:gateway|prompts)[/\\][^/\\]+)\.ya?ml$/;
const IS_SETTINGS: FileRead = { problem: 'is a file of settings, not of a value' };

/** Reads all files that a settings file refers to. Paths are relative to the file that names them. */
export async function prepareReferences(
  file: YamlFile,
  env: Environment,
  files: SettingsFiles,
): Promise<ReferenceLookup> {
  const resolvePath = (path: string) => (isAbsolute(path) ? path : join(dirname(file.name), path));
  const paths = new Set<string>();
  for (const { kind, name } of referencesIn(file)) if (kind === 'file') paths.add(resolvePath(name));
  const contents = new Map<string, FileRead>();
  for (const path of paths) contents.set(path, SETTINGS.test(path) ? IS_SETTINGS : await files.read(path));
  return {
    paths: [...paths],
    find: (reference) => {
      if (reference.kind === 'env') return fromEnvironment(reference, env);
      return fromFile(resolvePath(reference.name), contents);
    },
  };
}

/** As in a shell, the default after `:-` also replaces an empty variable. */
function fromEnvironment({ name, fallback }: Reference, env: Environment): { text: string } | { problem: string } {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (fallback !== undefined && (value === undefined || value === '')) return { text: fallback };
  return value === undefined ? { problem: `the environment variable \`${name}\` is not set` } : { text: value };
}

function fromFile(path: string, contents: ReadonlyMap<string, FileRead>): { text: string } | { problem: string } {
  const content = contents.get(path);
  if (!content || 'missing' in content) return { problem: `there is no file ${path}` };
  if ('problem' in content) return { problem: `the file ${path} ${content.problem}` };
  // Editors end files with a newline, which is not part of a secret.
  return { text: content.text.replace(/\r?\n$/, '') };
}

/** `contents`: the text behind each source; `fallbacks`: all defaults; `whole`: one reference and nothing else. */
export function resolveText(value: string, lookup: ReferenceLookup) {
  const pieces = lookup.plain ? [value] : parseReferences(value);
  const problems: { raw: string; nth: number; message: string }[] = [];
  const seen = new Map<string, number>();
  const sources: string[] = [];
  const contents: string[] = [];
  const resolve = (piece: Piece): string => {
    if (typeof piece === 'string') return piece;
    const nth = seen.get(piece.raw) ?? 0;
    seen.set(piece.raw, nth + 1);
    const found = piece.kind === 'bad' ? { problem: piece.message } : lookup.find(piece);
    if (piece.kind !== 'bad') sources.push(`${piece.kind}:${piece.name}`);
    if (piece.kind !== 'bad') contents.push('text' in found ? found.text : '');
    if ('text' in found) return found.text;
    problems.push({ raw: piece.raw, nth, message: found.problem });
    return '';
  };
  const text = pieces.map(resolve).join('');
  const fallbacks = pieces.filter(isReference).flatMap(({ fallback }) => fallback ?? []);
  return { text, sources, contents, fallbacks, whole: pieces.length === 1 && sources.length === 1, problems };
}

/** The offset in the file of the nth reference with this spelling within a scalar. */
export function offsetOf(file: YamlFile, node: unknown, { raw, nth }: { raw: string; nth: number }): number {
  if (!isScalar(node) || !node.range) return 0;
  const [start, end] = node.range;
  let left = nth;
  for (let at = file.text.indexOf(raw, start); at !== -1 && at < end; at = file.text.indexOf(raw, at + 1)) {
    // The second half of the escape `$${` looks the same.
    if (file.text[at - 1] === '$') continue;
    if (left === 0) return at;
    left -= 1;
  }
  // An escape inside a double-quoted scalar can hide the spelling; the position of the scalar is close enough.
  return start;
}
