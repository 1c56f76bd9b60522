import { entryOf } from '../../../../core/catalog/catalog-target.ts';
import type { ChangeExplanation, FieldExplanation, FieldSource } from '../../explanation/explanation.ts';
import { fieldSources, MAX_PROBES } from '../../explanation/field-sources/field-sources.ts';
import { changed, keyOf, leavesOf, type LeafChange, type LeafPath } from '../../explanation/field-sources/leaves.ts';
import type { Writing } from '../../explanation/field-sources/probes.ts';
import { finish, type Steps } from '../../../../formats/steps.ts';
import { TASKS } from '../../../../core/operations/tasks.ts';
import type { Observation, OutboundOrigins, SeenAttempt } from '../observation.ts';
import { describeChanges } from './changes.ts';
import { configSource } from './places.ts';
import { parsed, writeAgain } from './write-again.ts';
import { isObject } from '../../../../formats/json/object.ts';

export const originsOf = (seen: Observation, one: SeenAttempt): OutboundOrigins =>
  (one.origins ??= finish(origins(seen, one)));

/**
 * Computes the origins of all attempts in advance, with pauses, because this is nearly all the time that explaining
 * takes.
 */
export function* findOrigins(seen: Observation): Steps<void> {
  for (const one of seen.attempts) if (one.outbound) one.origins ??= yield* origins(seen, one);
}

function* origins(seen: Observation, one: SeenAttempt): Steps<OutboundOrigins> {
  const changes = describeChanges(seen, one);
  const reported = (paths: readonly LeafPath[]) =>
    unique(paths.flatMap((path) => sourcesOf(path, { seen, one, changes })));
  const { from, upTo } = yield* dependences(seen, one);
  yield;
  const fields: FieldExplanation[] = [];
  for (const { path } of leavesOf(parsed(one.outbound?.body.toString() ?? '')).values()) {
    const found = from.get(keyOf(['body', ...path]));
    if (!found && upTo !== undefined) continue;
    fields.push({ path: path.join('.'), sources: withOwn(path, reported(found ?? []), seen, one) });
    yield;
  }
  const names = Object.keys(one.outbound?.headers ?? {});
  return {
    fields,
    fieldsUpTo: upTo,
    headers: new Map(names.map((name) => [name, reported(from.get(keyOf(['headers', name])) ?? [])])),
    model: reported([['model']]),
    stream: reported([['body', 'stream']]),
  };
}

interface Dependences {
  /** By the key of each field of `{ body, headers }`: paths into `WrittenFrom`. */
  readonly from: ReadonlyMap<string, readonly LeafPath[]>;
  readonly upTo: number | undefined;
}

const NOT_FOUND: Dependences = { from: new Map(), upTo: undefined };

function* dependences(seen: Observation, one: SeenAttempt): Steps<Dependences> {
  const whole = writeAgain(seen, one);
  if (!whole) return NOT_FOUND;
  const first = ofFirst(whole);
  yield;
  const short = shortened(first ?? whole);
  const reported = yield* fieldSources(short, probesFor(JSON.stringify(short.input).length, seen.attempts.length));
  return {
    from: new Map(reported.fields.map(({ path, from }) => [keyOf(path), from])),
    upTo: first && LONGEST_LIST,
  };
}

/**
 * Maximum list length. Every probe encodes the whole conversation: thousands of turns show no more than a hundred, at
 * many times the cost.
 */
const LONGEST_LIST = 200;

/** The request with shortened lists; undefined when no list is so long, or when the shortened request is invalid. */
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

/** The number of probes: fewer for large bodies, and fewer per target for many targets. */
export const probesFor = (bytes: number, targets: number): number =>
  Math.max(20, Math.min(MAX_PROBES, Math.floor(WRITTEN_BYTES / Math.max(1, targets / 2) / (bytes + 1))));
/** Budget in bytes per target, for up to two targets. */
const WRITTEN_BYTES = 16 * 1024 * 1024;

/**
 * Field sources do not depend on the length of texts, so long ones are truncated, unless that changes the shape of the
 * output.
 */
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

/** Truncates base64 between two groups of four. */
function cut(text: string): string {
  const start = text.startsWith('data:') ? text.indexOf(',') + 1 : 0;
  return text.slice(0, start + LONG / 2);
}

interface AttemptSeen {
  readonly seen: Observation;
  readonly one: SeenAttempt;
  readonly changes: readonly ChangeExplanation[];
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

/** The settings that set the field or an enclosing object; otherwise the client's field. */
function fieldSource(field: string, changes: readonly ChangeExplanation[]): FieldSource {
  const change = changes.findLast(
    ({ path, action }) => action !== 'removed' && (field === path || field.startsWith(`${path}.`)),
  );
  if (!change) return { kind: 'client', path: field };
  return change.source.kind === 'settings' ? { ...change.source, path: field } : change.source;
}

/** Empty for a destination that the request itself names, because a catalog entry may have the same name. */
export function catalogSlug({ resolved }: SeenAttempt): string {
  const entry = resolved && entryOf(resolved);
  return entry?.name.startsWith('@') ? entry.provider.slug : '';
}

/**
 * Sources of a field, including the gateway itself: it adds a field because of the request, or because the upstream
 * requires it.
 */
function withOwn(
  path: LeafPath,
  sources: readonly FieldSource[],
  seen: Observation,
  { resolved }: SeenAttempt,
): readonly FieldSource[] {
  const isUsage = path.join('.') === 'stream_options.include_usage';
  if (isUsage && !sources.some((source) => source.kind === 'client' && source.path.startsWith('stream_options')))
    return [{ kind: 'gateway', what: 'requests the usage of a stream, to count it' }, ...sources];
  if (sources.length > 0) return sources;
  const { task } = seen.exchange.operation ?? {};
  const what = task === undefined || TASKS[task].isConversation ? resolved?.format : task;
  const place = resolved ? `${what} on ${resolved.provider}` : 'the provider';
  return [{ kind: 'gateway', what: `required by ${place}` }];
}

export function unique(sources: readonly FieldSource[]): readonly FieldSource[] {
  return [...new Map(sources.map((source) => [JSON.stringify(source), source])).values()];
}
