import type { FieldSource } from '../../explanation/explanation.ts';
import { entryOf } from '../../../catalog/catalog-target.ts';
import { valueAt } from '../../../settings/read/pointer.ts';
import type { Observation, OutboundOrigins, SeenAttempt } from '../observation.ts';
import { catalogSlug, unique } from './outbound-fields.ts';
import { catalogSource } from './places.ts';

/** Settings of a catalog entry that may be part of its URLs. */
const IN_ADDRESSES = [
  ['base_url'],
  ['region'],
  ['count_tokens_region'],
  ['project_id'],
  ['service_account', 'project_id'],
  ['api_version'],
];

export function urlSources(
  seen: Observation,
  one: SeenAttempt,
  { model, stream }: OutboundOrigins,
): readonly FieldSource[] {
  const { resolved } = one;
  if (!resolved) return [];
  const slug = catalogSlug(one);
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
    ...(isPartOf(one, resolved.model) ? model : []),
    ...(dependsOnStream(seen, one) ? stream : []),
  ]);
}

const settingOf = ({ settings }: Observation, slug: string, keys: readonly string[]): unknown =>
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

/** Sources of a destination that the request itself names. */
function ofPlace({ exchange: { request } }: Observation, one: SeenAttempt): readonly FieldSource[] {
  if (catalogSlug(one) !== '') return [];
  const names = ['custom-host', 'vertex-project-id', 'vertex-region'].filter(
    (name) => request.header(name) !== undefined,
  );
  if (names.length > 0) return names.map((name) => ({ kind: 'header', name: request.headerName(name) }));
  return request.params.project === undefined ? [] : [{ kind: 'gateway', what: "the request's path" }];
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
