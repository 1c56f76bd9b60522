import type { VertexEndpoint, VertexEntry as VertexSettings } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import { RequestBody } from '../../kernel/index.ts';
import type { Edit } from '../../../plugin/index.ts';
import type { ModelCall, Quirks, BodyEnvelope } from '../provider.ts';
import type { EmbeddingSettings, ModelEndpoint } from './task-models.ts';
import { readExtensions } from '../entry-settings.ts';
import { ENDPOINT_METHODS, ENDPOINT_PREFIX } from './families.ts';
import { isEndpointId, readDedicatedHost } from './hosts.ts';
import { explainPermission } from './hints.ts';
import type { Loss } from '../../../formats/conversation.ts';
import { ReplyFault } from '../../../formats/faults.ts';
import { textOf } from '../../../formats/sse/stream-start.ts';

export interface DeployedModel {
  readonly locate: (call: ModelCall, settings: EmbeddingSettings) => ModelEndpoint;
  readonly quirks: (call: ModelCall) => Quirks;
  /** `https://{dedicated host}`; undefined for the host of the entry's other models. */
  readonly origin: string | undefined;
}

/** The entry's `endpoints:` by name. Undefined when a problem was reported. */
export function readEndpoints(
  { endpoints = {}, region, base_url: baseUrl }: VertexSettings,
  report: Report,
): ReadonlyMap<string, DeployedModel> | undefined {
  const names = Object.keys(endpoints);
  const sound = names.map((name) => {
    const settings = endpoints[name]!;
    const path = ['endpoints', name];
    if (!checkName(name, path, report)) return false;
    if (settings.method === 'predict' && settings.stream_usage !== undefined)
      report({ path: [...path, 'stream_usage'], ...NO_STREAM });
    if (settings.method === 'gemini' && settings.extensions !== undefined)
      report({ path: [...path, 'extensions'], ...NOT_OPENAI });
    if (!isEndpointId(settings.id)) {
      report({ path: [...path, 'id'], message: 'id is not the id of an endpoint' });
      return false;
    }
    return checkDedicatedHost(settings, { region, proxied: baseUrl !== undefined }, (problem) =>
      report({ ...problem, path: [...path, ...problem.path] }),
    );
  });
  if (sound.includes(false)) return undefined;
  return new Map(names.map((name) => [name, deployedModel(endpoints[name]!, baseUrl !== undefined)]));
}

const noEffect = (message: string) => ({ on: 'key', severity: 'warning', message }) as const;
const NO_STREAM = noEffect('stream_usage has no effect: `predict` does not stream');
const NOT_OPENAI = noEffect("extensions has no effect: `gemini` does not speak OpenAI's API");

/** Refuses an empty name, and a name with the prefix, which requests would have to write as `endpoints.endpoints.NAME`. */
function checkName(name: string, path: readonly string[], report: Report): boolean {
  if (name !== '' && !name.startsWith(ENDPOINT_PREFIX)) return true;
  const message = `an endpoint needs a name without \`${ENDPOINT_PREFIX}\`: requests write that prefix before it`;
  const bare = name.slice(ENDPOINT_PREFIX.length);
  report({ path, on: 'key', message, ...(bare !== '' && { suggestion: bare }) });
  return false;
}

interface Surroundings {
  readonly region: string | undefined;
  /** The entry has a `base_url`, to which all its requests are sent. */
  readonly proxied: boolean;
}

/** Checks the dedicated host: an endpoint's calls fail at any other host, and other endpoints' calls fail at this one. */
function checkDedicatedHost(settings: VertexEndpoint, { region, proxied }: Surroundings, report: Report): boolean {
  const { dedicated_dns: dns, id } = settings;
  if (dns === undefined) return true;
  const path = ['dedicated_dns'];
  const host = readDedicatedHost(dns);
  const refuse = (message: string): false => {
    report({ path, message: `dedicated_dns ${message}` });
    return false;
  };
  if (!host) return refuse('is not of the form ENDPOINT_ID.REGION-PROJECT_NUMBER.prediction.vertexai.goog');
  if (host.endpoint !== id.toLowerCase()) return refuse(`belongs to another endpoint: id is ${JSON.stringify(id)}`);
  if (host.region !== region) return refuse(`is in another region: region is ${JSON.stringify(region)}`);
  if (settings.method === 'gemini')
    return refuse('cannot be used with `method: gemini`: tuned Gemini models have no dedicated host');
  if (proxied)
    report({ path, severity: 'warning', message: 'dedicated_dns has no effect: all requests are sent to base_url' });
  return true;
}

function deployedModel(settings: VertexEndpoint, proxied: boolean): DeployedModel {
  const { id, method = 'chat', dedicated_dns: dns, model, stream_usage: streamUsage } = settings;
  const extensions = readExtensions(settings.extensions, undefined);
  const family = ENDPOINT_METHODS[method];
  const changes = {
    ...(model !== undefined && { model }),
    ...(streamUsage === false && { streamUsage }),
    ...(extensions && { extensions }),
  };
  const quirks: Quirks = { explain: explainPermission };
  // Only chat is wrapped: other tasks encode their own instances.
  const ofChat = method === 'predict' ? { ...quirks, envelope: predictEnvelope(model !== undefined) } : quirks;
  return {
    locate: (call, embeddings) => ({ ...family(id, call, embeddings), ...changes }),
    quirks: ({ task }) => (task === 'generate' ? ofChat : quirks),
    origin: dns === undefined || proxied ? undefined : `https://${dns}`,
  };
}

const BEFORE = Buffer.from('{"instances":[');
const AFTER = Buffer.from('],"parameters":{}}');

/** Without this, containers of Google's Model Garden expect a `prompt`. */
const CHAT: Edit = { path: ['@requestFormat'], value: 'chatCompletions', source: 'gateway' };
/** `:predict` does not stream. */
const OF_STREAMS = ['stream', 'stream_options'];

const STREAM_LOSS: Loss = {
  param: 'stream',
  action: 'downgraded',
  reason: 'This endpoint does not stream: the answer arrives in one piece',
};

/** A chat body as the one instance of a `:predict` call (docs/protocols/vertex-ai.md#predict). */
export function predictEnvelope(keepModel: boolean): BodyEnvelope {
  return {
    wrap(body, stream) {
      // Without limits: the body was checked against them before.
      const view = RequestBody.read(body, Number.POSITIVE_INFINITY);
      // The endpoint determines the model.
      const dropped = (keepModel ? OF_STREAMS : [...OF_STREAMS, 'model'])
        .filter((key) => view.has(key))
        .map((key): Edit => ({ path: [key], value: undefined, source: 'gateway' }));
      const instance = view.edit([CHAT, ...dropped]).encode();
      return { body: Buffer.concat([BEFORE, instance, AFTER]), losses: stream ? [STREAM_LOSS] : [] };
    },
    unwrap(bytes) {
      return Buffer.from(JSON.stringify(predictionIn(parse(bytes))));
    },
  };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(textOf(bytes));
  } catch (error) {
    throw new ReplyFault('the prediction is not complete JSON', { cause: error });
  }
}

/** The prediction for the one instance: containers return a list of one, Google's own containers for chat the object itself. */
function predictionIn(reply: unknown): object {
  const { predictions } = Object(reply) as { predictions?: unknown };
  const prediction: unknown = Array.isArray(predictions) ? predictions[0] : predictions;
  if (typeof prediction === 'object' && prediction !== null && !Array.isArray(prediction)) return prediction;
  throw new ReplyFault('the prediction is not a chat completion');
}
