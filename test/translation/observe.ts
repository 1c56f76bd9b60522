/** Observes the effect of one request field on the request to an upstream, by omitting the field. */
import { isDeepStrictEqual } from 'node:util';
import { MODEL_OF_PROBE, type Probe } from './field-probes.ts';
import { isRefused, send, type Client, type Family, type Json, type Sent } from './outbound.ts';

export type Path = readonly (string | number)[];

export type Effect =
  /** Same name, same value; `with` lists the other changes. */
  | { readonly kind: 'kept'; readonly with: readonly string[] }
  /** Sent elsewhere, or in another form. `lost` lists its losses; `read`: the gateway reads the field too. */
  | { readonly kind: 'sent'; readonly at: readonly string[]; readonly lost: readonly string[]; readonly read: boolean }
  | { readonly kind: 'lost' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'read' }
  /** Neither sent nor reported (SILENT in field-table.test.ts has the reasons). */
  | { readonly kind: 'nothing' };

export interface Observed {
  readonly effect: Effect;
  /** The request is refused without this top-level field. */
  readonly required: boolean;
}

export interface Upstream {
  readonly family: Family;
  readonly model: string;
}

/** A table of a document and the test of its cells ask the same. */
export function remembered<Rest extends readonly unknown[], Seen>(
  look: (probe: Probe, ...rest: Rest) => Promise<Seen>,
): typeof look {
  const cells = new Map<Probe, Map<string, Promise<Seen>>>();
  return (probe, ...rest) => {
    const row = cells.get(probe) ?? new Map<string, Promise<Seen>>();
    cells.set(probe, row);
    const key = JSON.stringify(rest);
    const seen = row.get(key) ?? look(probe, ...rest);
    row.set(key, seen);
    return seen;
  };
}

export const observe = remembered(async (probe: Probe, { family, model }: Upstream): Promise<Observed> => {
  const request = complete(probe, model);
  const ask = (body: Json) => send(family, body, { client: probe.client ?? 'chat' });
  const sent = await ask(request);
  const missing = await ask(replace(request, probe.path, undefined));
  const required = probe.path.length === 1 && isRefused(missing);
  if (isRefused(sent)) return { effect: { kind: 'refused' }, required: false };
  const instead = probe.instead === MODEL_OF_PROBE ? `${model}-2` : probe.instead;
  const other = instead === undefined ? missing : await ask(replace(request, probe.path, instead));
  if (isRefused(other)) throw new Error(`nothing to compare ${probe.field} with`);
  return { effect: effectOf(probe, request, sent, other), required };
});

/** The base of all probes: the fields that every upstream requires. */
function complete({ request, client = 'chat' }: Probe, model: string): Json {
  return { model: `@entry/${model}`, ...BASES[client](request), ...request };
}

const ofMessages = (request: Json): Json => ({
  messages: [{ role: 'user', content: 'hi' }],
  ...('max_tokens' in request || 'max_completion_tokens' in request ? {} : { max_tokens: 4096 }),
});

export const BASES: Readonly<Record<Client, (request: Json) => Json>> = {
  chat: ofMessages,
  messages: ofMessages,
  responses: () => ({ input: [{ role: 'user', content: 'hi' }], max_output_tokens: 4096 }),
  gemini: () => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
  embeddings: () => ({ input: 'hi' }),
  embedContent: () => ({ content: { parts: [{ text: 'hi' }] } }),
  batchEmbedContents: () => ({ requests: [{ content: { parts: [{ text: 'hi' }] } }] }),
  predict: () => ({ instances: [{ content: 'hi' }] }),
  images: () => ({ prompt: 'hi' }),
  completions: () => ({ prompt: 'hi' }),
  moderations: () => ({ input: 'hi' }),
  speech: () => ({ input: 'hi', voice: 'alloy' }),
  transcriptions: () => ({}),
  translations: () => ({}),
  imageEdits: () => ({ prompt: 'hi' }),
  imageVariations: () => ({}),
};

export function effectOf({ field, path }: Probe, request: Json, sent: Sent, other: Sent): Effect {
  const changes = diff(view(other), view(sent));
  const known = new Set(other.losses.map(({ param, action, reason }) => `${action} ${param} ${reason}`));
  const lost = sent.losses.filter(({ param, action, reason }) => !known.has(`${action} ${param} ${reason}`));
  if (changes.length === 0) {
    if (lost.length > 0) return { kind: 'lost' };
    return { kind: sent.read.has(field) ? 'read' : 'nothing' };
  }
  if (lost.length === 0 && isDeepStrictEqual(at(sent.body, path), at(request, path))) {
    return { kind: 'kept', with: namesOf(changes.filter((change) => !startsWith(change, path))) };
  }
  const actions = [...new Set(lost.map(({ action }) => action))];
  return { kind: 'sent', at: namesOf(changes), lost: actions, read: sent.read.has(field) };
}

/** The URL alone may hold model and stream, a header the tier. */
const view = ({ path, headers, body }: Sent): Json => ({
  'the URL': path,
  ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [`the header ${name}`, value])),
  ...body,
});

/** Returns the paths at which two values differ: of leaves, or of a whole new value. */
function diff(before: unknown, after: unknown, path: Path = []): Path[] {
  if (isDeepStrictEqual(before, after)) return [];
  const [left, right] = [entriesOf(before), entriesOf(after)];
  if ((left?.size ?? 0) === 0 && (right?.size ?? 0) !== 1) return [path];
  const keys = new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])]);
  if (keys.size === 0 || (left && !right && after !== undefined)) return [path];
  return [...keys].flatMap((key) => diff(left?.get(key), right?.get(key), [...path, key]));
}

/** Objects and lists of objects have members; a list of texts is one value. */
function entriesOf(value: unknown): ReadonlyMap<string | number, unknown> | undefined {
  if (Array.isArray(value))
    return value.some((item) => typeof item === 'object' && item !== null) ? new Map(value.entries()) : undefined;
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined;
}

const startsWith = (path: Path, start: Path): boolean => start.every((key, index) => path[index] === key);

/** `tools[].functionDeclarations[].name`: the index of an element does not matter. */
const nameOf = (path: Path): string =>
  path
    .map((key, index) => (typeof key === 'number' ? '[]' : index === 0 ? key : `.${key}`))
    .join('')
    .replace(/\[\]$/, '');

function namesOf(paths: readonly Path[]): readonly string[] {
  const names = [...new Set(paths.map(nameOf))];
  return collapse(names.filter((name) => !names.some((outer) => outer !== name && name.startsWith(outer))));
}

const MOST_NAMES = 2;

/** Replaces many leaves by their common parents. */
function collapse(names: readonly string[]): readonly string[] {
  if (names.length <= MOST_NAMES) return names;
  const depth = Math.max(...names.map(depthOf));
  if (depth === 1) return names;
  return collapse([...new Set(names.map((name) => (depthOf(name) === depth ? parentOf(name) : name)))]);
}

const depthOf = (name: string): number => name.split('.').length;
const parentOf = (name: string): string => name.slice(0, name.lastIndexOf('.')).replace(/\[\]$/, '');

function at(value: unknown, path: Path): unknown {
  let found: unknown = value;
  for (const key of path) found = entriesOf(found)?.get(key);
  return found;
}

/** A copy with another value at a path; `undefined` takes the member away. */
export function replace(root: Json, path: Path, value: unknown): Json {
  const copy = structuredClone(root) as Record<string, unknown>;
  const last = path.at(-1)!;
  let holder: unknown = copy;
  for (const key of path.slice(0, -1)) holder = (holder as Record<string | number, unknown>)[key];
  if (Array.isArray(holder) && value === undefined) holder.splice(Number(last), 1);
  else if (value === undefined) delete (holder as Record<string, unknown>)[last];
  else (holder as Record<string | number, unknown>)[last] = value;
  return copy;
}
