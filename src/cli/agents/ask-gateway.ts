import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { JsonObject } from '../../formats/conversation.ts';
import { parseJson } from '../../formats/json/read.ts';
import { isObject } from '../../plugin/index.ts';
import { nearest } from '../../plugin/nearest.ts';
import { messageOf } from '../../plugin/thrown.ts';
import type { PlaceFacts } from './agents.ts';

/** Asks a gateway for its models, for `gatehouse agent-config`. */

interface ModelQuestion {
  readonly url: string;
  readonly key: string | undefined;
  /** Absent: only the list is asked for. */
  readonly model: string | undefined;
}

/** The gateway did not return its models. */
export interface NoModels {
  readonly kind: 'silent';
  readonly reason: string;
  /** It refused the key. */
  readonly refused: boolean;
}

type ModelAnswer =
  | { readonly kind: 'known'; readonly facts: PlaceFacts }
  | { readonly kind: 'unknown'; readonly hint: string }
  | NoModels;

/** Codex sends its version; the gateway answers any with the form that Codex reads, beside the one of OpenAI. */
const LIST = '/v1/models?client_version=0';

export async function askGateway({ url, key, model }: ModelQuestion): Promise<ModelAnswer> {
  try {
    const list = await get(url + LIST, key);
    if (list.status !== 200 || !isObject(list.body)) return silent(url, list.status);
    const { data, models: codexModels } = list.body;
    // Codex refuses a file without models.
    const codex = Array.isArray(codexModels) && codexModels.length > 0 ? { codexModels } : {};
    if (model === undefined) return { kind: 'known', facts: codex };
    const listed = Array.isArray(data) ? data.filter(isObject) : [];
    const found = listed.find(({ id }) => id === model) ?? (await unlisted(url, key, model));
    return found
      ? { kind: 'known', facts: { ...limitsOf(found), ...codex } }
      : { kind: 'unknown', hint: hintOf(model, listed) };
  } catch (error) {
    return { kind: 'silent', reason: `the gateway at ${url} did not answer (${messageOf(error)})`, refused: false };
  }
}

const silent = (url: string, status: number): NoModels => ({
  kind: 'silent',
  reason: `the gateway at ${url} did not list its models (HTTP ${status})`,
  refused: status === 401,
});

/** Lists have no hidden aliases, and no names of models that only the upstream knows. */
async function unlisted(url: string, key: string | undefined, model: string): Promise<JsonObject | undefined> {
  const { status, body } = await get(`${url}/v1/models/${encodeURIComponent(model)}`, key);
  if (status === 404) return undefined;
  if (status !== 200 || !isObject(body)) throw new Error(`HTTP ${status} for the model`);
  return body;
}

function limitsOf(found: JsonObject): PlaceFacts {
  const { context_window: context, max_input_tokens: input, max_output_tokens: output } = found;
  return {
    ...(typeof context === 'number' && { context }),
    ...(typeof input === 'number' && { input }),
    ...(typeof output === 'number' && { output }),
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
  if (names.length === 0) return 'it lists no models';
  return `it has ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`;
}

const LIMIT_MS = 2000;
/** Thousands of models. */
const MOST_BYTES = 16 * 1024 * 1024;

/** A redirect is an answer like any other: the key goes to the address of the command line only. */
function get(url: string, key: string | undefined): Promise<{ readonly status: number; readonly body: unknown }> {
  const request = url.startsWith('https:') ? requestTls : requestPlain;
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return new Promise((resolve, reject) => {
    request(url, { headers, signal: AbortSignal.timeout(LIMIT_MS) }, (reply) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      reply
        .on('data', (piece: Buffer) => {
          pieces.push(piece);
          if ((bytes += piece.length) > MOST_BYTES) reply.destroy(new Error('its list is too long'));
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
