import type { VertexEndpoint, VertexEntry as VertexSettings } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import type { ModelCall, Quirks } from '../provider.ts';
import type { EmbeddingSettings, ModelEndpoint } from './task-models.ts';
import { readExtensions } from '../extensions.ts';
import { ENDPOINT_METHODS, ENDPOINT_PREFIX } from './families.ts';
import { isEndpointId, readDedicatedHost } from './hosts.ts';
import { explainPermission } from './hints.ts';
import { predictEnvelope } from './predict.ts';

/** An endpoint of the settings, compiled. */
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

const NO_STREAM = {
  on: 'key',
  severity: 'warning',
  message: 'stream_usage has no effect: `predict` does not stream',
} as const;

const NOT_OPENAI = {
  on: 'key',
  severity: 'warning',
  message: "extensions has no effect: `gemini` does not speak OpenAI's API",
} as const;

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
