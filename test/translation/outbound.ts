/** What really leaves for an upstream: the `transform` plugin and the translator of the server, without a socket. */
import transform from '../../plugins/transform/index.ts';
import { chatCompletions } from '../../src/operations/chat-completions.ts';
import { GatewayError, RequestBody, type ResolvedTarget } from '../../src/plugin/index.ts';
import { createAttempt, createExchange, createFakeClock, runPlugin } from '../../src/plugin/testing/index.ts';
import { createAdHocVertex } from '../../src/providers/vertex-ai/index.ts';
import { createTranslator } from '../../src/server/translator.ts';

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
  readonly losses: readonly SeenLoss[];
  /** Top-level fields the gateway asked for by name, apart from translating the whole. */
  readonly read: ReadonlySet<string>;
}
export interface Refused {
  readonly refused: { readonly code: string; readonly param: string | null };
}
export type Outbound = Sent | Refused;

export const isRefused = (outbound: Outbound): outbound is Refused => 'refused' in outbound;

/** A kind of upstream that requests are translated for. */
export type Family = 'openai' | 'vertex' | 'anthropic';

const clock = createFakeClock();
const translator = createTranslator(clock);
const vertex = createAdHocVertex({ projectId: 'project', region: 'us-central1' });

function resolve(family: Family, asked: string, stream: boolean): ResolvedTarget {
  const model = asked.replace(/^@[^/]+\//, '');
  const named = { slug: family, provider: family, semconvName: family, model, modelLabel: model, timeouts: {} };
  if (family === 'vertex') return { ...named, ...vertex.locate(model, { task: 'generate', stream }) };
  const direct = { ...named, origin: 'https://upstream.example', headers: {}, host: 'direct' } as const;
  return family === 'openai'
    ? { ...direct, path: '/v1/chat/completions', format: 'openai-chat' }
    : { ...direct, path: '/v1/messages', format: 'anthropic-messages' };
}

/** Sends a body of POST /v1/chat/completions to a family; its `model` names the entry or not, and then the upstream's model. */
export async function send(family: Family, request: Json, strict = true): Promise<Outbound> {
  const exchange = createExchange({ json: request, operation: chatCompletions, strict });
  const { body, read } = watched(request);
  const attempt = createAttempt(exchange, { body });
  const invalid = chatCompletions.validate(request);
  if (invalid) return refusal(invalid.missing ? 'missing_required_parameter' : 'invalid_request', invalid.param);
  try {
    await runPlugin(transform, {
      exchange,
      attempt,
      needs: {
        targets: { resolve: (_exchange, _target, model, stream) => resolve(family, model, stream) },
        translate: translator,
      },
    });
  } catch (error) {
    if (error instanceof GatewayError) return refusal(error.code, error.param ?? null);
    throw error;
  }
  const { path, headers, body: bytes } = attempt.outbound!;
  return { path, headers, body: JSON.parse(bytes.toString()) as Json, losses: attempt.losses, read };
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
