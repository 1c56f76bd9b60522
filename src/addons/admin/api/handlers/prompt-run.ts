import { GatewayError } from '../../../../plugin/index.ts';
import { isObject, parseJson } from '../../../../core/kernel/index.ts';
import { messageOf } from '../../../../core/kernel/outside/thrown.ts';
import { valueAt } from '../../../../core/settings/schema/pointer.ts';
import type { Call, Handler } from '../call.ts';
import { invalidBody } from '../schemas.ts';
import { checkActive } from './play.ts';
import { askedVersion, promptsOf, type OfPrompt } from './prompts.ts';
import { consoleOf } from './session.ts';

const AT_ONCE = 4;
const MAX_REPLY = 1024 * 1024;
/** Characters of a reply that are shown. */
const MAX_SHOWN = 64 * 1024;

interface RunCase {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly text?: string;
  readonly schema?: object;
}

interface RunBody {
  readonly as: string;
  readonly config?: string;
  readonly versions: readonly OfPrompt[];
  readonly cases: readonly RunCase[];
}

interface Turn {
  readonly index: number;
  readonly column: number;
  readonly of: RunCase;
  readonly version: ReturnType<typeof askedVersion>;
}

/** The outcome of one case with one version. */
interface Outcome {
  readonly status?: number;
  readonly ms?: number;
  readonly text?: string;
  readonly tokens?: object;
  readonly request_id?: string;
  readonly problem?: string;
}

export const runPrompt: Handler = async (call) => {
  const body = call.body as RunBody;
  await checkActive(body.as, call);
  const versions = body.versions.map((one, index) => askedVersion(one, call, `/versions/${index}/draft`));
  for (const [index, { schema }] of body.cases.entries()) {
    // A value fits a wrong schema or does not; a schema that is none is the caller's mistake.
    const wrong = schema && promptsOf().mistake(schema, null);
    if (wrong?.startsWith('schema') === true)
      throw invalidBody([{ pointer: `/cases/${index}/schema`, message: wrong }]);
  }
  const turns = body.cases.flatMap((of, index) =>
    versions.map((version, column): Turn => ({ index, column, of, version })),
  );
  return { stream: { type: 'text/event-stream; charset=utf-8', pieces: eventsOf(turns, body, call) } };
};

/** In the order of the cases, while the next ones run already. */
async function* eventsOf(turns: readonly Turn[], body: RunBody, call: Call): AsyncIterable<string> {
  let left = false;
  const stay = call.onLeave(() => void (left = true));
  const running: { readonly turn: Turn; readonly outcome: Promise<Outcome> }[] = [];
  const counts = { passed: 0, failed: 0 };
  const next = async (): Promise<string> => {
    const { turn, outcome } = running.shift()!;
    const { problem, ...found } = await outcome;
    const isExpected = turn.of.text !== undefined || turn.of.schema !== undefined;
    const ok = problem === undefined ? (isExpected ? true : null) : false;
    if (ok !== null) counts[ok ? 'passed' : 'failed'] += 1;
    const event = { case: turn.index, version: turn.column, ok, ...found, ...(problem !== undefined && { problem }) };
    return `event: case\ndata: ${JSON.stringify(event)}\n\n`;
  };
  try {
    for (const turn of turns) {
      if (left) return;
      running.push({ turn, outcome: run(turn, body, call) });
      if (running.length >= AT_ONCE) yield next();
    }
    while (running.length > 0) yield next();
    yield `event: done\ndata: ${JSON.stringify(counts)}\n\n`;
  } finally {
    stay();
  }
}

/** Never rejects. */
async function run(turn: Turn, body: RunBody, call: Call): Promise<Outcome> {
  const from = performance.now();
  try {
    const played = await consoleOf(call).play(call.sources.ask, questionOf(turn, body, call), call.onLeave);
    if (!played) return { problem: 'Too many requests of the playground are under way.' };
    const reply = await textOf(played.pieces);
    const { status } = played;
    const id = played.headers['x-gateway-request-id'];
    const known = { status, ms: Math.round(performance.now() - from), ...(id !== undefined && { request_id: id }) };
    const json = parseJson(reply);
    if (status >= 400) {
      const message = valueAt(json, ['error', 'message']);
      return { ...known, problem: typeof message === 'string' ? message : `The status is ${status}.` };
    }
    const content = valueAt(json, ['choices', 0, 'message', 'content']);
    const text = typeof content === 'string' ? content : '';
    const usage = valueAt(json, ['usage']);
    const problem = problemOf(text, turn.of);
    return {
      ...known,
      text: text.slice(0, MAX_SHOWN),
      ...(isObject(usage) && { tokens: { input: usage['prompt_tokens'], output: usage['completion_tokens'] } }),
      ...(problem !== undefined && { problem }),
    };
  } catch (error) {
    return { problem: error instanceof GatewayError ? error.message : messageOf(error) };
  }
}

/** A saved version takes the path of prompts, with what its key and its config allow; another one is a chat request. */
function questionOf(
  { of: { variables = {} }, version: { number, version } }: Turn,
  { as, config }: RunBody,
  { id, settings }: Call,
): object {
  const headers = { 'content-type': 'application/json', ...(config !== undefined && { 'x-gateway-config': config }) };
  const saved = number !== undefined;
  return {
    as,
    method: 'POST',
    path: saved ? `/v1/prompts/${encodeURIComponent(id)}@${number}/completions` : '/v1/chat/completions',
    headers,
    body: JSON.stringify(saved ? { variables } : promptsOf().render(version, variables, settings)),
  };
}

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > MAX_REPLY) throw new Error(`the reply has more than ${MAX_REPLY} bytes`);
    all.push(piece);
  }
  return Buffer.concat(all).toString();
}

function problemOf(reply: string, { text, schema }: RunCase): string | undefined {
  if (text !== undefined && !reply.includes(text)) return 'The reply does not have the expected text.';
  if (!schema) return undefined;
  const value = parseJson(reply);
  if (value === undefined) return 'The reply is not JSON.';
  const mistake = promptsOf().mistake(schema, value);
  return mistake === undefined ? undefined : `The reply ${mistake}.`;
}
