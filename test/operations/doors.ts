/** Every door of the gateway: an operation at one of its paths, with a request that it takes. The suites that must know every door read them here. */
import { operations } from '../../src/core/operations/index.ts';
import { bodyKind, type Operation } from '../../src/core/kernel/index.ts';
import type { ModelTask } from '../../src/plugin/index.ts';
import { PROBES } from './probes.ts';
import { UPSTREAMS } from './upstreams.ts';
import { FEATURES, type Feature } from './wires.ts';

export interface Place {
  readonly slug: string;
  readonly model: string;
}

export interface Door {
  /** Method, path and what else tells the operation from others at its path. */
  readonly title: string;
  readonly operation: Operation;
  /** Where a request for a model goes. */
  readonly place: Place;
  /** The first feature that the operation has; undefined for what the gateway answers itself. */
  readonly feature: Feature | undefined;
}

/** Bodies of the operations that the gateway answers itself. */
const OF_GATEWAY: Readonly<Record<string, object | undefined>> = {
  'prompts.render': { variables: { text: 'feature: plain' } },
  'prompts.list': undefined,
  'responses.retrieve': undefined,
  'responses.delete': undefined,
  'responses.cancel': undefined,
  'responses.input_items': undefined,
  'responses.socket': undefined,
  conversations: undefined,
  'models.list': undefined,
  'models.retrieve': undefined,
  'files.create': { purpose: 'user_data' },
  'files.list': undefined,
  'files.retrieve': undefined,
  'files.content': undefined,
  'files.delete': undefined,
};

/** Headers by which operations tell clients apart. One more is a key, which the test chooses. */
const CLIENTS: Readonly<Record<string, string>> = {
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'files-api-2025-04-14',
  'x-goog-api-client': 'google-genai-sdk/3.1.0',
};

const GOOGLE = UPSTREAMS.find(({ slug }) => slug === 'vertex')!;
const OPENAI = UPSTREAMS.find(({ slug }) => slug === 'openai')!;
const GOOGLE_TASKS: ReadonlySet<ModelTask> = new Set(['generate', 'count_tokens', 'embeddings', 'images']);

function placeOf({ task, modelPrefix }: Operation): Place {
  if (modelPrefix !== undefined) return { slug: GOOGLE.slug, model: 'anthropic.claude-sonnet-4-5' };
  const kind = task === undefined || GOOGLE_TASKS.has(task) ? GOOGLE : OPENAI;
  return { slug: kind.slug, model: (task && kind.models[task]) ?? kind.models.generate };
}

const titleOf = ({ method, path, header, query }: Operation): string =>
  `${method} ${path}${query ? `?${query.name}=${query.value}` : ''}${header === undefined ? '' : ` (${header})`}`;

/** Throws for an operation without a request: whoever adds one adds its probe. */
export const DOORS: readonly Door[] = operations.map((operation) => {
  const { id, task } = operation;
  const probes = PROBES[id];
  const feature = FEATURES.find((one) => probes?.[one]);
  if (task === undefined ? !(id in OF_GATEWAY) : feature === undefined)
    throw new Error(`no request is known for the operation ${id}`);
  return { title: titleOf(operation), operation, place: placeOf(operation), feature };
});

/** The features that a door has: at Vertex AI's path for plain replies the body asks for no stream. */
export const featuresOf = ({ operation: { id, path } }: Door): readonly Feature[] =>
  FEATURES.filter((feature) => PROBES[id]?.[feature] && !(feature === 'stream' && path.endsWith(':rawPredict')));

interface Ask {
  /** Default: the first one of the door. */
  readonly feature?: Feature | undefined;
  /** Beside those that the operation needs; its key is among them, or in `query`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query?: string | undefined;
}

/** Sends a request that the door takes. */
export function knock(url: string, door: Door, { feature = door.feature, headers, query }: Ask): Promise<Response> {
  const { operation } = door;
  const { method, header } = operation;
  const place = placeFor(door, feature);
  const kind = bodyKind(operation);
  const path = pathAt(operation, place);
  const body = bodyOf(operation, place, feature);
  return fetch(`${url}${path}${query === undefined ? '' : `${path.includes('?') ? '&' : '?'}${query}`}`, {
    method,
    headers: {
      ...(kind === 'json' && { 'content-type': 'application/json' }),
      ...(header !== undefined && header in CLIENTS && { [header]: CLIENTS[header]! }),
      'x-gateway-provider': `@${place.slug}`,
      ...headers,
    },
    ...(kind !== 'none' && { body: kind === 'json' ? JSON.stringify(body) : formOf(body) }),
  });
}

/** Some features have a model of their own. */
function placeFor({ operation: { id }, place }: Door, feature: Feature | undefined): Place {
  const model = feature && PROBES[id]?.[feature]?.models?.[place.slug];
  return model === undefined ? place : { ...place, model };
}

/** Bodies name their feature, which the scripted upstream reads. What has its model in the path has none in the body. */
function bodyOf({ id, path }: Operation, { slug, model }: Place, feature: Feature | undefined): object {
  if (!feature) return OF_GATEWAY[id] ?? {};
  const probe: { readonly model?: string } = PROBES[id]![feature]!.body(`@${slug}/${model}`);
  const { model: _, ...nameless } = probe;
  return path.includes('{+model}') ? nameless : probe;
}

/** Whether a reply of the door shows its feature. Without `alt=sse` Gemini's stream is one JSON array. */
export function showsAnswer({ operation, feature }: Door, text: string): boolean {
  const isArray = operation.id === 'gemini.stream_generate_content' && !operation.query;
  if (isArray && !text.startsWith('[')) return false;
  return PROBES[operation.id]![feature!]!.shows(isArray ? `data: ${text.slice(1)}` : text);
}

export function formOf(body: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.set(name, String(value));
  form.set('file', new Blob(['bytes']), 'file');
  return form;
}

/** Some operations have the model in the path, Vertex AI's as its publisher's. */
export function pathAt({ path, query }: Operation, { slug, model }: Place): string {
  const [, prefix = 'google', name = model] = /^(anthropic|meta|mistralai)\.(.*)$/.exec(model) ?? [];
  const values: Readonly<Record<string, string>> = {
    prompt: 'probe',
    version: path.includes('publishers') ? 'v1' : 'v1beta',
    project: 'test-project',
    location: 'us-central1',
    publisher: prefix,
    model: path.includes('publishers') ? name : `@${slug}/${model}`,
    id: path.includes('/models/') ? `@${slug}/${model}` : 'unknown_0123',
    rest: 'conv_0123/items',
  };
  const filled = path.replaceAll(/\{\+?([a-z]+)(?::[^}]*)?\}/g, (_, parameter: string) => values[parameter] ?? '');
  return query ? `${filled}?${query.name}=${query.value}` : filled;
}
