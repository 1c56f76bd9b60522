import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { JsonObject } from '../../formats/conversation.ts';
import { isObject, parseJson } from '../../core/kernel/index.ts';
import { nearest } from '../../core/kernel/nearest.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import type { PlaceFacts } from './agents.ts';

/** Requests the models of a gateway, for `gatehouse agent-config`. */

interface ModelQuestion {
  readonly url: string;
  readonly key: string | undefined;
  /** Absent: only the list is asked for. */
  readonly model: string | undefined;
}

/** No answer, or one that is not a list of models. */
interface Unavailable {
  readonly kind: 'unavailable';
  readonly reason: string;
}

export interface KeyRefused {
  readonly kind: 'refused';
  readonly status: number;
  readonly message: string | undefined;
}

type ModelAnswer =
  | { readonly kind: 'known'; readonly facts: PlaceFacts }
  | { readonly kind: 'unknown'; readonly hint: string }
  | Unavailable
  | KeyRefused;

/** Codex sends its version; the gateway answers any with the form that Codex reads, beside the one of OpenAI. */
const LIST = '/v1/models?client_version=0';

export async function askGateway({ url, key, model }: ModelQuestion): Promise<ModelAnswer> {
  try {
    const list = await get(url + LIST, key);
    if (list.status !== 200 || !isObject(list.body)) return failureOf(url, list, 'list its models');
    const { data, models: codexModels } = list.body;
    // Codex refuses a file without models.
    const codex = Array.isArray(codexModels) && codexModels.length > 0 ? { codexModels } : {};
    if (model === undefined) return { kind: 'known', facts: codex };
    const listed = Array.isArray(data) ? data.filter(isObject) : [];
    const inList = listed.find(({ id }) => id === model);
    if (inList) return { kind: 'known', facts: { ...factsOf(inList), ...codex } };
    // Lists have no hidden aliases, and no names of models that only the upstream knows.
    const single = await get(`${url}/v1/models/${encodeURIComponent(model)}`, key);
    if (single.status === 404) return { kind: 'unknown', hint: hintOf(model, listed) };
    if (single.status !== 200 || !isObject(single.body)) return failureOf(url, single, 'describe the model');
    return { kind: 'known', facts: { ...factsOf(single.body), ...codex } };
  } catch (error) {
    return { kind: 'unavailable', reason: `the gateway at ${url} did not answer (${messageOf(error)})` };
  }
}

const failureOf = (url: string, { status, body }: Reply, wanted: string): Unavailable | KeyRefused =>
  status === 401 || status === 403
    ? { kind: 'refused', status, message: errorMessage(body) }
    : { kind: 'unavailable', reason: `the gateway at ${url} did not ${wanted} (HTTP ${status})` };

const MOST_MESSAGE = 200;

function errorMessage(body: unknown): string | undefined {
  const error = isObject(body) ? body.error : undefined;
  const message = isObject(error) ? error.message : undefined;
  return typeof message === 'string' ? message.slice(0, MOST_MESSAGE) : undefined;
}

function factsOf(found: JsonObject): PlaceFacts {
  const { context_window: context, max_input_tokens: input, max_output_tokens: output, capabilities } = found;
  return {
    ...(typeof context === 'number' && { context }),
    ...(typeof input === 'number' && { input }),
    ...(typeof output === 'number' && { output }),
    ...(Array.isArray(capabilities) && capabilities.includes('vision') && { images: true }),
  };
}

const CLOSE_NAMES = 3;

/** The closest names, else some that there are. */
function hintOf(model: string, listed: readonly JsonObject[]): string {
  const names = listed.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
  const close: string[] = [];
  for (let next = nearest(model, names); next !== undefined && close.length < CLOSE_NAMES;) {
    close.push(next);
    next = nearest(
      model,
      names.filter((name) => !close.includes(name)),
    );
  }
  if (close.length > 0) return `did you mean ${close.map((name) => JSON.stringify(name)).join(', ')}?`;
  if (names.length === 0) return 'the gateway lists no models';
  return `the gateway has ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`;
}

const LIMIT_MS = 2000;
const MOST_BYTES = 16 * 1024 * 1024;

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** A redirect is an answer like any other: the key goes to the address of the command line only. */
function get(url: string, key: string | undefined): Promise<Reply> {
  const request = url.startsWith('https:') ? requestTls : requestPlain;
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return new Promise((resolve, reject) => {
    request(url, { headers, signal: AbortSignal.timeout(LIMIT_MS) }, (reply) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      reply
        .on('data', (piece: Buffer) => {
          pieces.push(piece);
          if ((bytes += piece.length) > MOST_BYTES) reply.destroy(new Error('the list of models is too long'));
        })
        .once('error', reject)
        .once('end', () =>
          resolve({ status: reply.statusCode ?? 0, body: parseJson(Buffer.concat(pieces).toString()) }),
        );
    })
      .once('error', (error) => reject(error.name === 'AbortError' ? new Error(`not within ${LIMIT_MS} ms`) : error))
      .end();
  });
}
