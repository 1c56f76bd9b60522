import type {
  ChangeExplanation,
  OutboundExplanation,
  HeaderExplanation,
  FieldSource,
} from '../../explanation/explanation.ts';
import { parseReplyText } from '../../../../formats/json/rounding.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { mayHoldCredential } from '../../../../core/settings/values/credential-names.ts';
import { SECRET } from '../../../../core/dry-run/calls.ts';
import { formats } from '../../../../formats/index.ts';
import { describeChanges } from './changes.ts';
import { maskedHeader } from './masks.ts';
import { catalogSource, configSource, listedSlug, pluginSource } from './places.ts';
import { entryOf } from '../../../../core/catalog/catalog-target.ts';
import { valueAt } from '../../../../core/settings/schema/pointer.ts';

/** Describes the outbound request with the sources of its parts, without its `diff`: that needs bodies without secrets. */
export function describeOutbound(seen: Observation, one: SeenAttempt): OutboundExplanation | undefined {
  const { outbound, calls } = one;
  if (!outbound || outbound.answer) return undefined;
  const sourceOf = sourcesOfFields(describeChanges(seen, one));
  return {
    method: calls[0]?.request.method ?? 'POST',
    url: outbound.origin + outbound.path,
    urlSources: urlSources(seen, one, sourceOf),
    headers: describeHeaders(seen, one, sourceOf),
    body: describeBody(outbound.body.toString()),
    bytes: Buffer.byteLength(outbound.body),
    calls: outbound.batch?.bodies.length ?? 1,
    stream: outbound.stream,
    diff: [],
  };
}

/** The source of a field of the body: the settings that set it or an object around it; otherwise the client. */
type SourceOfField = (field: string) => FieldSource;

const sourcesOfFields =
  (changes: readonly ChangeExplanation[]): SourceOfField =>
  (field) => {
    const change = changes.findLast(
      ({ path, action }) => action !== 'removed' && (field === path || field.startsWith(`${path}.`)),
    );
    if (!change) return { kind: 'client', path: field };
    return change.source.kind === 'settings' ? { ...change.source, path: field } : change.source;
  };

/** Parses the body; a long number becomes an object for `JSON.stringify` alone. Other text stays a string. */
export function describeBody(text: string): unknown {
  try {
    return parseReplyText(text);
  } catch {
    return text;
  }
}

type Described = Pick<HeaderExplanation, 'source' | 'also' | 'allowedBy'>;

/** In the order of encoding: request headers, then credentials. */
function describeHeaders(seen: Observation, one: SeenAttempt, sourceOf: SourceOfField): readonly HeaderExplanation[] {
  const {
    outbound,
    calls: [call],
  } = one;
  if (!outbound) return [];
  const credentials = call?.credentials ?? [];
  const open = Object.entries(outbound.headers).filter(([name]) => !credentials.includes(name));
  return [
    ...open.map(([name, value]) => ({
      name,
      // A `headers` entry of the catalog that should have been in `secret_headers`.
      value: mayHoldCredential(name) ? maskedHeader(value) : value,
      ...(byPlugin(seen, one, name, value) ??
        openSource(seen, one, name, callerSources(seen, one, { name, value, sourceOf }))),
    })),
    ...credentials.map((name) => ({
      name,
      value: maskedHeader(call?.request.headers[name] ?? ''),
      source: credentialSource(seen, one, name),
    })),
    ...unknownCredential(seen, one),
  ];
}

/** The plugin that set a header of the encoded request, or the header of the client's request that it comes from. */
function byPlugin(seen: Observation, { sentHeaders }: SeenAttempt, name: string, value: string): Described | undefined {
  const setter = sentHeaders.setterOf(name, value) ?? seen.requestHeaders.setterOf(name, value);
  return setter && { source: pluginSource(seen, setter) };
}

function openSource(seen: Observation, one: SeenAttempt, name: string, origins: readonly FieldSource[]): Described {
  const { attempt, resolved } = one;
  if (name === 'content-type')
    return {
      source: { kind: 'gateway', what: one.attempt.outbound?.form ? 'the body is a form' : 'the body is JSON' },
    };
  const [first, ...others] = [...origins, ...providerSource(seen, one, name)];
  if (!first) return { source: { kind: 'gateway', what: `required by ${resolved?.format ?? 'the provider'}` } };
  const index = attempt.target.forwardHeaders.indexOf(name);
  const isCallers = [first, ...others].some((source) => source.kind === 'header' && source.name === name);
  const allowedBy =
    isCallers && index >= 0 ? configSource(seen, attempt.target.path, ['forward_headers', index]) : undefined;
  return { source: first, ...(others.length > 0 && { also: others }), ...(allowedBy && { allowedBy }) };
}

/** The caller's headers, and the items of a list in its body, that a sent header has words of. */
function callerSources(
  { exchange }: Observation,
  { attempt, body }: SeenAttempt,
  { name, value, sourceOf }: { readonly name: string; readonly value: string; readonly sourceOf: SourceOfField },
): readonly FieldSource[] {
  const { request, mappedHeaders } = exchange;
  const mapped = mappedHeaders?.[name];
  if (mapped) return [{ kind: 'header', name: mapped.from }];
  const features = ALL_FEATURES.find(({ header }) => header === name);
  if (!features && !VERSION_HEADERS.has(name) && !attempt.target.forwardHeaders.includes(name)) return [];
  const sent = new Set(wordsOf(value));
  const ofBody = features ? body.value(features.field) : undefined;
  const listed: readonly unknown[] = Array.isArray(ofBody) ? ofBody : [];
  return [
    ...[name, ...(features?.ownHeaders ?? []).map((one) => request.headerName(one))]
      .filter((one) => wordsOf(request.headers[one]).some((word) => sent.has(word)))
      .map((one): FieldSource => ({ kind: 'header', name: one })),
    ...listed.flatMap((one, index) => (sent.has(String(one)) ? [sourceOf(`${features?.field}.${index}`)] : [])),
  ];
}

const ALL_FEATURES = Object.values(formats).flatMap(({ requestHeaders }) => requestHeaders?.features ?? []);
const VERSION_HEADERS = new Set(Object.values(formats).map(({ requestHeaders }) => requestHeaders?.version));

const wordsOf = (value: string | readonly string[] = []): readonly string[] =>
  [value].flat().flatMap((one) => one.split(',').map((word) => word.trim()));

function providerSource(seen: Observation, one: SeenAttempt, name: string): readonly FieldSource[] {
  const { resolved } = one;
  if (resolved?.headers[name] === undefined) return [];
  const slug = listedSlug(one.resolved);
  const settings = OF_SETTINGS[name] ?? [];
  const source =
    settings.map((key) => catalogSource(seen, slug, [key])).find((found) => found !== undefined) ??
    namedIn(seen, slug, 'headers', name);
  return [source ?? { kind: 'gateway', what: `required by ${resolved.provider}` }];
}

/** Settings of catalog entries that are sent in headers; the first existing one counts. */
const OF_SETTINGS: Readonly<Record<string, readonly string[]>> = {
  'openai-organization': ['organization'],
  'openai-project': ['project'],
  'x-goog-user-project': ['project_id', 'credentials_json', 'credentials'],
};

/** The source of a header in a map whose keys may have any case. */
function namedIn(
  seen: Observation,
  slug: string | undefined,
  key: 'headers' | 'secret_headers',
  name: string,
): FieldSource | undefined {
  const entry = seen.settings.catalog.providers.find((one) => one.slug === slug);
  const written = entry && key in entry ? Object.keys(Reflect.get(entry, key) ?? {}) : [];
  const title = written.find((one) => one.toLowerCase() === name);
  return title === undefined ? undefined : catalogSource(seen, slug, [key, title]);
}

const CREDENTIALS = ['api_key', 'service_account', 'credentials_json', 'credentials'];

function credentialSource(seen: Observation, one: SeenAttempt, name: string): FieldSource {
  const slug = listedSlug(one.resolved);
  const set =
    namedIn(seen, slug, 'secret_headers', name) ??
    CREDENTIALS.map((key) => catalogSource(seen, slug, [key])).find((source) => source !== undefined);
  if (set) return set;
  return seen.exchange.upstreamToken
    ? { kind: 'header', name: 'authorization' }
    : { kind: 'gateway', what: `written for ${one.resolved?.provider ?? 'the provider'}` };
}

/** The attempt reached sending, but only a serving gateway can fetch its credential. */
function unknownCredential(seen: Observation, one: SeenAttempt): readonly HeaderExplanation[] {
  if (one.calls.length > 0 || !one.supposed) return [];
  return [{ name: 'authorization', value: `Bearer ${SECRET}`, source: credentialSource(seen, one, 'authorization') }];
}

/** Settings of a catalog entry that may be part of its URLs. */
const IN_ADDRESSES = [
  ['base_url'],
  ['region'],
  ['count_tokens_region'],
  ['project_id'],
  ['service_account', 'project_id'],
  ['api_version'],
];

function urlSources(seen: Observation, one: SeenAttempt, sourceOf: SourceOfField): readonly FieldSource[] {
  const { resolved } = one;
  if (!resolved) return [];
  const slug = listedSlug(one.resolved);
  const ofEntry = IN_ADDRESSES.flatMap((keys) => {
    const source = isPartOf(one, settingOf(seen, slug, keys)) ? catalogSource(seen, slug, keys) : undefined;
    return source ? [source] : [];
  });
  const named = ofPlace(seen, one);
  const [host] = [...ofEntry, ...named];
  return unique([
    ...(host ? [] : [{ kind: 'gateway', what: `address of ${resolved.provider}` } as const]),
    ...ofEntry,
    ...named,
    ...(isPartOf(one, resolved.model) ? [sourceOf('model')] : []),
    ...(dependsOnStream(seen, one) ? [sourceOf('stream')] : []),
  ]);
}

const unique = (sources: readonly FieldSource[]): readonly FieldSource[] => [
  ...new Map(sources.map((source) => [JSON.stringify(source), source])).values(),
];

const settingOf = ({ settings }: Observation, slug: string | undefined, keys: readonly string[]): unknown =>
  valueAt(
    settings.catalog.providers.find((entry) => entry.slug === slug),
    keys,
  );

/** Whether a setting is the URL's beginning, a part of its host, or a segment of its path. */
function isPartOf({ outbound }: SeenAttempt, setting: unknown): boolean {
  if (typeof setting !== 'string' || setting === '' || !outbound) return false;
  const { origin, path } = outbound;
  if (setting.includes('://')) return (origin + path).startsWith(setting.replace(/\/+$/, ''));
  const parts = path.split(/[/:?&=]/);
  return parts.includes(setting) || parts.includes(encodeURIComponent(setting)) || HOST_PART(setting).test(origin);
}

const HOST_PART = (setting: string): RegExp => new RegExp(`[/.]${RegExp.escape(setting)}[-.]`);

function ofPlace({ exchange: { request } }: Observation, one: SeenAttempt): readonly FieldSource[] {
  if (listedSlug(one.resolved) !== undefined) return [];
  const names = ['custom-host', 'vertex-project-id', 'vertex-region'].filter(
    (name) => request.header(name) !== undefined,
  );
  return names.map((name) => ({ kind: 'header', name: request.headerName(name) }));
}

/** Whether the URL depends on streaming, as in some APIs. */
function dependsOnStream({ exchange }: Observation, { resolved, outbound }: SeenAttempt): boolean {
  const entry = resolved && entryOf(resolved);
  if (!entry || !outbound?.stream) return false;
  const task = exchange.operation?.task ?? 'generate';
  try {
    const [stream, whole] = [true, false].map(
      (how) => entry.provider.locate(resolved.model, { task, stream: how }).path,
    );
    return stream !== whole;
  } catch {
    return false;
  }
}
