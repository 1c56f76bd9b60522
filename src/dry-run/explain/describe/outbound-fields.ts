import { entryOf } from '../../../catalog/catalog-target.ts';
import type { ChangeTold, FieldTold, FieldSource } from '../../explanation/explanation.ts';
import { fieldSourcesInSteps, MAX_PROBES } from '../../explanation/field-sources/field-sources.ts';
import { changed, keyOf, leavesOf, type LeafChange, type LeafPath } from '../../explanation/field-sources/leaves.ts';
import type { Writing } from '../../explanation/field-sources/probes.ts';
import { toTheEnd, type SlicedWork } from '../../explanation/field-sources/steps.ts';
import type { Observation, OutboundOrigins, SeenAttempt } from '../observation.ts';
import { tellChanges } from './changes.ts';
import { configSource } from './places.ts';
import { parsed, writeAgain } from './write-again.ts';
import { isObject } from '../../../formats/json/object.ts';

export const originsOf = (seen: Observation, one: SeenAttempt): OutboundOrigins =>
  (one.origins ??= toTheEnd(origins(seen, one)));

/** Finds out beforehand what `originsOf` tells of all attempts: nearly all the time that explaining takes, so it pauses where it may. */
export function* findOrigins(seen: Observation): SlicedWork<void> {
  for (const one of seen.attempts) if (one.outbound) one.origins ??= yield* origins(seen, one);
}

function* origins(seen: Observation, one: SeenAttempt): SlicedWork<OutboundOrigins> {
  const changes = tellChanges(seen, one);
  const told = (paths: readonly LeafPath[]) => unique(paths.flatMap((path) => sourcesOf(path, { seen, one, changes })));
  const { from, upTo } = yield* dependences(seen, one);
  yield;
  const fields: FieldTold[] = [];
  for (const { path } of leavesOf(parsed(one.outbound?.body.toString() ?? '')).values()) {
    const found = from.get(keyOf(['body', ...path]));
    if (!found && upTo !== undefined) continue;
    fields.push({ path: path.join('.'), sources: withOwn(path, told(found ?? []), seen, one) });
    yield;
  }
  const names = Object.keys(one.outbound?.headers ?? {});
  return {
    fields,
    fieldsUpTo: upTo,
    headers: new Map(names.map((name) => [name, told(from.get(keyOf(['headers', name])) ?? [])])),
    model: told([['model']]),
    stream: told([['body', 'stream']]),
  };
}

interface Dependences {
  /** By the key of each field of `{ body, headers }`: paths into `Written`. */
  readonly from: ReadonlyMap<string, readonly LeafPath[]>;
  readonly upTo: number | undefined;
}

const NOT_FOUND: Dependences = { from: new Map(), upTo: undefined };

function* dependences(seen: Observation, one: SeenAttempt): SlicedWork<Dependences> {
  const whole = writeAgain(seen, one);
  if (!whole) return NOT_FOUND;
  const first = ofFirst(whole);
  yield;
  const short = shortened(first ?? whole);
  const told = yield* fieldSourcesInSteps(short, probesFor(JSON.stringify(short.input).length, seen.attempts.length));
  return {
    from: new Map(told.fields.map(({ path, from }) => [keyOf(path), from])),
    upTo: first && LONGEST_LIST,
  };
}

/** The whole conversation is written once for each probe: what a hundred turns show, thousands show at a hundred times the price. */
const LONGEST_LIST = 200;

/** The same with the beginnings of its lists; undefined where none is so long, or what is left is no request any more. */
function ofFirst({ input, write }: Writing): Writing | undefined {
  const first = beginnings(input);
  if (first === input) return undefined;
  try {
    write(first);
    return { input: first, write };
  } catch {
    return undefined;
  }
}

function beginnings(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value.length > LONGEST_LIST ? value.slice(0, LONGEST_LIST) : value;
    const inner = items.map(beginnings);
    return items === value && inner.every((one, index) => one === items[index]) ? value : inner;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  const inner = entries.map(([name, one]) => [name, beginnings(one)] as const);
  return inner.every(([, one], index) => one === entries[index]![1]) ? value : Object.fromEntries(inner);
}

/** Megabytes are written a few times and not hundreds of times, and many targets share what one question may take. */
export const probesFor = (bytes: number, targets: number): number =>
  Math.max(20, Math.min(MAX_PROBES, Math.floor(WRITTEN_BYTES / Math.max(1, targets / 2) / (bytes + 1))));
/** For each of two. */
const WRITTEN_BYTES = 16 * 1024 * 1024;

/** Where fields come from does not hang on how long their texts are: long ones are cut, unless what is written has another shape then. */
function shortened(writing: Writing): Writing {
  const { input, write } = writing;
  const changes = [...leavesOf(input).values()].flatMap(({ path, value }): LeafChange[] =>
    typeof value === 'string' && value.length > LONG && !/^\s*[{[]/.test(value) ? [{ path, value: cut(value) }] : [],
  );
  if (changes.length === 0) return writing;
  const short = changed(input, changes);
  try {
    const [whole, less] = [leavesOf(write(input)), leavesOf(write(short))];
    return whole.size === less.size && [...whole.keys()].every((key) => less.has(key))
      ? { input: short, write }
      : writing;
  } catch {
    return writing;
  }
}

const LONG = 4096;

/** Base64 is cut between two groups of four. */
function cut(text: string): string {
  const start = text.startsWith('data:') ? text.indexOf(',') + 1 : 0;
  return text.slice(0, start + LONG / 2);
}

interface AttemptSeen {
  readonly seen: Observation;
  readonly one: SeenAttempt;
  readonly changes: readonly ChangeTold[];
}

function sourcesOf([part, ...path]: LeafPath, { seen, one, changes }: AttemptSeen): readonly FieldSource[] {
  const { request, strict } = seen.exchange;
  if (part === 'headers') return path.length > 0 ? [{ kind: 'header', name: String(path[0]) }] : [];
  if (part === 'labels') return [{ kind: 'header', name: request.headerName('metadata') }];
  if (part === 'strict') {
    if (strict !== undefined) return [{ kind: 'header', name: request.headerName('strict-open-ai-compliance') }];
    const source = configSource(seen, one.attempt.target.path, ['strict_open_ai_compliance']);
    return source ? [source] : [];
  }
  const field = part === 'model' ? 'model' : path.join('.');
  return field === '' ? [] : [fieldSource(field, changes)];
}

/** What the settings have put there, or around it; the client's otherwise. */
function fieldSource(field: string, changes: readonly ChangeTold[]): FieldSource {
  const change = changes.findLast(
    ({ path, action }) => action !== 'removed' && (field === path || field.startsWith(`${path}.`)),
  );
  if (!change) return { kind: 'client', path: field };
  return change.source.kind === 'settings' ? { ...change.source, path: field } : change.source;
}

/** Empty for a place that a request names itself: an entry of the catalog may have the same name. */
export function catalogSlug({ resolved }: SeenAttempt): string {
  const entry = resolved && entryOf(resolved);
  return entry?.name.startsWith('@') ? entry.provider.slug : '';
}

/** A field that the gateway writes by itself is there because of what the request says, or for nothing but its place. */
function withOwn(
  path: LeafPath,
  sources: readonly FieldSource[],
  seen: Observation,
  { resolved }: SeenAttempt,
): readonly FieldSource[] {
  const isUsage = path.join('.') === 'stream_options.include_usage';
  if (isUsage && !sources.some((source) => source.kind === 'client' && source.path.startsWith('stream_options')))
    return [{ kind: 'gateway', what: 'asks for the usage of a stream, to count it' }, ...sources];
  if (sources.length > 0) return sources;
  const { task } = seen.exchange.operation ?? {};
  const what = task === 'embeddings' || task === 'images' ? task : resolved?.format;
  const place = resolved ? `${what} on ${resolved.provider}` : 'the provider';
  return [{ kind: 'gateway', what: `required by ${place}` }];
}

export function unique(sources: readonly FieldSource[]): readonly FieldSource[] {
  return [...new Map(sources.map((source) => [JSON.stringify(source), source])).values()];
}
