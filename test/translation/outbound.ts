/** What really leaves for an upstream: the `transform` plugin and the translator of the server, without a socket. */
import override from '../../plugins/override/index.ts';
import transform from '../../plugins/transform/index.ts';
import { createTarget } from '../../src/core/catalog/catalog-target.ts';
import { operations } from '../../src/core/operations/index.ts';
import { GatewayError } from '../../src/plugin/index.ts';
import { RequestBody, type ResolvedTarget } from '../../src/core/kernel/index.ts';
import { createAttempt, createExchange, createFakeClock, runPlugin } from '../../src/plugin/testing/index.ts';
import { NO_EXTENSIONS } from '../../src/core/providers/entry-settings.ts';
import { batchEmbeddings, singleEmbedding } from '../../src/core/providers/google-ai-studio/embeddings.ts';
import { OPERATIONS as OPENAI_TASKS } from '../../src/core/providers/openai/entry.ts';
import type { ModelCall } from '../../src/core/providers/provider.ts';
import { createAdHocVertex } from '../../src/core/providers/vertex-ai/index.ts';
import { createTranslator } from '../../src/core/translate/translator.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface SeenLoss {
  readonly param: string;
  readonly action: string;
  readonly reason: string;
}

export interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  /** `body` as it is written. */
  readonly bytes: string;
  readonly losses: readonly SeenLoss[];
  /** Top-level fields the gateway asked for by name, apart from translating the whole. */
  readonly read: ReadonlySet<string>;
}
export interface Refused {
  readonly refused: { readonly code: string; readonly param: string | null };
}
export type Outbound = Sent | Refused;

export const isRefused = (outbound: Outbound): outbound is Refused => 'refused' in outbound;

/**
 * A kind of upstream that requests are translated for: `openai` is OpenAI's own chat API, `responses` its Responses API, `ownAccount` the same
 * with the caller's own token, `compatible` any other server with the chat API, `studio` Google AI Studio.
 */
export type Family = 'openai' | 'responses' | 'ownAccount' | 'compatible' | 'vertex' | 'anthropic' | 'studio';

/** The operations whose requests are sent, by the API that a request is written for. */
const IDS = {
  chat: 'chat.completions',
  messages: 'messages',
  responses: 'responses',
  gemini: 'gemini.generate_content',
  embeddings: 'embeddings',
  embedContent: 'gemini.embed_content',
  batchEmbedContents: 'gemini.batch_embed_contents',
  predict: 'vertex.predict',
  images: 'images.generations',
  completions: 'completions',
  moderations: 'moderations',
  speech: 'audio.speech',
  transcriptions: 'audio.transcriptions',
  translations: 'audio.translations',
  imageEdits: 'images.edits',
  imageVariations: 'images.variations',
} as const;
export type Client = keyof typeof IDS;

export const operationOf = (client: Client) =>
  operations.find(({ id, path }) => id === IDS[client] && !path.includes('publishers'))!;

/** How the caller wants its request treated, beside what the body says. */
export interface Asking {
  /** Default: chat. */
  readonly client?: Client;
  /** `x-gateway-strict-open-ai-compliance`; default: true. */
  readonly strict?: boolean;
  /** `x-gateway-strict-params`; default: false. */
  readonly strictParams?: boolean;
  /** `override_params` of the gateway config. */
  readonly overrides?: Json | undefined;
}

const clock = createFakeClock();
const translator = createTranslator(clock);
const vertex = createAdHocVertex({ projectId: 'project', region: 'us-central1' });

/** A target of a task that is no conversation. */
function located(provider: string, location: Located): ResolvedTarget {
  const named = { slug: provider, provider, semconvName: provider };
  const entry = { provider: named, timeouts: {} } as unknown as Parameters<typeof createTarget>[0];
  return createTarget(entry, { location, estimates: false }, { label: location.model, name: location.model });
}
type Located = ReturnType<typeof vertex.locate>;

interface AskedTarget extends ModelCall {
  /** The name of the model as the caller writes it. */
  readonly asked: string;
}

function resolve(family: Family, { asked, stream, task, form }: AskedTarget): ResolvedTarget {
  const model = asked.replace(/^@[^/]+\//, '');
  const named = { slug: family, provider: family, semconvName: family, model, modelLabel: model, timeouts: {} };
  if (family === 'vertex' && task !== 'generate') return located(family, vertex.locate(model, { task, stream, form }));
  if (family === 'vertex') return { ...named, provider: 'vertex-ai', ...vertex.locate(model, { task, stream }) };
  const direct = { ...named, origin: 'https://upstream.example', headers: {}, host: 'direct' } as const;
  if (family === 'anthropic') return { ...direct, path: '/v1/messages', format: 'anthropic-messages' };
  const responses = { path: '/v1/responses', format: 'openai-responses', extensions: NO_EXTENSIONS } as const;
  if (family === 'responses') return { ...direct, ...responses };
  if (family === 'ownAccount') return { ...direct, ...responses, usesCallersToken: true, takesUnknownIds: true };
  const place = { origin: direct.origin, headers: {}, host: 'direct', model } as const;
  if (family === 'studio' && task === 'generate')
    return { ...named, ...place, path: `/v1beta/models/${model}:generateContent`, format: 'gemini' };
  if (family === 'studio') {
    const single = form === 'embedContent';
    const path = `/v1beta/models/${model}:${single ? 'embedContent' : 'batchEmbedContents'}`;
    return located(family, { ...place, path, format: 'gemini', codec: single ? singleEmbedding : batchEmbeddings });
  }
  const { path, codec } = OPENAI_TASKS[task]!;
  if (codec) return located(family, { ...place, path: `/v1${path}`, format: 'openai-chat', codec });
  const chat = { ...direct, path: '/v1/chat/completions', format: 'openai-chat' } as const;
  return family === 'openai' ? { ...chat, extensions: NO_EXTENSIONS } : chat;
}

/** Sends a caller's body to a family; its `model` names the entry or not, and then the upstream's model. */
export function send(family: Family, request: Json, asking: Asking = {}): Promise<Outbound> {
  const { task, taskForms } = operationOf(asking.client ?? 'chat');
  const form = taskForms?.native;
  return sendTo((asked, stream) => resolve(family, { asked, stream, task: task!, form }), request, asking);
}

export type Resolve = (model: string, stream: boolean) => ResolvedTarget;

/** Sends a caller's body to the target of its model. */
export async function sendTo(resolveModel: Resolve, request: Json, asking: Asking = {}): Promise<Outbound> {
  const { client = 'chat', strict = true, strictParams = false, overrides } = asking;
  const operation = operationOf(client);
  const exchange = createExchange({ json: request, operation, strict, strictParams });
  const { body, read } = watched(request);
  const target = overrides && { path: 'config', overrideParams: overrides };
  const attempt = createAttempt(exchange, { body, ...(target && { target }) });
  const invalid = operation.validate(request);
  if (invalid) return refusal(invalid.missing ? 'missing_required_parameter' : 'invalid_request', invalid.param);
  try {
    if (overrides) await runPlugin(override, { exchange, attempt });
    await runPlugin(transform, {
      exchange,
      attempt,
      needs: {
        targets: { resolve: (_exchange, _target, model, stream) => resolveModel(model, stream) },
        // Nothing is fetched: what a target takes only as data is refused, as without a config that allows it.
        media: { inline: () => undefined },
        translate: translator,
      },
    });
  } catch (error) {
    if (error instanceof GatewayError) return refusal(error.code, error.param ?? null);
    throw error;
  }
  const { path, headers, body: encoded } = attempt.outbound!;
  const bytes = encoded.toString();
  return { path, headers, body: JSON.parse(bytes) as Json, bytes, losses: attempt.losses, read };
}

const refusal = (code: string, param: string | null): Refused => ({ refused: { code, param } });

/** A body that notes which of its fields are asked for by name. */
function watched(request: Json): { readonly body: RequestBody; readonly read: ReadonlySet<string> } {
  const read = new Set<string>();
  const body = RequestBody.read(Buffer.from(JSON.stringify(request)), 64);
  const noting =
    <T>(look: (key: string) => T) =>
    (key: string): T => {
      read.add(key);
      return look.call(body, key);
    };
  Object.assign(body, { has: noting(body.has), value: noting(body.value), string: noting(body.string) });
  return { body, read };
}
