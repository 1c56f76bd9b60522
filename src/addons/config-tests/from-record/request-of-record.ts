import { operations } from '../../../core/operations/index.ts';
import type { KeptClientRequest, RecordCaseQuestion } from '../../../core/process/record-case-port.ts';
import type { Settings } from '../../../core/settings/read/load.ts';
import { isObject, parseJson } from '../../../formats/json/object.ts';
import type { CaseRecord } from './shapes.ts';

interface ClientPart {
  readonly request: { readonly method?: 'GET'; readonly path?: string; readonly body?: Record<string, unknown> };
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers that a case has of itself, or that say nothing about the request. */
const NOT_IN_CASES =
  /^(?:host|connection|content-length|content-type|accept|accept-encoding|accept-language|user-agent|x-request-id|traceparent|tracestate|x-stainless-.*|sec-.*|via|forwarded|x-forwarded-.*|x-real-ip)$/;

/** The request as it was kept, or one like it: its texts, and what no record has, are `[text]`. */
export function clientPart(record: CaseRecord, kept: KeptClientRequest | undefined, settings: Settings): ClientPart {
  const { method = 'POST', path = '/v1/chat/completions' } = kept ?? record;
  const body = kept ? parseJson(kept.body) : likelyBody(record, settings);
  return {
    request: {
      ...(method === 'GET' && { method: 'GET' }),
      ...(path !== '/v1/chat/completions' && { path }),
      ...(method !== 'GET' && isObject(body) && { body }),
    },
    headers: kept ? keptHeaders(kept.headers) : likelyHeaders(record, settings),
  };
}

/** The client's request of a record. Without a kept one it names its config, if that is not a default. */
export function requestOfRecord({
  record,
  kept,
  inForce: { settings },
}: Pick<RecordCaseQuestion, 'record' | 'kept' | 'inForce'>): Omit<KeptClientRequest, 'draws'> {
  // The JSON of a record of this gateway.
  const { request, headers } = clientPart(record as CaseRecord, kept, settings);
  const key = settings.keys.keys.find(({ id }) => id === record.key_id);
  const usual = key?.default_config ?? settings.server.default_config;
  const id = record.alias === undefined ? record.config?.id : undefined;
  const named = kept === undefined && id !== undefined && id !== usual && { 'x-gateway-config': id };
  return {
    method: request.method ?? 'POST',
    path: request.path ?? '/v1/chat/completions',
    headers: { ...headers, ...named },
    body: request.body ? JSON.stringify(request.body) : '',
  };
}

const keptHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_IN_CASES.test(name)));

function likelyHeaders(record: CaseRecord, settings: Settings): Record<string, string> {
  const bound = settings.keys.keys.find(({ id }) => id === record.key_id)?.metadata ?? {};
  const own = Object.entries(record.metadata ?? {}).filter(([name]) => !Object.hasOwn(bound, name));
  const compared = comparedIn(record).flatMap(([field, found]): [string, string][] =>
    field.startsWith('headers.') && found !== null ? [[field.slice('headers.'.length), String(found)]] : [],
  );
  return {
    ...Object.fromEntries(compared),
    ...(own.length > 0 && { 'x-gateway-metadata': JSON.stringify(Object.fromEntries(own)) }),
  };
}

const comparedIn = ({
  conditions = [],
}: CaseRecord): readonly (readonly [string, string | number | boolean | null])[] =>
  conditions.flatMap(({ tests = [] }) => tests.map(({ field, found }) => [field, found] as const));

const TEXT = '[text]';

/** By the task of the operation, the fields that it needs besides the model. */
const BODIES: Readonly<Record<string, Record<string, unknown>>> = {
  embeddings: { input: TEXT },
  images: { prompt: TEXT },
  moderations: { input: TEXT },
  speech: { input: TEXT, voice: 'alloy' },
};

const MESSAGES = [{ role: 'user', content: TEXT }];

function likelyBody(record: CaseRecord, settings: Settings): Record<string, unknown> | undefined {
  const { operation: id = 'chat.completions', path = '' } = record;
  const operation = operations.find((one) => one.id === id);
  const common = { model: modelOf(record, settings), ...(record.stream === true && { stream: true }) };
  const byTask = BODIES[operation?.task ?? ''];
  const fields = byTask
    ? { ...common, ...byTask }
    : operation?.format.name === 'gemini'
      ? { contents: [{ role: 'user', parts: [{ text: TEXT }] }] }
      : operation?.format.name === 'openai-responses'
        ? { ...common, input: TEXT }
        : operation?.format.name === 'anthropic-messages'
          ? { ...common, ...(!path.endsWith('count_tokens') && { max_tokens: 1024 }), messages: MESSAGES }
          : id === 'completions'
            ? { ...common, prompt: TEXT }
            : { ...common, messages: MESSAGES };
  return withCompared(fields, record);
}

/** The values that conditions compared are known. */
function withCompared(body: Record<string, unknown>, record: CaseRecord): Record<string, unknown> {
  const params = comparedIn(record).flatMap(([field, found]) =>
    field.startsWith('params.') && found !== null ? [[field.slice('params.'.length).split('.'), found] as const] : [],
  );
  return params.reduce((whole, [path, found]) => put(whole, path, found), body);
}

function put(
  into: Record<string, unknown>,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  const inner = into[name];
  return { ...into, [name]: rest.length === 0 ? value : put(isObject(inner) ? inner : {}, rest, value) };
}

/** As the request has probably named it: a record has the model of each target. */
function modelOf(record: CaseRecord, { gateway }: Settings): string {
  const compared = comparedIn(record).find(([field]) => field === 'model' || field === 'params.model')?.[1];
  if (typeof compared === 'string') return compared;
  const { alias, config, attempts } = record;
  const [first] = attempts;
  if (alias !== undefined) return alias.replace('*', first?.request_model ?? 'model');
  const model = first?.request_model ?? 'model';
  const file = config && gateway.get(config.id);
  // A config whose targets name their provider takes a bare name.
  return file && JSON.stringify(file).includes('"provider"') ? model : `@${first?.provider ?? 'provider'}/${model}`;
}
