import { isObject, type Operation } from '../../../core/kernel/index.ts';
import { operations } from '../../../core/operations/index.ts';
import { GatewayError, UpstreamError, type ErrorCode, failureKinds, ERRORS } from '../../../plugin/index.ts';
import { placeholderBody } from './placeholder-body.ts';
import { OF_RUN } from './conditions.ts';
import type { RecordedFacts, Sample, UnknownSample } from './sample.ts';

export interface RecordReading {
  /** Prefix of the gateway's own headers: `x-gateway-`. */
  readonly prefix: string;
  readonly metadataOfKey: (key: string) => readonly string[];
  /** The time of the request matters: a sticky load balance chooses by it. */
  readonly needsTime: boolean;
  /** The time and the address of the request matter: keys may differ. */
  readonly needsCaller: boolean;
}

/** A request that cannot be asked: the reason is for people. */
class Unknown extends Error {}

type Json = Readonly<Record<string, unknown>>;

/** Reads a record, as `GET /requests/{id}` has it, as a question with what it knows. */
export function sampleOfRecord(record: Json, reading: RecordReading): Sample | UnknownSample {
  const name = textIn(record, 'request_id') ?? 'a record without `request_id`';
  try {
    return { name, ...read(record, reading) };
  } catch (error) {
    if (error instanceof Unknown) return { name, reason: error.message, record: settingsIn(record) };
    throw error;
  }
}

function settingsIn(record: Json): Pick<RecordedFacts, 'settingsHash' | 'config'> {
  const config = isObject(record['config']) ? record['config'] : undefined;
  return {
    settingsHash: textIn(record, 'settings_hash'),
    config: config && { id: textIn(config, 'id') ?? '', hash: textIn(config, 'hash') },
  };
}

function read(record: Json, reading: RecordReading): Omit<Sample, 'name'> {
  const operation = operationOf(record);
  const key = textIn(record, 'key_id');
  if (key === undefined) throw new Unknown('no key of the gateway sent it');
  if (record['prompt'] !== undefined) throw new Unknown('it used a prompt, whose variables are not in the record');
  if (textIn(record, 'limited_by') !== undefined) throw new Unknown('a limit or a budget refused it');
  const config = isObject(record['config']) ? record['config'] : undefined;
  const by = config && textIn(config, 'by');
  if (by === 'inline') throw new Unknown('it brought its own config, which is not in the record');
  const values = valuesOf(record);
  const { metadata, ...known } = metadataOf(record, reading.metadataOfKey(key));
  const at = Date.parse(textIn(record, 'time') ?? '') || 0;
  const question = {
    method: operation.method,
    path: pathOf(record, operation),
    headers: {
      ...(operation.body === 'multipart'
        ? { 'content-type': 'multipart/form-data' }
        : { 'content-type': 'application/json' }),
      ...(operation.header !== undefined && { [operation.header]: '1' }),
      ...headersIn(values),
      ...(Object.keys(metadata).length > 0 && { [`${reading.prefix}metadata`]: JSON.stringify(metadata) }),
      ...(by === 'named' && config && { [`${reading.prefix}config`]: textIn(config, 'id') ?? '' }),
    },
    body: bodyOf(record, operation, values),
    as: key,
    draws: undefined,
    // It has passed the limits of its caller.
    limited: null,
    ...(reading.needsTime && { at: { now: 0, wall: at } }),
  };
  const facts: RecordedFacts = {
    ...settingsIn(record),
    operation: operation.id,
    address: textIn(record, 'client_ip'),
    at,
    model: textIn(record, 'model') || undefined,
    error: isObject(record['error']) ? textIn(record['error'], 'code') : undefined,
    held: heldIn(record),
    values,
    ...known,
    draws: listIn(record, 'draws').filter((one): one is number => typeof one === 'number' && one >= 0 && one < 1),
    open: itemsIn(record, 'skipped').flatMap((one) =>
      one['reason'] === 'circuit_open' ? [textIn(one, 'target') ?? ''] : [],
    ),
    ...attemptsOf(record),
  };
  const { at: _, address: __, ...ofWay } = facts;
  return { question, record: facts, sameAs: JSON.stringify([question, reading.needsCaller ? facts : ofWay], plain) };
}

/** Maps and sets as lists; buffers as text. */
const plain = (_: string, value: unknown): unknown =>
  value instanceof Map || value instanceof Set ? [...(value as Iterable<unknown>)] : value;

function operationOf(record: Json): Operation {
  const id = textIn(record, 'operation');
  const route = textIn(record, 'route');
  const operation = operations.find((one) => one.id === id && (route === undefined || one.path === route));
  if (operation) return operation;
  throw new Unknown(id === undefined ? 'the gateway has no such path' : `this build has no operation ${id}`);
}

/** Without its query, a path may be that of another operation. */
function pathOf(record: Json, { query }: Operation): string {
  const path = exact(record, 'path');
  if (path === undefined) throw new Unknown('its path is not whole in the record');
  return query ? `${path}?${query.name}=${query.value}` : path;
}

function bodyOf(record: Json, operation: Operation, values: RecordedFacts['values']): Buffer {
  if ((operation.body ?? (operation.method === 'POST' ? 'json' : 'none')) === 'none') return Buffer.alloc(0);
  const model = exact(record, 'model');
  if (model === undefined && record['model'] !== undefined)
    throw new Unknown('the name of its model is not whole in the record');
  if (model === undefined && (record['config'] !== undefined || itemsIn(record, 'attempts').length > 0))
    throw new Unknown('the record is of an earlier version, which had no model');
  const fields = new Map(
    [...values].flatMap(([name, [value]]) =>
      name.startsWith('params.') ? [[name.slice('params.'.length), value] as const] : [],
    ),
  );
  const body = placeholderBody(operation, {
    model: model === '' ? undefined : model,
    stream: record['stream'] === true,
    fields,
  });
  if (!body) throw new Unknown(`records have no bodies, and ${operation.id} needs one`);
  return Buffer.from(JSON.stringify(body));
}

/** Longest value of a condition in a record. */
const MAX_COMPARED = 128;
/** Longest name of a field: a record of a file may have any. */
const MAX_FIELD = 256;

function valuesOf(record: Json): Map<string, readonly unknown[]> {
  const values = new Map<string, readonly unknown[]>();
  for (const { field, found } of itemsIn(record, 'conditions').flatMap((one) => itemsIn(one, 'tests'))) {
    if (typeof field !== 'string' || field.length > MAX_FIELD || field.startsWith('metadata.')) continue;
    if (found !== null && !['string', 'number', 'boolean'].includes(typeof found)) continue;
    const name = field.startsWith('headers.') ? field.toLowerCase() : field;
    // A record has null for a missing field, too.
    if (found === null) values.set(name, name.startsWith('params.') ? [undefined, null] : [undefined]);
    else if (typeof found !== 'string' || isWhole(found, MAX_COMPARED)) values.set(name, [found]);
  }
  if (!values.has('params.stream'))
    values.set('params.stream', record['stream'] === true ? [true] : [undefined, false, null]);
  // The run itself has them: an alias may stand for another model now.
  for (const name of OF_RUN) values.delete(name);
  return values;
}

const headersIn = (values: RecordedFacts['values']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...values].flatMap(([name, [value]]) =>
      name.startsWith('headers.') && typeof value === 'string' ? [[name.slice('headers.'.length), value]] : [],
    ),
  );

function metadataOf(record: Json, ofKey: readonly string[]) {
  const all = isObject(record['metadata']) ? Object.entries(record['metadata']) : [];
  const shown = all.flatMap(([name, value]) =>
    typeof value === 'string' && isWhole(value) && isWhole(name) && !ofKey.includes(name) ? [[name, value]] : [],
  );
  const metadata = Object.fromEntries(shown) as Readonly<Record<string, string>>;
  const unknownMetadata = new Set([
    ...ofKey,
    ...all.flatMap(([name]) => (Object.hasOwn(metadata, name) ? [] : [name])),
  ]);
  const leftOut = isObject(record['left_out']) ? record['left_out']['metadata'] : undefined;
  return { metadata, unknownMetadata, hasAllMetadata: leftOut === undefined };
}

const heldIn = (record: Json): RecordedFacts['held'] =>
  new Map(
    itemsIn(record, 'conditions').map((one) => {
      const index = /^conditions\[(\d+)\]$/.exec(textIn(one, 'held') ?? '')?.[1];
      return [textIn(one, 'at') ?? '', index === undefined ? undefined : Number(index)];
    }),
  );

/** The attempts, and the failures of those that did not answer. */
function attemptsOf(record: Json): Pick<RecordedFacts, 'targets' | 'failures'> {
  const leftOut = isObject(record['left_out']) ? record['left_out']['attempts'] : undefined;
  if (typeof leftOut === 'number' && leftOut > 0) throw new Unknown('not all its attempts are in the record');
  const failures = new Map<string, GatewayError>();
  const targets: string[] = [];
  for (const attempt of itemsIn(record, 'attempts')) {
    const [provider, model] = [textIn(attempt, 'provider'), exact(attempt, 'request_model')];
    if (provider === undefined) continue;
    if (model === undefined) throw new Unknown('the name of a model is not whole in the record');
    const target = `@${provider}/${model}`;
    const failure = isObject(attempt['failure']) ? failureOf(attempt['failure']) : undefined;
    if (failures.has(target) && failure?.code !== failures.get(target)?.code)
      throw new Unknown('it was sent to one model twice, with different results');
    if (failure) failures.set(target, failure);
    targets.push(target);
  }
  return { failures, targets };
}

/** Undefined: the client left, which is no failure of a target. */
function failureOf(failure: Json): GatewayError | undefined {
  const code = textIn(failure, 'code') ?? '';
  const kinds = listIn(failure, 'kinds');
  if (code === 'client_closed') return undefined;
  if (!isCode(code)) throw new Unknown(`this build does not know the error ${code}`);
  const status = failure['status'];
  const details = {
    shouldRetry: false,
    inStream: kinds.includes('stream_error') && code !== 'stream_interrupted',
    ...(typeof status === 'number' && { status }),
  };
  const ofUpstream = new UpstreamError(code, 'recorded', details);
  const error = failureKinds(ofUpstream).length > 0 ? ofUpstream : new GatewayError(code, 'recorded', details);
  if (failureKinds(error).join() === kinds.join()) return error;
  throw new Unknown('a limit of the gateway refused one of its targets');
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

/** Undefined: the record has a part of it, or marks in its place. */
function exact(record: Json, name: string): string | undefined {
  const text = textIn(record, name);
  return text !== undefined && isWhole(text) ? text : undefined;
}

/** Records cut texts, and mark secrets, lists and what cannot be printed. */
const isWhole = (text: string, length = 256): boolean =>
  !(text.length > length && text.endsWith('…')) && !/\[secret\]|\uFFFD|^\[(?:list|object)\]$/.test(text);

const textIn = (of: Json, name: string): string | undefined => {
  const value = of[name];
  return typeof value === 'string' ? value : undefined;
};

const listIn = (of: Json, name: string): readonly unknown[] => {
  const value = of[name];
  return Array.isArray(value) ? value : [];
};

const itemsIn = (of: Json, name: string): readonly Json[] => listIn(of, name).filter(isObject);
