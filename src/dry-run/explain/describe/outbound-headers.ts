import type { HeaderExplanation, FieldSource } from '../../explanation/explanation.ts';
import { mayHoldCredential } from '../../../settings/checks/forward-headers.ts';
import type { Observation, OutboundOrigins, SeenAttempt } from '../observation.ts';
import { SECRET } from '../../run/calls.ts';
import { maskedHeader } from './masks.ts';
import { catalogSlug } from './outbound-fields.ts';
import { catalogSource, configSource } from './places.ts';

type Described = Pick<HeaderExplanation, 'source' | 'also' | 'allowedBy'>;

/** In the order of encoding: request headers, then credentials. */
export function describeHeaders(
  seen: Observation,
  one: SeenAttempt,
  { headers: origins }: OutboundOrigins,
): readonly HeaderExplanation[] {
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
      ...openSource(seen, one, name, origins.get(name) ?? []),
    })),
    ...credentials.map((name) => ({
      name,
      value: maskedHeader(call?.request.headers[name] ?? ''),
      source: credentialSource(seen, one, name),
    })),
    ...unknownCredential(seen, one),
  ];
}

function openSource(seen: Observation, one: SeenAttempt, name: string, origins: readonly FieldSource[]): Described {
  const { attempt, resolved } = one;
  if (name === 'content-type') return { source: { kind: 'gateway', what: 'the body is JSON' } };
  const [first, ...others] = [...origins, ...providerSource(seen, one, name)];
  if (!first) return { source: { kind: 'gateway', what: `required by ${resolved?.format ?? 'the provider'}` } };
  const index = attempt.target.forwardHeaders.indexOf(name);
  const isCallers = [first, ...others].some((source) => source.kind === 'header' && source.name === name);
  const allowedBy =
    isCallers && index >= 0 ? configSource(seen, attempt.target.path, ['forward_headers', index]) : undefined;
  return { source: first, ...(others.length > 0 && { also: others }), ...(allowedBy && { allowedBy }) };
}

/** The setting of the catalog entry, or the provider itself. */
function providerSource(seen: Observation, one: SeenAttempt, name: string): readonly FieldSource[] {
  const { resolved } = one;
  if (resolved?.headers[name] === undefined) return [];
  const slug = catalogSlug(one);
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
  slug: string,
  key: 'headers' | 'secret_headers',
  name: string,
): FieldSource | undefined {
  const entry = seen.settings.catalog.providers.find((one) => one.slug === slug);
  const written = entry && key in entry ? Object.keys(Reflect.get(entry, key) ?? {}) : [];
  const title = written.find((one) => one.toLowerCase() === name);
  return title === undefined ? undefined : catalogSource(seen, slug, [key, title]);
}

const CREDENTIALS = ['api_key', 'service_account', 'credentials_json', 'credentials'];

/** The setting of the credential, or the caller's header. */
function credentialSource(seen: Observation, one: SeenAttempt, name: string): FieldSource {
  const slug = catalogSlug(one);
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
